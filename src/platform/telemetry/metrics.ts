import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

/** From a cached lookup to the request deadline. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Gauges with the name of a counter. `nodejs_active_resources` and similar hold the same values by kind. */
const MISLEADING_METRICS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];
/** The version of Node.js tells an attacker which holes it has. */
const SENSITIVE_METRICS = ['nodejs_version_info'];

/** Prometheus metrics of this process. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private readonly requestDuration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its response.',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [this.registry],
  });

  private readonly connectionRefusals = new Counter({
    name: 'http_connections_refused_total',
    help: 'Connections closed at once because there were too many in all or from their address.',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    for (const name of [...MISLEADING_METRICS, ...SENSITIVE_METRICS]) this.registry.removeSingleMetric(name);
  }

  /** `route` is the pattern, never the path: paths can hold personal data, and there is no bound on their number. */
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
