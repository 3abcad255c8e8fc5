import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Database } from '../platform/database/database.js';
import { databaseGauge } from '../platform/database/database-gauge.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { COUNTED_MAX, DueMailStore } from './due-mail.store.js';

const OUTCOMES = ['sent', 'retried', 'failed', 'dropped'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Metrics of mails. The gauges are the same in all processes. */
@Injectable()
export class MailMetrics {
  private readonly attempts: Counter<'outcome'>;

  constructor({ registry }: Metrics, database: Database, mails: DueMailStore) {
    this.attempts = new Counter({
      name: 'waitlist_mail_attempts_total',
      help: 'Attempts to send a mail, by outcome: sent, retried (another one follows), failed (the last one), dropped (beyond a bound).',
      labelNames: ['outcome'],
      registers: [registry],
    });
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0);
    databaseGauge(registry, database, {
      name: 'waitlist_mail_pending',
      help: `Mails that wait for an attempt; counted up to ${COUNTED_MAX}.`,
      read: () => mails.countPending(new Date()),
    });
    databaseGauge(registry, database, {
      name: 'waitlist_mail_delay_seconds',
      help: 'Seconds since the oldest due mail became due.',
      read: () => mails.measureDelay(new Date()),
    });
  }

  count(outcome: Outcome): void {
    this.attempts.inc({ outcome });
  }
}
