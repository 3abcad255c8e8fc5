import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { Database } from '../../platform/database/database.js';
import type { Session } from '../../platform/database/session.js';
import { isUnavailable } from '../../platform/problems/problem.js';
import { BucketStore } from '../bucket.store.js';
import { AXES } from '../counters.js';
import { QueueStore } from '../queue.store.js';
import { AuditStore } from './audit.store.js';

/** Records of one transaction: some ten milliseconds of the database, so that those who sign up do not notice. */
const CHUNK_SIZE = 1_000;
/** How long a deletion rests at most when the process that was at it has died, or the database was away. */
const LOOK_MS = 5_000;

/**
 * Deletes the records of lines that were closed, in the background. What is still to do is in the database, so any process
 * goes on where one was killed: a transaction a chunk, under the lock of the closed line, which at each moment one process has.
 */
@Injectable()
export class QueuePurger implements BeforeApplicationShutdown {
  private running: Promise<void> | undefined;
  private isWanted = false;
  private isClosed = false;
  private timer: NodeJS.Timeout | undefined;
  private onFailure: (error: unknown) => void = () => undefined;

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly records: AuditStore,
    private readonly buckets: BucketStore,
  ) {}

  /** Deleted waitlists that still have records. */
  async closedIds(): Promise<number[]> {
    return this.database.one(this.queues.listClosed());
  }

  /** Waitlists that are gone without a mark, but have records: `purge` ends them. */
  async orphanIds(): Promise<number[]> {
    return this.database.one(this.queues.listOrphans());
  }

  /** Looks for closed lines, whoever closed them, from now on. A failure that is not the database's absence is told. */
  watch(onFailure: (error: unknown) => void): void {
    this.onFailure = onFailure;
    this.timer = setInterval(() => this.wake(), LOOK_MS).unref();
    this.wake();
  }

  /** Marks a waitlist, whose row the caller's transaction deletes. After the commit comes `wake`. */
  async mark(session: Session, waitlistId: number): Promise<void> {
    await session.one(this.queues.markClosed(waitlistId));
  }

  /** There is a closed line to be deleted. */
  wake(): void {
    this.isWanted = true;
    // The request that closed it is answered, and its trace ends with it.
    this.running ??= context.with(ROOT_CONTEXT, () => this.work());
  }

  /** Begins nothing more, and resolves when nothing is under way. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.timer);
    await this.running;
  }

  /** Deletes all that a line without its waitlist has left; false where another process is at it. */
  async purge(waitlistId: number): Promise<boolean> {
    await this.database.pipelinedTransaction((session) => session.commit([this.queues.markClosed(waitlistId)]));
    return this.purgeClosed(waitlistId);
  }

  private async work(): Promise<void> {
    while (this.isWanted && !this.isClosed) {
      this.isWanted = false;
      const waitlistIds = await this.attempt(() => this.database.one(this.queues.listClosed()));
      // Each by itself, so that one that can't be deleted does not hold up those behind it.
      for (const waitlistId of waitlistIds ?? []) await this.attempt(() => this.purgeClosed(waitlistId));
    }
    // At once: a wish between the last look and this would be lost.
    this.running = undefined;
  }

  /** What fails is tried again at the next look. */
  private async attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) this.onFailure(error);
      return undefined;
    }
  }

  private async purgeClosed(waitlistId: number): Promise<boolean> {
    if (this.isClosed) return false;
    const { first, end } = await this.database.one(this.records.findSpan(waitlistId));
    for (let seq = first; seq < end; seq += CHUNK_SIZE) {
      const isDone = await this.step(waitlistId, async (session) => {
        await session.one(this.records.deleteRange(waitlistId, seq, seq + CHUNK_SIZE));
        return true;
      });
      if (!isDone) return false;
    }
    for (const axis of AXES) {
      for (const level of axis.widthBits.keys()) {
        for (let parent: number | null = 0; parent !== null;) {
          const from: number = parent;
          const next = await this.step(waitlistId, (session) =>
            this.buckets.deleteSome(session, waitlistId, { axis: axis.code, level, parent: from }),
          );
          if (next === undefined) return false;
          parent = next;
        }
      }
    }
    const isForgotten = await this.step(waitlistId, async (session) => {
      await session.one(this.queues.forgetClosed(waitlistId));
      return true;
    });
    return isForgotten ?? false;
  }

  /** One transaction of a deletion; undefined where this process ends, another is at it, or it is done. */
  private async step<Result>(
    waitlistId: number,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result | undefined> {
    if (this.isClosed) return undefined;
    return this.database.pipelinedTransaction(async (session) =>
      (await session.one(this.queues.lockClosed(waitlistId))) ? work(session) : undefined,
    );
  }
}
