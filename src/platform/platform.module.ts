import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditEventEntity } from './audit/audit-event.entity.js';
import { AuditLog } from './audit/audit-log.js';
import { BackgroundTasks } from './background-task.js';
import { type Config, CONFIG } from './config/config.js';
import { dataSourceOptions } from './database/data-source-options.js';
import { Database } from './database/database.js';
import { Sweeper } from './database/sweeper.js';
import { WriteAheadLog } from './database/write-ahead-log.js';
import { Lifecycle } from './health/lifecycle.js';
import { PageHeaders } from './http/page-headers.js';
import { IdempotencyKeyEntity } from './idempotency/idempotency-key.entity.js';
import { AccountWriteService } from './idempotency/account-write.service.js';
import { EnumerationLimit } from './limits/enumeration-limit.js';
import { LiveConnections } from './limits/live-connections.js';
import { Networks } from './limits/networks.js';
import { SharedCounts } from './limits/shared-counts.js';
import { SealedColumns } from './secrets/sealed-columns.js';
import { Secrets } from './secrets/secrets.js';
import { Metrics } from './telemetry/metrics.js';

/** For all modules. */
const SHARED = [
  BackgroundTasks,
  Database,
  Lifecycle,
  Sweeper,
  WriteAheadLog,
  Secrets,
  SealedColumns,
  AuditLog,
  AccountWriteService,
  Metrics,
  PageHeaders,
  SharedCounts,
  EnumerationLimit,
  Networks,
  LiveConnections,
];

@Global()
@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity, IdempotencyKeyEntity])],
  providers: SHARED,
  exports: SHARED,
})
export class PlatformModule {
  static forRoot(config: Config): DynamicModule {
    // Retrying here would hide a wrong address for half a minute; an orchestrator restarts the process anyway.
    const options = { ...dataSourceOptions(config.database), autoLoadEntities: true, retryAttempts: 0 };
    return {
      module: PlatformModule,
      imports: [TypeOrmModule.forRoot(options)],
      providers: [{ provide: CONFIG, useValue: config }],
      exports: [CONFIG],
    };
  }
}
