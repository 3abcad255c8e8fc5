import { type DynamicModule, Module } from '@nestjs/common';
import { AccountEntity } from './auth/account.entity.js';
import { AuthModule } from './auth/auth.module.js';
import { RefreshTokenEntity } from './auth/refresh-token.entity.js';
import type { Config } from './platform/config/config.js';
import { ConfigModule } from './platform/config/config.module.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { PlatformModule } from './platform/platform.module.js';
import { QueueEntity } from './queue/queue.entity.js';
import { QueueModule } from './queue/queue.module.js';
import { WaiterEntity } from './queue/waiter.entity.js';
import { SignupModule } from './signup/signup.module.js';
import { WaiterModule } from './waiter/waiter.module.js';
import { WaitlistEntity } from './waitlist/waitlist.entity.js';
import { WaitlistModule } from './waitlist/waitlist.module.js';

export const entities = [AccountEntity, RefreshTokenEntity, WaitlistEntity, QueueEntity, WaiterEntity];

@Module({})
export class AppModule {
  static of(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.of(config),
        DatabaseModule.of(config.database, entities),
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
