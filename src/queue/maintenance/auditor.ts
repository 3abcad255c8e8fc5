import { Injectable } from '@nestjs/common';
import { Database, NO_DEADLINE } from '../../platform/database/database.js';
import type { Session } from '../../platform/database/session.js';
import { Problem } from '../../platform/problems/problem.js';
import {
  AXES,
  type Axis,
  type Bucket,
  bucketId,
  CounterChanges,
  EMPTY_TOTALS,
  NO_RECORDS,
  numberOf,
} from '../order/counters.js';
import { DayChanges, type DayCounts, DERIVED_DAY_FIELDS } from '../order/day-counts.js';
import { type OfferCount, OfferStore } from '../offers/offer.store.js';
import { Ledger } from '../order/ledger.js';
import { QueueStore } from '../settings/queue.store.js';
import { rankKey } from '../order/rank-key.js';
import { CREDIT_CODES, CREDITS, REMOVED_REASONS, STATUS_CODES } from '../record/waiter.entity.js';
import { WaiterStore } from '../record/waiter.store.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';
import {
  type AuditedFacts,
  type AuditedTombstone,
  type CreditedReferrals,
  MaintenanceStore,
  NUMBERED,
} from './maintenance.store.js';

/** Records read by one statement: few enough for memory and for a progress bar that moves. */
const CHUNK_SIZE = 5_000;
/** Lines listed; further ones are only counted, because a damaged queue can differ in every record. */
const FINDINGS_MAX = 100;
/** Records named in one line of a refusal. */
const NAMED_MAX = 20;

const UNSOUND_OFFER = 'its status and its open offers contradict each other';

/** Called with the records done and an estimate of all records. */
export type OnProgress = (done: number, total: number) => void;

/**
 * Compares derived data with the facts it is derived from, and derives it anew. Derived are buckets, totals, the
 * counters of days, rank keys, referral counts and `referred`. All else is facts. Where these contradict each other,
 * nothing tells which is right: `rebuild` refuses, and the operator restores a backup.
 */
