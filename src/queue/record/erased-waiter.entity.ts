import { Column, Entity, PrimaryColumn } from 'typeorm';
import { coded } from '../../platform/database/transformers.js';
import { type Credit, CREDITS } from './waiter.entity.js';

/**
 * The tombstone of an erased record: no personal data. It keeps referrals countable, and `after_id` valid for pages.
 * No listing, lookup or count shows it.
 */
@Entity('erased_waiter')
export class ErasedWaiterEntity {
  /** The id of the record. The other columns, except `erasedAt`, keep its values too. */
  @PrimaryColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  @Column({ type: 'bigint' })
  seq!: number;

  @Column({ type: 'varchar' })
  uuid!: string;

  /** Signups with it get no referrer, and no record gets it again. */
  @Column({ name: 'referral_token', type: 'varchar' })
  referralToken!: string;

  @Column({ name: 'referred_by_token', type: 'varchar', nullable: true })
  referredByToken!: string | null;

  @Column({ type: 'tinyint', transformer: coded(CREDITS) })
  credit!: Credit;

  /** At the time of the erasure. A page in queue order with this id as `after_id` starts behind it. */
  @Column({ name: 'rank_key', type: 'bigint' })
  rankKey!: number;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;

  @Column({ name: 'erased_at', type: 'datetime', precision: 3 })
  erasedAt!: Date;
}
