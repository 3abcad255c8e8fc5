import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Database } from '../platform/database/database.js';
import { mapped, type Query } from '../platform/database/session.js';
import { isUnavailable } from '../platform/problems/problem.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { DispatchStore } from './dispatch.store.js';
import type { Verdict } from './retry-schedule.js';

/** Metrics of the deliveries to webhooks. The gauges are read from the database, so all processes show the same. */
@Injectable()
export class WebhookMetrics {
  private readonly attempts: Counter<'outcome'>;

  constructor({ registry }: Metrics, database: Database, deliveries: DispatchStore) {
    const registers = [registry];
    this.attempts = new Counter({
      name: 'waitlist_webhook_attempts_total',
      help: 'Attempts of deliveries, by outcome: delivered, retried (another one follows), failed (the last one).',
      labelNames: ['outcome'],
      registers,
    });
    const gauge = (name: string, help: string, read: () => Query<number>) => {
      const own: Gauge = new Gauge({
        name,
        help: `${help} Absent while the database is away.`,
        registers,
        collect: async () => {
          own.remove();
          try {
            own.set(await database.one(read()));
          } catch (error) {
            if (!isUnavailable(error)) throw error;
          }
        },
      });
    };
    gauge('waitlist_webhook_pending_deliveries', 'Deliveries that wait for an attempt; counted up to 100,000.', () =>
      deliveries.countPending(),
    );
    gauge('waitlist_webhook_delay_seconds', 'How long the delivery that waits longest has been due.', () =>
      mapped(deliveries.findPending(), (pending) => {
        const firstMs = Math.min(...pending.map(({ nextAttemptAt }) => nextAttemptAt.getTime()));
        return Math.max(0, Date.now() - firstMs) / 1000;
      }),
    );
  }

  ended({ status }: Verdict): void {
    this.attempts.inc({ outcome: status === 'pending' ? 'retried' : status });
  }
}
