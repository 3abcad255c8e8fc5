import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Metrics } from '../platform/telemetry/metrics.js';

/** Metrics of logins. */
@Injectable()
export class AuthMetrics {
  readonly logins: Counter<'outcome'>;
  readonly refreshReuses: Counter;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.logins = new Counter({
      name: 'waitlist_logins_total',
      help: 'Logins by outcome: `success`, `failure` (a wrong email, password or code, also within a login, or a single sign-on that failed), `throttled` after many failures.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of ['success', 'failure', 'throttled']) this.logins.inc({ outcome }, 0);
    this.refreshReuses = new Counter({
      name: 'waitlist_refresh_reuse_total',
      help: 'Refresh tokens that were used a second time, which ended their logins.',
      registers,
    });
  }
}
