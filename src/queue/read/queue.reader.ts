import { Injectable } from '@nestjs/common';
import { Semaphore } from 'async-mutex';
import type { Outcome } from '../../platform/limits/batcher.js';
import { KeyedBatcher } from '../../platform/limits/keyed-batcher.js';
import { Database } from '../../platform/database/database.js';
import { isInternational } from '../../platform/contract/phone.js';
import { Problem } from '../../platform/problems/problem.js';
import { finderByContact, nonBlank } from '../record/contact.js';
import { QueueStore } from '../settings/queue.store.js';
import { type ContactKeys, NO_CONTACT, type StoredWaiter, type Waiter } from '../record/waiter.js';
import { CROWDED, WaiterStore } from '../record/waiter.store.js';
import type { LeanWaitlist, ShownWaitlist } from '../settings/waitlist.table.js';

interface Lookup {
  readonly keys: ContactKeys;
  readonly uuid: string | null;
}

/** A waitlist, and the record that was looked up; null if there is none. */
interface LookedUp {
  readonly waitlist: ShownWaitlist;
  readonly waiter: Waiter | null;
}

/** Lookups in one statement: enough to share a round trip, few enough that the first does not wait for the last. */
const LOOKUPS_MAX = 64;
/** Lookups of one waitlist that may wait; over all, the connections of clients bound them. */
const LOOKUPS_WAITING_MAX = 10_000;
/**
 * A lookup counts the records before it in one bucket. An import can put a whole waitlist into one, so a batch counts
 * no more than this for each lookup.
 */
const COUNTED_MAX = 1_000;
const CROWDED_WAITING_MAX = 256;

/**
 * Finds records with their positions at the time of reading. Lookups have two lanes. In the first, those of one
 * waitlist that arrive together share a round trip. One that would count more than {@link COUNTED_MAX} records is
 * repeated in the crowded lane, in small batches. There the waitlists take turns, so crowded waitlists delay only each
 * other.
 */
@Injectable()
export class QueueReader {
  private readonly lookups = new KeyedBatcher<Lookup, LookedUp | null>(
    (waitlistId, batch) => this.lookupRuns.runExclusive(() => this.lookUp(waitlistId, batch, COUNTED_MAX)),
    { name: 'look up positions', batchMax: LOOKUPS_MAX, waitingMax: LOOKUPS_WAITING_MAX, runsMax: 1 },
  );
  private readonly crowded = new KeyedBatcher<Lookup, LookedUp | null>(
    (waitlistId, batch) => this.crowdedRuns.runExclusive(() => this.lookUp(waitlistId, batch)),
    { name: 'count positions', batchMax: 1, waitingMax: CROWDED_WAITING_MAX, runsMax: 1 },
  );
  // Both are first come, first served. Signups need the other connections.
  /** Half of the connections. */
  private readonly lookupRuns: Semaphore;
  /** A fifth of the connections. */
  private readonly crowdedRuns: Semaphore;

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
  ) {
    this.lookupRuns = new Semaphore(Math.ceil(database.connectionsMax / 2));
    this.crowdedRuns = new Semaphore(Math.ceil(database.connectionsMax / 5));
  }

  /**
   * The record of an email or a phone, null if there is none. If they match two records, the email decides.
   * @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL`
   */
  async find(waitlistId: number, keys: ContactKeys): Promise<LookedUp> {
    return this.submit(waitlistId, { keys, uuid: null });
  }

  /** The waitlist's record with the uuid, null without one. @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL` */
  async findByUuid(waitlistId: number, uuid: string): Promise<LookedUp> {
    return this.submit(waitlistId, { keys: NO_CONTACT, uuid });
  }

  /** The records with these uuids, whole, in the order of `uuids`; without those that the waitlist does not have. */
  async findByUuids(waitlistId: number, uuids: readonly string[]): Promise<Waiter[]> {
    const found = await this.database.one(this.waiters.findByUuids(waitlistId, uuids));
    const byUuid = new Map(found.map((waiter) => [waiter.uuid, waiter]));
    return uuids.flatMap((uuid) => byUuid.get(uuid) ?? []);
  }

  /** The records that referred some records of this waitlist, by their tokens, without `metadata` and `answers`. */
  async findReferrers(
    waitlistId: number,
    waiters: readonly StoredWaiter[],
  ): Promise<ReadonlyMap<string, StoredWaiter>> {
    return this.database.one(this.waiters.findReferrersOf(waitlistId, waiters));
  }

  /** The waitlist of an account that has the record with this uuid; null if none has. */
  async findWaitlistId(accountId: number, uuid: string): Promise<number | null> {
    return this.database.one(this.waiters.findWaitlistId(accountId, uuid));
  }

  /** @throws Problem `WAITLIST_NOT_FOUND` */
  async getWaitlist(waitlistId: number): Promise<LeanWaitlist> {
    return this.database.one(this.queues.find(waitlistId));
  }

  /** The country of a phone without a country code; null if not needed. @throws Problem `WAITLIST_NOT_FOUND` */
  async regionFor(waitlistId: number, phone: string | null): Promise<string | null> {
    if (phone === null || nonBlank(phone) === null || isInternational(phone)) return null;
    return (await this.getWaitlist(waitlistId)).defaultRegion;
  }

  private async submit(waitlistId: number, lookup: Lookup): Promise<LookedUp> {
    const lookedUp = (await this.lookups.submit(waitlistId, lookup)) ?? (await this.crowded.submit(waitlistId, lookup));
    return lookedUp as LookedUp;
  }

  /**
   * Null where a lookup would have to count more than `countedMax`. If one record is damaged, the lookups are repeated
   * one by one, so that the others succeed.
   */
  private async lookUp(
    waitlistId: number,
    lookups: readonly Lookup[],
    countedMax?: number,
  ): Promise<Outcome<LookedUp | null>[]> {
    const contacts = lookups.map(({ keys }) => keys);
    const uuids = lookups.flatMap(({ uuid }) => uuid ?? []);
    try {
      const [waitlist, found, foundByUuid] = await this.database.all([
        this.queues.findShown(waitlistId),
        this.waiters.findByContacts(waitlistId, contacts, countedMax),
        this.waiters.findByUuids(waitlistId, uuids, [], countedMax),
      ]);
      const findByContact = finderByContact(found);
      const byUuid = new Map(foundByUuid.map((waiter) => [waiter.uuid, waiter]));
      return lookups.map(({ keys, uuid }) => {
        const waiter = uuid === null ? findByContact(keys) : (byUuid.get(uuid) ?? null);
        return { result: waiter?.priority === CROWDED ? null : { waitlist, waiter } };
      });
    } catch (error) {
      if (lookups.length === 1 || error instanceof Problem) return lookups.map(() => ({ error }));
      const outcomes: Outcome<LookedUp | null>[] = [];
      for (const lookup of lookups) outcomes.push(...(await this.lookUp(waitlistId, [lookup], countedMax)));
      return outcomes;
    }
  }
}
