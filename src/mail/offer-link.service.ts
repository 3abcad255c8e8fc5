import { Injectable } from '@nestjs/common';
import type { Sender } from '../platform/audit/audit-log.js';
import { EnumerationLimit } from '../platform/limits/enumeration-limit.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey } from '../platform/secrets/random-key.js';
import { type OfferState, stateAt } from '../queue/offers/offer.js';
import { OfferCodes } from '../queue/offers/offer-codes.js';
import { OfferReader } from '../queue/offers/offer.reader.js';
import { QueueReader } from '../queue/read/queue.reader.js';
import { answerOffer } from '../queue/write/commands/answer-offer.js';
import { replaceOfferCode } from '../queue/write/commands/replace-offer-code.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import { MailSender } from './mail.sender.js';
import { RequestedMails } from './requested-mails.js';

/** What the link of an offer shows. */
export interface LinkedOffer {
  /** The person's record. */
  readonly uuid: string;
  readonly state: OfferState;
  /** Null before its time has begun, and if it never expires. */
  readonly expiresAt: Date | null;
}

/** Answers offers by their link. The private page is not enough: anybody may have its address. */
@Injectable()
export class OfferLinkService {
  constructor(
    private readonly offers: OfferReader,
    private readonly writer: QueueWriter,
    private readonly misses: EnumerationLimit,
    private readonly reader: QueueReader,
    private readonly codes: OfferCodes,
    private readonly requested: RequestedMails,
    private readonly sender: MailSender,
  ) {}

  /**
   * The offer of a code. Changes nothing, because mail scanners open links too.
   * @throws Problem `OFFER_NOT_FOUND`, `TOO_MANY_MISSES`
   */
  async get(waitlistId: number, code: string, ip: string): Promise<LinkedOffer> {
    return this.misses.limit(ip, this.find(waitlistId, code));
  }

  /**
   * Accepts or declines an offer, and returns the state that it has then. One that has ended stays as it is.
   * @throws Problem `OFFER_NOT_FOUND`
   */
  async answer(
    waitlistId: number,
    code: string,
    answer: 'accepted' | 'declined',
    { id: requestId }: Sender,
  ): Promise<OfferState> {
    return (await this.writer.submit(waitlistId, answerOffer(hashKey(code), answer, { requestId }))).state;
  }

  /**
   * Mails a new link to the person of a private page, and ends the old one. Does nothing if no offer is open, no mail
   * can reach the person, or a bound would drop the mail.
   * @throws Problem `WAITLIST_NOT_FOUND`, `RATE_LIMITED`
   */
  async mailTo(waitlistId: number, uuid: string, { id: requestId, ip }: Sender): Promise<void> {
    await this.requested.limit(ip);
    const { waiter } = await this.reader.findByUuid(waitlistId, uuid);
    if (waiter?.status !== 'offered' || waiter.emailKey === null || !this.sender.isConfigured) return;
    const mail = await this.requested.mailWithinBounds(waitlistId, 'offer', { uuid, emailKey: waiter.emailKey }, ip);
    if (!mail) return;
    const { network } = mail;
    try {
      await this.writer.submit(waitlistId, replaceOfferCode(uuid, this.codes.make(), { requestId, network }));
    } catch (error) {
      // The offer has ended since; the private page says so.
      if (!(error instanceof Problem && ['OFFER_ENDED', 'NO_WAITER_FOUND'].includes(error.code))) throw error;
    }
  }

  private async find(waitlistId: number, code: string) {
    const offer = await this.offers.find(code);
    if (offer?.waitlistId !== waitlistId) throw new Problem('OFFER_NOT_FOUND');
    const { waiterUuid: uuid, expiresAt } = offer;
    // A code is secret, so a link that works reveals nothing.
    return { uuid, state: stateAt(offer, new Date()), expiresAt, revealsRecord: false };
  }
}
