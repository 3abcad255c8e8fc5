import { Injectable } from '@nestjs/common';
import { Semaphore } from 'async-mutex';
import { Database } from '../../platform/database/database.js';
import { together } from '../../platform/database/session.js';
import type { Outcome } from '../../platform/limits/batcher.js';
import { KeyedBatcher } from '../../platform/limits/keyed-batcher.js';
import { Problem } from '../../platform/problems/problem.js';
import { BucketStore } from '../order/bucket.store.js';
import { leafOf, QUEUE_AXIS } from '../order/counters.js';
import type { DayCounts } from '../order/day-counts.js';
import { DayStore } from '../order/day.store.js';
import { withCredits } from '../order/rank-key.js';
import { LARGE, type StoredWaiter, type Waiter } from '../record/waiter.js';
import { CROWDED, MissingBucketError, type Rank, WaiterStore } from '../record/waiter.store.js';
import { QueueStore } from '../settings/queue.store.js';
import type { ExplainingWaitlist } from '../settings/waitlist.table.js';
import { CrowdedPositions, type Reading } from './crowded-positions.js';
import type { Span } from './queue.statistics.js';

/** The bounds of lookups: see queue.reader.ts. */
const LOOKUPS = { batchMax: 64, waitingMax: 10_000 };
/** A bucket with more records is counted in steps, on a connection of its own. */
const RANKS_MAX = 256;

/** A record and where it stands; without `metadata` and `answers`. */
export interface Standing {
  readonly waiter: Waiter;
  /** The position with one more credited referral, as things stand; null unless the record is active. */
  readonly nextReferralPriority: number | null;
}

/** The places of some people of a waitlist at one moment. */
export interface Places {
  readonly waitlist: ExplainingWaitlist;
  /** By uuid; without those that the waitlist does not have. */
  readonly standings: ReadonlyMap<string, Standing>;
  /** The counters of the asked days; days without a change are left out. */
  readonly days: readonly DayCounts[];
}

/** One person and some days to read. */
interface Lookup {
  readonly uuid: string;
  readonly days: Span;
}

/** People and some days to read. */
interface BulkLookup {
  readonly uuids: readonly string[];
  readonly days: Span;
}

