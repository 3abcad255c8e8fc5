import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { QueueReader } from './queue.reader.js';
import { QueueStore } from './queue.store.js';
import { QueueWriter } from './queue.writer.js';
import type { ContactKeys, Newcomer, Page, PageRequest, QueueTotals, Waiter } from './waiter.js';
import { WaiterStore } from './waiter.store.js';

/** Who is before whom: the one face of the engine that keeps each waitlist's line. */
@Injectable()
export class QueueService implements BeforeApplicationShutdown {
  constructor(
    private readonly reader: QueueReader,
    private readonly writer: QueueWriter,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
  ) {}

  /**
   * Puts a person at the end of the line, and their referrer forward. Someone whose email or phone is known already
   * gets that record, unchanged; where both are known, of different records, the email's.
   */
  async join(waitlistId: number, newcomer: Newcomer): Promise<Waiter> {
    const joined = await this.writer.join(waitlistId, newcomer);
    const waiter = joined ?? (await this.reader.find(waitlistId, newcomer));
    if (!waiter) throw new Error('A record that exists was not found');
    return waiter;
  }

  /** The record of an email or a phone, or null; the email's where they match two. */
  async find(waitlistId: number, contact: ContactKeys): Promise<Waiter | null> {
    return this.reader.find(waitlistId, contact);
  }

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

  /** Sets what a referral is worth and reorders the line, past referrals too, within the caller's transaction. */
  async setSpotsPerReferral(manager: EntityManager, waitlistId: number, spotsPerReferral: number): Promise<void> {
    const queue = await this.queues.lock(manager, waitlistId);
    if (queue.spotsPerReferral === spotsPerReferral) return;
    await this.queues.update(manager, { ...queue, spotsPerReferral });
    await this.waiters.rekey(manager, waitlistId, spotsPerReferral);
  }

  /** Ends a line and deletes its records, within the caller's transaction. */
  async close(manager: EntityManager, waitlistId: number): Promise<void> {
    await this.queues.lock(manager, waitlistId);
    await this.waiters.deleteAll(manager, waitlistId);
    await this.queues.delete(manager, waitlistId);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.writer.close();
  }
}
