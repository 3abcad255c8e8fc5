import { type RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import type { SharedCounts } from '../platform/limits/shared-counts.js';
import { Problem } from '../platform/problems/problem.js';

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
    return unlessFailed(
      () => work(consumedPoints),
      () => this.forgive(key),
    );
  }

  /** A key without a failure is not kept. */
  private async forgive(key: string): Promise<void> {
    const { consumedPoints } = await this.counts.reward(key);
    if (consumedPoints <= 0) await this.counts.delete(key);
  }
}

/**
 * Slows the attempts of a key that keeps failing: past its free failures one passes, then none for a while, and each while is
 * twice as long as the last, up to a bound.
 */
export class Backoff {
  private readonly failures: Failures;
  private readonly turns: RateLimiterAbstract;

  constructor(counts: SharedCounts, name: string, memorySeconds: number) {
    this.failures = new Failures(counts, name, memorySeconds);
    this.turns = counts.limiter(`${name}-turns`, { points: 1, windowSeconds: memorySeconds });
  }

  /**
   * What `work` gives; null from it is a failure, and all else leaves no trace, so that nobody learns of it by the waits.
   * @throws Problem `throttled` where the attempt may not pass yet; it is not counted then.
   */
  async during<Result>(
    key: string,
    { freeMax, waitSecondsMin, waitSecondsMax }: Pace,
    work: () => Promise<Result | null>,
  ): Promise<Result | null> {
    return this.failures.during(key, async (failures) => {
      const beyond = failures - freeMax;
      if (beyond <= 0) return work();
      await this.takeTurn(key, Math.min(waitSecondsMin * 2 ** (beyond - 1), waitSecondsMax));
      return unlessFailed(work, () => this.turns.delete(key));
    });
  }

  private async takeTurn(key: string, waitSeconds: number): Promise<void> {
    try {
      await this.turns.consume(key, 1, { customDuration: waitSeconds });
    } catch (state) {
      if (!(state instanceof RateLimiterRes)) throw state;
      throw new Problem('TOO_MANY_ATTEMPTS', {
        retryAfterSeconds: Math.ceil(state.msBeforeNext / 1000),
      });
    }
  }
}

/** What `work` gives; if it is a result, or an error, all is put back as it was before. */
async function unlessFailed<Result>(
  work: () => Promise<Result | null>,
  putBack: () => Promise<unknown>,
): Promise<Result | null> {
  let result: Result | null | undefined;
  try {
    result = await work();
    return result;
  } finally {
    if (result !== null) await putBack();
  }
}
