import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A link in a verification mail. */
@Entity('verification_link')
export class VerificationLinkEntity {
  /** SHA-256 of the token, in hexadecimal: the token is random, so it needs no slow hash. */
  @PrimaryColumn({ name: 'token_hash', type: 'varchar' })
  tokenHash!: string;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @Column({ name: 'waiter_uuid', type: 'varchar' })
  waiterUuid!: string;

  /** The email that it verifies: a link sent to an earlier email of the record verifies nothing. */
  @Column({ name: 'email_key', type: 'varchar' })
  emailKey!: string;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt!: Date;

  @Column({ name: 'used_at', type: 'datetime', precision: 3, nullable: true })
  usedAt!: Date | null;
}
