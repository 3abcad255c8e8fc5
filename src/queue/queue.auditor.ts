import { Injectable } from '@nestjs/common';
import { Database, UNHURRIED } from '../platform/database/database.js';
import type { Session } from '../platform/database/session.js';
import { Problem } from '../platform/problem.js';
import { BucketStore } from './bucket.store.js';
import {
  AXES,
  type Axis,
  type Bucket,
  type BucketPlace,
  bucketId,
  COUNTED_AXIS,
  CounterChanges,
  JOINED_AXES,
  keptAxes,
  pathOf,
  QUEUE_AXIS,
  REFERRED_AXIS,
} from './counters.js';
import type { QueueEntity } from './queue.entity.js';
import { QueueStore } from './queue.store.js';
import { rankKey, SPOTS_PER_REFERRAL_DEFAULT, spotsPerReferralBy } from './rank-key.js';
import { type AuditedFacts, WaiterStore } from './waiter.store.js';

/** Records read at once: large enough to be quick, small enough for memory and for a progress bar that moves. */
const CHUNK_SIZE = 5_000;
/** What differs is listed up to here and counted beyond: a damaged line differs everywhere. */
const FINDINGS_MAX = 100;

export interface AuditReport {
  readonly records: number;
  readonly findings: readonly string[];
  /** How many there are in all. */
  readonly differences: number;
}

