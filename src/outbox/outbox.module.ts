import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeliveryEntity } from './delivery.entity.js';
import { DeliveryStore } from './delivery.store.js';
import { MailEntity } from './mail.entity.js';
import { MailStore } from './mail.store.js';
import { OutboxSignal } from './outbox.signal.js';
import { PayloadEntity } from './payload.entity.js';
import { UnsentSignupEntity } from './unsent-signup.entity.js';
import { UnsentSignupStore } from './unsent-signup.store.js';
import { VerificationLinkEntity } from './verification-link.entity.js';
import { VerificationLinkStore } from './verification-link.store.js';
import { WebhookEntity } from './webhook.entity.js';

const PROVIDERS = [DeliveryStore, UnsentSignupStore, MailStore, VerificationLinkStore, OutboxSignal];

/** The rows that a transaction leaves for the dispatchers: deliveries, mails and verification links. */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      WebhookEntity,
      UnsentSignupEntity,
      DeliveryEntity,
      PayloadEntity,
      MailEntity,
      VerificationLinkEntity,
    ]),
  ],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class OutboxModule {}
