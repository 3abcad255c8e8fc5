import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule } from '../outbox/outbox.module.js';
import { BucketStore } from './order/bucket.store.js';
import { DayStore } from './order/day.store.js';
import { Ledger } from './order/ledger.js';
import { OfferEntity } from './offers/offer.entity.js';
import { OfferCodes } from './offers/offer-codes.js';
import { OfferReader } from './offers/offer.reader.js';
import { OfferStore } from './offers/offer.store.js';
import { OfferSweeper } from './maintenance/offer-sweeper.js';
import { ReleaseRunEntity } from './release/release-run.entity.js';
import { ReleaseRunStore } from './release/release-run.store.js';
import { ReleaseRunner } from './release/release.runner.js';
import { ErasedWaiterEntity } from './record/erased-waiter.entity.js';
import { QueueImporter } from './import/importer.js';
import { ImportRunEntity } from './import/import-run.entity.js';
import { ImportRunStore } from './import/import-run.store.js';
import { CrowdedPositions } from './read/crowded-positions.js';
import { ListingStore } from './read/listing.store.js';
import { MaintenanceStore } from './maintenance/maintenance.store.js';
import { QueueAuditor } from './maintenance/auditor.js';
import { PendingSweeper } from './maintenance/pending-sweeper.js';
import { QueuePurger } from './maintenance/purger.js';
import { QueueSeeder } from './maintenance/seeder.js';
import { QueueMetrics } from './queue.metrics.js';
import { PlaceReader } from './read/place.reader.js';
import { QueueListing } from './read/queue.listing.js';
import { QueueReader } from './read/queue.reader.js';
import { QueueScanner } from './read/queue.scanner.js';
import { QueueStatistics } from './read/queue.statistics.js';
import { ReleaseDueTable } from './settings/release-due.table.js';
import { QueueStore } from './settings/queue.store.js';
import { DecisionStore } from './write/decision.store.js';
import { ExclusiveStores } from './write/exclusive-stores.js';
import { FactsReader } from './write/facts.reader.js';
import { QueueWriter } from './write/queue.writer.js';
import { RecentReferralStore } from './write/recent-referral.store.js';
import { SignupDeliveryMaker } from './write/signup-delivery-maker.js';
import { SignupDeliveries } from './record/signup-deliveries.js';
import { WaiterEntity } from './record/waiter.entity.js';
import { WaiterStore } from './record/waiter.store.js';
import { WaitlistEntity } from './settings/waitlist.entity.js';
import { WaitlistMailEntity } from './settings/waitlist-mail.entity.js';
import { WaitlistMailTable } from './settings/waitlist-mail.table.js';
import { WaitlistTable } from './settings/waitlist.table.js';

const ENTRY_POINTS = [
  QueueWriter,
  QueueReader,
  PlaceReader,
  QueueListing,
  QueueScanner,
  QueueStatistics,
  QueueAuditor,
  QueuePurger,
  QueueSeeder,
  QueueImporter,
  SignupDeliveries,
  ReleaseRunner,
  OfferCodes,
  OfferReader,
];

/** Who is before whom. It alone writes records and the state of a queue. */
@Module({
  imports: [
    OutboxModule,
    TypeOrmModule.forFeature([
      WaitlistEntity,
      WaitlistMailEntity,
      WaiterEntity,
      ErasedWaiterEntity,
      OfferEntity,
      ImportRunEntity,
      ReleaseRunEntity,
    ]),
  ],
  providers: [
    ...ENTRY_POINTS,
    QueueMetrics,
    SignupDeliveryMaker,
    WaitlistTable,
    WaitlistMailTable,
    QueueStore,
    ReleaseDueTable,
    WaiterStore,
    ListingStore,
    CrowdedPositions,
    BucketStore,
    DayStore,
    Ledger,
    FactsReader,
    DecisionStore,
    ExclusiveStores,
    RecentReferralStore,
    MaintenanceStore,
    PendingSweeper,
    OfferStore,
    OfferSweeper,
    ImportRunStore,
    ReleaseRunStore,
  ],
  exports: [...ENTRY_POINTS, ReleaseDueTable, WaitlistTable, WaitlistMailTable],
})
export class QueueModule {}
