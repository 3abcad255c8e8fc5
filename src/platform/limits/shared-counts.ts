import { Injectable } from '@nestjs/common';
import { type RateLimiterAbstract, RateLimiterMemory } from 'rate-limiter-flexible';

interface Limit {
  /** How many are allowed within the window. */
  readonly points: number;
  readonly windowSeconds: number;
}

/** What the limits count, and the one place that says where: in this process. */
@Injectable()
export class SharedCounts {
  /** A limit under a name of its own; two of one name would add up. */
  limiter(name: string, { points, windowSeconds }: Limit): RateLimiterAbstract {
    return new RateLimiterMemory({ points, duration: windowSeconds, keyPrefix: name });
  }
}
