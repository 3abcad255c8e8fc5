import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { DataSource } from 'typeorm';

/** From a cached lookup to the request deadline. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const REMOVED_METRICS = [
  // Gauges with the name of a counter. `nodejs_active_resources` and similar hold the same values by kind.
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  // The version of Node.js tells an attacker which holes it has.
  'nodejs_version_info',
];

/** Prometheus metrics of this process. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  private readonly requestDuration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its response, or of its connection (status 499).',
    labelNames: ['method', 'route', 'status'],
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [this.registry],
  });

  readonly connectionRefusals = new Counter({
    name: 'http_connections_refused_total',
    help: 'Connections closed at once because the process had too many.',
    registers: [this.registry],
  });

  constructor(dataSource: DataSource) {
    collectDefaultMetrics({ register: this.registry });
    for (const name of REMOVED_METRICS) this.registry.removeSingleMetric(name);
    if (dataSource.options.type === 'mysql') measurePool(this.registry, dataSource);
  }

  /** `route` is the pattern, never the path: paths can hold personal data, and there is no bound on their number. */
  ended(method: string, route: string, status: number, durationMs: number): void {
    this.requestDuration.observe({ method, route, status }, durationMs / 1000);
  }
}

/** Private fields of mysql2's pool, which has no public ones for this. */
type CountedPool = Record<'_allConnections' | '_freeConnections' | '_connectionQueue', { readonly length: number }>;

function measurePool(registry: Registry, { options, driver }: DataSource): void {
  const { pool } = driver as unknown as { readonly pool: CountedPool };
  const registers = [registry];
  new Gauge({
    name: 'waitlist_database_connections',
    help: 'Connections to the database: `used` by a statement or transaction, or `idle`.',
    labelNames: ['state'],
    registers,
    collect() {
      const idle = pool._freeConnections.length;
      this.set({ state: 'idle' }, idle);
      this.set({ state: 'used' }, pool._allConnections.length - idle);
    },
  });
  new Gauge({
    name: 'waitlist_database_connections_max',
    help: 'Connections that the pool may open at most.',
    registers,
  }).set(options.poolSize ?? 0);
  new Gauge({
    name: 'waitlist_database_waiting',
    help: 'Statements and transactions waiting for a connection.',
    registers,
    collect() {
      this.set(pool._connectionQueue.length);
    },
  });
}
