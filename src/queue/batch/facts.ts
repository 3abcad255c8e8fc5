/** The commands of a batch, the facts that decide them, and the decision. */
import type { VerificationLinkEntity } from '../../outbox/verification-link.entity.js';
import type { NewMail } from '../../outbox/mail.store.js';
import type { EventName } from '../../outbox/webhook.entity.js';
import type { AuditAction } from '../../platform/audit/audit-log.js';
import type { OwnerWrite } from '../../platform/idempotency/owner-write.js';
import type { Outcome } from '../../platform/limits/batcher.js';
import type { CounterChanges } from '../counters.js';
import type { DayChanges } from '../day-counts.js';
import type { RecentReferral, RecentReferrals } from '../recent-referral.store.js';
import type { Applicant, ContactKeys, Found, PersonChanges, StoredWaiter, Waiter } from '../waiter.js';
import type { Correction, MailboxHolder, Removal, TakenContact } from '../waiter.store.js';
import type { LeanWaitlist } from '../waitlist.table.js';

export interface Join {
  readonly kind: 'join';
  readonly applicant: Applicant;
  /** The keys by which the applicant may have a record already. */
  readonly keys: ContactKeys;
}

export interface Offboard {
  readonly kind: 'offboard';
  readonly write: OwnerWrite;
  readonly selection: Selection;
}

export interface Erase {
  readonly kind: 'erase';
  readonly write: OwnerWrite;
  readonly uuids: readonly string[];
}

export interface Correct {
  readonly kind: 'correct';
  readonly write: OwnerWrite;
  readonly uuid: string;
  readonly changes: PersonChanges;
  /** The country of a phone number without a country code; null if there is none. */
  readonly region: string | null;
  /** The normal forms of the changed contact data. */
  readonly keys: ContactKeys;
  /** The folded mailbox of the changed email; null where it equals the normal form. */
  readonly mailboxKey: string | null;
}

/** A click on the link of a verification mail. */
export interface Verify {
  readonly kind: 'verify';
  readonly tokenHash: string;
}

/** The records with these ids or uuids, or the first ones of the queue. */
export type Selection =
  { readonly ids: readonly number[] } | { readonly uuids: readonly string[] } | { readonly next: number };

export type Command = Offboard | Erase | Correct | Verify | Join;

/** The answer to a join whose contact data a record of the waitlist has already. */
export type Duplicate = Omit<Found, 'waiter' | 'waitlist'>;

/** The records that a command changed, in the order of the command; of a click, the record of the link. */
export interface Changed {
  readonly uuids: readonly string[];
}

/** The records that an offboarding removed. */
export interface Offboarded extends Changed {
  /** Active records of the waitlist after the offboarding. */
  readonly active: number;
}

export type Result = Found | Duplicate | Changed | Offboarded;

/** The waitlist and the records that the commands need, read under the lock. */
export interface Facts {
  readonly waitlist: LeanWaitlist;
  /** The records that commands name by their ids or uuids, or by links. */
  readonly named: readonly Waiter[];
  /** The first records of the queue, enough for all offboardings by number. */
  readonly first: readonly Waiter[];
  /** The owners' commands that an earlier attempt carried out, each with the uuids of the records that it changed. */
  readonly done: ReadonlyMap<string, readonly string[]>;
  /** Each existing record that matches a join or the contact data of a correction. */
  readonly taken: readonly TakenContact[];
  /** The records whose tokens the joins carry, and those that referred a named record whose credit may change. */
  readonly referrers: readonly StoredWaiter[];
  /** The links that clicks name. */
  readonly links: readonly VerificationLinkEntity[];
  /** The records that have the folded mailbox of a join with a referrer. */
  readonly mailboxes: readonly MailboxHolder[];
  readonly recent: RecentReferrals;
  /** Whether the waitlist has an active webhook. */
  readonly hasSubscribers: boolean;
}

/** An owner's command that was carried out, for the audit log. */
export interface OwnerChange {
  readonly write: OwnerWrite;
  readonly action: AuditAction;
  readonly uuids: readonly string[];
  /** Numbers of the answer that a later read could not give again. */
  readonly counts?: { readonly active: number };
}

/** The `new_signup` of a new record. Its deliveries are made later (signup-deliveries.ts). */
export interface SignupEvent {
  readonly number: number;
  readonly uuid: string;
  readonly position: number;
}

/** Another event for webhooks. */
export interface QueueEvent {
  readonly number: number;
  readonly event: EventName;
  /** The record that the event shows, as it is after the changes. */
  readonly uuid: string;
  /** Of `referral_credited`: the record that was referred. */
  readonly referredUuid: string | null;
}

/** The changes to store, and the outcome of each command. */
export interface Decision {
  readonly at: Date;
  readonly outcomes: readonly Outcome<Result>[];
  readonly waitlist: LeanWaitlist;
  readonly written: readonly OwnerChange[];
  readonly removals: readonly Removal[];
  readonly erased: readonly StoredWaiter[];
  /** In this order, because one can take an email that an earlier one gave up. */
  readonly corrections: readonly Correction[];
  readonly joined: readonly Waiter[];
  /** Pending records that entered the queue. */
  readonly entered: readonly StoredWaiter[];
  /** Referrers that gained or lost credit, with their new counts and rank keys. */
  readonly changedReferrers: readonly StoredWaiter[];
  readonly counters: CounterChanges;
  readonly days: DayChanges;
  readonly recentReferrals: readonly RecentReferral[];
  /** The links that were clicked. The other links of their records end. */
  readonly usedLinks: readonly VerificationLinkEntity[];
  /** The uuids of the records with another email: their links end. */
  readonly changedEmails: readonly string[];
  readonly mails: readonly NewMail[];
  readonly signups: readonly SignupEvent[];
  /** In the order of their numbers. */
  readonly events: readonly QueueEvent[];
}
