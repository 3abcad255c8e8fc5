import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Problem } from '../platform/problems/problem.js';
import { BucketStore } from './bucket.store.js';
import { CounterChanges, firstKeyOf, QUEUE_AXIS } from './counters.js';
import { type AuditReport, type OnProgress, QueueAuditor, type RebuildReport } from './queue.auditor.js';
import { QueuePurger } from './queue.purger.js';
import { QueueReader } from './queue.reader.js';
import { QueueSeeder } from './queue.seeder.js';
import { QueueStore } from './queue.store.js';
import { QueueWriter } from './queue.writer.js';
import type {
  Admitted,
  Applicant,
  ContactKeys,
  Found,
  Page,
  PageRequest,
  QueueTotals,
  ReadRules,
  Waiter,
} from './waiter.js';
import { WaiterStore } from './waiter.store.js';

export type { OnProgress };

/** Who is before whom: the one face of the engine that keeps each waitlist's line. */
@Injectable()
export class QueueService implements BeforeApplicationShutdown {
  constructor(
    private readonly reader: QueueReader,
    private readonly writer: QueueWriter,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly buckets: BucketStore,
    private readonly auditor: QueueAuditor,
    private readonly seeder: QueueSeeder,
    private readonly purger: QueuePurger,
  ) {}

  /**
   * Puts a person at the end of the line, and their referrer forward. Someone whose email or phone is known already
   * gets that record, unchanged; where both are known, of different records, the email's.
   * @throws Problem what `admit` throws; `not_found` without such a waitlist
   */
  async join<Rules>(waitlistId: number, applicant: Applicant<Rules>): Promise<Admitted<Rules>> {
    const { joined, newcomer, rules } = await this.writer.join(waitlistId, applicant);
    if (joined) return { waiter: joined, newcomer, rules };
    const { waiter } = await this.reader.find(waitlistId, newcomer, applicant.readRules);
    // A record that exists goes with its waitlist alone.
    if (!waiter) throw new Problem('WAITLIST_NOT_FOUND');
    return { waiter, newcomer, rules };
  }

  /**
   * The record of an email or a phone, or null, and the rules; the email's record where they match two.
   * @throws Problem what `readRules` throws
   */
  async find<Rules>(waitlistId: number, contact: ContactKeys, readRules: ReadRules<Rules>): Promise<Found<Rules>> {
    return this.reader.find(waitlistId, contact, readRules);
  }

  /** A page of a waitlist's records with their places, and its totals, all of one moment; empty without such a waitlist. */
  async page(waitlistId: number, request: PageRequest): Promise<Page> {
    return this.reader.page(waitlistId, request);
  }

  /** Takes records out of the line: those of `waiterIds` that are active in this waitlist, in that order, all or none. */
  async offboard(waitlistId: number, waiterIds: readonly number[]): Promise<readonly Waiter[]> {
    return this.writer.offboard(waitlistId, waiterIds);
  }

  /** How many records each waitlist holds, and the places a referral is worth. */
  async totals(
    waitlistIds: readonly number[],
  ): Promise<ReadonlyMap<number, QueueTotals & { readonly spotsPerReferral: number }>> {
    return this.reader.totals(waitlistIds);
  }

  /** Opens the line of a new waitlist, within the transaction that makes it. */
  async open(manager: EntityManager, waitlistId: number, spotsPerReferral: number): Promise<void> {
    await this.queues.open(manager, waitlistId, spotsPerReferral);
  }

  /**
   * Sets what a referral is worth and reorders the line, past referrals too, within the caller's transaction; gives how
   * many active records moved to another key.
   */
  async setSpotsPerReferral(manager: EntityManager, waitlistId: number, spotsPerReferral: number): Promise<number> {
    const queue = await this.queues.lock(manager, waitlistId);
    if (queue.spotsPerReferral === spotsPerReferral) return 0;
    const changes = new CounterChanges(queue);
    let moved = 0;
    for (const { from, to, referred, amount } of await this.waiters.countMoves(manager, waitlistId, spotsPerReferral)) {
      changes.move(firstKeyOf(QUEUE_AXIS, from), firstKeyOf(QUEUE_AXIS, to), referred, amount);
      moved += amount;
    }
    await this.waiters.rekey(manager, waitlistId, spotsPerReferral);
    await this.buckets.apply(manager, waitlistId, changes);
    await this.queues.update(manager, { ...queue, spotsPerReferral });
    return moved;
  }

  /** Ends a line within the caller's transaction: from its commit on nobody joins or is found. Then comes `beginPurge`. */
  async close(manager: EntityManager, waitlistId: number): Promise<void> {
    await this.queues.lock(manager, waitlistId);
    await this.queues.close(manager, waitlistId);
  }

  /** Deletes the records of lines that were closed, in the background; where this process dies, one that keeps purging goes on. */
  beginPurge(): void {
    this.purger.wake();
  }

  /** Looks for lines that were closed, at once and again and again; a failure that is not the database's absence is told. */
  keepPurging(onFailure: (error: unknown) => void): void {
    this.purger.watch(onFailure);
  }

  /** Deletes what remains of a line without its waitlist; false where another process is at it. */
  async purge(waitlistId: number): Promise<boolean> {
    return this.purger.purge(waitlistId);
  }

  /** All lines there are. */
  async waitlistIds(): Promise<number[]> {
    return this.auditor.waitlistIds();
  }

  /** Lines that were closed, and whose records are being deleted. */
  async closedIds(): Promise<number[]> {
    return this.auditor.closedIds();
  }

  /** Records whose line is neither there nor being deleted: `purge` ends them. */
  async orphanIds(): Promise<number[]> {
    return this.auditor.orphanIds();
  }

  /** Holds what is derived of a line against its records, on a live database. @throws Problem `not_found` */
  async verify(waitlistId: number, onProgress: OnProgress): Promise<AuditReport> {
    return this.auditor.verify(waitlistId, onProgress);
  }

  /** Derives anew what is derived of a line. @throws Problem `not_found` */
  async rebuild(waitlistId: number, onProgress: OnProgress): Promise<RebuildReport> {
    return this.auditor.rebuild(waitlistId, onProgress);
  }

  /** Fills an empty waitlist with invented people. @throws Problem `not_found`, `conflict` */
  async seed(waitlistId: number, count: number, onProgress: OnProgress): Promise<void> {
    await this.seeder.seed(waitlistId, count, onProgress);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.writer.close(), this.purger.close()]);
  }
}
