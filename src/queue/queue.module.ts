import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule } from '../outbox/outbox.module.js';
import { BucketStore } from './bucket.store.js';
import { DayStore } from './day.store.js';
import { ErasedWaiterEntity } from './erased-waiter.entity.js';
import { QueueImporter } from './import/importer.js';
import { ImportRunEntity } from './import/import-run.entity.js';
import { ImportRunStore } from './import/import-run.store.js';
import { ListingStore } from './listing.store.js';
import { MaintenanceStore } from './maintenance/maintenance.store.js';
import { QueueAuditor } from './maintenance/auditor.js';
import { PendingSweeper } from './maintenance/pending-sweeper.js';
import { QueuePurger } from './maintenance/purger.js';
import { QueueSeeder } from './maintenance/seeder.js';
import { QueueMetrics } from './queue.metrics.js';
import { QueuePages } from './queue.pages.js';
import { QueueReader } from './queue.reader.js';
import { QueueScanner } from './queue.scanner.js';
import { QueueStatistics } from './queue.statistics.js';
import { QueueStore } from './queue.store.js';
import { QueueWriter } from './queue.writer.js';
import { RecentReferralStore } from './recent-referral.store.js';
import { SignupDeliveries } from './signup-deliveries.js';
import { WaiterEntity } from './waiter.entity.js';
import { WaiterStore } from './waiter.store.js';
import { WaitlistEntity } from './waitlist.entity.js';
import { WaitlistTable } from './waitlist.table.js';

const ENTRY_POINTS = [
  QueueWriter,
  QueueReader,
  QueuePages,
  QueueScanner,
  QueueStatistics,
  QueueAuditor,
  QueuePurger,
  QueueSeeder,
  QueueImporter,
  SignupDeliveries,
];

/** Who is before whom. It alone writes records and the state of a queue. */
@Module({
  imports: [
    OutboxModule,
    TypeOrmModule.forFeature([WaitlistEntity, WaiterEntity, ErasedWaiterEntity, ImportRunEntity]),
  ],
  providers: [
    ...ENTRY_POINTS,
    QueueMetrics,
    WaitlistTable,
    QueueStore,
    WaiterStore,
    ListingStore,
    BucketStore,
    DayStore,
    RecentReferralStore,
    MaintenanceStore,
    PendingSweeper,
    ImportRunStore,
  ],
  exports: [...ENTRY_POINTS, WaitlistTable],
})
export class QueueModule {}
