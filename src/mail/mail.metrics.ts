import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Database } from '../platform/database/database.js';
import type { Query } from '../platform/database/session.js';
import { isUnavailable } from '../platform/problems/problem.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { COUNTED_MAX, DueMailStore } from './due-mail.store.js';

const OUTCOMES = ['sent', 'retried', 'failed', 'dropped'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Metrics of mails. The gauges are read from the database, so all processes show the same. */
@Injectable()
export class MailMetrics {
  private readonly attempts: Counter<'outcome'>;

  constructor({ registry }: Metrics, database: Database, mails: DueMailStore) {
    const registers = [registry];
    this.attempts = new Counter({
      name: 'waitlist_mail_attempts_total',
      help: 'Attempts to send a mail, by outcome: sent, retried (another one follows), failed (the last one), dropped (beyond a bound).',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0);
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
    gauge('waitlist_mail_pending', `Mails that wait for an attempt; counted up to ${COUNTED_MAX}.`, () =>
      mails.countPending(),
    );
    gauge('waitlist_mail_delay_seconds', 'How long the mail that waits longest has been due.', () =>
      mails.measureDelay(new Date()),
    );
  }

  count(outcome: Outcome): void {
    this.attempts.inc({ outcome });
  }
}
