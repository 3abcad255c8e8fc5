import { retryDelayMs } from '../outbox/retry-delay.js';

/** The state of a delivery after an attempt. */
export type NextState =
  { readonly status: 'delivered' | 'failed' } | { readonly status: 'pending'; readonly nextAttemptAt: Date };

/**
 * A delivery after an attempt. `status` is null without a response; every status but 2xx counts the same. `attempts`
 * includes this one; `random` is from 0 to 1.
 */
export function nextState(status: number | null, attempts: number, now: Date, random = Math.random()): NextState {
  if (status !== null && status >= 200 && status < 300) return { status: 'delivered' };
  const delayMs = retryDelayMs(attempts, random);
  if (delayMs === null) return { status: 'failed' };
  return { status: 'pending', nextAttemptAt: new Date(now.getTime() + delayMs) };
}
