import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { BackgroundTask, BackgroundTasks } from '../platform/background-task.js';
import { Database } from '../platform/database/database.js';
import { Batcher, type Outcome } from '../platform/limits/batcher.js';
import { EnumerationLimit } from '../platform/limits/enumeration-limit.js';
import { Problem } from '../platform/problems/problem.js';
import { dayOf } from '../queue/order/day-counts.js';
import { QueuePurger } from '../queue/maintenance/purger.js';
import { type PageViews, PageViewStore } from './page-view.store.js';
import type { WaitlistName } from './waitlist-name.js';
import { WaitlistNameService } from './waitlist-name.service.js';

/** Waitlists checked in one statement. */
const CHECKS_MAX = 1_000;
const CHECKS_WAITING_MAX = 10_000;
/** One batch at a time makes the batches largest, and so the round trips fewest. */
const RUNS_MAX = 1;
/** How often the views are stored. A killed process loses those of this time. */
const INTERVAL_MS = 1_000;
/** Sums in memory, and rows in one statement: SQLite takes 32,766 parameters. Views of further waitlists are lost. */
const SUMS_MAX = 10_000;

/**
 * Counts views of signup pages, per waitlist and day in UTC. Nothing else is kept. Views are added up in memory and
 * stored once a second, so that no page waits for a transaction.
 */
@Injectable()
export class PageViewService implements BeforeApplicationShutdown {
  /** Each command is the id of a waitlist. */
  private readonly checks = new Batcher<number, void>((batch) => this.checkAll(batch), {
    name: 'check waitlists of page views',
    batchMax: CHECKS_MAX,
    waitingMax: CHECKS_WAITING_MAX,
    runsMax: RUNS_MAX,
  });
  private readonly task = new BackgroundTask(() => this.store(), INTERVAL_MS);
  /** The views that are not stored yet, by waitlist and day. */
  private sums = new Map<string, PageViews>();

  constructor(
    private readonly database: Database,
    private readonly names: WaitlistNameService,
    private readonly views: PageViewStore,
    private readonly misses: EnumerationLimit,
    purger: QueuePurger,
    tasks: BackgroundTasks,
  ) {
    tasks.add(this.task, 'could not store page views yet');
    purger.add('page_view');
  }

  /**
   * Counts a view that a page reports. An unknown waitlist counts as a miss of the caller's address.
   * @throws Problem `WAITLIST_NOT_FOUND`, the same for a waitlist that is not public, `TOO_MANY_MISSES`, `QUEUE_FULL`
   */
  async count(waitlist: WaitlistName, address: string): Promise<void> {
    await this.misses.limit(address, this.countUnlimited(waitlist));
  }

  /** Counts a view of a page that the service itself has just served. Never waits for the database. */
  add(waitlistId: number): void {
    this.addUp({ waitlistId, day: dayOf(new Date()), views: 1 });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.task.stop();
    await this.task.attempt(() => this.store());
  }

  /** Stores the views now. If that fails, they are kept for the next time. */
  async store(): Promise<void> {
    const taken = this.sums;
    if (taken.size === 0) return;
    this.sums = new Map();
    try {
      await this.write([...taken.values()]);
    } catch (error) {
      for (const sum of taken.values()) this.addUp(sum);
      throw error;
    }
  }

  private async countUnlimited(waitlist: WaitlistName): Promise<{ readonly revealsRecord: false }> {
    const waitlistId = await this.names.idOf(waitlist);
    await this.checks.submit(waitlistId);
    this.add(waitlistId);
    return { revealsRecord: false };
  }

  private async checkAll(waitlistIds: readonly number[]): Promise<Outcome<void>[]> {
    const known = await this.database.one(this.views.findPublic([...new Set(waitlistIds)]));
    return waitlistIds.map((id) =>
      known.has(id) ? { result: undefined } : { error: new Problem('WAITLIST_NOT_FOUND') },
    );
  }

  private addUp({ waitlistId, day, views }: PageViews): void {
    const key = `${day} ${waitlistId}`;
    const sum = this.sums.get(key);
    if (sum || this.sums.size < SUMS_MAX) this.sums.set(key, { waitlistId, day, views: (sum?.views ?? 0) + views });
  }

  private async write(sums: readonly PageViews[]): Promise<void> {
    await this.database.pipelinedTransaction(async (session) => {
      // A waitlist may have been deleted since the view.
      const known = await session.one(this.views.findPublic([...new Set(sums.map(({ waitlistId }) => waitlistId))]));
      const added = sums.filter(({ waitlistId }) => known.has(waitlistId));
      // In the order of the key, so that two processes do not deadlock.
      added.sort((one, other) => one.waitlistId - other.waitlistId || (one.day < other.day ? -1 : 1));
      if (added.length > 0) await session.commit([this.views.add(added)]);
    });
  }
}
