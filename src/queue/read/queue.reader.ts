import { Injectable } from '@nestjs/common';
import { Semaphore } from 'async-mutex';
import type { Outcome } from '../../platform/limits/batcher.js';
import { KeyedBatcher } from '../../platform/limits/keyed-batcher.js';
import { Database } from '../../platform/database/database.js';
import { together } from '../../platform/database/session.js';
import { isInternational } from '../../platform/contract/phone.js';
import { Problem } from '../../platform/problems/problem.js';
import type { Reach } from '../../platform/reach.js';
import { finderByContact, nonBlank } from '../record/contact.js';
import { QueueStore } from '../settings/queue.store.js';
import { CrowdedPositions, type Reading } from './crowded-positions.js';
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

/**
 * Lookups in one statement: enough to share a round trip, few enough that the first does not wait for the last. Of one
 * waitlist, 10,000 may wait; over all, the connections of clients bound them.
 */
const LOOKUPS = { batchMax: 64, waitingMax: 10_000 };
/** All that wait share the next scan, so nobody waits for more than two. */
const CROWDED_LOOKUPS = { batchMax: 1_000, waitingMax: 1_000 };

/**
 * Finds records with their positions at the time of reading. Lookups have two lanes. In the first, those of one
 * waitlist that arrive together share a round trip. Those in crowded buckets are repeated in the second, on connections
 * of its own: waitlists take turns, and the lookups of one share a scan, so crowded waitlists delay only each other.
 */
@Injectable()
export class QueueReader {
  private readonly lookups = new KeyedBatcher<Lookup, LookedUp | null>(
    (waitlistId, batch) => this.lookupRuns.runExclusive(() => this.lookUp(waitlistId, batch)),
    { name: 'look up positions', runsMax: 1, ...LOOKUPS },
  );
  private readonly crowded = new KeyedBatcher<Lookup, LookedUp | null>(
    (waitlistId, batch) =>
      this.crowdedRuns.runExclusive(() =>
        this.positions.inOwnSnapshot((reading) => this.lookUp(waitlistId, batch, reading)),
      ),
    { name: 'count positions', runsMax: 1, ...CROWDED_LOOKUPS },
  );
  /** At most half of the pool, rounded up; signups need the rest. */
  private readonly lookupRuns: Semaphore;
  /** Connections beside the pool: one per five pooled, rounded up. */
  private readonly crowdedRuns: Semaphore;

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly positions: CrowdedPositions,
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
    const counted = await Promise.all(
      found.map(async (waiter) => {
        if (!isCrowded(waiter)) return waiter;
        const lookedUp = await this.crowded.submit(waitlistId, { keys: NO_CONTACT, uuid: waiter.uuid });
        return lookedUp?.waiter ?? [];
      }),
    );
    const byUuid = new Map(counted.flat().map((waiter) => [waiter.uuid, waiter]));
    return uuids.flatMap((uuid) => byUuid.get(uuid) ?? []);
  }

  /** The waitlist's record with this referral token, without `metadata` and `answers`; null without one. */
  async findByToken(waitlistId: number, token: string): Promise<StoredWaiter | null> {
    const [found = null] = await this.database.one(this.waiters.findReferrers(waitlistId, [token]));
    return found;
  }

  /** The records that referred some records of this waitlist, by their tokens, without `metadata` and `answers`. */
  async findReferrers(
    waitlistId: number,
    waiters: readonly StoredWaiter[],
  ): Promise<ReadonlyMap<string, StoredWaiter>> {
    return this.database.one(this.waiters.findReferrersOf(waitlistId, waiters));
  }

  /** The waitlist within the reach that has the record with this uuid; null if none has. */
  async findWaitlistId(reach: Reach, uuid: string): Promise<number | null> {
    return this.database.one(this.waiters.findWaitlistId(reach, uuid));
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
   * Null for a lookup in a crowded bucket, unless `reading` is given to count there. If one record is damaged, the
   * lookups are repeated one by one, so that the others succeed.
   */
  private async lookUp(
    waitlistId: number,
    lookups: readonly Lookup[],
    reading?: Reading,
  ): Promise<Outcome<LookedUp | null>[]> {
    const contacts = lookups.map(({ keys }) => keys);
    const uuids = lookups.flatMap(({ uuid }) => uuid ?? []);
    try {
      const [waitlist, byContact, byUuid] = await (reading ?? this.database).one(
        together([
          this.queues.findShown(waitlistId),
          this.waiters.findByContacts(waitlistId, contacts),
          this.waiters.findByUuids(waitlistId, uuids),
        ]),
      );
      const read = [...byContact, ...byUuid];
      const found = reading ? await this.positions.complete(reading, waitlistId, read) : read;
      const findByContact = finderByContact(found.slice(0, byContact.length));
      const withUuid = new Map(found.slice(byContact.length).map((waiter) => [waiter.uuid, waiter]));
      return lookups.map(({ keys, uuid }) => {
        const waiter = uuid === null ? findByContact(keys) : (withUuid.get(uuid) ?? null);
        return { result: waiter && isCrowded(waiter) ? null : { waitlist, waiter } };
      });
    } catch (error) {
      if (lookups.length === 1 || error instanceof Problem) return lookups.map(() => ({ error }));
      const outcomes: Outcome<LookedUp | null>[] = [];
      for (const lookup of lookups) outcomes.push(...(await this.lookUp(waitlistId, [lookup], reading)));
      return outcomes;
    }
  }
}

function isCrowded({ priority }: Waiter): boolean {
  return priority === CROWDED;
}
