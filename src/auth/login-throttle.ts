import { Inject, Injectable } from '@nestjs/common';
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { type Config, CONFIG } from '../platform/config/config.js';
import { addressKey, SITE_BITS } from '../platform/limits/address.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { Secrets } from '../platform/secrets/secrets.js';

/** Failures with one email at one site: an IPv4 address or an IPv6 /48. */
const EMAIL_FAILURES_MAX = 5;
const EMAIL_WINDOW_SECONDS = 15 * 60;
/** Failures at one address, whatever the email. Several owners may share an office's address. */
const ADDRESS_FAILURES_MAX = 50;
const ADDRESS_WINDOW_SECONDS = 60 * 60;

/**
 * Refuses logins after repeated failures, until the window that began with the first failure has passed. Failures count
 * by address (someone tries one password on many accounts) and by site and email (someone guesses one password; a site may
 * have 65,536 addresses), never by email alone: that would let strangers lock an owner out. See docs/decisions/login.md.
 */
@Injectable()
export class LoginThrottle {
  private readonly isOn: boolean;
  private readonly byAddress: RateLimiterAbstract;
  private readonly byEmail: RateLimiterAbstract;

  constructor(
    @Inject(CONFIG) { rateLimits }: Config,
    private readonly secrets: Secrets,
    counts: SharedCounts,
  ) {
    this.isOn = rateLimits.login > 0;
    this.byAddress = counts.counter('login-address', ADDRESS_WINDOW_SECONDS);
    this.byEmail = counts.counter('login-email', EMAIL_WINDOW_SECONDS);
  }

  /** How long to wait before the next login; 0 if it is allowed. */
  async waitSeconds(emailKey: string, address: string): Promise<number> {
    if (!this.isOn) return 0;
    const [atAddress, ofEmail] = await Promise.all([
      this.byAddress.get(addressKey(address)),
      this.byEmail.get(this.emailAtAddress(emailKey, address)),
    ]);
    const waitMs = Math.max(waitOf(atAddress, ADDRESS_FAILURES_MAX), waitOf(ofEmail, EMAIL_FAILURES_MAX));
    return Math.ceil(waitMs / 1000);
  }

  async countFailure(emailKey: string, address: string): Promise<void> {
    if (!this.isOn) return;
    await Promise.all([
      this.byAddress.penalty(addressKey(address)),
      this.byEmail.penalty(this.emailAtAddress(emailKey, address)),
    ]);
  }

  /** After a success. The address keeps its count, so that nobody clears it by logging in to an account of their own. */
  async forgetFailures(emailKey: string, address: string): Promise<void> {
    if (this.isOn) await this.byEmail.delete(this.emailAtAddress(emailKey, address));
  }

  /** Keyed, so that the counts in Redis reveal no email, not even to a guess. */
  private emailAtAddress(emailKey: string, address: string): string {
    return this.secrets.hash('login-throttle', `${emailKey} ${addressKey(address, SITE_BITS)}`);
  }
}

function waitOf(failures: RateLimiterRes | null, failuresMax: number): number {
  return failures && failures.consumedPoints >= failuresMax ? failures.msBeforeNext : 0;
}
