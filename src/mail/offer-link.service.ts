import { Injectable } from '@nestjs/common';
import type { Sender } from '../platform/audit/audit-log.js';
import { EnumerationLimit } from '../platform/limits/enumeration-limit.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey } from '../platform/secrets/random-key.js';
import { type OfferState, stateAt } from '../queue/offers/offer.js';
import { OfferReader } from '../queue/offers/offer.reader.js';
import { answerOffer } from '../queue/write/commands/answer-offer.js';
import { QueueWriter } from '../queue/write/queue.writer.js';

/** An offer, as whoever has its link may see it. */
export interface LinkedOffer {
  /** The person's record. */
  readonly uuid: string;
  readonly state: OfferState;
  /** Null before its time has begun, and without end. */
  readonly expiresAt: Date | null;
}

/** How people answer offers: by the link that they got. */
@Injectable()
export class OfferLinkService {
  constructor(
    private readonly offers: OfferReader,
    private readonly writer: QueueWriter,
    private readonly misses: EnumerationLimit,
  ) {}

  /**
   * The offer of a code. Changes nothing, because mail scanners open links too.
   * @throws Problem `OFFER_NOT_FOUND`, `TOO_MANY_MISSES`
   */
  async get(waitlistId: number, code: string, ip: string): Promise<LinkedOffer> {
    return this.misses.limit(ip, this.find(waitlistId, code));
  }

  /**
   * Accepts or declines, and returns the state that the offer has then: one that has ended keeps its own.
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

  private async find(waitlistId: number, code: string) {
    const offer = await this.offers.find(code);
    if (offer?.waitlistId !== waitlistId) throw new Problem('OFFER_NOT_FOUND');
    const { waiterUuid: uuid, expiresAt } = offer;
    // A code is secret, so a link that works reveals nothing.
    return { uuid, state: stateAt(offer, new Date()), expiresAt, revealsRecord: false };
  }
}
