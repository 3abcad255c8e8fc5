import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { CaptchaService } from './captcha.service.js';
import { LivePlaces } from './live-places.js';
import { SignupController } from './signup.controller.js';
import { SignupService } from './signup.service.js';

@Module({
  imports: [QueueModule, WaitlistModule],
  controllers: [SignupController],
  providers: [SignupService, CaptchaService, LivePlaces],
  exports: [SignupService],
})
export class SignupModule {}
