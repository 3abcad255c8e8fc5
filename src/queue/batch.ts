/**
 * Decides a batch of commands: facts in, decision out, no database. The writer reads the facts under the lock of the
 * waitlist's row and stores the decision in the same transaction.
 */
import { v7 as uuidV7 } from 'uuid';
import type { AuditAction } from '../platform/audit/audit-log.js';
import type { OwnerWrite } from '../platform/idempotency/owner-write.js';
import type { Outcome } from '../platform/limits/batcher.js';
import { Problem } from '../platform/problems/problem.js';
import { admit } from './admission/admit.js';
import { correct } from './admission/correct.js';
import { CounterChanges, countRecord } from './counters.js';
import { DayChanges, dayOf, daysOf } from './day-counts.js';
import type { ErasedWaiterEntity } from './erased-waiter.entity.js';
import { rankKey, spotsAfter } from './rank-key.js';
import { newReferralToken } from './referral-link.js';
import type { Applicant, ContactKeys, Found, Newcomer, PersonChanges, StoredWaiter, Waiter } from './waiter.js';
import type { Correction, Removal } from './waiter.store.js';
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
}

/** The records with these ids or uuids, or the first ones of the queue. */
export type Selection =
  { readonly ids: readonly number[] } | { readonly uuids: readonly string[] } | { readonly next: number };

export type Command = Offboard | Erase | Correct | Join;

/** The answer to a join whose contact data a record of the waitlist has already. */
export type Duplicate = Omit<Found, 'waiter' | 'waitlist'>;

/** The records that an owner's command changed, in the order of the command. */
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
  /** The records that owners' commands name by their ids or uuids. */
  readonly named: readonly Waiter[];
  /** The first records of the queue, as many as the offboardings may need. */
  readonly first: readonly Waiter[];
  /** The owners' commands that an earlier attempt carried out, each with the uuids of the records that it changed. */
  readonly done: ReadonlyMap<string, readonly string[]>;
  /** Both keys of each existing record that matches a join or the contact data of a correction. */
  readonly taken: readonly ContactKeys[];
  /** The records whose tokens the joins carry. */
  readonly referrers: readonly StoredWaiter[];
}

/** An owner's command that a decision carries out. */
export interface Written {
  readonly write: OwnerWrite;
  readonly action: AuditAction;
  readonly uuids: readonly string[];
  /** Numbers of the answer that a later read could not give again. */
  readonly counts?: { readonly active: number };
}

/** The changes to store, and the outcome of each command. */
export interface Decision {
  readonly outcomes: readonly Outcome<Result>[];
  readonly waitlist: LeanWaitlist;
  readonly written: readonly Written[];
  readonly removals: readonly Removal[];
  /** The tombstones of the records to delete. */
  readonly erased: readonly ErasedWaiterEntity[];
  /** In this order, because one can take an email that an earlier one gave up. */
  readonly corrections: readonly Correction[];
  readonly joined: readonly Waiter[];
  /** Referrers with their new counts and rank keys. */
  readonly credited: readonly StoredWaiter[];
  readonly counters: CounterChanges;
  readonly days: DayChanges;
}

/**
 * Carries out the commands as if one after the other: first all offboardings, because they report positions as they were
 * before the batch; then all erasures, corrections and joins, so that a contact that is given up can be taken. A command
 * that fails changes nothing.
 */
export function decide(facts: Facts, commands: readonly Command[]): Decision {
  const state = stateOf(facts);
  const outcomes = new Map<Command, Outcome<Result>>();
  for (const kind of ORDER)
    for (const command of commands)
      if (command.kind === kind)
        outcomes.set(
          command,
          attempt(() => carryOut(state, command)),
        );
  countMoves(state);
  const { waitlist, written, removals, erased, corrections, joined, records, credited, counters, days } = state;
  return {
    outcomes: commands.map((command) => outcomes.get(command) as Outcome<Result>),
    waitlist,
    written,
    removals,
    erased,
    corrections,
    joined,
    credited: [...credited].map((id) => records.get(id) as StoredWaiter),
    counters,
    days,
  };
}

const ORDER = ['offboard', 'erase', 'correct', 'join'] as const satisfies readonly Command['kind'][];

function attempt(work: () => Result): Outcome<Result> {
  try {
    return { result: work() };
  } catch (error) {
    return { error };
  }
}

function carryOut(state: State, command: Command): Result {
  if (command.kind === 'join') return join(state, command);
  const uuids = state.done.get(command.write.id);
  if (command.kind === 'offboard') return uuids ? { uuids, active: state.waitlist.active } : offboard(state, command);
  if (uuids) return { uuids };
  return command.kind === 'erase' ? erase(state, command) : correctOne(state, command);
}

