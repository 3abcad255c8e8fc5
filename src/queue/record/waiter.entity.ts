import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { CreditReason } from '../../fraud/fraud-rules.js';
import { coded, codedOrNull, listed } from '../../platform/database/transformers.js';

/** A JSON object as the request had it. */
export type JsonObject = Record<string, unknown>;

/** The answer to one question of the waitlist. */
export interface Answer {
  readonly question_id: number;
  readonly value: string | readonly string[];
}

/**
 * The stored codes. `waiting` records are the active ones; `pending` ones wait for their verification; `offered` ones
 * have an open offer.
 */
export const STATUS_CODES = { offboarded: 0, waiting: 1, pending: 2, offered: 3 } as const;
export type Status = keyof typeof STATUS_CODES;
/** In the order of their codes. */
export const STATUSES = Object.keys(STATUS_CODES) as Status[];

/** Whether the referral of a record earns its referrer spots, by stored codes. */
export const CREDIT_CODES = { none: 0, credited: 1, awaiting_verification: 2, withheld: 3, refused: 4 } as const;
export type Credit = keyof typeof CREDIT_CODES;
/** In the order of their codes. */
export const CREDITS = Object.keys(CREDIT_CODES) as Credit[];

/** Why a record was offboarded. Only the first two were let in. */
export const REMOVED_REASONS = ['by_owner', 'accepted', 'declined', 'expired'] as const;
export type RemovedReason = (typeof REMOVED_REASONS)[number];

/** One record: a Signup to the public, a Waiter to the owner. */
@Entity('waiter')
export class WaiterEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  id!: number;

  @Column({ name: 'waitlist_id', type: 'bigint' })
  waitlistId!: number;

  /**
   * Rises in join order within a waitlist; gaps are possible, duplicates are not. Below 0 while the record is pending:
   * it gets the next number when it joins the queue, so that pending records take no numbers from it.
   */
  @Column({ type: 'bigint' })
  seq!: number;

  @Column({ type: 'varchar' })
  uuid!: string;

  @Column({ type: 'varchar', nullable: true })
  email!: string | null;

  @Column({ name: 'email_key', type: 'varchar', nullable: true })
  emailKey!: string | null;

  /** The mailbox of the email, folded as its provider does; null where it equals `emailKey`. */
  @Column({ name: 'mailbox_key', type: 'varchar', nullable: true })
  mailboxKey!: string | null;

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

  /** See `nameKey`; null without a name. */
  @Column({ name: 'name_key', type: 'varchar', nullable: true })
  nameKey!: string | null;

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

  @Column({ type: 'tinyint', transformer: coded(CREDITS) })
  credit!: Credit;

  /** All reasons to withhold the credit that applied at the signup, whatever the owner decided later. */
  @Column({ name: 'credit_reasons', type: 'varchar', nullable: true, transformer: listed })
  creditReasons!: readonly CreditReason[];

  /** Referrals of people who were erased before the waitlist was exported; set by its import. */
  @Column({ name: 'imported_referrals', type: 'bigint' })
  importedReferrals!: number;

  /** The credited referrals, of erased people too, and `importedReferrals`. */
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

  @Column({ type: 'tinyint', transformer: coded(STATUSES) })
  status!: Status;

  @Column({ type: 'boolean' })
  verified!: boolean;

  /** How many active records were ahead when it entered the queue; null if unknown, or while it is pending. */
  @Column({ name: 'joined_priority', type: 'bigint', nullable: true })
  joinedPriority!: number | null;

  @Column({ name: 'removed_at', type: 'datetime', precision: 3, nullable: true })
  removedAt!: Date | null;

  /** The position when it was offboarded or offered. */
  @Column({ name: 'removed_priority', type: 'bigint', nullable: true })
  removedPriority!: number | null;

  /** Null unless it is offboarded, and for records that were offboarded before reasons were stored. */
  @Column({ name: 'removed_reason', type: 'tinyint', nullable: true, transformer: codedOrNull(REMOVED_REASONS) })
  removedReason!: RemovedReason | null;

  /** When the open offer expires; null without one, before its time has begun, and if it never expires. */
  @Column({ name: 'offer_expires_at', type: 'datetime', precision: 3, nullable: true })
  offerExpiresAt!: Date | null;

  @Column({ name: 'created_at', type: 'datetime', precision: 3 })
  createdAt!: Date;
}
