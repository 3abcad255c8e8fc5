import { Injectable } from '@nestjs/common';
import { BackgroundTask, BackgroundTasks } from '../../platform/background-task.js';
import { Database } from '../../platform/database/database.js';
import { WriteAheadLog } from '../../platform/database/write-ahead-log.js';
import type { Query, Session } from '../../platform/database/session.js';
import { BucketStore } from '../order/bucket.store.js';
import { ImportRunStore } from '../import/import-run.store.js';
import { QueueStore } from '../settings/queue.store.js';
import { MaintenanceStore } from './maintenance.store.js';

/** Records deleted in one transaction: it takes some ten milliseconds, so that signups are not delayed. */
const CHUNK_SIZE = 1_000;
/** How often each process looks for deletions that another process or an outage left unfinished. */
const LOOK_MS = 5_000;
/** Tables with more rows of a waitlist than one transaction should delete. */
const LONG_TABLES = [
  'recent_referral',
  'signup_event',
  'delivery',
  'payload',
  'mail',
  'welcome_mail',
  'verification_link',
  'leave_link',
  'release_run',
];

/**
 * Deletes the records of deleted waitlists in the background, one transaction per chunk. The mark of a deleted waitlist
 * is a row, which is also the lock, so any process can go on where another was killed.
 */
@Injectable()
export class QueuePurger {
  private readonly task = new BackgroundTask(() => this.purgeAll(), LOOK_MS);
  private readonly tables = ['waitlist_day', 'waitlist_mail', 'webhook', 'release_due'];

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly records: MaintenanceStore,
    private readonly buckets: BucketStore,
    private readonly log: WriteAheadLog,
    private readonly imports: ImportRunStore,
    tasks: BackgroundTasks,
  ) {
    tasks.add(this.task, 'could not delete the records of a deleted waitlist yet');
  }

  /** Adds another module's table, with so few rows of each waitlist that one transaction deletes them. */
  add(table: string): void {
    this.tables.push(table);
  }

  /** Deleted waitlists that still have records. */
  async deletedIds(): Promise<number[]> {
    return this.database.one(this.queues.listDeleted());
  }

  /** Waitlists whose row was lost without a mark, while records remain. */
  async orphanIds(): Promise<number[]> {
    return this.database.one(this.queues.listOrphans());
  }

  /** Marks a waitlist whose row the caller's transaction deletes. Call `wake` after the commit. */
  async mark(session: Session, waitlistId: number): Promise<void> {
    await session.one(this.queues.markDeleted(waitlistId));
  }

  /** Looks for deleted waitlists now. */
  wake(): void {
    this.task.wake();
  }

  private async purgeAll(): Promise<void> {
    // A waitlist that cannot be deleted must not block the next ones.
    for (const waitlistId of await this.deletedIds()) await this.task.attempt(() => this.purge(waitlistId));
  }

  /**
   * Deletes what is left of a deleted waitlist, the mark last. False if this process stops, another process has the
   * lock, or nothing was left. Each table with a `waitlist_id` has its step here (test/operations/deletion.spec.ts
   * finds one without); only audit events stay, idempotency keys, which stop repeated requests, and taken names and
   * slugs, which keep the visitors from another owner.
   */
  async purge(waitlistId: number): Promise<boolean> {
    // First, so that none of a long deletion counts as late.
    if (!(await this.empty(waitlistId, 'offer'))) return false;
    const nextSpan = () => this.database.one(this.records.findSpan(waitlistId));
    // Reads the first number before each step, because an import can leave long gaps.
    for (let { first, end } = await nextSpan(); first < end; { first, end } = await nextSpan()) {
      if (!(await this.step(waitlistId, this.records.deleteBefore(waitlistId, first + CHUNK_SIZE)))) return false;
    }
    const nextFamily = () => this.database.one(this.buckets.findFamily(waitlistId));
    for (let family = await nextFamily(); family; family = await nextFamily()) {
      if (!(await this.step(waitlistId, this.buckets.deleteFamilies(waitlistId, family)))) return false;
    }
    for (const table of LONG_TABLES) if (!(await this.empty(waitlistId, table))) return false;
    for (const table of this.tables) {
      if (!(await this.step(waitlistId, this.records.deleteFrom(table, waitlistId)))) return false;
    }
    if (!(await this.step(waitlistId, this.imports.deleteAll(waitlistId)))) return false;
    const isDone = await this.step(waitlistId, this.queues.forgetDeleted(waitlistId));
    this.log.empty();
    return isDone;
  }

  /** Deletes the rows of a waitlist in chunks; false as {@link step} says. */
  private async empty(waitlistId: number, table: string): Promise<boolean> {
    while (await this.database.one(this.records.hasRows(table, waitlistId))) {
      if (!(await this.step(waitlistId, this.records.deleteSome(table, waitlistId, CHUNK_SIZE)))) return false;
    }
    return true;
  }

  /** One transaction; false if this process is stopping, another one has the lock, or nothing is left. */
  private async step(waitlistId: number, deletion: Query<unknown>): Promise<boolean> {
    if (this.task.isStopped) return false;
    return this.database.pipelinedTransaction(async (session) => {
      const isLocked = await session.one(this.queues.lockDeleted(waitlistId));
      if (isLocked) await session.one(deletion);
      return isLocked;
    });
  }
}
