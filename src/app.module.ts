import { type DynamicModule, Module } from '@nestjs/common';
import { AuthModule } from './auth/auth.module.js';
import type { Config } from './platform/config/config.js';
import { ConfigModule } from './platform/config/config.module.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { PlatformModule } from './platform/platform.module.js';
import { QueueModule } from './queue/queue.module.js';
import { SignupModule } from './signup/signup.module.js';
import { WaiterModule } from './waiter/waiter.module.js';
import { WaitlistModule } from './waitlist/waitlist.module.js';

@Module({})
export class AppModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config.database),
        PlatformModule,
        AuthModule,
        QueueModule,
        WaitlistModule,
        SignupModule,
        WaiterModule,
      ],
    };
  }
}
