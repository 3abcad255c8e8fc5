import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DeliveryEntity } from './delivery.entity.js';
import { DeliveryStore } from './delivery.store.js';
import { LeaveLinkEntity } from './leave-link.entity.js';
import { LeaveLinkStore } from './leave-link.store.js';
import { MailEntity } from './mail.entity.js';
import { MailStore } from './mail.store.js';
import { MemberMailEntity } from './member-mail.entity.js';
import { MemberMailStore } from './member-mail.store.js';
import { OutboxSignal } from './outbox.signal.js';
import { PayloadEntity } from './payload.entity.js';
import { SignupEventEntity } from './signup-event.entity.js';
import { SignupEventStore } from './signup-event.store.js';
import { VerificationLinkEntity } from './verification-link.entity.js';
import { VerificationLinkStore } from './verification-link.store.js';
import { WebhookEntity } from './webhook.entity.js';
import { WelcomeMailEntity } from './welcome-mail.entity.js';
import { WelcomeMailStore } from './welcome-mail.store.js';

const PROVIDERS = [
  DeliveryStore,
  SignupEventStore,
  MailStore,
  MemberMailStore,
  WelcomeMailStore,
  VerificationLinkStore,
  LeaveLinkStore,
  OutboxSignal,
];

/** The rows that transactions leave for the dispatchers: events of signups, deliveries, welcomes, mails, links. */
@Module({
  imports: [
    TypeOrmModule.forFeature([
      WebhookEntity,
      SignupEventEntity,
      DeliveryEntity,
      PayloadEntity,
      MailEntity,
      MemberMailEntity,
      WelcomeMailEntity,
      VerificationLinkEntity,
      LeaveLinkEntity,
    ]),
  ],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class OutboxModule {}
