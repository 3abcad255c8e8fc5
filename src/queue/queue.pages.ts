import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { known, type Session, together, type Transaction } from '../platform/database/session.js';
import { boundedQueue } from '../platform/limits/bounded-queue.js';
import { BucketStore } from './bucket.store.js';
import { type Axis, firstKeyOf, JOINED_AXES, leafOf, QUEUE_AXIS, REFERRED_AXIS, totalOf } from './counters.js';
import { type Listing, ListingStore, type Window } from './listing.store.js';
import { QueueStore } from './queue.store.js';
import type { Credit, Page, PageRequest, Search, StoredWaiter, Waiter } from './waiter.js';
import { MissingBucketError, WaiterStore } from './waiter.store.js';
import type { LeanWaitlist } from './waitlist.table.js';

/** Pages that may wait. More would exceed the deadline if each listed a hundred thousand referrals of one record. */
const PAGES_WAITING_MAX = 64;
/** Anybody may ask for a leaderboard, so these have a bound of their own. Each reads a few rows of an index. */
const LEADERS = { runsMax: 2, waitingMax: 64 };

const ALL: Window = { from: null, skip: 0, leaves: null };
/** Most records have one of these. */
const USUAL_CREDITS: readonly Credit[] = ['none', 'credited'];

/** Reads pages of a waitlist's records with their positions. */
@Injectable()
export class QueuePages {
  private readonly enqueue: ReturnType<typeof boundedQueue>;
  private readonly enqueueLeaders = boundedQueue('list leaders', LEADERS);

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly listings: ListingStore,
    private readonly buckets: BucketStore,
    private readonly waiters: WaiterStore,
  ) {
    // Pages take at most half of the connections, so that slow ones do not delay signups and lookups.
    const runsMax = Math.ceil(database.connectionsMax / 2);
    this.enqueue = boundedQueue('list page', { runsMax, waitingMax: PAGES_WAITING_MAX });
  }

  /**
   * A page and its totals, all of one moment.
   * @throws Problem `QUEUE_FULL`, `WAITLIST_NOT_FOUND`
   */
  async page(waitlistId: number, request: PageRequest): Promise<Page> {
    const { search } = request;
    return this.enqueue(() =>
      this.database.snapshot((session) =>
        search ? this.search(session, waitlistId, request, search) : this.read(session, waitlistId, request),
      ),
    );
  }

  /**
   * The active records with the most referrals, at least one, and among equals those that joined first; without `metadata`
   * and `answers`.
   * @throws Problem `QUEUE_FULL`
   */
  async leaders(waitlistId: number, limit: number): Promise<readonly Waiter[]> {
    return this.enqueueLeaders(() =>
      this.database.snapshot(async (session) => {
        const records = await session.one(this.listings.findLeaders(waitlistId, true, limit));
        return this.withPositions(session, { id: waitlistId, active: 0 }, records);
      }),
    );
  }

  /**
   * Records of a page with the large columns that it left out, and on request the records that referred them, by their
   * tokens. Records that were deleted since then are left out.
   */
  async complete(
    waitlistId: number,
    waiters: readonly Waiter[],
    withReferrers: boolean,
  ): Promise<{ readonly waiters: Waiter[]; readonly referrers: ReadonlyMap<string, StoredWaiter> }> {
    const tokens = new Set(withReferrers ? waiters.flatMap(({ referredByToken }) => referredByToken ?? []) : []);
    const [whole, referrers] = await this.database.all([
      this.listings.findByIds(
        waitlistId,
        waiters.map(({ id }) => id),
      ),
      this.waiters.findReferrers(waitlistId, [...tokens]),
    ]);
    const byId = new Map(whole.map((record) => [record.id, record]));
    return {
      waiters: waiters.flatMap((waiter) => {
        const record = byId.get(waiter.id);
        return record ? { ...waiter, metadata: record.metadata, answers: record.answers } : [];
      }),
      referrers: new Map(referrers.map((referrer) => [referrer.referralToken, referrer])),
    };
  }

  private async read(session: Transaction, waitlistId: number, request: PageRequest): Promise<Page> {
    const { status, credit, referredBy, keys, limit } = request;
    const order = request.order === 'queue' && status !== 'waiting' ? 'joined' : request.order;
    const listing: Listing = { status, credit, referredBy, keys, emailPrefix: null, order };
    const window = await this.findWindow(session, waitlistId, listing, request);
    const axis = axisOf(listing);
    const isCounted = axis === null && credit === null && status !== 'pending';
    const [waitlist, counted, records] = await session.all([
      this.queues.find(waitlistId),
      isCounted ? this.listings.count(waitlistId, listing) : known(undefined),
      window ? this.listings.findPage(waitlistId, listing, window, { ...request, limit: limit + 1 }) : known([]),
    ]);
    const total = axis === null ? counted : totalOf(waitlist, axis);
    return this.pageOf(session, waitlist, records, limit, total);
  }

  /**
   * First the records that only a key finds, at most one per key, by id, because they may have no email. Then those whose
   * email has the prefix, by email.
   */
  private async search(
    session: Transaction,
    waitlistId: number,
    request: PageRequest,
    { emailPrefix, keys }: Search,
  ): Promise<Page> {
    const { status, credit, referredBy, start, limit } = request;
    const afterId = 'afterId' in start ? start.afterId : 0;
    const [waitlist, after] = await session.all([
      this.queues.find(waitlistId),
      afterId > 0 ? this.listings.findAfter(waitlistId, afterId) : known(null),
    ]);
    const isUnknown = afterId > 0 && after === null;
    const hasPrefix = (record: Pick<StoredWaiter, 'emailKey'> | null) => record?.emailKey?.startsWith(emailPrefix);
    const [own, other] =
      status === 'offboarded' ? [waitlist.offboarded, waitlist.active] : [waitlist.active, waitlist.offboarded];
    // The index of emails holds all records. A page either skips about `limit * other / own` records of the other status in
    // it, or reads and sorts all records of its own status. Pending records, and those with a credit of a few, count as few.
    const isFew = status === 'pending' || (credit !== null && !USUAL_CREDITS.includes(credit));
    const isSparse = isFew || own * own < limit * other;
    const listing: Listing = { status, credit, referredBy, keys: request.keys, emailPrefix, isSparse, order: 'joined' };
    const window: Window = { ...ALL, from: hasPrefix(after) ? after : null };
    const [byPrefix, byKey] = await session.all([
      isUnknown ? known([]) : this.listings.findPage(waitlistId, listing, window, { ...request, limit: limit + 1 }),
      together(
        (isUnknown || hasPrefix(after) ? [] : keys).map((key) => {
          const one: Listing = { ...listing, keys: [key, ...listing.keys], emailPrefix: null };
          return this.listings.findPage(waitlistId, one, ALL, { ...request, limit: 1 });
        }),
      ),
    ]);
    const others = new Map(byKey.flat().map((record) => [record.id, record]));
    const first = [...others.values()].filter((record) => !hasPrefix(record) && record.id > afterId);
    const records = [...first.sort((a, b) => a.id - b.id), ...byPrefix];
    return this.pageOf(session, waitlist, records, limit);
  }

  /** One record beyond `limit` shows that there is a next page. Ends the transaction. */
  private async pageOf(
    session: Transaction,
    waitlist: LeanWaitlist,
    records: readonly StoredWaiter[],
    limit: number,
    total?: number,
  ): Promise<Page> {
    return {
      waiters: await this.withPositions(session, waitlist, records.slice(0, limit)),
      total,
      active: waitlist.active,
      nextAfterId: records.length > limit ? (records[limit - 1]?.id ?? null) : null,
    };
  }

  /** Computes the positions of a page's records together, because they share buckets. Ends the transaction. */
  private async withPositions(
    session: Transaction,
    { id: waitlistId, active: activeRecords }: Pick<LeanWaitlist, 'id' | 'active'>,
    records: readonly StoredWaiter[],
  ): Promise<Waiter[]> {
    const active = records.filter(({ status }) => status === 'waiting');
    const buckets = [...new Set(active.map(({ rankKey }) => leafOf(QUEUE_AXIS, rankKey)))];
    const [before, neighbors] = await session.commit([
      this.buckets.findBefore(waitlistId, QUEUE_AXIS, buckets),
      this.listings.findNeighbors(waitlistId, buckets),
    ]);
    const positions = new Map<number, number>();
    const next = new Map(before);
    for (const { bucket, seq } of neighbors) {
      const position = next.get(bucket);
      if (position === undefined) continue;
      positions.set(seq, position);
      next.set(bucket, position + 1);
    }
    return records.map((record) => {
      const { status, seq, removedPriority } = record;
      const priority =
        status === 'waiting' ? positions.get(seq) : status === 'pending' ? activeRecords : removedPriority;
      if (typeof priority !== 'number') throw new MissingBucketError(record.id, waitlistId);
      return Object.assign(record, { priority });
    });
  }

  /** Where a page starts, from the counters where possible, without reading the records before. Null beyond the end. */
  private async findWindow(
    session: Session,
    waitlistId: number,
    listing: Listing,
    { start, limit }: PageRequest,
  ): Promise<Window | null> {
    if (listing.order === 'id') {
      const id = 'afterId' in start ? start.afterId : 0;
      return { ...ALL, from: { id, seq: 0, rankKey: 0, emailKey: null, isAfter: true } };
    }
    const axis = axisOf(listing);
    if (axis === REFERRED_AXIS) return this.findWindowOfReferred(session, waitlistId, start, limit);
    if ('afterId' in start) {
      const from = await session.one(this.listings.findAfter(waitlistId, start.afterId));
      return from && { ...ALL, from };
    }
    const { offset } = start;
    if (offset === 0) return ALL;
    if (axis) {
      const waitlist = await session.one(this.queues.find(waitlistId));
      const total = totalOf(waitlist, axis);
      const found = await this.buckets.findLeaves(session, waitlistId, axis, { total, first: offset, last: offset });
      if (!found) return null;
      const key = firstKeyOf(axis, found.leaves[0]);
      return { ...ALL, from: { id: 0, seq: key, rankKey: key, emailKey: null, isAfter: false }, skip: found.rest };
    }
    if (listing.order === 'queue') return { ...ALL, skip: offset };
    const from = await session.one(this.listings.findAt(waitlistId, listing, offset));
    return from && { ...ALL, from };
  }

  /** Referred records may be few among many, so this finds the buckets that have them. In queue order. */
  private async findWindowOfReferred(
    session: Session,
    waitlistId: number,
    start: PageRequest['start'],
    limit: number,
  ): Promise<Window | null> {
    const waitlist = await session.one(this.queues.find(waitlistId));
    const total = totalOf(waitlist, REFERRED_AXIS);
    const first = 'offset' in start ? start.offset : await this.countReferredUpTo(session, waitlist, start.afterId);
    if (first === null) return null;
    const range = { total, first, last: first + limit };
    const found = await this.buckets.findLeaves(session, waitlistId, REFERRED_AXIS, range);
    return found && { ...ALL, leaves: found.leaves, skip: found.rest };
  }

  /** How many of the referred records are in the queue up to this one, active or not; null for an unknown id. */
  private async countReferredUpTo(session: Session, waitlist: LeanWaitlist, id: number): Promise<number | null> {
    const record = await session.one(this.listings.findAfter(waitlist.id, id));
    if (!record) return null;
    const leaf = leafOf(REFERRED_AXIS, record.rankKey);
    const [before, within] = await session.all([
      this.buckets.countBefore(waitlist.id, REFERRED_AXIS, leaf, totalOf(waitlist, REFERRED_AXIS)),
      this.listings.countReferredWithin(waitlist.id, record),
    ]);
    return before + within;
  }
}

/** The axis that counts a listing; null if it is limited to keys, a credit or the referrals of some records, or pending. */
function axisOf({ status, credit, referredBy, keys, order }: Listing): Axis | null {
  if (keys.length > 0 || credit !== null || status === 'pending') return null;
  const offboarded = status === 'offboarded';
  if (referredBy === null)
    return order === 'queue' ? QUEUE_AXIS : offboarded ? JOINED_AXES.offboarded : JOINED_AXES.active;
  if (referredBy !== 'anyone') return null;
  if (order === 'queue') return REFERRED_AXIS;
  return offboarded ? JOINED_AXES.referredOffboarded : JOINED_AXES.referredActive;
}
