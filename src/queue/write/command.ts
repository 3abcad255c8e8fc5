import type { Transaction } from '../../platform/database/session.js';
import type { AccountWrite } from '../../platform/idempotency/account-write.js';
import type { ContactKeys, JsonObject } from '../record/waiter.js';
import type { ExclusiveStores } from './exclusive-stores.js';
import type { State } from './state.js';

/**
 * The kinds of commands, in the order in which a batch carries them out. Offboardings and offers come first: they
 * report positions as they were before the batch. Joins come last: they may take a contact that another command gives
 * up. `answer` is whatever happens to an open offer, also that its time begins or ends, or that it gets another code.
 */
export const KINDS = [
  'offboard',
  'offer',
  'answer',
  'return',
  'erase',
  'leave',
  'correct',
  'decide',
  'verify',
  'join',
] as const;

/** Records changed in one transaction: more would hold the lock, and each caller, for longer than a commit takes. */
export const BATCH_MAX = 500;
/**
 * Text of this size weighs as much as a record: the longest statement stays near 8 MiB, half of MariaDB's packet.
 * Payloads of events go into short statements.
 */
const WEIGHTY_TEXT_BYTES = 8 * 1024;

/** The facts that a command needs besides the waitlist. One read serves all commands of a batch. */
export interface Needs {
  /** Records by their ids or uuids. */
  readonly ids?: readonly number[];
  readonly uuids?: readonly string[];
  /** How many of the first records of the queue. */
  readonly first?: number;
  /** The hash of a token: its link, and the record of the link. */
  readonly link?: string;
  /** The hash of an offer's code: its offer, and the record of the offer. */
  readonly offerCode?: string;
  /** The credit of the records in `uuids` can change: read their referrers too. */
  readonly canChangeCredit?: boolean;
  /** The records that have one of these keys. */
  readonly contact?: ContactKeys;
  /** The referrer of a new record, and whether the referral is suspicious. */
  readonly referral?: ReferralFacts;
  /** Whether an earlier attempt has carried out this write of an owner. */
  readonly write?: AccountWrite;
}

export interface ReferralFacts {
  /** Possible tokens of the referrer. The first that the waitlist knows counts. */
  readonly tokens: readonly string[];
  readonly network: string | null;
  /** The folded mailbox of the new record. */
  readonly mailbox: string | null;
}

/** A change of a queue that shares its transaction with others. Its file in `commands/` says all about it. */
export interface Command<Result> {
  readonly kind: (typeof KINDS)[number];
  /** How many records it changes; large text adds to it, because a batch must fit in one packet of the database. */
  readonly weight: number;
  readonly needs: Needs;
  /** For a command that weighs more than a batch and takes longer than the usual deadline. */
  readonly deadlineMs?: number;
  /** Pure. If it throws, it has changed nothing. */
  readonly run: (state: State) => Result;
}

/** A change of a queue that is alone in its transaction, because it can change any number of records. */
export interface Exclusive<Result> {
  readonly kind: 'exclusive';
  /** If undefined, the usual deadline. */
  readonly deadlineMs: number | undefined;
  /** Commits. It may run again after a commit whose response was lost, and must then change nothing. */
  readonly run: (session: Transaction, waitlistId: number, stores: ExclusiveStores) => Promise<Result>;
}

export type AnyCommand<Result> = Command<Result> | Exclusive<Result>;

/** The records that a command changed, in the order of the command; of a click, the record of the link. */
export interface Changed {
  readonly uuids: readonly string[];
}

/** Hands the result of a command to its caller. */
export type Reply = () => void;

/** Makes the result of a command a callback, so commands with different result types can share a batch. */
export function withReply<Result>(command: AnyCommand<Result>, resolve: (result: Result) => void): AnyCommand<Reply> {
  if (command.kind === 'exclusive') {
    const run: Exclusive<Reply>['run'] = async (session, waitlistId, stores) => {
      const result = await command.run(session, waitlistId, stores);
      return () => resolve(result);
    };
    return { ...command, run };
  }
  const run: Command<Reply>['run'] = (state) => {
    const result = command.run(state);
    return () => resolve(result);
  };
  return { ...command, run };
}

/** The weight of a change of one record that brings these texts. */
export function weightOf(metadata: JsonObject | null = null, answers: unknown = null): number {
  if (metadata === null && answers === null) return 1;
  return 1 + Math.floor(Buffer.byteLength(JSON.stringify([metadata, answers])) / WEIGHTY_TEXT_BYTES);
}
