import { Injectable } from '@nestjs/common';
import { Batcher, type Outcome } from '../platform/batcher.js';
import { Database } from '../platform/database/database.js';
import type { Exchange, Session } from '../platform/database/session.js';
import { boundedQueue } from '../platform/limits/bounded-queue.js';
import { Problem } from '../platform/problems/problem.js';
import { BucketStore } from './bucket.store.js';
import { type Axis, firstKeyOf, JOINED_AXES, keptAxes, leafOf, QUEUE_AXIS, REFERRED_AXIS } from './counters.js';
import type { QueueEntity } from './queue.entity.js';
import { QueueStore } from './queue.store.js';
import type { ContactKeys, Found, ListedWaiter, Page, PageRequest, QueueTotals, ReadRules, Waiter } from './waiter.js';
import { type ListedRecord, type Listing, MissingBucketError, WaiterStore, type Window } from './waiter.store.js';

interface Lookup {
  readonly waitlistId: number;
  readonly contact: ContactKeys;
  readonly readRules: ReadRules;
}

/** Lookups in one statement: enough to share a round trip, few enough that the first does not wait for the last. */
const LOOKUPS_MAX = 64;
const LOOKUPS_WAITING_MAX = 10_000;
/** One statement at a time makes the batches largest, and so the round trips fewest. */
const LOOKUP_RUNS_MAX = 1;
/** Behind more than these a page would be late for its answer, were all of them of people who referred a hundred thousand. */
const PAGES_WAITING_MAX = 64;

/** Places as they are in the database at the time of reading; lookups that arrive together share a statement. */
@Injectable()
export class QueueReader {
  private readonly lookups = new Batcher<Lookup, Found>((batch) => this.lookUp(batch), {
    name: 'look up places',
    batchMax: LOOKUPS_MAX,
    waitingMax: LOOKUPS_WAITING_MAX,
    runsMax: LOOKUP_RUNS_MAX,
  });

