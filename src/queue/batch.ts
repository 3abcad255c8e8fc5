/**
 * Decides a batch of commands: facts in, decision out, no database. The writer reads the facts under the lock of the
 * waitlist's row and stores the decision in the same transaction.
 */
import { v7 as uuidV7 } from 'uuid';
import type { OwnerWrite } from '../platform/idempotency/owner-write.js';
import type { Outcome } from '../platform/limits/batcher.js';
import { admit } from './admission/admit.js';
import { CounterChanges } from './counters.js';
import { rankKey } from './rank-key.js';
import { newReferralToken } from './referral-link.js';
import type { Applicant, ContactKeys, Found, Newcomer, StoredWaiter, Waiter } from './waiter.js';
import type { Removal } from './waiter.store.js';
import type { LeanWaitlist } from './waitlist.table.js';

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

/** The records with these ids, or the first ones of the queue. */
export type Selection = { readonly ids: readonly number[] } | { readonly next: number };

export type Command = Join | Offboard;

/** The waitlist has a record with this contact data already. */
export type Duplicate = Omit<Found, 'waiter' | 'waitlist'>;

/** The records that an offboarding removed, in its order. */
export interface Offboarded {
  readonly uuids: readonly string[];
  /** Active records of the waitlist after it. */
  readonly active: number;
}

export type Result = Found | Duplicate | Offboarded;

/** What is known under the lock about the waitlist and the records that the commands name. */
export interface Facts {
  readonly waitlist: LeanWaitlist;
  /** The records that offboardings name by their ids. */
  readonly named: readonly Waiter[];
  /** The first records of the queue, as many as the offboardings may need. */
  readonly first: readonly Waiter[];
  /** The offboardings that an earlier attempt carried out, each with the uuids of the records that it removed. */
  readonly done: ReadonlyMap<string, readonly string[]>;
  /** Both keys of each existing record that matches a join. */
  readonly taken: readonly ContactKeys[];
  /** The records whose tokens the joins carry. */
  readonly referrers: readonly StoredWaiter[];
}

/** What to store, and the outcome of each command. */
export interface Decision {
  readonly outcomes: readonly Outcome<Result>[];
  readonly waitlist: LeanWaitlist;
  readonly removals: readonly Removal[];
  /** The offboardings that this decision carries out. */
  readonly offboarded: readonly { readonly write: OwnerWrite; readonly result: Offboarded }[];
  readonly joined: readonly Waiter[];
  /** Referrers with their new counts and rank keys. */
  readonly credited: readonly StoredWaiter[];
  readonly counters: CounterChanges;
}

/**
 * Carries out offboardings first, so that signups of the same batch do not change the positions they report. A command that
 * fails changes nothing.
 */
export function decide(facts: Facts, commands: readonly Command[]): Decision {
  const state = stateOf(facts);
  const offboarded = offboardAll(state, commands);
  const outcomes = commands.map((command): Outcome<Result> => {
    if (command.kind === 'offboard') return { result: offboarded.get(command.write.id) as Offboarded };
    try {
      return { result: join(state, command) };
    } catch (error) {
      return { error };
    }
  });
  moveReferrers(state);
  const { waitlist, removals, written, joined, credited, counters } = state;
  return { outcomes, waitlist, removals, offboarded: written, joined, credited: [...credited.values()], counters };
}

type State = ReturnType<typeof stateOf>;

/** The facts, which the commands then change one after the other. */
function stateOf({ waitlist, named, first, done, taken, referrers }: Facts) {
  return {
    waitlist: { ...waitlist },
    named: new Map([...named, ...first].map((waiter) => [waiter.id, waiter])),
    first: first.map(({ id }) => id),
    done,
    takenEmails: new Set(taken.map(({ emailKey }) => emailKey)),
    takenPhones: new Set(taken.map(({ phoneKey }) => phoneKey)),
    referrers: new Map(referrers.map((referrer) => [referrer.referralToken, referrer])),
    credited: new Map<string, StoredWaiter>(),
    counters: new CounterChanges(waitlist),
    removals: [] as Removal[],
    written: [] as { write: OwnerWrite; result: Offboarded }[],
    joined: [] as Waiter[],
  };
}

/**
 * One command after the other: a record's position at its removal is the one before the batch, less the records ahead of
 * it that earlier commands removed. Returns the result of each command.
 */
