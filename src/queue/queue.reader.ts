import { Injectable } from '@nestjs/common';
import { Batcher, type Outcome } from '../platform/limits/batcher.js';
import { Database } from '../platform/database/database.js';
import { isInternational } from '../platform/contract/phone.js';
import { Problem } from '../platform/problems/problem.js';
import { finderByContact, nonBlank } from './admission/contact.js';
import { QueueStore } from './queue.store.js';
import { type ContactKeys, NO_CONTACT, type StoredWaiter, type Waiter } from './waiter.js';
import { WaiterStore } from './waiter.store.js';
import type { LeanWaitlist } from './waitlist.table.js';

interface Lookup {
  readonly waitlistId: number;
  readonly keys: ContactKeys;
  readonly uuid: string | null;
}

/** A waitlist, and the record that was looked up; null if there is none. */
interface LookedUp {
  readonly waitlist: LeanWaitlist;
  readonly waiter: Waiter | null;
}

/** Lookups in one statement: enough to share a round trip, few enough that the first does not wait for the last. */
const LOOKUPS_MAX = 64;
const LOOKUPS_WAITING_MAX = 10_000;
/** One batch at a time makes the batches largest, and so the round trips fewest. */
const LOOKUP_RUNS_MAX = 1;

/** Finds records with their positions at the time of reading. Lookups that arrive together share a round trip. */
@Injectable()
export class QueueReader {
  private readonly lookups = new Batcher<Lookup, LookedUp>((batch) => this.lookUp(batch), {
    name: 'look up positions',
    batchMax: LOOKUPS_MAX,
    waitingMax: LOOKUPS_WAITING_MAX,
    runsMax: LOOKUP_RUNS_MAX,
  });

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
  ) {}

  /**
   * The record of an email or a phone, null if there is none. If they match two records, the email decides.
   * @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL`
   */
  async find(waitlistId: number, keys: ContactKeys): Promise<LookedUp> {
    return this.lookups.submit({ waitlistId, keys, uuid: null });
  }

  /** The record of this waitlist with the uuid, null if there is none. @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL` */
  async findByUuid(waitlistId: number, uuid: string): Promise<LookedUp> {
    return this.lookups.submit({ waitlistId, keys: NO_CONTACT, uuid });
  }

  /** The records with these uuids, whole, in the order of `uuids`; those that the waitlist does not have are left out. */
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
    const tokens = new Set(waiters.flatMap(({ referredByToken }) => referredByToken ?? []));
    const referrers = await this.database.one(this.waiters.findReferrers(waitlistId, [...tokens]));
    return new Map(referrers.map((referrer) => [referrer.referralToken, referrer]));
  }

  /** The waitlist of an account that has the record with this uuid; null if none has. */
  async findWaitlistId(accountId: number, uuid: string): Promise<number | null> {
    return this.database.one(this.waiters.findWaitlistId(accountId, uuid));
  }

  /** @throws Problem `WAITLIST_NOT_FOUND` */
  async getWaitlist(waitlistId: number): Promise<LeanWaitlist> {
    return this.database.one(this.queues.find(waitlistId));
  }

  /** The country of a phone number without a country code; null where none is needed. @throws Problem `WAITLIST_NOT_FOUND` */
  async regionFor(waitlistId: number, phone: string | null): Promise<string | null> {
    if (phone === null || nonBlank(phone) === null || isInternational(phone)) return null;
    return (await this.getWaitlist(waitlistId)).defaultRegion;
  }

  /** Looks up the waitlists of a batch in parallel. The batch ends with the slowest. */
  private async lookUp(batch: readonly Lookup[]): Promise<Outcome<LookedUp>[]> {
    const outcomes = new Map<Lookup, Outcome<LookedUp>>();
    const waitlistIds = [...new Set(batch.map(({ waitlistId }) => waitlistId))];
    await Promise.all(
      waitlistIds.map(async (waitlistId) => {
        const lookups = batch.filter((lookup) => lookup.waitlistId === waitlistId);
        const found = await this.lookUpIn(waitlistId, lookups);
        lookups.forEach((lookup, index) => outcomes.set(lookup, found[index] as Outcome<LookedUp>));
      }),
    );
    return batch.map((lookup) => outcomes.get(lookup) as Outcome<LookedUp>);
  }

  /** If one record is damaged, the lookups are repeated one by one, so that the others succeed. */
  private async lookUpIn(waitlistId: number, lookups: readonly Lookup[]): Promise<Outcome<LookedUp>[]> {
    const contacts = lookups.map(({ keys }) => keys);
    const uuids = lookups.flatMap(({ uuid }) => uuid ?? []);
    try {
      const [waitlist, found, foundByUuid] = await this.database.all([
        this.queues.find(waitlistId),
        this.waiters.findByContacts(waitlistId, contacts),
        this.waiters.findByUuids(waitlistId, uuids),
      ]);
      const findByContact = finderByContact(found);
      const byUuid = new Map(foundByUuid.map((waiter) => [waiter.uuid, waiter]));
      return lookups.map(({ keys, uuid }) => ({
        result: { waitlist, waiter: uuid === null ? findByContact(keys) : (byUuid.get(uuid) ?? null) },
      }));
    } catch (error) {
      if (lookups.length === 1 || error instanceof Problem) return lookups.map(() => ({ error }));
      return (await Promise.all(lookups.map((lookup) => this.lookUpIn(waitlistId, [lookup])))).flat();
    }
  }
}