  private readonly enqueuePage: ReturnType<typeof boundedQueue>;

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly buckets: BucketStore,
  ) {
    // Half of the connections are left to signups and lookups, however many pages are asked for and however long those take.
    const runsMax = Math.ceil(database.connections / 2);
    this.enqueuePage = boundedQueue({ name: 'list page', waitingMax: PAGES_WAITING_MAX, runsMax });
  }

  async find<Rules>(waitlistId: number, contact: ContactKeys, readRules: ReadRules<Rules>): Promise<Found<Rules>> {
    return (await this.lookups.submit({ waitlistId, contact, readRules })) as Found<Rules>;
  }

  /**
   * A page and its totals, all of one moment.
   * @throws Problem `unavailable` when too many wait or the database is away
   */
  async page(waitlistId: number, request: PageRequest): Promise<Page> {
    return this.enqueuePage(() => this.readPage(waitlistId, request));
  }

  private async readPage(waitlistId: number, request: PageRequest): Promise<Page> {
    const listing = listingOf(request);
    return this.database.snapshot(async (session) => {
      const axis = axisOf({ ...listing, order: 'joined' });
      const line = this.queues.find(session, [waitlistId]).then(([queue]) => queue);
      const [queue, referrals, records] = await Promise.all([
        line,
        axis ? 0 : this.waiters.countReferredBy(session, waitlistId, listing),
        this.records(session, line, waitlistId, listing, request),
      ]);
      if (!queue) return { waiters: [], total: 0, active: 0, hasMore: false };
      return {
        waiters: await this.inPlace(session, waitlistId, records.slice(0, request.limit)),
        total: axis ? amountOf(queue, axis) : referrals,
        active: queue.active,
        hasMore: records.length > request.limit,
      };
    });
  }

  async totals(
    waitlistIds: readonly number[],
  ): Promise<ReadonlyMap<number, QueueTotals & { readonly spotsPerReferral: number }>> {
    const queues = await this.database.read((manager) => this.queues.find(manager, waitlistIds));
    return new Map(
      queues.map((queue) => [
        queue.waitlistId,
        {
          active: queue.active,
          offboarded: queue.offboarded,
          referred: queue.referredActive + queue.referredOffboarded,
          spotsPerReferral: queue.spotsPerReferral,
        },
      ]),
    );
  }

  /** A page and one record beyond it. */
  private async records(
    session: Session,
    line: Promise<QueueEntity | undefined>,
    waitlistId: number,
    listing: Listing,
    { start, limit, withAnswers }: PageRequest,
  ): Promise<ListedRecord[]> {
    const isAmongReferred = axisOf(listing) === REFERRED_AXIS && (await this.countsReferred(session, line, waitlistId));
    const window = isAmongReferred
      ? await this.windowAmongReferred(session, waitlistId, start, limit)
      : await this.windowOf(session, waitlistId, listing, start);
    return window ? this.waiters.findPage(session, waitlistId, listing, { ...window, limit: limit + 1, withAnswers }) : []; // prettier-ignore
  }

  /** The places of a page's records, which share buckets, worked out together. Ends the session. */
  private async inPlace(
    session: Exchange,
    waitlistId: number,
    records: readonly ListedRecord[],
  ): Promise<ListedWaiter[]> {
    const buckets = new Set(records.filter(({ active }) => active).map(({ rankKey }) => leafOf(QUEUE_AXIS, rankKey)));
    const [before, neighbours] = await Promise.all([
      this.buckets.findBefore(session, waitlistId, QUEUE_AXIS, [...buckets]),
      this.waiters.findNeighbours(session, waitlistId, [...buckets]),
      session.commit(),
    ]);
    const places = new Map<number, number>();
    const next = new Map(before);
    for (const { bucket, seq } of neighbours) {
      const place = next.get(bucket);
      if (place === undefined) continue;
      places.set(seq, place);
      next.set(bucket, place + 1);
    }
    return records.map((record) => {
      const priority = record.active ? places.get(record.seq) : record.removedPriority;
      if (typeof priority !== 'number') throw new MissingBucketError(record.id, waitlistId);
      return Object.assign(record, { priority });
    });
  }

  /** Where a page starts, found without stepping over what comes before where counters tell that; null beyond the end. */
  private async windowOf(
    session: Session,
    waitlistId: number,
    listing: Listing,
    start: PageRequest['start'],
  ): Promise<Window | null> {
    if ('afterId' in start) {
      const from = await this.waiters.findAfter(session, waitlistId, start.afterId);
      return from && { ...WHOLE, from };
    }
    const { offset } = start;
    if (offset === 0) return WHOLE;
    const axis = axisOf(listing);
    if (axis === REFERRED_AXIS || (!axis && listing.order === 'queue')) return { ...WHOLE, skip: offset };
    if (!axis) {
      const from = await this.waiters.findReferredAt(session, waitlistId, listing, offset);
      return from && { ...WHOLE, from };
    }
    const found = await this.buckets.findLeaves(session, waitlistId, axis, offset, offset);
    if (!found) return null;
    const key = firstKeyOf(axis, found.leaves[0]);
    return { ...WHOLE, from: { seq: key, rankKey: key }, skip: found.rest };
  }

  /** Those whom anyone referred may be few among many in the order of the line, so only the buckets that hold them are read. */
  private async windowAmongReferred(
    session: Session,
    waitlistId: number,
    start: PageRequest['start'],
    limit: number,
  ): Promise<Window | null> {
    const offset = 'offset' in start ? start.offset : await this.countReferredUpTo(session, waitlistId, start.afterId);
    if (offset === null) return null;
    const found = await this.buckets.findLeaves(session, waitlistId, REFERRED_AXIS, offset, offset + limit);
    return found && { ...WHOLE, leaves: found.leaves, skip: found.rest };
  }

  /** How many of the referred stand up to a record in the line, whatever became of it; null for an id that this waitlist never had. */
  private async countReferredUpTo(session: Session, waitlistId: number, id: number): Promise<number | null> {
    const place = await this.waiters.findAfter(session, waitlistId, id);
    if (!place) return null;
    const leaf = leafOf(REFERRED_AXIS, place.rankKey);
    const [before, within] = await Promise.all([
      this.buckets.countBefore(session, waitlistId, REFERRED_AXIS, leaf),
      this.waiters.countReferredWithin(session, waitlistId, place),
    ]);
    return before + within;
  }

  private async countsReferred(
    session: Session,
    line: Promise<QueueEntity | undefined>,
    waitlistId: number,
  ): Promise<boolean> {
    const [queue, counted] = await Promise.all([line, this.buckets.findCounted(session, waitlistId)]);
    return queue !== undefined && keptAxes(queue, counted).includes(REFERRED_AXIS);
  }

  /** Waitlists are looked up beside each other, so that none waits for another's. */
  private async lookUp(batch: readonly Lookup[]): Promise<Outcome<Found>[]> {
    const outcomes = new Map<Lookup, Outcome<Found>>();
    const waitlistIds = [...new Set(batch.map(({ waitlistId }) => waitlistId))];
    await Promise.all(
      waitlistIds.map(async (waitlistId) => {
        const lookups = batch.filter((lookup) => lookup.waitlistId === waitlistId);
        const found = await this.lookUpIn(waitlistId, lookups);
        lookups.forEach((lookup, index) => outcomes.set(lookup, found[index] as Outcome<Found>));
      }),
    );
    return batch.map((lookup) => outcomes.get(lookup) as Outcome<Found>);
  }

  /** Where one record is damaged, the others are found all the same: one by one. */
  private async lookUpIn(waitlistId: number, lookups: readonly Lookup[]): Promise<Outcome<Found>[]> {
    try {
      const contacts = lookups.map(({ contact }) => contact);
      const [rules, found] = await this.database.readTogether((session) =>
        Promise.all([lookups[0]?.readRules(session), this.waiters.findByContacts(session, waitlistId, contacts)]),
      );
      const byEmail = new Map(found.map((waiter) => [waiter.emailKey, waiter]));
      const byPhone = new Map(found.map((waiter) => [waiter.phoneKey, waiter]));
      return contacts.map((contact) => ({ result: { waiter: pick(contact, byEmail, byPhone), rules } }));
    } catch (error) {
      if (lookups.length === 1 || error instanceof Problem) return lookups.map(() => ({ error }));
      return (await Promise.all(lookups.map((lookup) => this.lookUpIn(waitlistId, [lookup])))).flat();
    }
  }
}

