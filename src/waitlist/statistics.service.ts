import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import type { Reach } from '../platform/reach.js';
import { dayAfter, type DayCounts, NO_COUNTS } from '../queue/order/day-counts.js';
import { QueueStatistics, type Span, type Waiting } from '../queue/read/queue.statistics.js';
import type { StoredWaiter } from '../queue/record/waiter.js';
import { PageViewStore } from './page-view.store.js';
import { WaitlistService } from './waitlist.service.js';

export interface DayStatistics extends DayCounts {
  readonly pageViews: number;
}

export interface Statistics {
  /** Each day of the span, in order. */
  readonly days: readonly DayStatistics[];
  readonly topReferrers: readonly StoredWaiter[];
}

/** Numbers about a waitlist, for its owner. */
@Injectable()
export class StatisticsService {
  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistService,
    private readonly queue: QueueStatistics,
    private readonly pageViews: PageViewStore,
  ) {}

  /** @throws Problem `WAITLIST_NOT_FOUND`, also for another account's waitlist */
  async get(reach: Reach, waitlistId: number, span: Span): Promise<Statistics> {
    await this.waitlists.get(reach, waitlistId);
    const [{ days, topReferrers }, views] = await Promise.all([
      this.queue.read(waitlistId, span),
      this.database.one(this.pageViews.find(waitlistId, span)),
    ]);
    const counted = new Map(days.map((counts) => [counts.day, counts]));
    return {
      days: daysFrom(span).map((day) => ({ ...NO_COUNTS, ...counted.get(day), day, pageViews: views.get(day) ?? 0 })),
      topReferrers,
    };
  }

  /** What waits on a waitlist. The caller checks the owner. */
  async countWaiting(waitlistId: number): Promise<Waiting> {
    return this.queue.countWaiting(waitlistId);
  }

  /**
   * How many active records a change of the spots per referral would reorder now.
   * @throws Problem `WAITLIST_NOT_FOUND`, also for another account's waitlist, `QUEUE_FULL`
   */
  async previewReorder(reach: Reach, waitlistId: number, spotsPerReferral: number): Promise<number> {
    const waitlist = await this.waitlists.get(reach, waitlistId);
    return waitlist.spotsPerReferral === spotsPerReferral ? 0 : this.queue.countReordered(waitlistId);
  }
}

/** Each day of a span, in order. */
function daysFrom({ from, to }: Span): string[] {
  const days = [from];
  for (let day = from; day < to; days.push(day)) day = dayAfter(day, 1);
  return days;
}
