import { retryDelayMs } from '../outbox/retry-delay.js';

/** What follows from an attempt. */
export type Verdict =
  { readonly status: 'delivered' | 'failed' } | { readonly status: 'pending'; readonly nextAttemptAt: Date };

/**
 * `status` is that of the answer, null without one; `attempts` counts this one; `random` is from 0 to 1. Whatever the answer
 * says beside a 2xx status is one failure like any other.
 */
export function judge(status: number | null, attempts: number, now: Date, random = Math.random()): Verdict {
  if (status !== null && status >= 200 && status < 300) return { status: 'delivered' };
  const delayMs = retryDelayMs(attempts, random);
  if (delayMs === null) return { status: 'failed' };
  return { status: 'pending', nextAttemptAt: new Date(now.getTime() + delayMs) };
}
