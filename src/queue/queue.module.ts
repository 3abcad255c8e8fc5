import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { BucketStore } from './bucket.store.js';
import { QueueEntity } from './queue.entity.js';
import { WaiterEntity } from './waiter.entity.js';
import { QueueAuditor } from './queue.auditor.js';
import { QueuePurger } from './queue.purger.js';
import { QueueMetrics } from './queue.metrics.js';
import { QueueReader } from './queue.reader.js';
import { QueueSeeder } from './queue.seeder.js';
import { QueueService } from './queue.service.js';
import { QueueStore } from './queue.store.js';
import { QueueWriter } from './queue.writer.js';
import { WaiterStore } from './waiter.store.js';

@Module({
  imports: [TypeOrmModule.forFeature([QueueEntity, WaiterEntity])],
  providers: [
    QueueService,
    QueueReader,
    QueueWriter,
    QueueMetrics,
    QueueStore,
    WaiterStore,
    BucketStore,
    QueueAuditor,
    QueueSeeder,
    QueuePurger,
  ],
  exports: [QueueService],
})
export class QueueModule {}