type State = ReturnType<typeof stateOf>;

/** The facts and the decision so far; the commands change both, one after the other. */
function stateOf({ waitlist, named, first, done, taken, referrers }: Facts) {
  const known: readonly StoredWaiter[] = [...referrers, ...first, ...named];
  return {
    at: new Date(),
    waitlist: { ...waitlist },
    /** The records by id, as the commands leave them; without those that are erased. */
    records: new Map(known.map((record) => [record.id, record])),
    ids: new Map(named.map(({ uuid, id }) => [uuid, id])),
    first: first.map(({ id }) => id),
    /** The positions before the batch. */
    priorities: new Map([...named, ...first].map(({ id, priority }) => [id, priority])),
    /** The positions before the batch of the records that it offboards. */
    removedPositions: [] as number[],
    /** The rank keys before the batch of the records that it moves, by id. */
    oldRankKeys: new Map<number, number>(),
    done,
    takenEmails: new Set<string | null>(taken.flatMap(({ emailKey }) => emailKey ?? [])),
    takenPhones: new Set<string | null>(taken.flatMap(({ phoneKey }) => phoneKey ?? [])),
    referrers: new Map(referrers.map(({ referralToken, id }) => [referralToken, id])),
    credited: new Set<number>(),
    counters: new CounterChanges(waitlist),
    days: new DayChanges(),
    written: [] as Written[],
    removals: [] as Removal[],
    erased: [] as ErasedWaiterEntity[],
    corrections: [] as Correction[],
    joined: [] as Waiter[],
  };
}

/**
 * A record's position at its removal is the one before the batch, less the records ahead of it that earlier commands
 * removed.
 */
function offboard(state: State, { selection, write }: Offboard): Offboarded {
  const { at, waitlist, records, priorities, removedPositions, counters, days } = state;
  const leaving = select(state, selection);
  const positions = leaving.map(({ id }) => priorities.get(id) as number);
  const lastPositions = positions.map(
    (position) => position - removedPositions.filter((other) => other < position).length,
  );
  removedPositions.push(...positions);
  if (leaving.length > 0)
    state.removals.push({
      at,
      priorities: new Map(leaving.map(({ id }, index) => [id, lastPositions[index] as number])),
    });
  for (const [index, record] of leaving.entries()) {
    const removed = {
      ...record,
      status: 'offboarded' as const,
      removedAt: at,
      removedPriority: lastPositions[index] as number,
    };
    records.set(record.id, removed);
    countRecord(waitlist, record, -1);
    countRecord(waitlist, removed, 1);
    counters.leave(record);
    days.count(daysOf(record), -1);
    days.count(daysOf(removed), 1);
  }
  const result = { uuids: leaving.map(({ uuid }) => uuid), active: waitlist.active };
  state.written.push({ write, action: 'waiters_offboarded', uuids: result.uuids, counts: { active: result.active } });
  return result;
}

/** The active records of a selection, each once. */
function select({ records, ids, first }: State, selection: Selection): StoredWaiter[] {
  const selected = 'ids' in selection ? selection.ids : 'uuids' in selection ? idsOf(ids, selection.uuids) : first;
  const active = [...new Set(selected)]
    .flatMap((id) => records.get(id) ?? [])
    .filter(({ status }) => status === 'waiting');
  return 'next' in selection ? active.slice(0, selection.next) : active;
}

function idsOf(ids: ReadonlyMap<string, number>, uuids: readonly string[]): number[] {
  return uuids.flatMap((uuid) => ids.get(uuid) ?? []);
}

/** Deletes records, active or offboarded, each once. Their referrers keep the credit. */
function erase(state: State, { uuids, write }: Erase): Changed {
  const { at, waitlist, records, ids, takenEmails, takenPhones, referrers, counters, days } = state;
  const leaving = [...new Set(idsOf(ids, uuids))].flatMap((id) => records.get(id) ?? []);
  for (const record of leaving) {
    const {
      id,
      waitlistId,
      seq,
      uuid,
      referralToken,
      referredByToken,
      credit: earned,
      rankKey: key,
      createdAt,
    } = record;
    state.erased.push({
      id,
      waitlistId,
      seq,
      uuid,
      referralToken,
      referredByToken,
      credit: earned,
      rankKey: key,
      createdAt,
      erasedAt: at,
    });
    records.delete(id);
    referrers.delete(referralToken);
    takenEmails.delete(record.emailKey);
    takenPhones.delete(record.phoneKey);
    countRecord(waitlist, record, -1);
    counters.count(record, record.status === 'waiting', -1);
    days.count(daysOf(record), -1);
    days.countErasure(dayOf(at));
  }
  const changed = { uuids: leaving.map(({ uuid }) => uuid) };
  state.written.push({ write, action: 'waiters_erased', ...changed });
  return changed;
}

