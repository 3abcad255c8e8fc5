import { Inject, Injectable } from '@nestjs/common';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { CLICK_MAILS, MailStore, type NewMail } from '../outbox/mail.store.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { addressKey, isWithin } from '../platform/limits/address.js';
import { Networks } from '../platform/limits/networks.js';
import { toSeconds } from '../platform/limits/rate-limits.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { Problem } from '../platform/problems/problem.js';

/** Requests of one address, for any mail. A person needs one or two. */
const REQUESTS_MAX = 5;
const WINDOW_SECONDS = 3_600;

/** What a mail needs of its person. */
interface Addressee {
  readonly uuid: string;
  readonly emailKey: string;
}

/** Mails that anybody can ask for: limited by the address that asks, by the mailbox and by the network. */
@Injectable()
export class RequestedMails {
  private readonly requests: RateLimiterAbstract;
  private readonly isExempt: (address: string) => boolean;

  constructor(
    private readonly database: Database,
    private readonly mails: MailStore,
    private readonly networks: Networks,
    counts: SharedCounts,
    @Inject(CONFIG) { rateLimits }: Config,
  ) {
    this.requests = counts.counter('resends', WINDOW_SECONDS);
    this.isExempt = isWithin(rateLimits.exempt);
  }

  /** Counts a request, whatever becomes of it. @throws Problem `RATE_LIMITED` */
  async limit(address: string): Promise<void> {
    if (this.isExempt(address)) return;
    const { consumedPoints, msBeforeNext } = await this.requests.penalty(addressKey(address));
    if (consumedPoints > REQUESTS_MAX)
      throw new Problem('RATE_LIMITED', { retryAfterSeconds: toSeconds(msBeforeNext) });
  }

  /** Stores a mail, unless {@link mailWithinBounds} returns none. */
  async store(waitlistId: number, kind: 'verification' | 'leave', person: Addressee, address: string): Promise<void> {
    const mail = await this.mailWithinBounds(waitlistId, kind, person, address);
    if (mail) await this.database.one(this.mails.insert(waitlistId, [mail]));
  }

  /** A mail to store; null if one like it waits for its first attempt, or a bound would drop it. */
  async mailWithinBounds(
    waitlistId: number,
    kind: 'verification' | 'leave' | 'offer',
    { uuid: waiterUuid, emailKey }: Addressee,
    address: string,
  ): Promise<NewMail | null> {
    const network = this.networks.hashOf(address);
    const mail = { kind, waiterUuid, emailKey, network, isBounded: true, at: new Date() };
    const networks = network === null ? [] : [network];
    const kinds = kind === 'verification' ? CLICK_MAILS : [kind];
    const mailed = await this.database.one(this.mails.findMailed(waitlistId, [mail], networks, mail.at, kinds));
    return mailed.records.size + mailed.networks.size > 0 ? null : mail;
  }
}
