import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { WaitlistModule } from '../waitlist/waitlist.module.js';
import { ExportController } from './export.controller.js';
import { ExportService } from './export.service.js';
import { ImportController } from './import.controller.js';
import { ImportService } from './import.service.js';
import { TransferFiles } from './transfer-files.js';

/** Whole waitlists in files: import and export. */
@Module({
  imports: [AuthModule, QueueModule, WaitlistModule],
  controllers: [ImportController, ExportController],
  providers: [ImportService, ExportService, TransferFiles],
})
export class TransferModule {}
