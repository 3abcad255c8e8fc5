import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The state of one waitlist's line. Its row is the lock under which the line changes. */
@Entity('queue')
export class QueueEntity {
  @PrimaryColumn({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  /** `seq` of the next to join. */
  @Column({ name: 'next_seq', type: 'bigint' })
  nextSeq!: number;

  @Column({ name: 'spots_per_referral', type: 'int' })
  spotsPerReferral!: number;

  @Column({ type: 'bigint' })
  active!: number;

  @Column({ type: 'bigint' })
  offboarded!: number;

  @Column({ name: 'referred_active', type: 'bigint' })
  referredActive!: number;

  @Column({ name: 'referred_offboarded', type: 'bigint' })
  referredOffboarded!: number;
}
