import { Inject, Injectable } from '@nestjs/common';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { addressKey, isWithin } from '../platform/limits/address.js';
import { EnumerationLimit } from '../platform/limits/enumeration-limit.js';
import { Networks } from '../platform/limits/networks.js';
import { toSeconds } from '../platform/limits/rate-limits.js';
import { SharedCounts } from '../platform/limits/shared-counts.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey } from '../platform/secrets/random-key.js';
import { MailStore } from '../outbox/mail.store.js';
import { VerificationLinkStore } from '../outbox/verification-link.store.js';
import { contactKeys } from '../queue/record/contact.js';
import { needsClick } from '../queue/record/needs-click.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import { verify } from '../queue/write/commands/verify.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import type { WaitlistName } from '../waitlist/waitlist-name.js';
import { WaitlistNameService } from '../waitlist/waitlist-name.service.js';

/** Requests of one address, for any email. A person needs one or two. */
const RESENDS_MAX = 5;
const RESEND_WINDOW_SECONDS = 3_600;

/** For {@link EnumerationLimit}: a token is secret, so a link that works reveals nothing. */
const REVEALS_NOTHING = { revealsRecord: false } as const;

type LookedUp = Awaited<ReturnType<QueueReader['find']>>;

/** The links in mails, by which people verify their emails. */
@Injectable()
export class VerificationService {
  private readonly resends: RateLimiterAbstract;
  private readonly isExempt: (address: string) => boolean;

  constructor(
    private readonly database: Database,
    private readonly reader: QueueReader,
    private readonly writer: QueueWriter,
    private readonly names: WaitlistNameService,
    private readonly mails: MailStore,
    private readonly links: VerificationLinkStore,
    private readonly networks: Networks,
    private readonly misses: EnumerationLimit,
    counts: SharedCounts,
    @Inject(CONFIG) { rateLimits }: Config,
  ) {
    this.resends = counts.counter('resends', RESEND_WINDOW_SECONDS);
    this.isExempt = isWithin(rateLimits.exempt);
  }

  /**
   * Mails a new link to the person with this email, if they are not verified. For any other email it sends
   * nothing and answers the same.
   * @throws Problem `WAITLIST_NOT_FOUND`, `RATE_LIMITED`
   */
  async resend(name: WaitlistName, email: string, address: string): Promise<void> {
    await this.limitResends(address);
    const waitlistId = await this.names.idOf(name);
    const keys = contactKeys({ email, phone: null }, null);
    await this.mailTo(await this.reader.find(waitlistId, keys), address);
  }

  /** The same for the person of a private page. @throws Problem `WAITLIST_NOT_FOUND`, `RATE_LIMITED` */
  async resendTo(waitlistId: number, uuid: string, address: string): Promise<void> {
    await this.limitResends(address);
    await this.mailTo(await this.reader.findByUuid(waitlistId, uuid), address);
  }

  /**
   * Whether the link has confirmed the email already. Changes nothing, because mail scanners open links too.
   * @throws Problem `LINK_NOT_FOUND`, `TOO_MANY_MISSES`
   */
  async isUsed(waitlistId: number, token: string, address: string): Promise<boolean> {
    return (await this.misses.limit(address, this.findLink(waitlistId, hashKey(token)))).isUsed;
  }

  /**
   * Verifies the email that the link was sent to, and returns the uuid of the record. A second call changes nothing.
   * @throws Problem `LINK_NOT_FOUND`, `TOO_MANY_MISSES`
   */
  async verify(waitlistId: number, token: string, address: string): Promise<string> {
    const { uuid } = await this.misses.limit(address, this.use(waitlistId, hashKey(token)));
    return uuid;
  }

  private async findLink(waitlistId: number, tokenHash: string) {
    const [link] = await this.database.one(this.links.find(waitlistId, [tokenHash]));
    if (!link || link.expiresAt <= new Date()) throw new Problem('LINK_NOT_FOUND');
    return { isUsed: link.usedAt !== null, ...REVEALS_NOTHING };
  }

  private async use(waitlistId: number, tokenHash: string) {
    const { uuids } = await this.writer.submit(waitlistId, verify(tokenHash));
    return { uuid: uuids[0] as string, ...REVEALS_NOTHING };
  }

  /** @throws Problem `RATE_LIMITED` */
  private async limitResends(address: string): Promise<void> {
    if (this.isExempt(address)) return;
    const { consumedPoints, msBeforeNext } = await this.resends.penalty(addressKey(address));
    if (consumedPoints > RESENDS_MAX) throw new Problem('RATE_LIMITED', { retryAfterSeconds: toSeconds(msBeforeNext) });
  }

  private async mailTo({ waiter, waitlist }: LookedUp, address: string): Promise<void> {
    if (!waiter || waiter.emailKey === null || !needsClick(waitlist, waiter)) return;
    const { uuid: waiterUuid, emailKey } = waiter;
    const network = this.networks.hashOf(address);
    const mail = { kind: 'verification', waiterUuid, emailKey, network, at: new Date() } as const;
    const networks = network === null ? [] : [network];
    const mailed = await this.database.one(this.mails.findMailed(waitlist.id, [mail], networks, mail.at));
    if (mailed.records.size + mailed.networks.size > 0) return;
    await this.database.one(this.mails.insert(waitlist.id, [mail]));
  }
}
