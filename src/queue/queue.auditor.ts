import { Injectable } from '@nestjs/common';
import { Database, UNHURRIED } from '../platform/database/database.js';
import type { Session } from '../platform/database/session.js';
import { Problem } from '../platform/problems/problem.js';
import { BucketStore } from './bucket.store.js';
import {
  AXES,
  type Axis,
  type Bucket,
  type BucketPlace,
  bucketId,
  COUNTED_AXIS,
  CounterChanges,
  keptAxes,
  pathOf,
  QUEUE_AXIS,
  timesCounted,
} from './counters.js';
import type { QueueEntity } from './queue.entity.js';
import { QueueStore } from './queue.store.js';
import { rankKey, SPOTS_PER_REFERRAL_DEFAULT, spotsPerReferralBy } from './rank-key.js';
import { type AuditedFacts, SEQ_LOWEST, WaiterStore } from './waiter.store.js';

/** Records read at once: large enough to be quick, small enough for memory and for a progress bar that moves. */
const CHUNK_SIZE = 5_000;
/** What is told is listed up to here and counted beyond: a damaged line differs everywhere. */
const REMARKS_MAX = 100;

export interface AuditReport {
  readonly records: number;
  /** A line each. */
  readonly findings: readonly string[];
  /** How many there are in all. */
  readonly differences: number;
  /** What is no difference, and may be better: a line each. */
  readonly remarks: readonly string[];
}

export interface RebuildReport {
  /** How many records changed. */
  readonly changed: number;
  /** What the facts did not tell, and what was made of it: a line each. */
  readonly remarks: readonly string[];
}

/** Called with the records done and the records in all. */
export type OnProgress = (done: number, total: number) => void;

