import type { SignupSignals } from '../../fraud/fraud-rules.js';
import type { Answer, Credit, JsonObject, Status, WaiterEntity } from './waiter.entity.js';
import type { ShownWaitlist } from '../settings/waitlist.table.js';

export type { Answer, Credit, JsonObject, Status };

/** A record can be found by each. Where they match two records, the email's counts. */
export interface ContactKeys {
  readonly emailKey: string | null;
  readonly phoneKey: string | null;
}

export const NO_CONTACT: ContactKeys = { emailKey: null, phoneKey: null };

/** A request to join, not yet held to the rules of the waitlist. */
export interface Applicant {
  readonly email: string | null;
  readonly phone: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** The normal forms of the email and the phone, in this region. */
  readonly keys: ContactKeys;
  readonly metadata: JsonObject | null;
  /** As the request has them. */
  readonly answers: unknown;
  /** Possible tokens of the referrer, likeliest first; the first that this waitlist knows counts. */
  readonly referrerTokens: readonly string[];
  /** The country of a phone number without a country code; null if there is none. */
  readonly region: string | null;
  readonly trust: Trust;
}

/** Facts about a request to join that the rules against fraud need. */
export interface Trust {
  readonly signals: SignupSignals;
  /** The request has a captcha token that the provider did not refuse. */
  readonly isCaptchaAccepted: boolean;
  /** The mailbox of the email, folded as its provider does; null where it equals the normal form of the email. */
  readonly mailboxKey: string | null;
  /** A keyed hash of the network; null if it is unknown, or exempt from the limits. */
  readonly network: string | null;
}

/** Corrections of a record by the owner; what is undefined stays as it is, null removes it. */
export interface PersonChanges extends Partial<
  Pick<Applicant, 'email' | 'phone' | 'firstName' | 'lastName' | 'metadata'>
> {
  /** True counts as a click on the link of a verification mail; false takes neither position nor credit. */
  readonly verified?: boolean;
  /** Whether the referral of the record earns its referrer spots. */
  readonly credit?: 'credited' | 'refused';
  /** Spots to grant in addition to those granted before; below 0, to take back. The sum is never below 0. */
  readonly spotsToAdvance?: number;
}

/** The data that a new record takes from its applicant. */
export interface Newcomer
  extends
    ContactKeys,
    Pick<StoredWaiter, 'mailboxKey'>,
    Pick<Applicant, 'email' | 'phone' | 'firstName' | 'lastName' | 'metadata'> {
  readonly answers: readonly Answer[];
}

/** The columns that can hold kilobytes. Work under the lock of the queue does not read them. */
export const LARGE = ['metadata', 'answers'] as const;

/** A record without its position. */
export type StoredWaiter = Readonly<WaiterEntity>;

/** A record with its position at the time of reading. */
export interface Waiter extends StoredWaiter {
  /**
   * Active records ahead; 0 is first. For an offboarded record, the number at that moment; for a pending one, all
   * active ones.
   */
  readonly priority: number;
}

/** Whether the record was let in. Records of versions without reasons have none, and were all removed by the owner. */
export function isLetIn({ status, removedReason }: Pick<StoredWaiter, 'status' | 'removedReason'>): boolean {
  return status === 'offboarded' && removedReason !== 'declined' && removedReason !== 'expired';
}

/** The answer to a signup or a lookup. */
export interface Found {
  readonly waiter: Waiter;
  readonly waitlist: Readonly<ShownWaitlist>;
  /** The contact data of the request: the answer may show only this. */
  readonly keys: ContactKeys;
  /** Whether this call created the record: only then may the answer show the given answers. */
  readonly isNew: boolean;
  /**
   * True if the waitlist would have refused a new signup, so that success itself reveals the record. Always true for
   * lookups.
   */
  readonly revealsRecord: boolean;
}

/** A column that no two records of a waitlist share, with its value. */
export interface RecordKey {
  readonly column: 'emailKey' | 'phoneKey' | 'uuid' | 'referralToken';
  readonly value: string;
}

/** The records whose `emailKey` begins with a prefix, and those that have one of the keys. */
export interface Search {
  readonly emailPrefix: string;
  readonly keys: readonly RecordKey[];
}

/** Every status except `pending`. Only with `keys`, `search` or `name`: no index has all statuses in one order. */
export type AnyStatus = 'any';

/** Which records a page shows, and where it starts: after a record, or after a number of records. */
export interface PageRequest {
  readonly status: Status | AnyStatus;
  /** Only records with this credit; null for all. */
  readonly credit: Credit | null;
  /** Only records that the record of one of these tokens referred, or that anyone referred. */
  readonly referredBy: { readonly tokens: readonly string[] } | 'anyone' | null;
  /** Only the record that has all of these keys; empty for no such limit. */
  readonly keys: readonly RecordKey[];
  /** Only the records that this finds, by email. Then `order` is ignored, and an offset too. */
  readonly search: Search | null;
  /**
   * Only the records whose `nameKey` begins with this, by that key, then by id; null for all. Then `order` is ignored,
   * and an offset too.
   */
  readonly name: string | null;
  /**
   * Of the offboarded and the pending records, `queue` means `joined`. `referrals`: the most credited referrals
   * first; of equal records, the one that joined first.
   */
  readonly order: 'joined' | 'queue' | 'id' | 'referrals';
  readonly start: { readonly offset: number } | { readonly afterId: number };
  readonly limit: number;
  /** The large columns that the page leaves out; they are null. */
  readonly without: readonly (typeof LARGE)[number][];
}

export interface Page {
  readonly waiters: readonly Waiter[];
  /** How many records all pages together show; undefined where nothing counts them. */
  readonly total?: number;
  /** How many records of the waitlist are active. */
  readonly active: number;
  /** The id after which the next page starts; null on the last page. */
  readonly nextAfterId: number | null;
}
