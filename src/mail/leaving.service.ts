import { Injectable } from '@nestjs/common';
import { LeaveLinkStore } from '../outbox/leave-link.store.js';
import type { Sender } from '../platform/audit/audit-log.js';
import { Database } from '../platform/database/database.js';
import { EnumerationLimit } from '../platform/limits/enumeration-limit.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey } from '../platform/secrets/random-key.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import type { StoredWaiter } from '../queue/record/waiter.js';
import { leave } from '../queue/write/commands/leave.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import { MailSender } from './mail.sender.js';
import { RequestedMails } from './requested-mails.js';

/** How people leave: only by a link that was mailed to them, because anybody may have their private page. */
@Injectable()
export class LeavingService {
  constructor(
    private readonly database: Database,
    private readonly reader: QueueReader,
    private readonly writer: QueueWriter,
    private readonly links: LeaveLinkStore,
    private readonly requested: RequestedMails,
    private readonly misses: EnumerationLimit,
    private readonly sender: MailSender,
  ) {}

  /** Whether {@link mailTo} can reach the person. */
  canMail({ emailKey }: Pick<StoredWaiter, 'emailKey'>): boolean {
    return this.sender.isConfigured && emailKey !== null;
  }

  /**
   * Mails a link to the person of a private page; does nothing for an unknown one, or one without an email. `ip`: who
   * asks. @throws Problem `WAITLIST_NOT_FOUND`, `RATE_LIMITED`
   */
  async mailTo(waitlistId: number, uuid: string, ip: string): Promise<void> {
    await this.requested.limit(ip);
    const { waiter } = await this.reader.findByUuid(waitlistId, uuid);
    if (!waiter || waiter.emailKey === null || !this.canMail(waiter)) return;
    await this.requested.store(waitlistId, 'leave', { uuid, emailKey: waiter.emailKey }, ip);
  }

  /**
   * Whether the person of a link is off the list already. Changes nothing, because mail scanners open links too.
   * @throws Problem `LEAVE_LINK_NOT_FOUND`, `WAITLIST_NOT_FOUND`, `TOO_MANY_MISSES`
   */
  async isGone(waitlistId: number, token: string, ip: string): Promise<boolean> {
    const { link } = await this.misses.limit(ip, this.find(waitlistId, token));
    const { waiter } = await this.reader.findByUuid(waitlistId, link.waiterUuid);
    if (waiter && !this.links.wasSentTo(link, waiter.emailKey)) throw new Problem('LEAVE_LINK_NOT_FOUND');
    return waiter === null;
  }

  /** Takes the person of a link off the list. A second call changes nothing. @throws as {@link isGone} */
  async leave(waitlistId: number, token: string, { id: requestId, ip }: Sender): Promise<void> {
    const { link } = await this.misses.limit(ip, this.find(waitlistId, token));
    const wasSentTo = (emailKey: string | null) => this.links.wasSentTo(link, emailKey);
    await this.writer.submit(waitlistId, leave(link.waiterUuid, wasSentTo, requestId));
  }

  private async find(waitlistId: number, token: string) {
    const link = await this.database.one(this.links.find(waitlistId, hashKey(token)));
    if (!link || link.expiresAt <= new Date()) throw new Problem('LEAVE_LINK_NOT_FOUND');
    // A token is secret, so a link that works reveals nothing.
    return { link, revealsRecord: false };
  }
}