/** Holds all that is derived against the facts, and derives it anew. */
@Injectable()
export class QueueAuditor {
  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly buckets: BucketStore,
  ) {}

  async waitlistIds(): Promise<number[]> {
    return this.database.read((manager) => this.queues.listIds(manager));
  }

  async closedIds(): Promise<number[]> {
    return this.database.read((manager) => this.queues.listClosed(manager));
  }

  async orphanIds(): Promise<number[]> {
    return this.database.read((manager) => this.queues.listOrphans(manager));
  }

  /**
   * Checks every counter, key, sequence number and referral count of a waitlist as of one moment; holds up no writer.
   * @throws Problem `not_found` without such a waitlist
   */
  async verify(waitlistId: number, onProgress: OnProgress): Promise<AuditReport> {
    return this.database.snapshot(async (session) => {
      const findings = new Remarks();
      const [stored] = await this.queues.find(session, [waitlistId]);
      const queue = stored ?? (await this.lostQueue(session, waitlistId));
      const derived = await this.derive(session, queue, onProgress, (facts, index, end) => {
        for (const difference of [...differencesOf(facts, index, queue), ...removalFaults(facts, end)])
          findings.add(`record ${facts.id}: ${difference}`);
      });
      if (!stored) findings.add('queue: the row of this waitlist is missing');
      else if (!(await this.queues.isExpected(session, waitlistId))) findings.add(WAITLIST_LOST);
      for (const field of TOTALS) {
        if (stored && stored[field] !== derived.queue[field])
          findings.add(`queue: ${field} is ${stored[field]}, the records give ${derived.queue[field]}`);
      }
      const axes = keptAxes(queue, await this.buckets.findCounted(session, waitlistId));
      for (const axis of axes) {
        const buckets = await this.buckets.findAll(session, waitlistId, axis);
        const kept = new Map(buckets.map((bucket) => [bucketId(bucket), bucket]));
        // Empty ones too: on what such a one says comes before, whoever falls into it will be counted.
        for (const bucket of derived.buckets(axis, buckets)) {
          const { amount = 0, before = 0 } = kept.get(bucketId(bucket)) ?? {};
          if (amount !== bucket.amount)
            findings.add(`bucket ${bucketId(bucket)}: amount is ${amount}, the records give ${bucket.amount}`);
          if (before !== bucket.before)
            findings.add(`bucket ${bucketId(bucket)}: before is ${before}, the records give ${bucket.before}`);
        }
      }
      const remarks: string[] = [];
      if (axes !== AXES) {
        // Nothing is read of them until then, and no older program leaves more than there was to count.
        remarks.push(
          'the referred are not counted in the order of the line, as an older version leaves it: rebuild does',
        );
        for (const { amount, ...place } of await this.buckets.findAll(session, waitlistId, COUNTED_AXIS)) {
          const most = place.level === 0 && place.parent === 0 ? timesCounted(derived.queue) : 0;
          if (amount < 0 || amount > most)
            findings.add(`bucket ${bucketId(place)}: amount is ${amount}, the records give ${most} at most`);
        }
      }
      return { records: derived.records, findings: findings.lines(), differences: findings.amount, remarks };
    }, UNHURRIED);
  }

  /**
   * Derives every counter, key, sequence number and referral count of a waitlist anew, under its lock; gives how many
   * records changed. The order of joining is a fact and stays. Where the row of the line was lost, what a referral is
   * worth is lost with it, and is what the keys were derived with. Who left without a place or a moment left just now.
   * @throws Problem `not_found` without such a waitlist
   */
  async rebuild(waitlistId: number, onProgress: OnProgress): Promise<RebuildReport> {
    return this.database.exchange(async (session) => {
      const stored = await this.queues.findLocked(session, waitlistId);
      const queue = stored ?? (await this.lostQueue(session, waitlistId));
      if (!stored) await this.queues.open(session, waitlistId, queue.spotsPerReferral);
      await this.waiters.closeGaps(session, waitlistId);
      const remarks = new Remarks();
      if (!stored)
        remarks.add(`its line was missing: see that spots_to_move_upon_referral is ${queue.spotsPerReferral}`);
      else if (!(await this.queues.isExpected(session, waitlistId))) remarks.add(WAITLIST_LOST);
      let wrong: AuditedFacts[] = [];
      let changed = 0;
      const unplaced: { readonly id: number; readonly key: number }[] = [];
      const correct = async () => {
        const standings = wrong.map((facts) => ({ ...facts, ...rightFacts(facts, queue) }));
        await this.waiters.updateStandings(session, waitlistId, standings);
        await this.waiters.deriveFlags(session, waitlistId, wrong.map(({ id }) => id)); // prettier-ignore
        changed += wrong.length;
        wrong = [];
      };
      const derived = await this.derive(
        session,
        queue,
        onProgress,
        (facts, index, end) => {
          const faults = removalFaults(facts, end);
          if (faults.length > 0 || differencesOf(facts, index, queue).length > 0) wrong.push(facts);
          if (faults.length === 0) return;
          const { active, rankKey: key } = rightFacts(facts, queue);
          unplaced.push({ id: facts.id, key });
          const outcome = active ? 'that is cleared' : 'it is as if it left just now';
          for (const fault of faults) remarks.add(`record ${facts.id}: ${fault}: ${outcome}`);
        },
        correct,
      );
      // Whoever left the line has no bucket, but needs one to be placed.
      const paths = unplaced.flatMap(({ key }) => pathOf(QUEUE_AXIS, key));
      const buckets = AXES.flatMap((axis) => derived.buckets(axis, axis === QUEUE_AXIS ? paths : []));
      await this.buckets.replaceAll(session, waitlistId, buckets);
      const removals = { placesEnd: derived.records, at: new Date() };
      await this.waiters.deriveRemovals(session, waitlistId, unplaced.map(({ id }) => id), removals); // prettier-ignore
      await this.queues.update(session, derived.queue);
      return { changed, remarks: remarks.lines() };
    }, UNHURRIED);
  }

  /** What is known of a line whose row is gone. @throws Problem `not_found` without such a waitlist */
  private async lostQueue(session: Session, waitlistId: number): Promise<QueueEntity> {
    if (!(await this.queues.isExpected(session, waitlistId)))
      throw new Problem('WAITLIST_NOT_FOUND', { detail: `There is no waitlist ${waitlistId}.` });
    const witness = await this.waiters.findCredited(session, waitlistId);
    const spots = witness ? spotsPerReferralBy(witness, witness.rankKey) : SPOTS_PER_REFERRAL_DEFAULT;
    return emptyQueue(waitlistId, Number.isInteger(spots) && spots >= 0 ? spots : SPOTS_PER_REFERRAL_DEFAULT);
  }

  /** Reads all records in the order of joining, of which all are before `end`, and gathers what they give. */
  private async derive(
    session: Session,
    queue: QueueEntity,
    onProgress: OnProgress,
    onRecord: (facts: AuditedFacts, index: number, end: number) => void,
    afterChunk: () => Promise<void> = async () => undefined,
  ) {
    const derived = new DerivedCounters(queue);
    const { end } = await this.waiters.findSpan(session, queue.waitlistId);
    let next = SEQ_LOWEST;
    let index = 0;
    for (;;) {
      const chunk = await this.waiters.findFacts(session, queue.waitlistId, next, CHUNK_SIZE);
      for (const facts of chunk) {
        onRecord(facts, index, end);
        derived.add(facts);
        index += 1;
      }
      await afterChunk();
      onProgress(index, end);
      const last = chunk.at(-1);
      if (!last || chunk.length < CHUNK_SIZE) return derived;
      next = last.seq + 1;
    }
  }
}

