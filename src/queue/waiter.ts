import type { Session } from '../platform/database/session.js';
import type { Answer, JsonObject, WaiterEntity } from './waiter.entity.js';

export type { Answer, JsonObject };

/** What a person brings when joining: checked and in normal form. */
export interface Newcomer extends ContactKeys {
  readonly email: string | null;
  readonly phone: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly metadata: JsonObject | null;
  readonly answers: readonly Answer[];
}

/** What an owner set for all who come to a waitlist; read with what the line must know, and so in no round trip of its own. */
export type ReadRules<Rules = unknown> = (session: Session) => Promise<Rules>;

/** A person who asks to join, where rules decide: those that hold in the transaction that lets them in. */
export interface Applicant<Rules = unknown> extends ContactKeys {
  /** What may be the token of a referrer, likeliest first; the first that this waitlist knows counts. */
  readonly referrerTokens: readonly string[];
  /** Of what a person brings beside the fields that every record has. */
  readonly textBytes: number;
  readonly readRules: ReadRules<Rules>;
  /** The contact of the newcomer is the applicant's, or less. @throws Problem where the rules do not let them in */
  readonly admit: (rules: Rules) => Newcomer;
}

/** Who was looked for on a waitlist, with its rules of that moment. */
export interface Found<Rules = unknown> {
  readonly waiter: Waiter | null;
  readonly rules: Rules;
}

/** Who is on the waitlist after a request to join, by the rules that held then. */
export interface Admitted<Rules> extends Found<Rules> {
  readonly waiter: Waiter;
  readonly newcomer: Newcomer;
}

/** A record with its place at the time of reading. */
export interface Waiter extends Readonly<WaiterEntity> {
  /** Active records ahead, 0 is first in line; of an offboarded record, what it was at that moment. */
  readonly priority: number;
}

/** What of a record a page shows. */
export type ListedWaiter = Pick<
  Waiter,
  | 'id'
  | 'seq'
  | 'uuid'
  | 'email'
  | 'answers'
  | 'referralToken'
  | 'referredByToken'
  | 'amountReferred'
  | 'rankKey'
  | 'active'
  | 'verified'
  | 'removedAt'
  | 'removedPriority'
  | 'createdAt'
  | 'priority'
>;

/** By which a record can be found; where they match two records, the email's counts. */
export interface ContactKeys {
  readonly emailKey: string | null;
  readonly phoneKey: string | null;
}

/** How many records a waitlist holds. */
export interface QueueTotals {
  readonly active: number;
  readonly offboarded: number;
  readonly referred: number;
}

/** Which records a page shows, and where it starts: after a record, or a number of records in. */
export interface PageRequest {
  readonly offboarded: boolean;
  /** Only those whom this token's record referred, or whom anyone referred. */
  readonly referredBy: { readonly token: string } | 'anyone' | null;
  readonly order: 'joined' | 'queue';
  readonly start: { readonly offset: number } | { readonly afterId: number };
  readonly limit: number;
  /** Whether to read the answers too, which can be long; else there are none. */
  readonly withAnswers: boolean;
}

export interface Page {
  readonly waiters: readonly ListedWaiter[];
  /** How many records all pages together show. */
  readonly total: number;
  /** How many records of the waitlist are active. */
  readonly active: number;
  readonly hasMore: boolean;
}
