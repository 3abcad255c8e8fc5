import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { SharedCounts } from '../platform/limits/shared-counts.js';
import { Problem } from '../platform/problem.js';

export interface Pace {
  /** Failures that cost no wait. */
  readonly freeMax: number;
  readonly waitSecondsMin: number;
  readonly waitSecondsMax: number;
}

/** How often a key failed within `memorySeconds`. An attempt counts from its begin, so that many at once gain nothing. */
export class Failures {
  private readonly counts: RateLimiterAbstract;

  constructor(counts: SharedCounts, name: string, memorySeconds: number) {
    this.counts = counts.limiter(`${name}-failures`, { points: 0, windowSeconds: memorySeconds });
  }

  /** What `work` gives, told the count with this attempt. Null stays counted; a result is no failure, nor is an error. */
  async during<Result>(key: string, work: (failures: number) => Promise<Result | null>): Promise<Result | null> {
    const { consumedPoints } = await this.counts.penalty(key);
    let result: Result | null | undefined;
    try {
      result = await work(consumedPoints);
      return result;
    } finally {
      if (result !== null) await this.forgive(key);
    }
  }

  async forget(key: string): Promise<void> {
    await this.counts.delete(key);
  }

  /** A key without a failure is not kept. */
  private async forgive(key: string): Promise<void> {
    const { consumedPoints } = await this.counts.reward(key);
    if (consumedPoints <= 0) await this.counts.delete(key);
  }
}

/**
 * Slows who fails repeatedly on a key: past the free failures one attempt passes, then none for a while, and each while
 * is twice as long as the one before.
 */
export class Backoff {
  private readonly failures: Failures;
  private readonly turns: RateLimiterAbstract;

  constructor(counts: SharedCounts, name: string, memorySeconds: number) {
    this.failures = new Failures(counts, name, memorySeconds);
    this.turns = counts.limiter(`${name}-turns`, { points: 1, windowSeconds: memorySeconds });
  }

  /**
   * What `work` gives. Null from it is a failure.
   * @throws Problem `throttled`, without asking it, where it is not yet the key's turn
   */
  async attempt<Result>(key: string, pace: Pace, work: () => Promise<Result | null>): Promise<Result | null> {
    return this.failures.during(key, async (failures) => {
      if (failures > pace.freeMax) await this.takeTurn(key, failures - pace.freeMax, pace);
      return work();
    });
  }

  /** Starts anew. */
  async forget(key: string): Promise<void> {
    await Promise.all([this.failures.forget(key), this.turns.delete(key)]);
  }

  private async takeTurn(key: string, beyond: number, { waitSecondsMin, waitSecondsMax }: Pace): Promise<void> {
    const customDuration = Math.min(waitSecondsMin * 2 ** (beyond - 1), waitSecondsMax);
    try {
      await this.turns.consume(key, 1, { customDuration });
    } catch (state) {
      throw state instanceof RateLimiterRes ? tooMany(state) : state;
    }
  }
}

function tooMany({ msBeforeNext }: RateLimiterRes): Problem {
  return new Problem('throttled', 'TOO_MANY_ATTEMPTS', 'Too many failed logins; wait before the next.', {
    retryAfterSeconds: Math.ceil(msBeforeNext / 1000),
  });
}
