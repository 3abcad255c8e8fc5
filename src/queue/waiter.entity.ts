import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** A JSON object as the request had it. */
export type JsonObject = Record<string, unknown>;

/** The answer to one question of the waitlist. */
export interface Answer {
  readonly question_id: number;
  readonly value: string | readonly string[];
}

/** One record: a Signup to the public, a Waiter to the owner. */
@Entity('waiter')
export class WaiterEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  /** Rises in join order within a waitlist; numbers may be missing, none is given twice. */
  @Column({ type: 'bigint' })
  seq!: number;

  @Column({ type: 'varchar' })
  uuid!: string;

  @Column({ type: 'varchar', nullable: true })
  email!: string | null;

  @Column({ name: 'email_key', type: 'varchar', nullable: true })
  emailKey!: string | null;

  @Column({ name: 'registered_email', type: 'varchar', nullable: true })
  registeredEmail!: string | null;

  @Column({ type: 'varchar', nullable: true })
  phone!: string | null;

  @Column({ name: 'phone_key', type: 'varchar', nullable: true })
  phoneKey!: string | null;

  @Column({ name: 'first_name', type: 'varchar', nullable: true })
  firstName!: string | null;

  @Column({ name: 'last_name', type: 'varchar', nullable: true })
  lastName!: string | null;

  @Column({ type: 'simple-json', nullable: true })
  metadata!: JsonObject | null;

  @Column({ type: 'simple-json', nullable: true })
  answers!: Answer[] | null;

  @Column({ name: 'referral_token', type: 'varchar' })
  referralToken!: string;

  @Column({ name: 'referred_by_token', type: 'varchar', nullable: true })
  referredByToken!: string | null;

  @Column({ type: 'boolean' })
  referred!: boolean;

  /** People whom this one referred: records, offboarded ones included, erased people and `importedReferrals`. */
  @Column({ name: 'amount_referred', type: 'bigint' })
  amountReferred!: number;

  /** Referrals of people who were erased before the waitlist was exported; set by its import. */
  @Column({ name: 'imported_referrals', type: 'bigint' })
  importedReferrals!: number;

  /** The referrals that count toward the rank key; in this version, all. */
  @Column({ name: 'credited_referrals', type: 'bigint' })
  creditedReferrals!: number;

  /** Positions granted by the owner; never below 0. */
  @Column({ name: 'spots_advanced', type: 'bigint' })
  spotsAdvanced!: number;

  @Column({ name: 'rank_key', type: 'bigint' })
  rankKey!: number;

  /** The narrowest bucket of the rank key, a generated column. */
  @Column({ name: 'rank_bucket', type: 'bigint', nullable: true, insert: false, update: false, select: false })
  rankBucket?: number;

  @Column({ type: 'boolean' })
  active!: boolean;

  @Column({ type: 'boolean' })
  verified!: boolean;

  @Column({ name: 'removed_at', type: 'datetime', precision: 3, nullable: true })
  removedAt!: Date | null;

  @Column({ name: 'removed_priority', type: 'bigint', nullable: true })
  removedPriority!: number | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
