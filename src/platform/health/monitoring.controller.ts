import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../http/public.js';
import { Metrics } from '../telemetry/metrics.js';
import { Lifecycle } from './lifecycle.js';

/** `/livez` shows that the process runs, `/readyz` that it can serve requests. `/metrics` is read by Prometheus. */
@ApiExcludeController()
@Public()
@Controller()
export class MonitoringController {
  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly metrics: Metrics,
  ) {}

  @Get('livez')
  live() {
    return { status: 'ok' };
  }

  @Get('readyz')
  async ready() {
    await this.lifecycle.requireReady();
    return { status: 'ok' };
  }

  @Get('metrics')
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  async readMetrics(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
