import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { SharedCounts } from '../platform/limits/shared-counts.js';
import { Problem } from '../platform/problem.js';

interface Bounds {
  /** Failures within `memorySeconds` that cost no wait. */
  readonly freeMax: number;
  readonly memorySeconds: number;
  readonly waitSecondsMin: number;
  readonly waitSecondsMax: number;
}

/**
 * Slows who fails repeatedly on a key: past the free failures one attempt passes, then none for a while, and each while
 * is twice as long as the one before. An attempt counts from its begin, so that many at once gain nothing.
 */
export class Backoff {
  private readonly failures: RateLimiterAbstract;
  private readonly turns: RateLimiterAbstract;

  constructor(
    counts: SharedCounts,
    name: string,
    private readonly bounds: Bounds,
  ) {
    const { freeMax, memorySeconds, waitSecondsMin } = bounds;
    this.failures = counts.limiter(`${name}-failures`, { points: freeMax, windowSeconds: memorySeconds });
    this.turns = counts.limiter(`${name}-turns`, { points: 1, windowSeconds: waitSecondsMin });
  }

  /**
   * What `work` gives. Null from it stays counted as a failure; a result is none, and neither is an error.
   * @throws Problem `throttled`, without asking it, where it is not yet the key's turn
   */
  async attempt<Result>(key: string, work: () => Promise<Result | null>): Promise<Result | null> {
    await this.enter(key);
    let result: Result | null | undefined;
    try {
      result = await work();
      return result;
    } finally {
      if (result !== null) await this.forgive(key);
    }
  }

  /** Starts anew. */
  async forget(key: string): Promise<void> {
    await Promise.all([this.failures.delete(key), this.turns.delete(key)]);
  }

  /** Takes an attempt back; a key without a failure is not kept. */
  private async forgive(key: string): Promise<void> {
    const { consumedPoints } = await this.failures.reward(key);
    if (consumedPoints <= 0) await this.failures.delete(key);
  }

  private async enter(key: string): Promise<void> {
    const { freeMax, waitSecondsMin, waitSecondsMax } = this.bounds;
    const { consumedPoints } = await this.failures.penalty(key);
    const beyond = consumedPoints - freeMax;
    if (beyond <= 0) return;
    const customDuration = Math.min(waitSecondsMin * 2 ** (beyond - 1), waitSecondsMax);
    try {
      await this.turns.consume(key, 1, { customDuration });
    } catch (state) {
      await this.forgive(key);
      throw state instanceof RateLimiterRes ? tooMany(state) : state;
    }
  }
}

function tooMany({ msBeforeNext }: RateLimiterRes): Problem {
  return new Problem('throttled', 'TOO_MANY_ATTEMPTS', 'Too many failed logins; wait before the next.', {
    retryAfterSeconds: Math.ceil(msBeforeNext / 1000),
  });
}
