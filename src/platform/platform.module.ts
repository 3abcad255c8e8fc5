import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Config, CONFIG } from './config/config.js';
import { Lifecycle } from './health/lifecycle.js';
import { MonitoringController } from './health/monitoring.controller.js';
import { PageHeaders } from './http/page-headers.js';
import { SharedCounts } from './limits/shared-counts.js';
import { Metrics } from './telemetry/metrics.js';

@Global()
@Module({
  controllers: [MonitoringController],
  providers: [Metrics, PageHeaders, Lifecycle, SharedCounts],
  exports: [Metrics, PageHeaders, SharedCounts],
})
export class PlatformModule {
  static forRoot(config: Config): DynamicModule {
    return { module: PlatformModule, providers: [{ provide: CONFIG, useValue: config }], exports: [CONFIG] };
  }
}
