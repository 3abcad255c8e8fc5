import { Inject, Injectable } from '@nestjs/common';
import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { addressKey } from '../platform/limits/address.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { Problem } from '../platform/problem.js';

const FAILURES_MAX = 5;
const FAILURES_WINDOW_SECONDS = 15 * 60;
const SLOWED_SECONDS = 60;

/**
 * Slows whoever keeps failing to log in. The key is the account together with the address, so that a stranger's guesses
 * never lock the owner out.
 */
@Injectable()
export class LoginThrottle {
  private readonly isOn: boolean;
  private readonly failures: RateLimiterAbstract;

  constructor(@Inject(CONFIG) { rateLimits }: Config, counts: SharedCounts) {
    this.isOn = rateLimits.login > 0;
    this.failures = counts.limiter('login-failures', {
      points: FAILURES_MAX,
      windowSeconds: FAILURES_WINDOW_SECONDS,
      blockSeconds: SLOWED_SECONDS,
    });
  }

  /** @throws Problem `throttled` */
  async check(emailKey: string, address: string): Promise<void> {
    const state = await this.failures.get(keyOf(emailKey, address));
    if (this.isOn && state && state.consumedPoints > FAILURES_MAX) throw throttled(state);
  }

  async countFailure(emailKey: string, address: string): Promise<void> {
    if (!this.isOn) return;
    try {
      await this.failures.consume(keyOf(emailKey, address));
    } catch (state) {
      // The limiter rejects with the state where the failure was one too many; the next check acts on it.
      if (!(state instanceof RateLimiterRes)) throw state;
    }
  }

  async forget(emailKey: string, address: string): Promise<void> {
    await this.failures.delete(keyOf(emailKey, address));
  }
}

function keyOf(emailKey: string, address: string): string {
  return `${emailKey} ${addressKey(address)}`;
}

function throttled({ msBeforeNext }: RateLimiterRes): Problem {
  return new Problem('throttled', 'TOO_MANY_ATTEMPTS', 'Too many failed logins; wait before the next.', {
    retryAfterSeconds: Math.ceil(msBeforeNext / 1000),
  });
}
