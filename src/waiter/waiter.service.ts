import { Injectable } from '@nestjs/common';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { AccountWriteService } from '../platform/idempotency/account-write.service.js';
import { Problem } from '../platform/problems/problem.js';
import type { Reach } from '../platform/reach.js';
import type { Changed } from '../queue/write/command.js';
import { decideReferrals } from '../queue/write/commands/decide-referrals.js';
import { erase } from '../queue/write/commands/erase.js';
import { offboard } from '../queue/write/commands/offboard.js';
import type { Moved, Selection } from '../queue/write/selection.js';
import { type Refused, refuseReferrals } from '../queue/write/commands/refuse-referrals.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import type { PersonChanges, StoredWaiter, Waiter } from '../queue/record/waiter.js';
import { type Waitlist, WaitlistService } from '../waitlist/waitlist.service.js';

/** A record, its waitlist, and the record that referred it, by its token. */
export interface FoundWaiter {
  readonly waiter: Waiter;
  readonly waitlist: Waitlist;
  readonly referrers: ReadonlyMap<string, StoredWaiter>;
}

/** Operations of accounts on the records of their waitlists. */
@Injectable()
export class WaiterService {
  constructor(
    private readonly writes: AccountWriteService,
    private readonly writer: QueueWriter,
    private readonly reader: QueueReader,
    private readonly waitlists: WaitlistService,
  ) {}

  /** A record of a waitlist within the reach. @throws Problem `NO_WAITER_FOUND` */
  async get(reach: Reach, uuid: string): Promise<FoundWaiter> {
    return this.read(reach, await this.waitlistOf(reach, uuid), uuid);
  }

  /**
   * Offboards the active records of a selection, all or none, and returns the uuids of those that this call removed.
   * The caller reads the records: they can be large, and the queue's lock must be short.
   * @throws Problem `WAITLIST_NOT_FOUND`, and those of {@link AccountWriteService.once}
   */
  async offboard(waitlistId: number, selection: Selection, write: AccountWrite): Promise<Moved> {
    return this.writes.once(
      write,
      () => this.writer.submit(waitlistId, offboard(selection, write)),
      (done) => ({ uuids: done.uuids, active: done.counts.active as number }),
    );
  }

  /**
   * Corrects or moves a record of one of the account's waitlists, and returns it as it is after that.
   * @throws Problem `NO_WAITER_FOUND`, and those of {@link QueueWriter.correct} and {@link AccountWriteService.once}
   */
  async update(uuid: string, changes: PersonChanges, write: AccountWrite): Promise<FoundWaiter> {
    const waitlistId = await this.waitlistOf(write, uuid);
    await this.writes.once<unknown>(
      write,
      () => this.writer.correct(waitlistId, uuid, changes, write),
      () => undefined,
    );
    return this.read(write, waitlistId, uuid);
  }

  /**
   * Refuses the credit of all referrals by one record, and returns how many records that changed.
   * @throws Problem `WAITLIST_NOT_FOUND`, and those of {@link AccountWriteService.once}
   */
  async refuseReferrals(waitlistId: number, token: string, write: AccountWrite): Promise<Refused> {
    return this.writes.once(
      write,
      () => this.writer.submit(waitlistId, refuseReferrals(token, write)),
      ({ counts }) => ({ refused: counts.refused as number }),
    );
  }

  /**
   * Approves or refuses the credit of records, all or none, and returns how many that changed.
   * @throws Problem `WAITLIST_NOT_FOUND`, and those of {@link AccountWriteService.once}
   */
  async decideReferrals(
    waitlistId: number,
    uuids: readonly string[],
    credit: 'credited' | 'refused',
    write: AccountWrite,
  ): Promise<number> {
    const { uuids: changed } = await this.writes.once<Changed>(
      write,
      () => this.writer.submit(waitlistId, decideReferrals(uuids, credit, write)),
      (done) => done,
    );
    return changed.length;
  }

  /**
   * Erases records of one of the account's waitlists, all or none; ignores unknown uuids.
   * @throws Problem `WAITLIST_NOT_FOUND`, and those of {@link AccountWriteService.once}
   */
  async erase(waitlistId: number, uuids: readonly string[], write: AccountWrite): Promise<void> {
    await this.writes.once<unknown>(
      write,
      () => this.writer.submit(waitlistId, erase(uuids, write)),
      () => undefined,
    );
  }

  private async waitlistOf(reach: Reach, uuid: string): Promise<number> {
    const waitlistId = await this.reader.findWaitlistId(reach, uuid);
    if (waitlistId === null) throw new Problem('NO_WAITER_FOUND');
    return waitlistId;
  }

  private async read(reach: Reach, waitlistId: number, uuid: string): Promise<FoundWaiter> {
    const [waitlist, [waiter]] = await Promise.all([
      this.waitlists.get(reach, waitlistId),
      this.reader.findByUuids(waitlistId, [uuid]),
    ]);
    if (!waiter) throw new Problem('NO_WAITER_FOUND');
    return { waiter, waitlist, referrers: await this.reader.findReferrers(waitlistId, [waiter]) };
  }
}
