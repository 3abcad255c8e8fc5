import { Inject, Injectable } from '@nestjs/common';
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { type Config, CONFIG } from '../config/config.js';
import { Problem } from '../problems/problem.js';
import { addressKey, isWithin } from './address.js';
import { toSeconds, WINDOW_SECONDS } from './rate-limits.js';
import { SharedCounts } from './shared-counts.js';

/**
 * One in this many public requests may be a lookup that finds no record: enough for visitors behind one address of an
 * office or a mobile network, whose page looks them up before it shows its form; too few to test a list of emails.
 */
const PUBLIC_REQUESTS_PER_MISS = 10;

/** What an answer tells about records. */
interface Findings {
  readonly revealsRecord: boolean;
  /** Whether it also tells that one of several keys has no record. */
  readonly revealsMiss?: boolean;
}

/**
 * Limits unsuccessful lookups per address, so that a list of emails cannot be tested. Services apply it, so that it
 * holds for each operation.
 */
@Injectable()
export class EnumerationLimit {
  private readonly misses: RateLimiterAbstract;
  private readonly missesMax: number;
  private readonly isExempt: (address: string) => boolean;

  constructor(@Inject(CONFIG) { rateLimits }: Config, counts: SharedCounts) {
    this.misses = counts.counter('misses', WINDOW_SECONDS);
    this.missesMax = rateLimits.public === 0 ? Infinity : Math.ceil(rateLimits.public / PUBLIC_REQUESTS_PER_MISS);
    this.isExempt = isWithin(rateLimits.exempt);
  }

  /**
   * The lookup's result or error. A miss is counted after the lookup: parallel ones would all pass a check made before.
   * Beyond the limit, hits and misses get the same error, which reveals nothing. @throws Problem `TOO_MANY_MISSES`
   */
  async limit<Found extends Findings>(address: string, lookup: Promise<Found>): Promise<Found> {
    const isOff = this.missesMax === Infinity || this.isExempt(address);
    try {
      const found = await lookup;
      if (found.revealsMiss && !isOff) await this.count(address);
      else if (found.revealsRecord && !isOff) {
        const count = await this.misses.get(addressKey(address));
        if (count && count.consumedPoints >= this.missesMax) throw tooMany(count);
      }
      return found;
    } catch (error) {
      if (isMiss(error) && !isOff) await this.count(address);
      throw error;
    }
  }

  private async count(address: string): Promise<void> {
    const count = await this.misses.penalty(addressKey(address));
    if (count.consumedPoints > this.missesMax) throw tooMany(count);
  }
}

/** 404: there is no such record. 422: the waitlist refuses the newcomer, so there is none either. */
function isMiss(error: unknown): boolean {
  return error instanceof Problem && (error.status === 404 || error.status === 422);
}

function tooMany({ msBeforeNext }: RateLimiterRes): Problem {
  return new Problem('TOO_MANY_MISSES', { retryAfterSeconds: toSeconds(msBeforeNext) });
}