@Injectable()
export class QueueAuditor {
  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly records: MaintenanceStore,
    private readonly waiters: WaiterStore,
    private readonly ledger: Ledger,
    private readonly offers: OfferStore,
  ) {}

  async waitlistIds(): Promise<number[]> {
    return this.database.one(this.queues.listIds());
  }

  /**
   * Checks all derived data and all facts of a waitlist in one snapshot; blocks no writer. Returns the numbers of
   * records and differences, and a line for each of the first {@link FINDINGS_MAX} differences and one for the rest.
   * @throws Problem `WAITLIST_NOT_FOUND`
   */
  async verify(waitlistId: number, onProgress: OnProgress) {
    return this.database.snapshot(async (session) => {
      const findings: string[] = [];
      let differences = 0;
      const report = (finding: string) => {
        differences += 1;
        if (findings.length < FINDINGS_MAX) findings.push(finding);
      };
      const waitlist = await session.one(this.queues.find(waitlistId));
      const derived = new Derived(waitlist);
      const end = await this.readFacts(session, waitlist, onProgress, (chunk) => {
        for (const facts of chunk) {
          for (const finding of [...damageOf(facts), ...differencesOf(facts, waitlist)])
            report(`record ${facts.id}: ${finding}`);
          derived.add(facts);
        }
      });
      await this.readTombstones(session, waitlistId, (tombstone) => {
        for (const damage of damageOfTombstone(tombstone)) report(`record ${tombstone.id}: ${damage}`);
        derived.days.countErasure(tombstone.erasedDay);
      });
      for (const id of await session.one(this.records.findUnsoundOffers(waitlistId)))
        report(`record ${id}: ${UNSOUND_OFFER}`);
      derived.addOffers(await session.one(this.offers.countDays(waitlistId)));
      if (!isNextSeq(waitlist.nextSeq, end))
        report(`queue: nextSeq is ${waitlist.nextSeq}, but records go up to seq ${end - 1}`);
      if (waitlist.nextPending < derived.nextPending)
        report(
          `queue: nextPending is ${waitlist.nextPending}, but pending records go down to seq -${derived.nextPending}`,
        );
      for (const field of TOTALS) {
        if (waitlist[field] !== derived.totals[field])
          report(`queue: ${field} is ${waitlist[field]}, the records give ${derived.totals[field]}`);
      }
      derived.openEnd(isNextSeq(waitlist.nextSeq, end) ? waitlist.nextSeq : end);
      for (const axis of AXES) {
        const stored = await session.one(this.ledger.findBuckets(waitlistId, axis));
        for (const finding of derived.bucketFindings(axis, stored)) report(finding);
      }
      for (const finding of dayFindings(derived.days.changed(), await session.one(this.ledger.findDays(waitlistId))))
        report(finding);
      if (differences > findings.length) findings.push(`… and ${differences - findings.length} more`);
      return { records: derived.records, findings, differences };
    }, NO_DEADLINE);
  }

  /**
   * Derives all derived data of a waitlist anew, under its lock; changes nothing where facts are damaged. Returns the
   * number of records whose derived columns changed.
   * @throws Problem `WAITLIST_NOT_FOUND`; `DAMAGED_BEYOND_REBUILD`
   */
  async rebuild(waitlistId: number, onProgress: OnProgress): Promise<number> {
    return this.database.pipelinedTransaction(async (session) => {
      const waitlist = await session.one(this.queues.lock(waitlistId));
      const derived = new Derived(waitlist);
      const damaged = new Map<string, number[]>();
      const note = (id: number, damage: readonly string[]) => {
        for (const text of damage) {
          if (!damaged.has(text)) damaged.set(text, []);
          damaged.get(text)?.push(id);
        }
      };
      let changed = 0;
      const end = await this.readFacts(session, waitlist, onProgress, async (chunk) => {
        for (const facts of chunk) {
          note(facts.id, damageOf(facts));
          derived.add(facts);
        }
        const wrong = chunk.filter((facts) => differencesOf(facts, waitlist).length > 0);
        changed += wrong.length;
        const standings = wrong.map((facts) => ({ id: facts.id, ...derivedOf(facts, waitlist) }));
        await session.one(this.waiters.updateStandings(waitlistId, standings));
      });
      await this.readTombstones(session, waitlistId, (tombstone) => {
        note(tombstone.id, damageOfTombstone(tombstone));
        derived.days.countErasure(tombstone.erasedDay);
      });
      for (const id of await session.one(this.records.findUnsoundOffers(waitlistId))) note(id, [UNSOUND_OFFER]);
      derived.addOffers(await session.one(this.offers.countDays(waitlistId)));
      const damages = Array.from(damaged, ([damage, ids]) => `${damage}: ${named(ids)}`);
      if (damages.length > 0) throw refusal(waitlistId, damages);
      const nextSeq = isNextSeq(waitlist.nextSeq, end) ? waitlist.nextSeq : end;
      const nextPending = Math.max(waitlist.nextPending, derived.nextPending);
      derived.openEnd(nextSeq);
      // Departures cannot be derived, so the stored counts are kept.
      for (const { day, departed } of await session.one(this.ledger.findDays(waitlistId)))
        derived.days.countDeparture(day, departed);
      await session.commit([
        this.records.markReferred(waitlistId),
        this.ledger.replace(
          { ...waitlist, ...derived.totals, nextSeq, nextPending },
          derived.buckets(AXES),
          derived.days.changed(),
        ),
      ]);
      return changed;
    }, NO_DEADLINE);
  }

  /** Passes on all records in join order; returns the `seq` after the last. */
  private async readFacts(
    session: Session,
    { id }: LeanWaitlist,
    onProgress: OnProgress,
    onChunk: (chunk: readonly AuditedFacts[]) => void | Promise<void>,
  ): Promise<number> {
    const { end } = await session.one(this.records.findSpan(id));
    const referrals = await this.countReferrals(session, id);
    let done = 0;
    for (let after: number | null = null; ;) {
      const chunk: readonly AuditedFacts[] = await session.one(
        this.records.findFacts(id, referrals, after, CHUNK_SIZE),
      );
      await onChunk(chunk);
      onProgress((done += chunk.length), end);
      if (chunk.length < CHUNK_SIZE) return end;
      after = chunk.at(-1)?.seq ?? null;
    }
  }

  /** The credited referrals of each referrer's token. A million referrers take some 150 MB of memory. */
  private async countReferrals(session: Session, waitlistId: number): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const table of NUMBERED) {
      for (let after: string | undefined = ''; after !== undefined;) {
        const query = this.records.findReferrals(table, waitlistId, after, CHUNK_SIZE);
        const referrers: readonly CreditedReferrals[] = await session.one(query);
        for (const { token, count } of referrers) counts.set(token, (counts.get(token) ?? 0) + count);
        after = referrers.at(-1)?.token;
      }
    }
    return counts;
  }

  private async readTombstones(
    session: Session,
    waitlistId: number,
    onTombstone: (tombstone: AuditedTombstone) => void,
  ): Promise<void> {
    for (let after: number | null = null; ;) {
      const chunk: readonly AuditedTombstone[] = await session.one(
        this.records.findTombstones(waitlistId, after, CHUNK_SIZE),
      );
      chunk.forEach(onTombstone);
      if (chunk.length < CHUNK_SIZE) return;
      after = chunk.at(-1)?.seq ?? null;
    }
  }
}

