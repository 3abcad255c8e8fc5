import { Module } from '@nestjs/common';
import { AccountModule } from '../account/account.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { HeartbeatController } from './heartbeat.controller.js';
import { LeaderboardController } from './leaderboard.controller.js';
import { LeaderboardService } from './leaderboard.service.js';
import { PageViewStore } from './page-view.store.js';
import { PageViewService } from './page-view.service.js';
import { PublicWaitlistController } from './public-waitlist.controller.js';
import { ReleaseController } from './release.controller.js';
import { ReleaseService } from './release.service.js';
import { StatisticsController } from './statistics.controller.js';
import { StatisticsService } from './statistics.service.js';
import { WaitlistNameService } from './waitlist-name.service.js';
import { WaitlistController } from './waitlist.controller.js';
import { WaitlistService } from './waitlist.service.js';
import { WaitlistStore } from './waitlist.store.js';

@Module({
  imports: [AccountModule, AuthModule, QueueModule],
  controllers: [
    WaitlistController,
    PublicWaitlistController,
    HeartbeatController,
    LeaderboardController,
    StatisticsController,
    ReleaseController,
  ],
  providers: [
    WaitlistService,
    WaitlistNameService,
    LeaderboardService,
    StatisticsService,
    ReleaseService,
    PageViewService,
    WaitlistStore,
    PageViewStore,
  ],
  exports: [WaitlistService, WaitlistNameService, LeaderboardService, PageViewService],
})
export class WaitlistModule {}
