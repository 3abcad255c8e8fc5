import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { OutboxSignal } from '../../outbox/outbox.signal.js';
import { SignupEventStore } from '../../outbox/signup-event.store.js';
import { BackgroundTask, BackgroundTasks } from '../../platform/background-task.js';
import { Database } from '../../platform/database/database.js';
import { type Contender, Turns } from '../../platform/limits/turns.js';
import { SignupDeliveries } from '../record/signup-deliveries.js';
import { QueueWriter } from './queue.writer.js';

/** How often each process looks for signups of processes that died. */
const POLL_MS = 1_000;
/**
 * While commands wait, signups come first: the process makes deliveries this often. One transaction makes more of them
 * than are sent to a webhook in that time.
 */
const BUSY_PAUSE_MS = 500;

/** Makes the deliveries of new signups in the background. The processes share the work by locks in the database. */
@Injectable()
export class SignupDeliveryMaker {
  private readonly polling = new BackgroundTask(() => this.poll(), POLL_MS);
  private readonly making = new BackgroundTask(() => this.makeAll(), POLL_MS);
  /** Waitlists that may have signups without deliveries. */
  private readonly turns = new Turns();

  constructor(
    private readonly database: Database,
    private readonly events: SignupEventStore,
    private readonly deliveries: SignupDeliveries,
    private readonly writer: QueueWriter,
    private readonly signal: OutboxSignal,
    tasks: BackgroundTasks,
  ) {
    for (const task of [this.making, this.polling]) tasks.add(task, 'could not make the events of signups yet');
    signal.wakeForSignups = (waitlist) => this.wake([waitlist]);
  }

  private wake(waitlists: readonly Contender[]): void {
    if (!this.making.isStarted) return;
    this.turns.add(waitlists);
    this.making.wake();
  }

  private async poll(): Promise<void> {
    this.wake(await this.database.one(this.events.findWaitlists()));
  }

  /** Makes some deliveries at each turn. Waitlists that are woken meanwhile do not wait for the others. */
  private async makeAll(): Promise<void> {
    while (this.turns.size > 0) {
      if (this.writer.waiting > 0) await pause(BUSY_PAUSE_MS);
      for (let left = this.turns.size; left > 0; left -= 1) {
        const waitlist = this.turns.next();
        if (!waitlist || this.making.isStopped) return;
        await this.making.attempt(() => this.makeFor(waitlist));
      }
    }
  }

  private async makeFor(waitlist: Contender): Promise<void> {
    // Remove first: a signup that commits meanwhile adds it again. After a failure, the poll does.
    this.turns.remove(waitlist.id);
    const { webhookIds, hasMore } = await this.deliveries.makeFirst(waitlist.id);
    if (hasMore) this.turns.add([waitlist]);
    this.signal.wakeForDeliveries(webhookIds);
  }
}
