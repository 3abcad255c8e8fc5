import { Global, Module } from '@nestjs/common';
import { HealthController } from './health/health.controller.js';
import { ErrorsController } from './http/errors.controller.js';
import { PageHeaders } from './http/page-headers.js';
import { Metrics } from './telemetry/metrics.js';
import { MetricsController } from './telemetry/metrics.controller.js';

@Global()
@Module({
  controllers: [HealthController, ErrorsController, MetricsController],
  providers: [Metrics, PageHeaders],
  exports: [PageHeaders],
})
export class PlatformModule {}