const WAITLIST_LOST = 'waitlist: its own row is missing, though its line is there: see docs/operations.md';

const TOTALS = ['nextSeq', 'active', 'offboarded', 'referredActive', 'referredOffboarded'] as const;

/** The counters that records give, gathered one by one. */
class DerivedCounters {
  readonly queue: QueueEntity;
  private readonly counters = new CounterChanges();

  constructor({ waitlistId, spotsPerReferral }: QueueEntity) {
    this.queue = emptyQueue(waitlistId, spotsPerReferral);
  }

  get records(): number {
    return this.queue.active + this.queue.offboarded;
  }

  add(facts: AuditedFacts): void {
    const record = { seq: facts.seq, ...rightFacts(facts, this.queue) };
    const { active, referred } = record;
    this.counters.join(record, this.queue.spotsPerReferral);
    if (!active) this.counters.leave(record, this.queue.spotsPerReferral);
    this.queue.nextSeq = record.seq + 1;
    this.queue[active ? 'active' : 'offboarded'] += 1;
    if (referred) this.queue[active ? 'referredActive' : 'referredOffboarded'] += 1;
  }

  buckets(axis: Axis, others: readonly BucketPlace[] = []): Bucket[] {
    return this.counters.buckets(axis, others);
  }
}

/** What the facts make of a record. Each referral is credited: nothing withholds credit yet. */
function rightFacts(facts: AuditedFacts, { spotsPerReferral }: QueueEntity) {
  const { seq, referrals, spotsAdvanced, referredByToken } = facts;
  return {
    amountReferred: referrals,
    creditedReferrals: referrals,
    rankKey: rankKey({ seq, creditedReferrals: referrals, spotsAdvanced }, spotsPerReferral),
    referred: referredByToken !== null,
    active: isActive(facts),
  };
}

/** A fact, but where it says neither. */
function isActive({ active, isDated }: AuditedFacts): boolean {
  return typeof active === 'boolean' ? active : !isDated;
}

function differencesOf(facts: AuditedFacts, index: number, queue: QueueEntity): string[] {
  const right = { ...rightFacts(facts, queue), seq: index };
  const fields = ['seq', 'amountReferred', 'creditedReferrals', 'rankKey', 'referred', 'active'] as const;
  return fields
    .filter((field) => facts[field] !== right[field])
    .map((field) => `${field} is ${facts[field]}, the facts give ${right[field]}`);
}

/** When it left, and at which place, is known of a record that was offboarded, and of no other. All records are before `end`. */
function removalFaults(facts: AuditedFacts, end: number): string[] {
  const { removedPriority: place, isDated } = facts;
  const active = isActive(facts);
  const isPlace = place !== null && place >= 0 && place < end;
  return active
    ? [
        ...(place === null ? [] : [`removedPriority is ${place}, but the record is active`]),
        ...(isDated ? ['removedAt is there, but the record is active'] : []),
      ]
    : [
        ...(isPlace ? [] : [`removedPriority is ${place}, but the record is offboarded, and one of ${end}`]),
        ...(isDated ? [] : ['removedAt is missing, but the record is offboarded']),
      ];
}

function emptyQueue(waitlistId: number, spotsPerReferral: number): QueueEntity {
  return {
    waitlistId,
    spotsPerReferral,
    nextSeq: 0,
    active: 0,
    offboarded: 0,
    referredActive: 0,
    referredOffboarded: 0,
  };
}

/** Lines to be printed. */
class Remarks {
  amount = 0;
  private readonly listed: string[] = [];

  add(remark: string): void {
    this.amount += 1;
    if (this.listed.length < REMARKS_MAX) this.listed.push(remark);
  }

  lines(): readonly string[] {
    const more = this.amount - this.listed.length;
    return more === 0 ? this.listed : [...this.listed, `… and ${more} more`];
  }
}
