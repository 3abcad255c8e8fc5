import { Injectable } from '@nestjs/common';
import { Batcher, type Outcome } from '../platform/batcher.js';
import { Database } from '../platform/database/database.js';
import { QueueStore } from './queue.store.js';
import type { ContactKeys, Page, PageRequest, QueueTotals, Waiter } from './waiter.js';
import { WaiterStore } from './waiter.store.js';

interface Lookup {
  readonly waitlistId: number;
  readonly contact: ContactKeys;
}

/** Lookups in one statement: enough to share a round trip, few enough that the first does not wait for the last. */
const LOOKUPS_MAX = 64;
const LOOKUPS_WAITING_MAX = 10_000;
/** Lookups under way at once, so that a slow one does not hold up the rest. */
const LOOKUP_RUNS_MAX = 4;

/** Places as they are in the database at the time of reading; lookups that arrive together share a statement. */
@Injectable()
export class QueueReader {
  private readonly lookups = new Batcher<Lookup, Waiter | null>((batch) => this.lookUp(batch), {
    batchMax: LOOKUPS_MAX,
    waitingMax: LOOKUPS_WAITING_MAX,
    runsMax: LOOKUP_RUNS_MAX,
  });

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
  ) {}

  async find(waitlistId: number, contact: ContactKeys): Promise<Waiter | null> {
    return this.lookups.submit({ waitlistId, contact });
  }

  async page(waitlistId: number, request: PageRequest): Promise<Page> {
    return this.database.read(async (manager) => {
      const waiters = await this.waiters.findPage(manager, waitlistId, { ...request, limit: request.limit + 1 });
      const total = await this.waiters.countMatching(manager, waitlistId, request);
      const [queue] = await this.queues.find(manager, [waitlistId]);
      return {
        active: queue?.active ?? 0,
        waiters: waiters.slice(0, request.limit),
        total,
        hasMore: waiters.length > request.limit,
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

  private async lookUp(batch: readonly Lookup[]): Promise<Outcome<Waiter | null>[]> {
    const outcomes = new Map<Lookup, Outcome<Waiter | null>>();
    for (const waitlistId of new Set(batch.map((lookup) => lookup.waitlistId))) {
      const lookups = batch.filter((lookup) => lookup.waitlistId === waitlistId);
      try {
        const contacts = lookups.map(({ contact }) => contact);
        const found = await this.database.read((manager) => this.waiters.findByContacts(manager, waitlistId, contacts));
        const byEmail = new Map(found.map((waiter) => [waiter.emailKey, waiter]));
        const byPhone = new Map(found.map((waiter) => [waiter.phoneKey, waiter]));
        for (const lookup of lookups) outcomes.set(lookup, { result: pick(lookup.contact, byEmail, byPhone) });
      } catch (error) {
        for (const lookup of lookups) outcomes.set(lookup, { error });
      }
    }
    return batch.map((lookup) => outcomes.get(lookup) ?? { result: null });
  }
}

type ByKey = ReadonlyMap<string | null, Waiter>;

function pick({ emailKey, phoneKey }: ContactKeys, byEmail: ByKey, byPhone: ByKey): Waiter | null {
  return (
    (emailKey === null ? undefined : byEmail.get(emailKey)) ??
    (phoneKey === null ? undefined : byPhone.get(phoneKey)) ??
    null
  );
}
