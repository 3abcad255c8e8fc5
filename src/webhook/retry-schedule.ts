import { retryDelayMs } from '../outbox/retry-delay.js';

/** A receiver may ask for a longer delay, but for no longer one than the longest of the schedule. */
const DELAY_MAX_MS = 10 * 3_600_000;
/** RFC 9110: the receiver has gone for good. Standard Webhooks: send nothing more. */
const GONE = 410;

/** The answer to an attempt. */
export interface Receipt {
  /** Null without an answer. */
  readonly status: number | null;
  readonly retryAfterSeconds: number | null;
}

/** What follows from an attempt. */
export type Verdict =
  | { readonly status: 'delivered' | 'failed'; readonly isGone: boolean }
  | { readonly status: 'pending'; readonly nextAttemptAt: Date };

/** `attempts` counts this one; `random` is from 0 to 1. */
export function judge(
  { status, retryAfterSeconds }: Receipt,
  attempts: number,
  now: Date,
  random = Math.random(),
): Verdict {
  if (status !== null && status >= 200 && status < 300) return { status: 'delivered', isGone: false };
  const delayMs = retryDelayMs(attempts, random);
  if (status === GONE || delayMs === null) return { status: 'failed', isGone: status === GONE };
  const askedMs = Math.min((retryAfterSeconds ?? 0) * 1000, DELAY_MAX_MS);
  return { status: 'pending', nextAttemptAt: new Date(now.getTime() + Math.max(delayMs, askedMs)) };
}
