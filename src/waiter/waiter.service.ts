import { Injectable } from '@nestjs/common';
import type { OwnerWrite } from '../platform/idempotency/owner-write.js';
import { OwnerWrites } from '../platform/idempotency/owner-writes.js';
import type { Selection } from '../queue/batch.js';
import { QueueReader } from '../queue/queue.reader.js';
import { QueueWriter } from '../queue/queue.writer.js';
import type { Waiter } from '../queue/waiter.js';

/** Records that an offboarding removed, and the number of active records after it. */
export interface OffboardedWaiters {
  readonly waiters: readonly Waiter[];
  readonly active: number;
}

/** Owners' operations on the records of their waitlists. */
@Injectable()
export class WaiterService {
  constructor(
    private readonly writes: OwnerWrites,
    private readonly writer: QueueWriter,
    private readonly reader: QueueReader,
  ) {}

  /**
   * Offboards the active records of a selection, all or none, and returns those that this call removed.
   * @throws Problem `WAITLIST_NOT_FOUND`, and those of {@link OwnerWrites.once}
   */
  async offboard(waitlistId: number, selection: Selection, write: OwnerWrite): Promise<OffboardedWaiters> {
    const { uuids, active } = await this.writes.once(
      write,
      () => this.writer.offboard(waitlistId, selection, write),
      (done) => ({ uuids: done.uuids, active: done.counts.active as number }),
    );
    // Read after the commit, because whole records can be large and the lock of the queue must be short.
    return { waiters: await this.reader.findByUuids(waitlistId, uuids), active };
  }
}
