import { Injectable } from '@nestjs/common';
import { MailStore } from '../../outbox/mail.store.js';
import { VerificationLinkStore } from '../../outbox/verification-link.store.js';
import { Database } from '../../platform/database/database.js';
import { Sweeper } from '../../platform/database/sweeper.js';
import { WriteAheadLog } from '../../platform/database/write-ahead-log.js';
import { QueueStore } from '../settings/queue.store.js';
import { MaintenanceStore, type PendingRecord } from './maintenance.store.js';

/** How long a pending record is kept after its last mail. Mails are kept as long, because they hold that time. */
export const PENDING_KEPT_MS = 30 * 24 * 3_600_000;
/** Records deleted in one transaction, which holds the lock of the queue for some milliseconds. */
const CHUNK_SIZE = 200;

/** Deletes the records of people who never verified their email. */
@Injectable()
export class PendingSweeper {
  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly records: MaintenanceStore,
    private readonly mails: MailStore,
    private readonly links: VerificationLinkStore,
    private readonly writeAheadLog: WriteAheadLog,
    sweeper: Sweeper,
  ) {
    sweeper.addWork((isStopped) => this.sweepAll(isStopped));
  }

  private async sweepAll(isStopped: () => boolean): Promise<void> {
    for (const waitlistId of await this.database.one(this.records.listWithPending()))
      if (!isStopped()) await this.sweep(waitlistId, isStopped);
  }

  /** Deletes the old records, oldest first: the `seq` of pending records counts down from -1. */
  private async sweep(waitlistId: number, isStopped: () => boolean): Promise<void> {
    const before = new Date(Date.now() - PENDING_KEPT_MS);
    let chunk: readonly PendingRecord[] = [];
    do {
      chunk = await this.database.one(this.records.findPending(waitlistId, chunk.at(-1)?.seq ?? 0, CHUNK_SIZE));
      const old = chunk.filter(({ createdAt }) => createdAt < before);
      if (old.length > 0) await this.delete(waitlistId, old, before);
      if (old.length < chunk.length) return;
    } while (chunk.length === CHUNK_SIZE && !isStopped());
  }

  /** The lock of the queue keeps a click from putting one of the records in the queue meanwhile. */
  private async delete(waitlistId: number, records: readonly PendingRecord[], before: Date): Promise<void> {
    const uuids = records.map(({ uuid }) => uuid);
    await this.database.pipelinedTransaction(async (session) => {
      const [, mailed] = await session.all([
        this.queues.lock(waitlistId),
        this.mails.findMailedSince(waitlistId, uuids, before),
      ]);
      const old = uuids.filter((uuid) => !mailed.has(uuid));
      if (old.length === 0) return;
      await session.commit([
        this.records.deletePending(waitlistId, old),
        this.mails.drop(waitlistId, old),
        this.links.deleteOf(waitlistId, old),
      ]);
    });
    this.writeAheadLog.empty();
  }
}
