import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { SsrfGuard } from './ssrf-guard.js';
import { DueDeliveryStore } from './due-delivery.store.js';
import { WebhookController } from './webhook.controller.js';
import { WebhookDispatcher } from './webhook.dispatcher.js';
import { WebhookMetrics } from './webhook.metrics.js';
import { WebhookSender } from './webhook.sender.js';
import { WebhookService } from './webhook.service.js';
import { WebhookStore } from './webhook.store.js';

@Module({
  imports: [AuthModule, QueueModule, OutboxModule],
  controllers: [WebhookController],
  providers: [
    WebhookService,
    WebhookDispatcher,
    WebhookSender,
    WebhookMetrics,
    SsrfGuard,
    WebhookStore,
    DueDeliveryStore,
  ],
  exports: [WebhookService, WebhookDispatcher],
})
export class WebhookModule {}