const WHOLE: Window = { from: null, skip: 0, leaves: null };

/** The offboarded are in no line, so they are listed as they joined. */
function listingOf({ offboarded, referredBy, order }: PageRequest): Listing {
  return { offboarded, referredBy, order: offboarded ? 'joined' : order };
}

/** The axis that counts a listing; null for the referrals of one record. */
function axisOf({ offboarded, referredBy, order }: Listing): Axis | null {
  if (referredBy === null)
    return order === 'queue' ? QUEUE_AXIS : offboarded ? JOINED_AXES.offboarded : JOINED_AXES.active;
  if (referredBy !== 'anyone') return null;
  if (order === 'queue') return REFERRED_AXIS;
  return offboarded ? JOINED_AXES.referredOffboarded : JOINED_AXES.referredActive;
}

function amountOf(queue: QueueEntity, axis: Axis): number {
  if (axis === JOINED_AXES.offboarded) return queue.offboarded;
  if (axis === JOINED_AXES.referredActive) return queue.referredActive;
  if (axis === JOINED_AXES.referredOffboarded) return queue.referredOffboarded;
  return queue.active;
}

type ByKey = ReadonlyMap<string | null, Waiter>;

function pick({ emailKey, phoneKey }: ContactKeys, byEmail: ByKey, byPhone: ByKey): Waiter | null {
  return (
    (emailKey === null ? undefined : byEmail.get(emailKey)) ??
    (phoneKey === null ? undefined : byPhone.get(phoneKey)) ??
    null
  );
}
