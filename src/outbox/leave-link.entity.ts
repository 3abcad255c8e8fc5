import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The link to leave at the end of a mail. It outlives its person, so that a second click finds it: it holds no personal
 * data.
 */
@Entity('leave_link')
export class LeaveLinkEntity {
  /** SHA-256 of the token, in hexadecimal: the token is random, so it needs no slow hash. */
  @PrimaryColumn({ name: 'token_hash', type: 'varchar' })
  tokenHash!: string;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @Column({ name: 'waiter_uuid', type: 'varchar' })
  waiterUuid!: string;

  /** Keyed hash of the email that got the link: one sent to an earlier email of the record does nothing. */
  @Column({ name: 'email_hash', type: 'varchar' })
  emailHash!: string;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'expires_at', type: 'datetime', precision: 3 })
  expiresAt!: Date;
}
