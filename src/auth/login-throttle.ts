import { createHmac, hkdfSync } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Config, LOGIN_LIFETIME_SECONDS } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { addressKey } from '../platform/limits/address.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { Backoff, Failures, type Pace } from './backoff.js';
import { FamiliarOriginStore } from './familiar-origin.store.js';

const MEMORY_SECONDS = 86_400;
const ON_ACCOUNT: Pace = { freeMax: 5, waitSecondsMin: 60, waitSecondsMax: 15 * 60 };
export const AT_ADDRESS: Pace = { ...ON_ACCOUNT, freeMax: 50 };
/** On an account that many guess at, up to the hour that NIST has. */
const ON_GUESSED_ACCOUNT: Pace = { freeMax: 1, waitSecondsMin: 60, waitSecondsMax: 3600 };
/** NIST 800-63B-4, 3.2.2, lets an account see no more than 100 failures in a row before something is done about it. */
const ACCOUNT_FREE_MAX = 50;
/** A new login is due at the latest when the last one has ended. */
const FAMILIAR_SECONDS = LOGIN_LIFETIME_SECONDS;
/** What a site is given of IPv6 addresses (RFC 6177), and a guesser gets for little. */
const IPV6_SITE_BITS = 48;

/**
 * Slows whoever keeps failing to log in: a network on one account (someone guesses a password), and an address on
 * whatever account (someone tries one password on many). An account that fails too often, whoever tries (someone guesses
 * from many addresses), slows each network more; never all of them together, for that would let strangers shut its owner
 * out. So who has not failed yet is heard at once, whatever others do elsewhere.
 *
 * An address from which an account logged in of late is familiar to it: there its right password passes whatever was counted
 * here, and is not counted. A wrong one is answered there as it is for any email, and after the same work, so that a neighbour
 * learns neither who logs in from there, nor when an account does.
 */
@Injectable()
export class LoginThrottle {
  private readonly isOn: boolean;
  private readonly ofAccount: Failures;
  private readonly atAddress: Backoff;
  private readonly ofPair: Backoff;
  /** One for each secret, the newest first, so that what was familiar stays so when secrets rotate. */
  private readonly keys: readonly Buffer[];

  constructor(
    @Inject(CONFIG) { rateLimits, jwtSecrets }: Config,
    counts: SharedCounts,
    private readonly familiar: FamiliarOriginStore,
  ) {
    this.isOn = rateLimits.login > 0;
    this.ofAccount = new Failures(counts, 'login-account', MEMORY_SECONDS);
    this.atAddress = new Backoff(counts, 'login-address', MEMORY_SECONDS);
    this.ofPair = new Backoff(counts, 'login-pair', MEMORY_SECONDS);
    this.keys = jwtSecrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'login-throttle', 32)));
  }

  /**
   * What `logIn` gives, told whether anyone logged in from this address of late; null from it is a failure.
   * @throws Problem `throttled`
   */
  async attempt<Result>(
    emailKey: string,
    address: string,
    logIn: (isKnownAddress: boolean) => Promise<Result | null>,
  ): Promise<Result | null> {
    if (!this.isOn) return logIn(false);
    const now = new Date();
    const since = new Date(now.getTime() - FAMILIAR_SECONDS * 1000);
    const [account] = this.digests(emailKey);
    const [pair] = this.digests(`${emailKey} ${addressKey(address, IPV6_SITE_BITS)}`);
    const places = this.digests(addressKey(address));
    const origins = this.digests(`${emailKey} ${addressKey(address)}`);
    const seen = await this.familiar.findSeen([...places, ...origins], since);
    const isKnown = places.some((id) => seen.has(id));
    const isFamiliar = origins.some((id) => seen.has(id));

    // At a known address first of all, slowed or not: only so a right password can pass uncounted, and a wrong one take as long.
    const found = isKnown ? await logIn(true) : null;
    const result =
      isFamiliar && found
        ? found
        : await this.slowed({ account, pair, address: places[0] }, async () => (isKnown ? found : logIn(false)));
    if (result === null) return null;
    await this.familiar.remember([places[0], origins[0]], now);
    await this.familiar.deleteSeenBefore(since);
    return result;
  }

  private async slowed<Result>(
    { account, pair, address }: Record<'account' | 'pair' | 'address', string>,
    logIn: () => Promise<Result | null>,
  ): Promise<Result | null> {
    return this.ofAccount.during(account, (failures) =>
      // The address is asked first: whom it keeps out has not had a turn at the account.
      this.atAddress.during(address, AT_ADDRESS, () => this.ofPair.during(pair, paceOnAccount(failures), logIn)),
    );
  }

  /** Keyed, so that what is kept tells nobody's email or address, not even to who tries all there are. */
  private digests(text: string): [string, ...string[]] {
    return this.keys.map((key) => createHmac('sha256', key).update(text).digest('base64url')) as [string, ...string[]];
  }
}

/** What a network is held to on an account that failed so often, whoever tried. */
export function paceOnAccount(failures: number): Pace {
  return failures > ACCOUNT_FREE_MAX ? ON_GUESSED_ACCOUNT : ON_ACCOUNT;
}