const TOTALS = Object.keys(NO_RECORDS) as (keyof typeof NO_RECORDS)[];

const ACCEPTED = REMOVED_REASONS.indexOf('accepted');

/** Totals and counters, gathered from one record after the other. */
class Derived {
  readonly totals = { ...NO_RECORDS };
  readonly days = new DayChanges();
  /** Pending records are in no total and in no counter. */
  private pending = 0;
  /** The number after the last that the pending records have. */
  nextPending = 0;
  private readonly counters = new CounterChanges(EMPTY_TOTALS);

  constructor(private readonly waitlist: LeanWaitlist) {}

  get records(): number {
    return this.totals.active + this.totals.offboarded + this.totals.offered + this.pending;
  }

  add(facts: AuditedFacts): void {
    if (facts.status === STATUS_CODES.pending) {
      this.pending += 1;
      this.nextPending = Math.max(this.nextPending, -facts.seq);
      return;
    }
    const isReferred = facts.referredByToken !== null;
    this.days.count({ joined: facts.joinedDay, offboarded: facts.offboardedDay, referred: isReferred }, 1);
    const isOffered = facts.status === STATUS_CODES.offered;
    if (isOffered || facts.removedReason === ACCEPTED) this.totals.seatsTaken += 1;
    if (isOffered) {
      this.totals.offered += 1;
      if (isReferred) this.totals.referredOffered += 1;
      return;
    }
    const isActive = facts.status === STATUS_CODES.waiting;
    const record = { seq: facts.seq, rankKey: derivedOf(facts, this.waitlist).rankKey, referred: isReferred };
    this.counters.count(record, isActive, 1);
    this.totals[isActive ? 'active' : 'offboarded'] += 1;
    if (isReferred) this.totals[isActive ? 'referredActive' : 'referredOffboarded'] += 1;
  }

  addOffers(counts: readonly OfferCount[]): void {
    for (const { field, day, count } of counts) this.days.countOffer(field, day, count);
  }

  openEnd(nextSeq: number): void {
    if (nextSeq > 0) this.counters.openEnd(nextSeq - 1);
  }

  buckets(axes: readonly Axis[]): Bucket[] {
    return this.counters.changedBuckets(new Map(), axes);
  }

  /** Differences of an axis's stored buckets. Empty ones count too: later records are counted from their `before`. */
  bucketFindings(axis: Axis, stored: readonly Bucket[]): string[] {
    const storedIds = new Set(stored.map(bucketId));
    const missing = this.buckets([axis]).filter((bucket) => !storedIds.has(bucketId(bucket)));
    for (const bucket of stored) {
      const bits = axis.widthBits[bucket.level];
      if (bits !== undefined) this.counters.add(axis, numberOf(axis, bucket) * 2 ** bits, 0);
    }
    const right = new Map(this.buckets([axis]).map((bucket) => [bucketId(bucket), bucket.before]));
    const findings = missing.map(
      (bucket) => `bucket ${bucketId(bucket)}: it is missing, the records give ${bucket.before} before`,
    );
    for (const { id, before } of stored.map((bucket) => ({ ...bucket, id: bucketId(bucket) })))
      if (before !== right.get(id))
        findings.push(`bucket ${id}: before is ${before}, the records give ${right.get(id) ?? 'no such bucket'}`);
    return findings;
  }
}

/** The derived columns of a record. */
function derivedOf(
  { seq, referrals, importedReferrals, spotsAdvanced, referredByToken }: AuditedFacts,
  { spotsPerReferral }: LeanWaitlist,
) {
  const creditedReferrals = referrals + importedReferrals;
  return {
    creditedReferrals,
    rankKey: rankKey({ seq, creditedReferrals, spotsAdvanced }, spotsPerReferral),
    referred: referredByToken === null ? 0 : 1,
  };
}

