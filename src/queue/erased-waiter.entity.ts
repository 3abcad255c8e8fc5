import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * The tombstone of an erased record: no personal data. It keeps the referrals of others countable, and `after_id` working.
 * No listing, lookup or count shows it.
 */
@Entity('erased_waiter')
export class ErasedWaiterEntity {
  /** The id that the record had, as do the other columns. */
  @PrimaryColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @Column({ type: 'bigint' })
  seq!: number;

  @Column({ type: 'varchar' })
  uuid!: string;

  /** Refers nobody any more, and no record gets it again. */
  @Column({ name: 'referral_token', type: 'varchar' })
  referralToken!: string;

  @Column({ name: 'referred_by_token', type: 'varchar', nullable: true })
  referredByToken!: string | null;

  /** The place in the order at the erasure, where a listing in queue order goes on. */
  @Column({ name: 'rank_key', type: 'bigint' })
  rankKey!: number;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'erased_at', type: 'datetime', precision: 3 })
  erasedAt!: Date;
}
