import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { BackgroundTask, BackgroundTasks } from '../../platform/background-task.js';
import { Database } from '../../platform/database/database.js';
import { unlessDeleted } from '../../platform/problems/problem.js';
import { expireOffers } from '../write/commands/time-offers.js';
import { QueueWriter } from '../write/queue.writer.js';
import { type DueOffer, OfferStore } from '../offers/offer.store.js';

/** An expired offer is ended within a minute. Until then, readers compare its time: see `stateAt`. */
const INTERVAL_MS = 20_000;
/** Offers that one transaction ends. It holds the lock of the queue for about ten milliseconds. */
const CHUNK_SIZE = 200;
/** After this, a waitlist keeps the others waiting no more. */
const WAIT_MAX_MS = 5_000;

/**
 * Ends offers whose time is over, and begins the time of those that have waited for their mail long enough. Every
 * process does so; an offer that another one has ended already stays as it is.
 */
@Injectable()
export class OfferSweeper {
  private readonly task = new BackgroundTask(() => this.sweep(), INTERVAL_MS);
  /** Waitlists whose queue has not carried out a chunk yet. A reordering can keep one busy for minutes. */
  private readonly busy = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly offers: OfferStore,
    private readonly writer: QueueWriter,
    tasks: BackgroundTasks,
  ) {
    tasks.add(this.task, 'could not end offers whose time is over yet');
  }

  async sweep(): Promise<void> {
    const now = new Date();
    let due: readonly DueOffer[] = [];
    do {
      // Continue after the last one. Some stay due: those of a waitlist that is being deleted, or that was busy.
      due = await this.database.one(this.offers.findDue(now, due.at(-1) ?? null, CHUNK_SIZE));
      for (const waitlistId of new Set(due.map((offer) => offer.waitlistId))) {
        if (this.busy.has(waitlistId)) continue;
        this.busy.add(waitlistId);
        const uuids = due.flatMap((offer) => (offer.waitlistId === waitlistId ? offer.waiterUuid : []));
        const ended = this.task
          .attempt(async () => unlessDeleted(async () => this.writer.submit(waitlistId, expireOffers(uuids))))
          .finally(() => this.busy.delete(waitlistId));
        await Promise.race([ended, pause(WAIT_MAX_MS, undefined, { ref: false })]);
      }
    } while (due.length === CHUNK_SIZE && !this.task.isStopped);
  }
}
