import { Injectable } from '@nestjs/common';
import type { OwnSnapshot } from '../../platform/database/connections.js';
import { Database } from '../../platform/database/database.js';
import { type Listing, ListingStore, type PageStart, type Window } from './listing.store.js';
import { QueueStore } from '../settings/queue.store.js';
import type { StoredWaiter } from '../record/waiter.js';
import { WaiterStore } from '../record/waiter.store.js';
import type { WholeWaitlist } from '../settings/waitlist.table.js';

/** Records in one statement. Few, because converting them blocks the event loop: some milliseconds for this many. */
const CHUNK_SIZE = 250;
const NO_FILTER: Omit<Listing, 'status' | 'order'> = {
  credit: null,
  referredBy: null,
  keys: [],
  emailPrefix: null,
  namePrefix: null,
};

/** A record of a scan. */
export interface ScannedWaiter {
  readonly waiter: StoredWaiter;
  /** Active records ahead; of an offered record, at the place that its facts give. Null for an offboarded record. */
  readonly position: number | null;
  /** Its `seq`, counted from the first record of the waitlist. */
  readonly joinOrder: number;
  /** Whether a record of the waitlist has this one's `referredByToken`. */
  readonly hasReferrer: boolean;
}

/** A waitlist and its records at one moment. */
export interface Scan {
  readonly waitlist: Readonly<WholeWaitlist>;
  /**
   * Without the pending records, in chunks: the active and the offered ones in queue order, then the offboarded ones in
   * join order.
   */
  readonly records: AsyncIterable<readonly ScannedWaiter[]>;
  /** Closes the connection. */
  close(): Promise<void>;
}

/** Reads whole waitlists, each on a connection of its own. */
@Injectable()
export class QueueScanner {
  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly listings: ListingStore,
  ) {}

  /**
   * Opens a scan, which the caller must close.
   * @throws Problem `WAITLIST_NOT_FOUND`, `DATABASE_UNAVAILABLE`
   */
  async open(waitlistId: number): Promise<Scan> {
    const snapshot = await this.database.openSnapshot();
    try {
      const waitlist = await snapshot.one(this.queues.findWhole(waitlistId));
      return { waitlist, records: this.read(snapshot, waitlistId), close: () => snapshot.close() };
    } catch (error) {
      await snapshot.close();
      throw error;
    }
  }

  private async *read(snapshot: OwnSnapshot, waitlistId: number): AsyncGenerator<readonly ScannedWaiter[]> {
    const first = await snapshot.one(this.waiters.findFirstSeq(waitlistId));
    let position = 0;
    const queue = merged(this.list(snapshot, waitlistId, 'waiting'), this.list(snapshot, waitlistId, 'offered'));
    for (const chunks of [queue, this.list(snapshot, waitlistId, 'offboarded')]) {
      for await (const waiters of chunks) {
        const tokens = waiters.flatMap(({ referredByToken }) => referredByToken ?? []);
        const known = await snapshot.one(this.waiters.findTokens(waitlistId, [...new Set(tokens)]));
        yield waiters.map((waiter) => {
          const ahead = position;
          if (waiter.status === 'waiting') position += 1;
          return {
            waiter,
            position: waiter.status === 'offboarded' ? null : ahead,
            joinOrder: waiter.seq - first,
            hasReferrer: waiter.referredByToken !== null && known.has(waiter.referredByToken),
          };
        });
      }
    }
  }

  /** The records of a status in chunks: the offboarded ones in join order, the others in queue order. */
  private async *list(snapshot: OwnSnapshot, waitlistId: number, status: 'waiting' | 'offered' | 'offboarded'): Chunks {
    const listing: Listing = { ...NO_FILTER, status, order: status === 'offboarded' ? 'joined' : 'queue' };
    let from: PageStart | null | undefined = null;
    while (from !== undefined) {
      const window: Window = { from, skip: 0, leaves: null };
      const waiters: readonly StoredWaiter[] = await snapshot.one(
        this.listings.findPage(waitlistId, listing, window, { limit: CHUNK_SIZE, without: [] }),
      );
      yield waiters;
      from = waiters.length < CHUNK_SIZE ? undefined : { ...(waiters.at(-1) as StoredWaiter), isAfter: true };
    }
  }
}

type Chunks = AsyncGenerator<readonly StoredWaiter[], void>;

/** Merges the records of two sources that are in queue order. Holds a chunk of each. */
async function* merged(one: Chunks, other: Chunks): Chunks {
  let [left, right] = [await nextOf(one), await nextOf(other)];
  while (left.length > 0 && right.length > 0) {
    const [lastLeft, lastRight] = [left.at(-1) as StoredWaiter, right.at(-1) as StoredWaiter];
    // Nothing that is still to come is before the last record of the chunk that ends first.
    const end = inQueueOrder(lastLeft, lastRight) < 0 ? lastLeft : lastRight;
    const isDue = (record: StoredWaiter) => inQueueOrder(record, end) <= 0;
    yield [...left.filter(isDue), ...right.filter(isDue)].sort(inQueueOrder);
    [left, right] = [left.filter((record) => !isDue(record)), right.filter((record) => !isDue(record))];
    if (left.length === 0) left = await nextOf(one);
    if (right.length === 0) right = await nextOf(other);
  }
  for (const [rest, more] of [
    [left, one],
    [right, other],
  ] as const) {
    if (rest.length === 0) continue;
    yield rest;
    yield* more;
  }
}

async function nextOf(chunks: Chunks): Promise<readonly StoredWaiter[]> {
  const next = await chunks.next();
  return next.done ? [] : next.value;
}

function inQueueOrder(one: StoredWaiter, other: StoredWaiter): number {
  return one.rankKey - other.rankKey || other.seq - one.seq;
}
