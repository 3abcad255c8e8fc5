import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

/** From a cached lookup to the longest that a client waits. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Gauges under the name of a counter; `nodejs_active_resources` and its like say the same by kind. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];
/** Tells an attacker what to try. */
const TELLTALE = ['nodejs_version_info'];

/** Prometheus metrics of this process. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private readonly requestDuration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [this.registry],
  });

  private readonly connectionRefusals = new Counter({
    name: 'http_connections_refused_total',
    help: 'Connections closed at once, because there were too many of their address or of all.',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    for (const name of [...MISNAMED, ...TELLTALE]) this.registry.removeSingleMetric(name);
  }

  /** `route` is the pattern, never the path: a path can hold what a caller typed, and its values have no bound. */
  answered(method: string, route: string, status: number, durationMs: number): void {
    this.requestDuration.observe({ method, route, status }, durationMs / 1000);
  }

  connectionRefused(): void {
    this.connectionRefusals.inc();
  }

  async read(): Promise<string> {
    return this.registry.metrics();
  }
}
