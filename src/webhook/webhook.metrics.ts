import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { SignupEventStore } from '../outbox/signup-event.store.js';
import { Database } from '../platform/database/database.js';
import { databaseGauge } from '../platform/database/database-gauge.js';
import { mapped, together } from '../platform/database/session.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { COUNTED_MAX, DueDeliveryStore } from './due-delivery.store.js';
import type { NextState } from './retry-schedule.js';

const OUTCOMES = ['delivered', 'retried', 'failed'] as const;

/** Metrics of the deliveries to webhooks. The gauges are the same in all processes. */
@Injectable()
export class WebhookMetrics {
  private readonly attempts: Counter<'outcome'>;

  constructor({ registry }: Metrics, database: Database, deliveries: DueDeliveryStore, signupEvents: SignupEventStore) {
    this.attempts = new Counter({
      name: 'waitlist_webhook_attempts_total',
      help: 'Attempts of deliveries, by outcome: delivered, retried (another one follows), failed (the last one).',
      labelNames: ['outcome'],
      registers: [registry],
    });
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0);
    databaseGauge(registry, database, {
      name: 'waitlist_webhook_pending_deliveries',
      help: `Deliveries that wait for an attempt, and those that new signups will get, counted up to ${COUNTED_MAX}.`,
      read: () =>
        mapped(
          together([deliveries.countPending(), signupEvents.countDeliveries(COUNTED_MAX)]),
          ([pending, expected]) => Math.min(pending + expected, COUNTED_MAX),
        ),
    });
    databaseGauge(registry, database, {
      name: 'waitlist_webhook_delay_seconds',
      help: 'How long the delivery or the signup that waits longest has been due.',
      read: () =>
        mapped(together([deliveries.findPending(), signupEvents.findWaitlists()]), ([pending, waitlists]) => {
          const due = [...pending.map(({ nextAttemptAt }) => nextAttemptAt), ...waitlists.map(({ since }) => since)];
          const firstMs = Math.min(...due.map((moment) => moment.getTime()));
          return Math.max(0, Date.now() - firstMs) / 1000;
        }),
    });
  }

  ended({ status }: NextState): void {
    this.attempts.inc({ outcome: status === 'pending' ? 'retried' : status });
  }
}
