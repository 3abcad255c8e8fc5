import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Query } from '../../platform/database/session.js';
import { Problem } from '../../platform/problems/problem.js';
import { BucketStore } from '../order/bucket.store.js';
import { firstKeyOf, leafOf, QUEUE_AXIS } from '../order/counters.js';
import type { Waiter } from '../record/waiter.js';
import { CROWDED, MissingBucketError, WaiterStore } from '../record/waiter.store.js';

/** Records that one statement counts: some milliseconds, in which the embedded database blocks the event loop. */
const STEP_RECORDS_MAX = 10_000;
/** A run in a snapshot of its own stops after this and answers `OVERLOADED`. */
const DEADLINE_MS = 4_000;
/** Bounds of `seq` around all records of a rank key: within a key, the order is by descending `seq`. */
const KEY_START = Number.MAX_SAFE_INTEGER;
const KEY_END = -1;

/** A snapshot, or a transaction that has the lock. */
export interface Reading {
  one<Result>(query: Query<Result>): Promise<Result>;
}

/**
 * Counts the positions of records in crowded buckets: an import can put a whole waitlist into one. One scan of a bucket
 * serves all its records, in steps, so that no statement takes long.
 */
@Injectable()
export class CrowdedPositions {
  constructor(
    private readonly database: Database,
    private readonly buckets: BucketStore,
    private readonly waiters: WaiterStore,
  ) {}

  /** Reads on a connection of its own, within a deadline. @throws Problem `OVERLOADED` */
  async inOwnSnapshot<Result>(read: (reading: Reading) => Promise<Result>): Promise<Result> {
    const until = Date.now() + DEADLINE_MS;
    const snapshot = await this.database.openSnapshot();
    const one = async <Found>(query: Query<Found>): Promise<Found> => {
      if (Date.now() > until) throw new Problem('OVERLOADED');
      return snapshot.one(query, until);
    };
    try {
      return await read({ one });
    } finally {
      await snapshot.close();
    }
  }

  /**
   * The records, with positions instead of {@link CROWDED}. `reading` is the snapshot or the lock that read them. A
   * supposed record is in no bucket, so it counts in no position. It must come before the record that it was made from.
   */
  async complete<
    Ranked extends Pick<Waiter, 'id' | 'rankKey' | 'seq' | 'priority'> & { readonly isSupposed?: boolean },
  >(reading: Reading, waitlistId: number, waiters: readonly Ranked[]): Promise<readonly Ranked[]> {
    const crowded = new Map(
      waiters.filter(({ priority }) => priority === CROWDED).map((waiter) => [waiter.id, waiter]),
    );
    if (crowded.size === 0) return waiters;
    const inOrder = [...crowded.values()].sort((a, b) => a.rankKey - b.rankKey || b.seq - a.seq);
    const leaves = [...new Set(inOrder.map(({ rankKey }) => leafOf(QUEUE_AXIS, rankKey)))];
    const before = await reading.one(this.buckets.findBefore(waitlistId, QUEUE_AXIS, leaves));
    const positions = new Map<number, number>();
    let [bucket, position, key, below] = [NaN, 0, 0, KEY_START];
    for (const { id, rankKey, seq, isSupposed } of inOrder) {
      if (leafOf(QUEUE_AXIS, rankKey) !== bucket) {
        bucket = leafOf(QUEUE_AXIS, rankKey);
        [position, key, below] = [before.get(bucket) ?? NaN, firstKeyOf(QUEUE_AXIS, bucket), KEY_START];
      }
      for (; key < rankKey; [key, below] = [key + 1, KEY_START])
        position += await this.count(reading, waitlistId, key, below, KEY_END);
      position += await this.count(reading, waitlistId, key, below, seq);
      if (Number.isNaN(position)) throw new MissingBucketError(id, waitlistId);
      positions.set(id, position);
      [position, below] = [isSupposed ? position : position + 1, seq];
    }
    return waiters.map((waiter) => ({ ...waiter, priority: positions.get(waiter.id) ?? waiter.priority }));
  }

  /** The active records of a rank key whose `seq` is between two others. */
  private async count(
    reading: Reading,
    waitlistId: number,
    key: number,
    below: number,
    above: number,
  ): Promise<number> {
    for (let [total, from] = [0, below]; ;) {
      const { count, last } = await reading.one(this.waiters.countStep(waitlistId, key, from, above, STEP_RECORDS_MAX));
      total += count;
      if (count < STEP_RECORDS_MAX) return total;
      from = last;
      await setImmediate();
    }
  }
}
