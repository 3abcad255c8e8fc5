import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { AccountSignupController } from './account-signup.controller.js';
import { OfferController } from './offer.controller.js';
import { OfferService } from './offer.service.js';
import { ReferralController } from './referral.controller.js';
import { WaiterController } from './waiter.controller.js';
import { WaiterService } from './waiter.service.js';

@Module({
  imports: [AuthModule, WaitlistModule, QueueModule],
  controllers: [WaiterController, AccountSignupController, ReferralController, OfferController],
  providers: [WaiterService, OfferService],
})
export class WaiterModule {}
