import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { Metrics } from './metrics.js';

/** Private fields of mysql2's pool, which has no public ones for this. */
interface CountedPool {
  readonly _allConnections: { readonly length: number };
  readonly _freeConnections: { readonly length: number };
  readonly _connectionQueue: { readonly length: number };
}

/** Gauges of the connection pool. The embedded database has no pool and no such metrics. */
@Injectable()
export class PoolMetrics {
  constructor({ registry }: Metrics, dataSource: DataSource) {
    const { options, driver } = dataSource;
    if (options.type !== 'mysql') return;
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
}
