import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** `read` opens the operations that only read, `manage` all that an account key can open. */
export const KEY_SCOPES = ['read', 'manage'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** A key that opens operations of an account without a login. A revoked key has no row. */
@Entity('account_key')
export class AccountKeyEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'account_id', type: 'bigint' })
  accountId!: number;

  /** SHA-256 of the key, which is random and long, so its hash needs no salt. */
  @Column({ name: 'key_hash', type: 'varchar' })
  keyHash!: string;

  /** The first characters of the key, by which people recognize it. */
  @Column({ type: 'varchar' })
  prefix!: string;

  @Column({ type: 'varchar' })
  name!: string;

  @Column({ type: 'varchar' })
  scope!: KeyScope;

  /** The waitlists that it opens; null for all. A deleted waitlist leaves the list, which may become empty. */
  @Column({ name: 'waitlist_ids', type: 'simple-json', nullable: true })
  waitlistIds!: readonly number[] | null;

  /** The member who made it, removed since or not; null for the command line, and for keys of before. */
  @Column({ name: 'created_by', type: 'varchar', nullable: true })
  createdBy!: string | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  /** Null for a key that never expires. */
  @Column({ name: 'expires_at', type: 'datetime', precision: 3, nullable: true })
  expiresAt!: Date | null;

  /** May be up to a minute old; null for a key that was never used. */
  @Column({ name: 'last_used_at', type: 'datetime', precision: 3, nullable: true })
  lastUsedAt!: Date | null;
}
