import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { known, type Session, together, type Transaction } from '../../platform/database/session.js';
import { fairQueue } from '../../platform/limits/bounded-queue.js';
import { BucketStore } from '../order/bucket.store.js';
import { type Axis, firstKeyOf, JOINED_AXES, leafOf, QUEUE_AXIS, REFERRED_AXIS, totalOf } from '../order/counters.js';
import { CrowdedPositions } from './crowded-positions.js';
import { type Listing, ListingStore, type Window } from './listing.store.js';
import { QueueStore } from '../settings/queue.store.js';
import type { Credit, Page, PageRequest, Search, StoredWaiter, Waiter } from '../record/waiter.js';
import { CROWDED, MissingBucketError, WaiterStore } from '../record/waiter.store.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';

/** Pages of one waitlist that may wait. More would exceed the deadline if each listed a hundred thousand referrals. */
const PAGES_WAITING_MAX = 64;
/** Leaderboards are public, so they have bounds of their own. Most read a few index rows. */
const LEADERS_BOUNDS = { runsMax: 2, waitingMax: 64 };

const ALL: Window = { from: null, skip: 0, leaves: null };
/** Most records have one of these. */
const USUAL_CREDITS: readonly Credit[] = ['none', 'credited'];

/** Reads pages of a waitlist's records with their positions. */
@Injectable()
export class QueueListing {
  private readonly enqueue: ReturnType<typeof fairQueue<Page>>;
  private readonly enqueueLeaders = fairQueue<readonly Waiter[]>('list leaders', LEADERS_BOUNDS);

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly listings: ListingStore,
    private readonly buckets: BucketStore,
    private readonly waiters: WaiterStore,
    private readonly positions: CrowdedPositions,
  ) {
    // Pages take at most half of the connections, so that slow ones do not delay signups and lookups.
    const runsMax = Math.ceil(database.connectionsMax / 2);
    this.enqueue = fairQueue('list page', { runsMax, waitingMax: PAGES_WAITING_MAX });
  }

  /**
   * A page and its totals, all of one moment.
   * @throws Problem `QUEUE_FULL`, `WAITLIST_NOT_FOUND`
   */
  async page(waitlistId: number, request: PageRequest): Promise<Page> {
    const { search, name } = request;
    return this.enqueue(waitlistId, () =>
      this.database.snapshot((session) => {
        if (search) return this.search(session, waitlistId, request, search);
        return name === null
          ? this.read(session, waitlistId, request)
          : this.searchNames(session, waitlistId, request, name);
      }),
    );
  }

  /**
   * The active records with the most referrals, at least one, without `metadata` and `answers`; among equals, those
   * that joined first.
   * @throws Problem `QUEUE_FULL`
   */
  async leaders(waitlistId: number, limit: number): Promise<readonly Waiter[]> {
    return this.enqueueLeaders(waitlistId, () =>
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
    const [whole, referrers] = await this.database.all([
      this.listings.findByIds(
        waitlistId,
        waiters.map(({ id }) => id),
      ),
      this.waiters.findReferrersOf(waitlistId, withReferrers ? waiters : []),
    ]);
    const byId = new Map(whole.map((record) => [record.id, record]));
    return {
      waiters: waiters.flatMap((waiter) => {
        const record = byId.get(waiter.id);
        return record ? { ...waiter, metadata: record.metadata, answers: record.answers } : [];
      }),
      referrers,
    };
  }

  private async read(session: Transaction, waitlistId: number, request: PageRequest): Promise<Page> {
    const { status, credit, referredBy, limit } = request;
    const order = request.order === 'queue' && status !== 'waiting' ? 'joined' : request.order;
    const isSparse =
      order === 'referrals' &&
      referredBy === 'anyone' &&
      hasFewReferred(await session.one(this.queues.find(waitlistId)), request);
    const listing = listingOf(request, { isSparse, order });
    const window = await this.findWindow(session, waitlistId, listing, request);
    const axis = axisOf(listing);
    const isAllOffered = status === 'offered' && referredBy === null && request.keys.length === 0 && credit === null;
    const isCounted = axis === null && credit === null && status !== 'pending' && !isAllOffered;
    const queries = [
      this.queues.find(waitlistId),
      isCounted ? this.listings.count(waitlistId, listing) : known(undefined),
      window ? this.listings.findPage(waitlistId, listing, window, { ...request, limit: limit + 1 }) : known([]),
    ] as const;
    // In queue order, the offset is the position of the first record. Only active records have to be counted.
    const first = axis === QUEUE_AXIS && 'offset' in request.start ? request.start.offset : null;
    const isPositioned = first !== null || (status !== 'waiting' && status !== 'any');
    const [waitlist, counted, records] = await (isPositioned ? session.commit(queries) : session.all(queries));
    const shown = records.slice(0, limit);
    const waiters = isPositioned
      ? shown.map((record, index) => withPosition(record, waitlist, (first ?? NaN) + index))
      : await this.withPositions(session, waitlist, shown);
    const total = isAllOffered ? waitlist.offered : counted;
    return pageOf(waitlist, records, waiters, axis === null ? total : totalOf(waitlist, axis));
  }

  /**
   * First the records that only a key finds, at most one per key, by id: they may have no email. Then those whose email
   * has the prefix, by email.
   */
  private async search(
    session: Transaction,
    waitlistId: number,
    request: PageRequest,
    { emailPrefix, keys }: Search,
  ): Promise<Page> {
    const { status, credit, start, limit } = request;
    const afterId = 'afterId' in start ? start.afterId : 0;
    const [waitlist, after] = await session.all([
      this.queues.find(waitlistId),
      afterId > 0 ? this.listings.findAfter(waitlistId, afterId) : known(null),
    ]);
    const isUnknown = afterId > 0 && after === null;
    const hasPrefix = (record: Pick<StoredWaiter, 'emailKey'> | null) => record?.emailKey?.startsWith(emailPrefix);
    const [own, other] = sharesOf(waitlist, status);
    // The index of emails holds all records. A page either skips about `limit * other / own` records of other statuses
    // in it, or reads and sorts all of its own status. Pending and sparsely credited records count as few.
    const isFew = status === 'pending' || (credit !== null && !USUAL_CREDITS.includes(credit));
    const isSparse = isFew || own * own < limit * other || hasFewReferred(waitlist, request);
    const listing = listingOf(request, { emailPrefix, isSparse, order: 'joined' });
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
    return pageOf(waitlist, records, await this.withPositions(session, waitlist, records.slice(0, limit)));
  }

  /**
   * A page by name. After a record that was renamed or erased, the listing starts again: it repeats some records, but
   * omits none.
   */
  private async searchNames(
    session: Transaction,
    waitlistId: number,
    request: PageRequest,
    namePrefix: string,
  ): Promise<Page> {
    const { start, referredBy, limit } = request;
    const after = 'afterId' in start ? await session.one(this.listings.findAfter(waitlistId, start.afterId)) : null;
    if ('afterId' in start && after === null) return pageOf(await session.one(this.queues.find(waitlistId)), [], []);
    const isSparse =
      referredBy === 'anyone' && hasFewReferred(await session.one(this.queues.find(waitlistId)), request);
    const listing = listingOf(request, { namePrefix, isSparse, order: 'joined' });
    const window: Window = { ...ALL, from: after?.nameKey?.startsWith(namePrefix) ? after : null };
    const [waitlist, records] = await session.all([
      this.queues.find(waitlistId),
      this.listings.findPage(waitlistId, listing, window, { ...request, limit: limit + 1 }),
    ]);
    return pageOf(waitlist, records, await this.withPositions(session, waitlist, records.slice(0, limit)));
  }

  /**
   * Computes the positions of a page's records together, because they share buckets. The last read of a transaction: on
   * a server it is sent with the COMMIT; on the embedded database more may have to be counted.
   */
  private async withPositions(
    session: Transaction,
    waitlist: Pick<LeanWaitlist, 'id' | 'active'>,
    records: readonly StoredWaiter[],
  ): Promise<readonly Waiter[]> {
    const active = records.filter(({ status }) => status === 'waiting');
    const leaves = active.map(({ rankKey }) => leafOf(QUEUE_AXIS, rankKey));
    const queries = [
      this.buckets.findBefore(waitlist.id, QUEUE_AXIS, [...new Set(leaves)]),
      this.listings.findAhead(waitlist.id, active),
    ] as const;
    const { isEmbedded } = this.database.dialect;
    const [before, ahead] = await (isEmbedded ? session.all(queries) : session.commit(queries));
    const waiters = records.map((record) => {
      if (isEmbedded && record.status === 'waiting' && !ahead.has(record.seq))
        return withPosition(record, waitlist, CROWDED);
      const position = (before.get(leafOf(QUEUE_AXIS, record.rankKey)) ?? NaN) + (ahead.get(record.seq) ?? NaN);
      return withPosition(record, waitlist, position);
    });
    return this.positions.complete(session, waitlist.id, waiters);
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
    if (listing.order === 'referrals') return this.findWindowByReferrals(session, waitlistId, listing, start);
    const axis = axisOf(listing);
    if (axis === REFERRED_AXIS) return this.findWindowOfReferred(session, waitlistId, start, limit);
    if ('afterId' in start) {
      const from = await session.one(this.listings.findAfter(waitlistId, start.afterId));
      return from && { ...ALL, from };
    }
    const { offset } = start;
    if (offset === 0) return ALL;
    if (axis) {
      const leaf = await session.one(this.buckets.findLeaf(waitlistId, axis, offset));
      if (!leaf) return null;
      const key = firstKeyOf(axis, leaf.bucket);
      return { ...ALL, from: { id: 0, seq: key, rankKey: key, emailKey: null, isAfter: false }, skip: leaf.rest };
    }
    if (listing.order === 'queue') return { ...ALL, skip: offset };
    const from = await session.one(this.listings.findAt(waitlistId, listing, offset));
    return from && { ...ALL, from };
  }

  /** After an erased record, whose referrals are unknown, the listing starts again. */
  private async findWindowByReferrals(
    session: Session,
    waitlistId: number,
    listing: Listing,
    start: PageRequest['start'],
  ): Promise<Window | null> {
    if ('offset' in start && start.offset === 0) return ALL;
    const from = await session.one(
      'offset' in start
        ? this.listings.findAt(waitlistId, listing, start.offset)
        : this.listings.findAfter(waitlistId, start.afterId),
    );
    return from && { ...ALL, from: from.creditedReferrals === null ? null : from };
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

/** `records` has one more than the page if there is a next page. */
function pageOf(
  { active }: LeanWaitlist,
  records: readonly StoredWaiter[],
  waiters: readonly Waiter[],
  total?: number,
): Page {
  const nextAfterId = records.length > waiters.length ? (waiters.at(-1)?.id ?? null) : null;
  return { waiters, total, active, nextAfterId };
}

/** A record with its position. `before`: the active records before it; NaN if they could not be counted. */
function withPosition(
  record: StoredWaiter,
  { id, active }: Pick<LeanWaitlist, 'id' | 'active'>,
  before: number,
): Waiter {
  const { status, removedPriority } = record;
  const priority = status === 'waiting' ? before : status === 'pending' ? active : removedPriority;
  if (priority === null || Number.isNaN(priority)) throw new MissingBucketError(record.id, id);
  return Object.assign(record, { priority });
}

/** The records that a request filters, in an order of its own. */
function listingOf(
  { status, credit, referredBy, keys }: PageRequest,
  own: Pick<Listing, 'order'> & Partial<Listing>,
): Listing {
  return { status, credit, referredBy, keys, emailPrefix: null, namePrefix: null, ...own };
}

/** How many records have a status other than `pending`, and how many have one of the others. */
function sharesOf({ active, offered, offboarded }: LeanWaitlist, status: PageRequest['status']): [number, number] {
  const all = active + offered + offboarded;
  const own = status === 'any' ? all : status === 'waiting' ? active : status === 'offered' ? offered : offboarded;
  return [own, all - own];
}

/**
 * Whether so few records were referred that reading and sorting all of them is faster than skipping the others in the
 * index of the order.
 */
function hasFewReferred(
  { active, offered, offboarded, referredActive, referredOffered, referredOffboarded }: LeanWaitlist,
  { status, referredBy, limit }: PageRequest,
): boolean {
  if (referredBy !== 'anyone') return false;
  const [own, all] =
    status === 'any'
      ? [referredActive + referredOffered + referredOffboarded, active + offered + offboarded]
      : status === 'offboarded'
        ? [referredOffboarded, offboarded]
        : [referredActive, active];
  return status === 'pending' || status === 'offered' || own * own < limit * all;
}

/** The axis that counts a listing; null for pending and offered records, keys, a credit, the referrals of some. */
function axisOf({ status, credit, referredBy, keys, order }: Listing): Axis | null {
  if (keys.length > 0 || credit !== null || status === 'pending' || status === 'offered') return null;
  const offboarded = status === 'offboarded';
  if (referredBy === null)
    return order === 'queue' ? QUEUE_AXIS : offboarded ? JOINED_AXES.offboarded : JOINED_AXES.active;
  if (referredBy !== 'anyone') return null;
  if (order === 'queue') return REFERRED_AXIS;
  return offboarded ? JOINED_AXES.referredOffboarded : JOINED_AXES.referredActive;
}