function differencesOf(facts: AuditedFacts, waitlist: LeanWaitlist): string[] {
  const derived = derivedOf(facts, waitlist);
  const fields = ['creditedReferrals', 'rankKey', 'referred'] as const;
  return fields
    .filter((field) => facts[field] !== derived[field])
    .map((field) => `${field} is ${facts[field]}, the facts give ${derived[field]}`);
}

/** Contradictions in the facts of a record. That no two records share a `seq` is held by the unique index. */
function damageOf(facts: AuditedFacts): string[] {
  const { seq, status, credit, removedPriority: position, removedReason } = facts;
  const isOffboarded = status === STATUS_CODES.offboarded;
  const isPending = status === STATUS_CODES.pending;
  const isOffered = status === STATUS_CODES.offered;
  const isStatus = isOffboarded || isPending || isOffered || status === STATUS_CODES.waiting;
  const isDated = facts.offboardedDay !== null;
  // Of an imported record, the position in another queue, which may have been longer.
  const isPosition = position !== null && isCount(position);
  const damage: [string, boolean][] = [
    ['seq is negative or too large', !isPending && !isCount(seq)],
    ['seq is not negative, but the record is pending', isPending && !isCount(-1 - seq)],
    ['spots_advanced is negative or too large', !isCount(facts.spotsAdvanced)],
    ['imported_referrals is negative or too large', !isCount(facts.importedReferrals)],
    ['status is none of 0 to 3', !isStatus],
    ['credit is none of 0 to 4', !(credit in CREDITS)],
    ['credit is given, but the record is pending', isPending && credit === CREDIT_CODES.credited],
    ['removed_at is missing, but the record is offboarded', isOffboarded && !isDated],
    ['removed_priority is no position, but the record is offboarded', isOffboarded && !isPosition],
    ['removed_at is set, but the record is not offboarded', isStatus && !isOffboarded && isDated],
    ['removed_priority is no position, but the record is offered', isOffered && !isPosition],
    ['removed_priority is set, but the record waits', isStatus && !isOffboarded && !isOffered && position !== null],
    ['removed_reason is none of 0 to 3', removedReason !== null && !(removedReason in REMOVED_REASONS)],
    ['removed_reason is set, but the record is not offboarded', !isOffboarded && removedReason !== null],
  ];
  return damage.filter(([, isTrue]) => isTrue).map(([text]) => text);
}

function damageOfTombstone({ seq, isRecord }: AuditedTombstone): string[] {
  return [
    ...(isCount(seq) ? [] : ['it was erased, but its seq is negative or too large']),
    ...(isRecord ? ['it was erased, but a record has its id, seq or token'] : []),
  ];
}

/** Differences of the derived counters of days. A day without a row counts as zeros. */
function dayFindings(right: readonly DayCounts[], stored: readonly DayCounts[]): string[] {
  const [rightByDay, storedByDay] = [right, stored].map((days) => new Map(days.map((counts) => [counts.day, counts])));
  return [...new Set([...right, ...stored].map(({ day }) => day))].flatMap((day) =>
    DERIVED_DAY_FIELDS.map((field) => ({
      field,
      is: storedByDay?.get(day)?.[field] ?? 0,
      gives: rightByDay?.get(day)?.[field] ?? 0,
    }))
      .filter(({ is, gives }) => is !== gives)
      .map(({ field, is, gives }) => `day ${day}: ${field} is ${is}, the records give ${gives}`),
  );
}

function isCount(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0;
}

/** Gaps are possible, duplicates are not. */
function isNextSeq(nextSeq: number, end: number): boolean {
  return Number.isSafeInteger(nextSeq) && nextSeq >= end;
}

function refusal(waitlistId: number, damage: readonly string[]): Problem {
  const detail = [`Waitlist ${waitlistId} cannot be rebuilt. Restore it from a backup:`, ...damage].join('\n  ');
  return new Problem('DAMAGED_BEYOND_REBUILD', { detail });
}

function named(ids: readonly number[]): string {
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : '';
  return `${ids.length === 1 ? 'record' : 'records'} ${ids.slice(0, NAMED_MAX).join(', ')}${more}`;
}
