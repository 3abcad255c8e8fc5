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
  /** Active records ahead; null for an offboarded record. */
  readonly position: number | null;
  /** Its `seq`, counted from the first record of the waitlist. */
  readonly joinOrder: number;
  /** Whether a record of the waitlist has this one's `referredByToken`. */
  readonly hasReferrer: boolean;
}

/** A waitlist and its records at one moment. */
export interface Scan {
  readonly waitlist: Readonly<WholeWaitlist>;
  /** Without the pending records, in chunks: the active ones in queue order, then the offboarded ones in join order. */
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
    for (const status of ['waiting', 'offboarded'] as const) {
      const listing: Listing = { ...NO_FILTER, status, order: status === 'waiting' ? 'queue' : 'joined' };
      let from: PageStart | null | undefined = null;
      while (from !== undefined) {
        const window: Window = { from, skip: 0, leaves: null };
        const waiters: readonly StoredWaiter[] = await snapshot.one(
          this.listings.findPage(waitlistId, listing, window, { limit: CHUNK_SIZE, without: [] }),
        );
        const tokens = waiters.flatMap(({ referredByToken }) => referredByToken ?? []);
        const known = await snapshot.one(this.waiters.findTokens(waitlistId, [...new Set(tokens)]));
        yield waiters.map((waiter) => ({
          waiter,
          position: status === 'offboarded' ? null : position++,
          joinOrder: waiter.seq - first,
          hasReferrer: waiter.referredByToken !== null && known.has(waiter.referredByToken),
        }));
        from = waiters.length < CHUNK_SIZE ? undefined : { ...(waiters.at(-1) as StoredWaiter), isAfter: true };
      }
    }
  }
}
