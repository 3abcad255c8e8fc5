import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { TransferFiles } from './transfer-files.js';

/** Whole waitlists in files: import and export. */
@Module({
  imports: [AuthModule, QueueModule, WaitlistModule],
  providers: [TransferFiles],
})
export class TransferModule {}
