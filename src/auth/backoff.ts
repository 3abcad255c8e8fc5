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

/** Past the free failures of a key one attempt passes, then none for a while, and each while is twice as long as the last. */
export class Turns {
  private readonly turns: RateLimiterAbstract;

  constructor(counts: SharedCounts, name: string, memorySeconds: number) {
    this.turns = counts.limiter(`${name}-turns`, { points: 1, windowSeconds: memorySeconds });
  }

  /** Null, and the turn is taken, where the key's attempt of this count may pass; else why it may not yet. */
  async take(
    key: string,
    failures: number,
    { freeMax, waitSecondsMin, waitSecondsMax }: Pace,
  ): Promise<Problem | null> {
    const beyond = failures - freeMax;
    if (beyond <= 0) return null;
    const customDuration = Math.min(waitSecondsMin * 2 ** (beyond - 1), waitSecondsMax);
    try {
      await this.turns.consume(key, 1, { customDuration });
      return null;
    } catch (state) {
      if (state instanceof RateLimiterRes) return tooMany(state);
      throw state;
    }
  }

  async forget(key: string): Promise<void> {
    await this.turns.delete(key);
  }
}

function tooMany({ msBeforeNext }: RateLimiterRes): Problem {
  return new Problem('throttled', 'TOO_MANY_ATTEMPTS', 'Too many failed logins; wait before the next.', {
    retryAfterSeconds: Math.ceil(msBeforeNext / 1000),
  });
}
