import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { EnumerationLimit } from '../platform/limits/enumeration-limit.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey } from '../platform/secrets/random-key.js';
import { VerificationLinkStore } from '../outbox/verification-link.store.js';
import { contactKeys } from '../queue/record/contact.js';
import { needsClick } from '../queue/record/needs-click.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import { verify } from '../queue/write/commands/verify.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import type { WaitlistName } from '../waitlist/waitlist-name.js';
import { WaitlistNameService } from '../waitlist/waitlist-name.service.js';
import { RequestedMails } from './requested-mails.js';

/** For {@link EnumerationLimit}: a token is secret, so a link that works reveals nothing. */
const REVEALS_NOTHING = { revealsRecord: false } as const;

type LookedUp = Awaited<ReturnType<QueueReader['find']>>;

/** The links in mails, by which people verify their emails. */
@Injectable()
export class VerificationService {
  constructor(
    private readonly database: Database,
    private readonly reader: QueueReader,
    private readonly writer: QueueWriter,
    private readonly names: WaitlistNameService,
    private readonly links: VerificationLinkStore,
    private readonly requested: RequestedMails,
    private readonly misses: EnumerationLimit,
  ) {}

  /**
   * Mails a new link to the person with this email, if they are not verified. For any other email it sends
   * nothing and answers the same.
   * @throws Problem `WAITLIST_NOT_FOUND`, `RATE_LIMITED`
   */
  async resend(name: WaitlistName, email: string, address: string): Promise<void> {
    await this.requested.limit(address);
    const waitlistId = await this.names.idOf(name);
    const keys = contactKeys({ email, phone: null }, null);
    await this.mailTo(await this.reader.find(waitlistId, keys), address);
  }

  /** The same for the person of a private page. @throws Problem `WAITLIST_NOT_FOUND`, `RATE_LIMITED` */
  async resendTo(waitlistId: number, uuid: string, address: string): Promise<void> {
    await this.requested.limit(address);
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

  private async mailTo({ waiter, waitlist }: LookedUp, address: string): Promise<void> {
    if (!waiter || waiter.emailKey === null || !needsClick(waitlist, waiter)) return;
    const { uuid, emailKey } = waiter;
    await this.requested.store(waitlist.id, 'verification', { uuid, emailKey }, address);
  }
}
