import type { Subscriber } from '../../outbox/delivery.store.js';
import type { Mailed } from '../../outbox/mail.store.js';
import type { VerificationLinkEntity } from '../../outbox/verification-link.entity.js';
import type { Offer } from '../offers/offer.js';
import type { RecentReferrals } from './recent-referral.store.js';
import type { StoredWaiter, Waiter } from '../record/waiter.js';
import type { MailboxHolder, TakenContact } from '../record/waiter.store.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';

/** The facts that decide a batch of commands: the waitlist and the records that they need, read under the lock. */
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
  /** The offers that codes name, and those of the named records that are open, accepted or expired. */
  readonly offers: readonly Offer[];
  /** Whether this service sends mails. */
  readonly sendsMails: boolean;
  /** The records that have the folded mailbox of a join with a referrer. */
  readonly mailboxes: readonly MailboxHolder[];
  readonly recent: RecentReferrals;
  /** The records among `taken`, and the networks of joins, that can have no further verification mail now. */
  readonly mailed: Mailed;
  /** The active webhooks of the waitlist. */
  readonly subscribers: readonly Subscriber[];
}
