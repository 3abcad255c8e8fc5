import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import type { Config } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { addressKey } from '../platform/limits/address.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { Backoff } from './backoff.js';

const WAITS = { memorySeconds: 86_400, waitSecondsMin: 60, waitSecondsMax: 15 * 60 } as const;
const PAIR_FREE_MAX = 5;
const ADDRESS_FREE_MAX = 50;
/** NIST 800-63B-4, 3.2.2, lets an account see no more than 100 failures in a row before it slows them. */
const ACCOUNT_FREE_MAX = 50;
const FAMILIAR_SECONDS = 14 * 86_400;

/**
 * Slows whoever keeps failing to log in, by three counts: of an address's failures on one account (someone guesses a
 * password), of its failures on whatever account (someone tries one password on many), and of an account's failures from
 * whatever address (someone guesses from many).
 *
 * A stranger must not lock an owner out. So an address from which an account logged in of late is familiar to it, and
 * there only the first count holds: what others do elsewhere, or to other accounts, does not slow its owner.
 */
@Injectable()
export class LoginThrottle {
  private readonly isOn: boolean;
  private readonly byPair: Backoff;
  private readonly byAddress: Backoff;
  private readonly byAccount: Backoff;
  private readonly familiar: RateLimiterAbstract;

  constructor(@Inject(CONFIG) { rateLimits }: Config, counts: SharedCounts) {
    this.isOn = rateLimits.login > 0;
    this.byPair = new Backoff(counts, 'login-pair', { ...WAITS, freeMax: PAIR_FREE_MAX });
    this.byAddress = new Backoff(counts, 'login-address', { ...WAITS, freeMax: ADDRESS_FREE_MAX });
    this.byAccount = new Backoff(counts, 'login-account', { ...WAITS, freeMax: ACCOUNT_FREE_MAX });
    this.familiar = counts.limiter('login-familiar', { points: 1, windowSeconds: FAMILIAR_SECONDS });
  }

  /** What `logIn` gives; null from it is a failure. @throws Problem `throttled`, without asking it */
  async attempt<Result>(
    emailKey: string,
    address: string,
    logIn: () => Promise<Result | null>,
  ): Promise<Result | null> {
    if (!this.isOn) return logIn();
    const [account, origin] = [digest(emailKey), digest(addressKey(address))];
    const pair = `${account} ${origin}`;
    const isFamiliar = (await this.familiar.get(pair)) !== null;
    const slowed = () => this.byAddress.attempt(origin, () => this.byAccount.attempt(account, logIn));
    const result = await this.byPair.attempt(pair, isFamiliar ? logIn : slowed);
    if (result !== null) await Promise.all([this.byPair.forget(pair), this.familiar.set(pair, 1, FAMILIAR_SECONDS)]);
    return result;
  }
}

/** So that the counts, which may be kept elsewhere, tell nobody's email or address. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
