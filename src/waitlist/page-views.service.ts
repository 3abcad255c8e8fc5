import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { Sweeper } from '../platform/database/sweeper.js';
import { Batcher, type Outcome } from '../platform/limits/batcher.js';
import { MissLimit } from '../platform/limits/miss-limit.js';
import { Problem } from '../platform/problems/problem.js';
import { QueuePurger } from '../queue/maintenance/purger.js';
import { PageViewStore } from './page-view.store.js';
import type { WaitlistName } from './waitlist-name.js';
import { WaitlistNames } from './waitlist-names.service.js';

/** Views counted in one transaction. */
const VIEWS_MAX = 1_000;
const VIEWS_WAITING_MAX = 10_000;
/** One batch at a time makes the batches largest, and so the commits fewest. */
const RUNS_MAX = 1;
/** The longest span of the statistics. */
const KEPT_DAYS = 366;
const DAY_MS = 86_400_000;
/** Days in one sweep. A day has a row for each waitlist, and usually one day at a time is due. */
const SWEEP_CHUNK = 10;

/** Counts views of signup pages, per waitlist and day in UTC. Nothing else of a view is kept. */
@Injectable()
export class PageViewCounter {
  /** Each command is the id of a waitlist. */
  private readonly views = new Batcher<number, void>((batch) => this.addAll(batch), {
    name: 'count page views',
    batchMax: VIEWS_MAX,
    waitingMax: VIEWS_WAITING_MAX,
    runsMax: RUNS_MAX,
  });

  constructor(
    private readonly database: Database,
    private readonly names: WaitlistNames,
    private readonly store: PageViewStore,
    private readonly misses: MissLimit,
    sweeper: Sweeper,
    purger: QueuePurger,
  ) {
    purger.add('page_view');
    sweeper.add({
      table: 'page_view',
      id: 'day',
      time: 'day',
      before: () => new Date(Date.now() - KEPT_DAYS * DAY_MS),
      chunk: SWEEP_CHUNK,
    });
  }

  /**
   * Counts one view; resolves after the commit. An unknown waitlist counts as a miss of the caller's address.
   * @throws Problem `WAITLIST_NOT_FOUND`, the same for a waitlist that is not public, `TOO_MANY_MISSES`, `QUEUE_FULL`
   */
  async count(waitlist: WaitlistName, address: string): Promise<void> {
    await this.misses.limit(address, this.countUnlimited(waitlist));
  }

  private async countUnlimited(waitlist: WaitlistName): Promise<{ readonly revealsRecord: false }> {
    await this.views.submit(await this.names.idOf(waitlist));
    return { revealsRecord: false };
  }

  private async addAll(waitlistIds: readonly number[]): Promise<Outcome<void>[]> {
    const day = new Date().toISOString().slice(0, 10);
    const counts = new Map<number, number>();
    for (const id of waitlistIds) counts.set(id, (counts.get(id) ?? 0) + 1);
    const known = await this.database.pipelinedTransaction(async (session) => {
      const found = await session.one(this.store.findPublic([...counts.keys()]));
      // In the order of the key, so that two processes do not deadlock.
      const added = [...found].sort((one, other) => one - other);
      if (added.length > 0)
        await session.commit([
          this.store.add(
            day,
            added.map((waitlistId) => ({ waitlistId, views: counts.get(waitlistId) as number })),
          ),
        ]);
      return found;
    });
    return waitlistIds.map((id) =>
      known.has(id) ? { result: undefined } : { error: new Problem('WAITLIST_NOT_FOUND') },
    );
  }
}
