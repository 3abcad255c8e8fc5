import { Global, Module } from '@nestjs/common';
import { HealthController } from './health/health.controller.js';
import { Lifecycle } from './health/lifecycle.js';
import { Readiness } from './health/readiness.js';
import { PageHeaders } from './http/page-headers.js';
import { SharedCounts } from './limits/shared-counts.js';
import { Metrics } from './telemetry/metrics.js';
import { MetricsController } from './telemetry/metrics.controller.js';
import { PoolMetrics } from './telemetry/pool-metrics.js';

@Global()
@Module({
  controllers: [HealthController, MetricsController],
  providers: [Metrics, PoolMetrics, PageHeaders, Lifecycle, Readiness, SharedCounts],
  exports: [Metrics, PageHeaders, SharedCounts],
})
export class PlatformModule {}
