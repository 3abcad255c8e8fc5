/** Between the attempts of a delivery: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h. */
const DELAYS_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
/** A receiver may ask for a longer delay, but for no longer one than this. */
const DELAY_MAX_SECONDS = 36_000;
/** So that deliveries that failed together do not come again together. */
const JITTER = 0.2;
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
  const delaySeconds = DELAYS_SECONDS[attempts - 1];
  if (status === GONE || delaySeconds === undefined) return { status: 'failed', isGone: status === GONE };
  const seconds = Math.max(
    delaySeconds * (1 + JITTER * (2 * random - 1)),
    Math.min(retryAfterSeconds ?? 0, DELAY_MAX_SECONDS),
  );
  return { status: 'pending', nextAttemptAt: new Date(now.getTime() + seconds * 1000) };
}
