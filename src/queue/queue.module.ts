import { Module } from '@nestjs/common';
import { QueueReader } from './queue.reader.js';
import { QueueService } from './queue.service.js';
import { QueueStore } from './queue.store.js';
import { QueueWriter } from './queue.writer.js';
import { WaiterStore } from './waiter.store.js';

@Module({
  providers: [QueueService, QueueReader, QueueWriter, QueueStore, WaiterStore],
  exports: [QueueService],
})
export class QueueModule {}