/** Finds places with what explains them. All positions of a batch are counted together, from one read of buckets. */
@Injectable()
export class PlaceReader {
  private readonly lookups = new KeyedBatcher<Lookup, Places>((waitlistId, batch) => this.lookUp(waitlistId, batch), {
    name: 'look up places',
    runsMax: 1,
    ...LOOKUPS,
  });
  /** A fifth of the pool, rounded up; signups and lookups need the rest. */
  private readonly runs: Semaphore;
  private readonly crowdedRuns = new Semaphore(1);

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly buckets: BucketStore,
    private readonly days: DayStore,
    private readonly positions: CrowdedPositions,
  ) {
    this.runs = new Semaphore(Math.ceil(database.connectionsMax / 5));
  }

  /** The place of one person, read with others asked for at the same time. @throws as {@link findAll}; `QUEUE_FULL` */
  async find(waitlistId: number, uuid: string, days: Span): Promise<Places> {
    return this.lookups.submit(waitlistId, { uuid, days });
  }

  /** The revisions of the waitlists, without those that do not exist. Each change of a place raises the revision. */
  async findRevisions(waitlistIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
    return this.database.one(this.queues.findRevisions(waitlistIds));
  }

  /** The places of some people, read together. @throws Problem `WAITLIST_NOT_FOUND`, `OVERLOADED` */
  async findAll(waitlistId: number, request: BulkLookup): Promise<Places> {
    const places = await this.database.snapshot((session) => this.read(session, waitlistId, request));
    if (places) return places;
    return this.crowdedRuns.runExclusive(() =>
      this.positions.inOwnSnapshot(async (reading) => (await this.read(reading, waitlistId, request, true)) as Places),
    );
  }

  private async lookUp(waitlistId: number, batch: readonly Lookup[]): Promise<Outcome<Places>[]> {
    const uuids = [...new Set(batch.map(({ uuid }) => uuid))];
    // Around midnight, lookups of a batch may ask for different days.
    const { days } = batch.at(-1) as Lookup;
    try {
      const result = await this.runs.runExclusive(() => this.findAll(waitlistId, { uuids, days }));
      return batch.map(() => ({ result }));
    } catch (error) {
      // One of the records may be damaged.
      if (batch.length === 1 || error instanceof Problem) return batch.map(() => ({ error }));
      const outcomes: Outcome<Places>[] = [];
      for (const lookup of batch) outcomes.push(...(await this.lookUp(waitlistId, [lookup])));
      return outcomes;
    }
  }

  /** Null if a bucket is crowded, unless `countsCrowded`. */
  private async read(
    reading: Reading,
    waitlistId: number,
    { uuids, days }: BulkLookup,
    countsCrowded = false,
  ): Promise<Places | null> {
    const [waitlist, stored, counts] = await reading.one(
      together([
        this.queues.findExplaining(waitlistId),
        this.waiters.findStored(waitlistId, uuids, LARGE),
        this.days.find(waitlistId, days),
      ]),
    );
    const active = stored.filter(({ status }) => status === 'waiting');
    const supposed = active.map((record) => ({
      ...withCredits(record, record.creditedReferrals + 1, waitlist.spotsPerReferral),
      isSupposed: true,
    }));
    const priorities = await this.count(reading, waitlist, [...supposed, ...active], countsCrowded);
    if (!priorities) return null;
    const standings = new Map<string, Standing>(
      stored.map((record) => [
        record.uuid,
        { waiter: { ...record, priority: priorityOf(record, waitlist) }, nextReferralPriority: null },
      ]),
    );
    for (const [index, record] of active.entries()) {
      const [next, priority] = [priorities[index]!, priorities[index + active.length]!];
      standings.set(record.uuid, { waiter: { ...record, priority }, nextReferralPriority: next });
    }
    return { waitlist, standings, days: counts };
  }

  /** How many active records come before each rank. Null as in {@link read}. */
  private async count(
    reading: Reading,
    { id: waitlistId, active }: ExplainingWaitlist,
    ranks: readonly (StoredWaiter & { readonly isSupposed?: boolean })[],
    countsCrowded: boolean,
  ): Promise<readonly number[] | null> {
    if (ranks.length === 0) return [];
    const leaves = [...new Set(ranks.map(({ rankKey }) => leafOf(QUEUE_AXIS, rankKey)))];
    const leafCounts = await reading.one(this.buckets.countLeaves(waitlistId, QUEUE_AXIS, leaves, active));
    const counts = new Map(leaves.map((leaf, index) => [leaf, leafCounts[index]!]));
    const crowded = new Set(leaves.filter((leaf) => counts.get(leaf)!.amount > RANKS_MAX));
    if (crowded.size > 0 && !countsCrowded) return null;
    const small = leaves.filter((leaf) => !crowded.has(leaf) && counts.get(leaf)!.amount > 0);
    const inLeaf = new Map<number, Rank[]>(small.map((leaf) => [leaf, []]));
    for (const rank of await reading.one(this.waiters.findRanks(waitlistId, small)))
      inLeaf.get(leafOf(QUEUE_AXIS, rank.rankKey))?.push(rank);
    const counted = ranks.map(({ id, rankKey, seq, isSupposed }, index) => {
      const leaf = leafOf(QUEUE_AXIS, rankKey);
      const { before, amount } = counts.get(leaf)!;
      if (amount === 0 && !isSupposed) throw new MissingBucketError(id, waitlistId);
      const ahead = (inLeaf.get(leaf) ?? []).filter((other) => isBefore(other, { rankKey, seq })).length;
      return { id: index, rankKey, seq, isSupposed, priority: crowded.has(leaf) ? CROWDED : before + ahead };
    });
    return (await this.positions.complete(reading, waitlistId, counted)).map(({ priority }) => priority);
  }
}

/** The order of the queue: see `rankKey`. */
function isBefore(one: Rank, other: Rank): boolean {
  return one.rankKey < other.rankKey || (one.rankKey === other.rankKey && one.seq > other.seq);
}

/** The priority of a record that is not active. */
function priorityOf({ status, removedPriority }: StoredWaiter, { active }: ExplainingWaitlist): number {
  return status === 'pending' ? active : (removedPriority ?? 0);
}
