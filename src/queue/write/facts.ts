/** The facts that decide a batch of commands, and parts of the decision. */
import type { Subscriber } from '../../outbox/delivery.store.js';
import type { Mailed } from '../../outbox/mail.store.js';
import type { VerificationLinkEntity } from '../../outbox/verification-link.entity.js';
import type { EventName } from '../../outbox/webhook.entity.js';
import type { AuditAction } from '../../platform/audit/audit-log.js';
import type { OwnerWrite } from '../../platform/idempotency/owner-write.js';
import type { RecentReferrals } from './recent-referral.store.js';
import type { StoredWaiter, Waiter } from '../record/waiter.js';
import type { MailboxHolder, TakenContact } from '../record/waiter.store.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';

/** The records that a command changed, in the order of the command; of a click, the record of the link. */
export interface Changed {
  readonly uuids: readonly string[];
}

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
  /** The records among `taken`, and the networks of joins, that can have no further verification mail now. */
  readonly mailed: Mailed;
  /** The active webhooks of the waitlist. */
  readonly subscribers: readonly Subscriber[];
}

/** An owner's command that was carried out, for the audit log. */
export interface OwnerChange {
  readonly write: OwnerWrite;
  readonly action: AuditAction;
  readonly uuids: readonly string[];
  /** Counts of the response that cannot be read again later. */
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
