import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { boundedQueue } from '../../platform/limits/bounded-queue.js';
import type { DayCounts } from '../order/day-counts.js';
import { DayStore } from '../order/day.store.js';
import { ListingStore, type Waiting } from './listing.store.js';
import type { StoredWaiter } from '../record/waiter.js';
import { WaiterStore } from '../record/waiter.store.js';

export type { Waiting };

/** No counter is kept of what waits, so each response counts it. This bound keeps that at some milliseconds. */
export const WAITING_COUNTED_MAX = 10_000;
const TOP_REFERRERS_MAX = 5;
/** Previews that may wait for the one that runs: each reads an index entry for every record with referrals. */
const PREVIEWS_WAITING_MAX = 64;

/** Days in UTC, such as `2026-11-22`, both included. */
export interface Span {
  readonly from: string;
  readonly to: string;
}

/** Reads numbers about a queue. */
@Injectable()
export class QueueStatistics {
  private readonly previewInTurn = boundedQueue('preview reorder', { runsMax: 1, waitingMax: PREVIEWS_WAITING_MAX });

  constructor(
    private readonly database: Database,
    private readonly days: DayStore,
    private readonly listings: ListingStore,
    private readonly waiters: WaiterStore,
  ) {}

  /**
   * The counters of the days in a span, in order; days without a change may be left out. And the records with the most
   * referrals, active or offboarded, at least one, and among equals those that joined first; without `metadata` and
   * `answers`.
   */
  async read(
    waitlistId: number,
    span: Span,
  ): Promise<{ readonly days: readonly DayCounts[]; readonly topReferrers: readonly StoredWaiter[] }> {
    const [days, active, offboarded] = await this.database.all([
      this.days.find(waitlistId, span),
      this.listings.findLeaders(waitlistId, true, TOP_REFERRERS_MAX),
      this.listings.findLeaders(waitlistId, false, TOP_REFERRERS_MAX),
    ]);
    const referrers = [...active, ...offboarded].sort(
      (one, other) => other.creditedReferrals - one.creditedReferrals || one.seq - other.seq,
    );
    return { days, topReferrers: referrers.slice(0, TOP_REFERRERS_MAX) };
  }

  /** What waits on a waitlist, each counted up to {@link WAITING_COUNTED_MAX}. */
  async countWaiting(waitlistId: number): Promise<Waiting> {
    return this.database.one(this.listings.countWaiting(waitlistId, WAITING_COUNTED_MAX));
  }

  /**
   * How many active records a change of the spots per referral would reorder now, as `configure` counts. Takes no lock.
   * @throws Problem `QUEUE_FULL`
   */
  async countReordered(waitlistId: number): Promise<number> {
    return this.previewInTurn(() => this.database.one(this.waiters.countCredited(waitlistId)));
  }
}
