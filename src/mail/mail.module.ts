import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { OutboxModule } from '../outbox/outbox.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { DueMailStore } from './due-mail.store.js';
import { DueMemberMailStore } from './due-member-mail.store.js';
import { LeavingService } from './leaving.service.js';
import { MailDispatcher } from './mail.dispatcher.js';
import { MailMetrics } from './mail.metrics.js';
import { MailSender } from './mail.sender.js';
import { MemberMails } from './member-mails.js';
import { OfferLinkService } from './offer-link.service.js';
import { RequestedMails } from './requested-mails.js';
import { VerificationController } from './verification.controller.js';
import { VerificationService } from './verification.service.js';
import { WaitlistMailController } from './waitlist-mail.controller.js';
import { WaitlistMailService } from './waitlist-mail.service.js';
import { WelcomeMaker } from './welcome.maker.js';

/** Mails to people and owners, and the links in them. */
@Module({
  imports: [AuthModule, OutboxModule, QueueModule, WaitlistModule],
  controllers: [VerificationController, WaitlistMailController],
  providers: [
    MailDispatcher,
    MailSender,
    MailMetrics,
    DueMailStore,
    DueMemberMailStore,
    MemberMails,
    WelcomeMaker,
    RequestedMails,
    VerificationService,
    LeavingService,
    OfferLinkService,
    WaitlistMailService,
  ],
  exports: [MailDispatcher, VerificationService, LeavingService, OfferLinkService],
})
export class MailModule {}
