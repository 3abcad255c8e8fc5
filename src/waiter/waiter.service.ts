import { Injectable } from '@nestjs/common';
import { QueueService } from '../queue/queue.service.js';
import type { Page, PageRequest, Waiter } from '../queue/waiter.js';
import type { OwnedWaitlist } from '../waitlist/waitlist.service.js';

/** People in line, as the owner sees them. */
@Injectable()
export class WaiterService {
  constructor(private readonly queue: QueueService) {}

  async list(waitlist: OwnedWaitlist, request: PageRequest): Promise<Page> {
    return this.queue.page(waitlist.id, request);
  }

  /** The records that this call removed from the line, in the order of `ids`; all or none. */
  async offboard(waitlist: OwnedWaitlist, ids: readonly number[]): Promise<readonly Waiter[]> {
    return this.queue.offboard(waitlist.id, ids);
  }
}
