import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeliveryEntity } from './delivery.entity.js';
import { DeliveryStore } from './delivery.store.js';
import { LeaveLinkEntity } from './leave-link.entity.js';
import { LeaveLinkStore } from './leave-link.store.js';
import { MailEntity } from './mail.entity.js';
import { MailStore } from './mail.store.js';
import { OutboxSignal } from './outbox.signal.js';
import { PayloadEntity } from './payload.entity.js';
import { SignupEventEntity } from './signup-event.entity.js';
import { SignupEventStore } from './signup-event.store.js';
import { VerificationLinkEntity } from './verification-link.entity.js';
import { VerificationLinkStore } from './verification-link.store.js';
import { WebhookEntity } from './webhook.entity.js';

const PROVIDERS = [DeliveryStore, SignupEventStore, MailStore, VerificationLinkStore, LeaveLinkStore, OutboxSignal];

/** The rows that transactions leave for the dispatchers: events of signups, deliveries, mails, the links in mails. */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      WebhookEntity,
      SignupEventEntity,
      DeliveryEntity,
      PayloadEntity,
      MailEntity,
      VerificationLinkEntity,
      LeaveLinkEntity,
    ]),
  ],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class OutboxModule {}