function offboardAll(state: State, commands: readonly Command[]): Map<string, Offboarded> {
  const { waitlist, named, counters, removals, written, done } = state;
  const results = new Map<string, Offboarded>();
  const gone: number[] = [];
  const at = new Date();
  for (const command of commands) {
    if (command.kind !== 'offboard') continue;
    const { write } = command;
    const removedBefore = done.get(write.id);
    if (removedBefore) {
      results.set(write.id, { uuids: removedBefore, active: waitlist.active });
      continue;
    }
    const leaving = select(state, command.selection);
    const removed = leaving.map((waiter): Waiter => {
      const priority = waiter.priority - gone.filter((position) => position < waiter.priority).length;
      return { ...waiter, active: false, removedAt: at, removedPriority: priority, priority };
    });
    gone.push(...leaving.map(({ priority }) => priority));
    const priorities = new Map(removed.map(({ id, priority }) => [id, priority]));
    if (removed.length > 0) removals.push({ at, priorities });
    for (const waiter of removed) {
      named.set(waiter.id, waiter);
      waitlist.active -= 1;
      waitlist.offboarded += 1;
      counters.leave(waiter);
      if (!waiter.referred) continue;
      waitlist.referredActive -= 1;
      waitlist.referredOffboarded += 1;
    }
    const result = { uuids: removed.map(({ uuid }) => uuid), active: waitlist.active };
    results.set(write.id, result);
    written.push({ write, result });
  }
  return results;
}

/** The active records of a selection, each once. */
function select({ named, first }: State, selection: Selection): Waiter[] {
  const ids = 'ids' in selection ? new Set(selection.ids) : first;
  const active = [...ids].flatMap((id) => named.get(id) ?? []).filter((waiter) => waiter.active);
  return 'ids' in selection ? active : active.slice(0, selection.next);
}

/** @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `WAITLIST_CLOSED` */
function join(state: State, { applicant }: Join): Found | Duplicate {
  const { waitlist, takenEmails, takenPhones, counters } = state;
  const { keys, newcomer, refusal } = admit(applicant, waitlist);
  const { emailKey, phoneKey } = keys;
  const isTaken = (emailKey !== null && takenEmails.has(emailKey)) || (phoneKey !== null && takenPhones.has(phoneKey));
  if (isTaken) return { keys, isNew: false, revealsRecord: refusal !== null };
  if (refusal) throw refusal;
  if (emailKey !== null) takenEmails.add(emailKey);
  if (phoneKey !== null) takenPhones.add(phoneKey);
  const waiter = newWaiter(waitlist, newcomer, credit(state, applicant.referrerTokens));
  state.joined.push(waiter);
  waitlist.nextSeq += 1;
  waitlist.active += 1;
  if (waiter.referred) waitlist.referredActive += 1;
  counters.join(waiter);
  return { waiter, waitlist, keys, isNew: true, revealsRecord: false };
}

/** Credits the first known referrer with one more referral and returns its token; null if none is known. */
function credit({ waitlist, referrers, credited }: State, tokens: readonly string[]): string | null {
  const token = tokens.find((candidate) => referrers.has(candidate)) ?? null;
  const referrer = token === null ? undefined : (credited.get(token) ?? referrers.get(token));
  if (token === null || !referrer) return null;
  const { amountReferred, creditedReferrals } = referrer;
  const facts = { ...referrer, amountReferred: amountReferred + 1, creditedReferrals: creditedReferrals + 1 };
  credited.set(token, { ...facts, rankKey: rankKey(facts, waitlist.spotsPerReferral) });
  return token;
}

function moveReferrers({ named, referrers, credited, counters }: State): void {
  for (const [token, { id, active, referred, rankKey: to }] of credited) {
    const isOffboarded = !active || named.get(id)?.active === false;
    const from = referrers.get(token)?.rankKey;
    if (!isOffboarded && from !== undefined) counters.move(from, to, referred);
  }
}

type Queue = Pick<LeanWaitlist, 'id' | 'nextSeq' | 'active' | 'spotsPerReferral'>;

/** The newest record is behind all others: no active record can have a greater key, so its position is their number. */
export function newWaiter(waitlist: Queue, newcomer: Newcomer, referredByToken: string | null): Waiter {
  const facts = { seq: waitlist.nextSeq, creditedReferrals: 0, spotsAdvanced: 0 };
  return {
    id: 0,
    waitlistId: waitlist.id,
    uuid: uuidV7(),
    ...newcomer,
    registeredEmail: newcomer.email,
    answers: newcomer.answers.length > 0 ? [...newcomer.answers] : null,
    referralToken: newReferralToken(),
    referredByToken,
    referred: referredByToken !== null,
    amountReferred: 0,
    rankKey: rankKey(facts, waitlist.spotsPerReferral),
    active: true,
    verified: false,
    removedAt: null,
    removedPriority: null,
    createdAt: new Date(),
    priority: waitlist.active,
    ...facts,
  };
}
