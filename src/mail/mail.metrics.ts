import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { Database } from '../platform/database/database.js';
import { isUnavailable } from '../platform/problems/problem.js';
import { Metrics } from '../platform/telemetry/metrics.js';
import { type Backlog, COUNTED_MAX, DueMailStore } from './due-mail.store.js';

const OUTCOMES = ['sent', 'put_off', 'failed', 'dropped'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Metrics of mails. */
@Injectable()
export class MailMetrics {
  private readonly attempts: Counter<'outcome'>;

  constructor({ registry }: Metrics, database: Database, mails: DueMailStore) {
    const registers = [registry];
    this.attempts = new Counter({
      name: 'waitlist_mail_attempts_total',
      help: 'Attempts to send a mail, by outcome: `sent`, `put_off` to another attempt, `failed` for good, `dropped` beyond a bound.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0);
    const oldest = new Gauge({
      name: 'waitlist_mail_oldest_seconds',
      help: 'Age of the oldest mail that waits to be sent; 0 if none waits.',
      registers,
    });
    const waiting: Gauge = new Gauge({
      name: 'waitlist_mail_waiting',
      help: `Mails that wait to be sent, over all waitlists; at most ${COUNTED_MAX} are counted.`,
      registers,
      async collect() {
        const backlog = await database.one(mails.backlog()).catch(noneIfUnavailable);
        waiting.set(backlog.waiting);
        oldest.set(backlog.oldest ? Math.max(0, Date.now() - backlog.oldest.getTime()) / 1000 : 0);
      },
    });
  }

  count(outcome: Outcome): void {
    this.attempts.inc({ outcome });
  }
}

function noneIfUnavailable(error: unknown): Backlog {
  if (!isUnavailable(error)) throw error;
  return { waiting: 0, oldest: null };
}
