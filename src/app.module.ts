import { type DynamicModule, Module } from '@nestjs/common';
import { AuthModule } from './auth/auth.module.js';
import { LegacyModule } from './legacy/legacy.module.js';
import { MailModule } from './mail/mail.module.js';
import { PagesModule } from './pages/pages.module.js';
import type { Config } from './platform/config/config.js';
import { PlatformModule } from './platform/platform.module.js';
import { QueueModule } from './queue/queue.module.js';
import { SignupModule } from './signup/signup.module.js';
import { TransferModule } from './transfer/transfer.module.js';
import { WaiterModule } from './waiter/waiter.module.js';
import { WaitlistModule } from './waitlist/waitlist.module.js';
import { WebhookModule } from './webhook/webhook.module.js';

@Module({})
export class AppModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PlatformModule.forRoot(config),
        AuthModule,
        QueueModule,
        WaitlistModule,
        SignupModule,
        MailModule,
        WaiterModule,
        TransferModule,
        WebhookModule,
        LegacyModule,
        PagesModule,
      ],
    };
  }
}