/** @throws Problem `NO_WAITER_FOUND`, `CONTACT_TAKEN`, `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN` */
function correctOne(state: State, { uuid, changes, keys, region, write }: Correct): Changed {
  const { records, ids, takenEmails, takenPhones } = state;
  const record = records.get(ids.get(uuid) ?? 0);
  if (!record) throw new Problem('NO_WAITER_FOUND');
  const corrected = correct(record, changes, keys, region);
  const { emailKey, phoneKey } = { ...record, ...corrected };
  // No two records share a key, so a taken key that is not the record's own belongs to another record.
  if (emailKey !== record.emailKey && takenEmails.has(emailKey)) throw contactTaken('email');
  if (phoneKey !== record.phoneKey && takenPhones.has(phoneKey)) throw contactTaken('phone');
  replace(takenEmails, record.emailKey, emailKey);
  replace(takenPhones, record.phoneKey, phoneKey);
  records.set(record.id, { ...record, ...corrected });
  const columns = { ...corrected, ...advance(state, record.id, changes.spotsToAdvance) };
  if (Object.keys(columns).length > 0) state.corrections.push({ id: record.id, columns });
  const changed = { uuids: [uuid] };
  state.written.push({ write, action: 'waiter_corrected', ...changed });
  return changed;
}

function contactTaken(field: 'email' | 'phone'): Problem {
  return new Problem('CONTACT_TAKEN', {
    fields: [{ field, rule: 'unique', message: 'is that of another record of this waitlist' }],
  });
}

/** Grants a record more spots, or takes some back. Returns the columns that change. */
function advance(state: State, id: number, spots: number | undefined): Correction['columns'] {
  if (spots === undefined) return {};
  const record = state.records.get(id) as StoredWaiter;
  const spotsAdvanced = spotsAfter(record.spotsAdvanced, spots);
  return { spotsAdvanced, rankKey: moveTo(state, { ...record, spotsAdvanced }) };
}

function replace(taken: Set<string | null>, from: string | null, to: string | null): void {
  taken.delete(from);
  if (to !== null) taken.add(to);
}

/** @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `WAITLIST_CLOSED` */
function join(state: State, { applicant }: Join): Found | Duplicate {
  const { waitlist, takenEmails, takenPhones, counters, days } = state;
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
  countRecord(waitlist, waiter, 1);
  counters.join(waiter);
  days.count(daysOf(waiter), 1);
  return { waiter, waitlist, keys, isNew: true, revealsRecord: false };
}

/** Credits the first known referrer with one more referral and returns its token; null if none is known. */
function credit(state: State, tokens: readonly string[]): string | null {
  const { records, referrers, credited } = state;
  const token = tokens.find((candidate) => referrers.has(candidate));
  if (token === undefined) return null;
  const referrer = records.get(referrers.get(token) as number) as StoredWaiter;
  const { id, creditedReferrals } = referrer;
  moveTo(state, { ...referrer, creditedReferrals: creditedReferrals + 1 });
  credited.add(id);
  return token;
}

/** Stores a record whose position may have changed in the facts, and returns its new rank key. */
function moveTo({ waitlist, records, oldRankKeys }: State, changed: StoredWaiter): number {
  const key = rankKey(changed, waitlist.spotsPerReferral);
  if (!oldRankKeys.has(changed.id)) oldRankKeys.set(changed.id, changed.rankKey);
  records.set(changed.id, { ...changed, rankKey: key });
  return key;
}

/** Call it last: offboardings and erasures count a record by the rank key that is stored. */
function countMoves({ records, oldRankKeys, counters }: State): void {
  for (const [id, from] of oldRankKeys) {
    const record = records.get(id);
    if (record?.status === 'waiting') counters.move(from, record.rankKey, record.referred);
  }
}

type Queue = Pick<LeanWaitlist, 'id' | 'nextSeq' | 'active' | 'spotsPerReferral'>;

/** A record at the end of the queue. No active record has a greater key, so its position is the number of active records. */
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
    credit: referredByToken === null ? 'none' : 'credited',
    creditReasons: [],
    importedReferrals: 0,
    rankKey: rankKey(facts, waitlist.spotsPerReferral),
    status: 'waiting',
    verified: false,
    removedAt: null,
    removedPriority: null,
    createdAt: new Date(),
    priority: waitlist.active,
    ...facts,
  };
}
