import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../platform/audit/audit-log.js';
import { AccountWriteService } from '../../platform/idempotency/account-write.service.js';
import { Ledger } from '../order/ledger.js';
import { WaiterStore } from '../record/waiter.store.js';
import { WaitlistMailTable } from '../settings/waitlist-mail.table.js';
import { ReleaseDueTable } from '../settings/release-due.table.js';
import { QueueStore } from '../settings/queue.store.js';
import { WaitlistTable } from '../settings/waitlist.table.js';

/** The stores of the commands that have a transaction of their own. */
@Injectable()
export class ExclusiveStores {
  constructor(
    readonly queues: QueueStore,
    readonly waitlists: WaitlistTable,
    readonly mails: WaitlistMailTable,
    readonly releases: ReleaseDueTable,
    readonly ledger: Ledger,
    readonly waiters: WaiterStore,
    readonly audit: AuditLog,
    readonly writes: AccountWriteService,
  ) {}
}
