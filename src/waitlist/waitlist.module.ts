import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { PublicWaitlistController } from './public-waitlist.controller.js';
import { WaitlistController } from './waitlist.controller.js';
import { WaitlistService } from './waitlist.service.js';
import { WaitlistStore } from './waitlist.store.js';

@Module({
  imports: [AuthModule, QueueModule],
  controllers: [WaitlistController, PublicWaitlistController],
  providers: [WaitlistService, WaitlistStore],
  exports: [WaitlistService],
})
export class WaitlistModule {}