export interface RebuildReport {
  /** How many records changed. */
  readonly changed: number;
  readonly spotsPerReferral: number;
  /** Whether the row of the line was gone. */
  readonly wasLost: boolean;
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
    return this.database.read((manager) => this.buckets.listOrphans(manager));
  }

  /**
   * Checks every counter, key, sequence number and referral count of a waitlist as of one moment; holds up no writer.
   * @throws Problem `not_found` without such a waitlist
   */
  async verify(waitlistId: number, onProgress: OnProgress): Promise<AuditReport> {
    const findings: string[] = [];
    let differences = 0;
    const find = (finding: string) => {
      differences += 1;
      if (findings.length < FINDINGS_MAX) findings.push(finding);
    };
    return this.database.snapshot(async (session) => {
      findings.length = 0;
      differences = 0;
      const [stored] = await this.queues.find(session, [waitlistId]);
      const queue = stored ?? (await this.lostQueue(session, waitlistId));
      const derived = await this.derive(session, queue, onProgress, (facts, index) => {
        for (const difference of differencesOf(facts, index, queue)) find(`record ${facts.id}: ${difference}`);
      });
      if (!stored) find('queue: the row of this waitlist is missing');
      for (const field of TOTALS) {
        if (stored && stored[field] !== derived.queue[field])
          find(`queue: ${field} is ${stored[field]}, the records give ${derived.queue[field]}`);
      }
      // Of what an older program left uncounted, nothing is read.
      for (const axis of keptAxes(queue, await this.buckets.findCounted(session, waitlistId))) {
        const buckets = await this.buckets.findAll(session, waitlistId, axis);
        const kept = new Map(buckets.map((bucket) => [bucketId(bucket), bucket]));
        // Empty ones too: on what such a one says comes before, whoever falls into it will be counted.
        for (const bucket of derived.buckets(axis, buckets)) {
          const { amount = 0, before = 0 } = kept.get(bucketId(bucket)) ?? {};
          if (amount !== bucket.amount)
            find(`bucket ${bucketId(bucket)}: amount is ${amount}, the records give ${bucket.amount}`);
          if (before !== bucket.before)
            find(`bucket ${bucketId(bucket)}: before is ${before}, the records give ${bucket.before}`);
        }
      }
      return { records: derived.records, findings, differences };
    }, UNHURRIED);
  }

  /**
   * Derives every counter, key, sequence number and referral count of a waitlist anew, under its lock; gives how many
   * records changed. The order of joining is a fact and stays. Where the row of the line was lost, what a referral is
   * worth is lost with it, and is what the keys were derived with.
   * @throws Problem `not_found` without such a waitlist
   */
  async rebuild(waitlistId: number, onProgress: OnProgress): Promise<RebuildReport> {
    return this.database.exchange(async (session) => {
      const stored = await this.queues.findLocked(session, waitlistId);
      const queue = stored ?? (await this.lostQueue(session, waitlistId));
      if (!stored) await this.queues.open(session, waitlistId, queue.spotsPerReferral);
      await this.waiters.closeGaps(session, waitlistId);
      let wrong: AuditedFacts[] = [];
      let changed = 0;
      const unplaced: { readonly id: number; readonly key: number }[] = [];
      const correct = async () => {
        const standings = wrong.map((facts) => ({ ...facts, ...rightFacts(facts, queue) }));
        await this.waiters.updateStandings(session, waitlistId, standings);
        await this.waiters.deriveReferred(session, waitlistId, wrong.map(({ id }) => id)); // prettier-ignore
        changed += wrong.length;
        wrong = [];
      };
      const derived = await this.derive(
        session,
        queue,
        onProgress,
        (facts, index) => {
          if (differencesOf(facts, index, queue).length > 0) wrong.push(facts);
          if (isMisplaced(facts)) unplaced.push({ id: facts.id, key: rightFacts(facts, queue).rankKey });
        },
        correct,
      );
      // Whoever left the line has no bucket, but needs one to be placed.
      const paths = unplaced.flatMap(({ key }) => pathOf(QUEUE_AXIS, key));
      const buckets = AXES.flatMap((axis) => derived.buckets(axis, axis === QUEUE_AXIS ? paths : []));
      await this.buckets.replaceAll(session, waitlistId, buckets);
      await this.waiters.deriveRemovedPriorities(session, waitlistId, unplaced.map(({ id }) => id)); // prettier-ignore
      await this.queues.update(session, derived.queue);
      return { changed, spotsPerReferral: queue.spotsPerReferral, wasLost: !stored };
    }, UNHURRIED);
  }

  /** What is known of a line whose row is gone. @throws Problem `not_found` without such a waitlist */
  private async lostQueue(session: Session, waitlistId: number): Promise<QueueEntity> {
    if (!(await this.queues.isExpected(session, waitlistId)))
      throw new Problem('not_found', 'WAITLIST_NOT_FOUND', `There is no waitlist ${waitlistId}.`);
    const witness = await this.waiters.findCredited(session, waitlistId);
    const spots = witness ? spotsPerReferralBy(witness, witness.rankKey) : SPOTS_PER_REFERRAL_DEFAULT;
    return emptyQueue(waitlistId, Number.isInteger(spots) && spots >= 0 ? spots : SPOTS_PER_REFERRAL_DEFAULT);
  }

  /** Reads all records in the order of joining and gathers what they give. */
  private async derive(
    session: Session,
    queue: QueueEntity,
    onProgress: OnProgress,
    onRecord: (facts: AuditedFacts, index: number) => void,
    afterChunk: () => Promise<void> = async () => undefined,
  ) {
    const derived = new DerivedCounters(queue);
    let next = Number.MIN_SAFE_INTEGER;
    let index = 0;
    for (;;) {
      const chunk = await this.waiters.findFacts(session, queue.waitlistId, next, CHUNK_SIZE);
      for (const facts of chunk) {
        onRecord(facts, index);
        derived.add(facts);
        index += 1;
      }
      await afterChunk();
      onProgress(index, queue.nextSeq);
      const last = chunk.at(-1);
      if (!last) return derived;
      next = last.seq + 1;
    }
  }
}

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
    const { seq, active } = facts;
    const { referred, rankKey: key } = rightFacts(facts, this.queue);
    this.queue.nextSeq = seq + 1;
    this.queue[active ? 'active' : 'offboarded'] += 1;
    this.counters.add(active ? JOINED_AXES.active : JOINED_AXES.offboarded, seq);
    if (active) this.counters.add(QUEUE_AXIS, key);
    if (!referred) return;
    this.queue[active ? 'referredActive' : 'referredOffboarded'] += 1;
    this.counters.add(active ? JOINED_AXES.referredActive : JOINED_AXES.referredOffboarded, seq);
    if (active) this.counters.add(REFERRED_AXIS, key);
    // Joining counts, and leaving.
    this.counters.add(COUNTED_AXIS, this.queue.spotsPerReferral, active ? 1 : 2);
  }

  buckets(axis: Axis, others: readonly BucketPlace[] = []): Bucket[] {
    return this.counters.buckets(axis, others);
  }
}

/** What the facts make of a record. Each referral is credited: nothing withholds credit yet. */
function rightFacts(
  { seq, referrals, spotsAdvanced, referredByToken }: AuditedFacts,
  { spotsPerReferral }: QueueEntity,
) {
  const facts = { seq, creditedReferrals: referrals, spotsAdvanced };
  return {
    amountReferred: referrals,
    creditedReferrals: referrals,
    rankKey: rankKey(facts, spotsPerReferral),
    referred: referredByToken !== null,
  };
}

function differencesOf(facts: AuditedFacts, index: number, queue: QueueEntity): string[] {
  const right = { ...rightFacts(facts, queue), seq: index };
  const fields = ['seq', 'amountReferred', 'creditedReferrals', 'rankKey', 'referred'] as const;
  const differences = fields
    .filter((field) => facts[field] !== right[field])
    .map((field) => `${field} is ${facts[field]}, the facts give ${right[field]}`);
  if (isMisplaced(facts))
    differences.push(`removedPriority is ${facts.removedPriority}, but the record is ${facts.active ? 'active' : 'offboarded'}`); // prettier-ignore
  return differences;
}

/** The place that it left is known of a record that was offboarded, and of no other. */
function isMisplaced({ active, removedPriority }: AuditedFacts): boolean {
  return active !== (removedPriority === null);
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
