import { Injectable } from '@nestjs/common';
import { type Query, together } from '../../platform/database/session.js';
import { QueueStore } from '../settings/queue.store.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';
import { BucketStore, type Siblings } from './bucket.store.js';
import type { Axis, Bucket } from './counters.js';
import type { DayCounts } from './day-counts.js';
import { DayStore } from './day.store.js';
import type { LedgerChanges } from './ledger-changes.js';

/**
 * Everything that counts the records of a queue: totals, buckets and days. Its parts change together, in the
 * transaction that changes the records, under the lock of the queue.
 */
@Injectable()
export class Ledger {
  constructor(
    private readonly queues: QueueStore,
    private readonly buckets: BucketStore,
    private readonly days: DayStore,
  ) {}

  /** The stored counters on which {@link save} builds. */
  read({ waitlist, counters }: LedgerChanges<LeanWaitlist>): Query<Siblings> {
    return this.buckets.findSiblings(waitlist.id, counters);
  }

  save({ waitlist, counters, days }: LedgerChanges<LeanWaitlist>, siblings: Siblings): Query<unknown> {
    return together([
      this.buckets.save(waitlist.id, counters.changedBuckets(siblings)),
      this.days.add(waitlist.id, days.changed()),
      this.queues.update(waitlist),
    ]);
  }

  /** All stored buckets of an axis. */
  findBuckets(waitlistId: number, axis: Axis): Query<Bucket[]> {
    return this.buckets.findAll(waitlistId, axis);
  }

  findDays(waitlistId: number): Query<DayCounts[]> {
    return this.days.findAll(waitlistId);
  }

  /** Stores totals, buckets and days in place of those that are there. */
  replace(waitlist: LeanWaitlist, buckets: readonly Bucket[], days: readonly DayCounts[]): Query<unknown> {
    return together([
      this.buckets.deleteAll(waitlist.id),
      this.buckets.save(waitlist.id, buckets),
      this.days.deleteAll(waitlist.id),
      this.days.add(waitlist.id, days),
      this.queues.update(waitlist),
    ]);
  }
}
