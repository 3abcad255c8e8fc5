import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/outbox.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { DueMailStore } from './due-mail.store.js';
import { MailDispatcher } from './mail-dispatcher.service.js';
import { MailMetrics } from './mail.metrics.js';
import { MailTransport } from './mail.transport.js';
import { VerificationController } from './verification.controller.js';
import { VerificationService } from './verification.service.js';

/** Mails to people and owners, and the links in them. */
@Module({
  imports: [OutboxModule, QueueModule, WaitlistModule],
  controllers: [VerificationController],
  providers: [MailDispatcher, MailTransport, MailMetrics, DueMailStore, VerificationService],
  exports: [MailDispatcher, VerificationService],
})
export class MailModule {}
