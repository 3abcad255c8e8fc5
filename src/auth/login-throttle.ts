import { Inject, Injectable } from '@nestjs/common';
import type { RateLimiterAbstract, RateLimiterRes } from 'rate-limiter-flexible';
import { type Config, CONFIG } from '../platform/config/config.js';
import { addressKey, SITE_BITS } from '../platform/limits/address.js';
import { keyedQueue } from '../platform/limits/bounded-queue.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { Secrets } from '../platform/secrets/secrets.js';

/** Failures with one email at one site: an IPv4 address or an IPv6 /48. */
const EMAIL_FAILURES_MAX = 5;
const EMAIL_WINDOW_SECONDS = 15 * 60;
/** Failures at one address, whatever the email. Several owners may share an office's address. */
const ADDRESS_FAILURES_MAX = 50;
const ADDRESS_WINDOW_SECONDS = 60 * 60;
/** Attempts with one email at one site that wait for their turn: some two seconds of work. */
const WAITING_MAX = 64;

/**
 * Refuses logins after repeated failures, until the window that began with the first failure has passed. Failures count
 * by address, and by site and email: one host may have all 65,536 /64s of an IPv6 /48. Never by email alone: strangers
 * could lock an owner out. See docs/decisions/login.md.
 */
@Injectable()
export class LoginThrottle {
  private readonly isOn: boolean;
  private readonly byAddress: RateLimiterAbstract;
  private readonly byEmail: RateLimiterAbstract;
  private readonly enqueue = keyedQueue('judge a login', { runsMax: 1, waitingMax: WAITING_MAX });

  constructor(
    @Inject(CONFIG) { rateLimits }: Config,
    private readonly secrets: Secrets,
    counts: SharedCounts,
  ) {
    this.isOn = rateLimits.login > 0;
    this.byAddress = counts.counter('login-address', ADDRESS_WINDOW_SECONDS);
    this.byEmail = counts.counter('login-email', EMAIL_WINDOW_SECONDS);
  }

  /**
   * Runs an attempt when earlier ones with the same email at the same site have ended. Those under way count as
   * failures, which would refuse right passwords that are sent at once. Each process takes turns by itself.
   * @throws Problem `QUEUE_FULL`
   */
  async inTurn<Result>(emailKey: string, address: string, attempt: () => Promise<Result>): Promise<Result> {
    return this.isOn ? this.enqueue(this.emailAtAddress(emailKey, address), attempt) : attempt();
  }

  /**
   * Counts an attempt as a failure before it is judged: parallel ones, with other emails or in other processes, would
   * all pass a check of the count. Returns how many seconds to wait; 0 if the attempt is allowed. A refused one does
   * not count.
   */
  async count(emailKey: string, address: string): Promise<number> {
    if (!this.isOn) return 0;
    const [atAddress, ofEmail] = await Promise.all([
      this.byAddress.penalty(addressKey(address)),
      this.byEmail.penalty(this.emailAtAddress(emailKey, address)),
    ]);
    const waitMs = Math.max(waitOf(atAddress, ADDRESS_FAILURES_MAX), waitOf(ofEmail, EMAIL_FAILURES_MAX));
    if (waitMs > 0) await this.giveBack(emailKey, address);
    return Math.ceil(waitMs / 1000);
  }

  /** For an attempt that was not judged. */
  async giveBack(emailKey: string, address: string): Promise<void> {
    if (!this.isOn) return;
    await Promise.all([
      takeBack(this.byAddress, addressKey(address)),
      takeBack(this.byEmail, this.emailAtAddress(emailKey, address)),
    ]);
  }

  /** After a success. The address keeps its failures: otherwise a login to one's own account would clear them. */
  async forgetFailures(emailKey: string, address: string): Promise<void> {
    if (!this.isOn) return;
    await Promise.all([
      takeBack(this.byAddress, addressKey(address)),
      this.byEmail.delete(this.emailAtAddress(emailKey, address)),
    ]);
  }

  /** Keyed, so that the counts in Redis reveal no email, not even to a guess. */
  private emailAtAddress(emailKey: string, address: string): string {
    return this.secrets.hash('login-throttle', `${emailKey} ${addressKey(address, SITE_BITS)}`);
  }
}

/** If the window has ended meanwhile, the new count would begin below zero and allow more failures. */
async function takeBack(counts: RateLimiterAbstract, key: string): Promise<void> {
  const { consumedPoints } = await counts.reward(key);
  if (consumedPoints < 0) await counts.delete(key);
}

function waitOf({ consumedPoints, msBeforeNext }: RateLimiterRes, failuresMax: number): number {
  return consumedPoints > failuresMax ? msBeforeNext : 0;
}
