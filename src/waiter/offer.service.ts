import { Injectable } from '@nestjs/common';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { AccountWriteService } from '../platform/idempotency/account-write.service.js';
import { Problem } from '../platform/problems/problem.js';
import type { Reach } from '../platform/reach.js';
import { hashKey } from '../platform/secrets/random-key.js';
import { OfferCodes } from '../queue/offers/offer-codes.js';
import { OfferReader } from '../queue/offers/offer.reader.js';
import { type OfferState, stateAt } from '../queue/offers/offer.js';
import { QueueListing } from '../queue/read/queue.listing.js';
import { LARGE, type PageRequest } from '../queue/record/waiter.js';
import { answerOffer } from '../queue/write/commands/answer-offer.js';
import type { Moved } from '../queue/write/selection.js';
import { makeOffers, type OfferRequest } from '../queue/write/commands/make-offers.js';
import { replaceOfferCode } from '../queue/write/commands/replace-offer-code.js';
import { returnWaiters } from '../queue/write/commands/return.js';
import { QueueWriter } from '../queue/write/queue.writer.js';
import { type FoundWaiter, WaiterService } from './waiter.service.js';

/** The Waiters who get an offer, and how long it holds. */
export type GivenOffers = Pick<OfferRequest, 'selection' | 'hours'>;

/** An offer with its person. */
export interface FoundOffer extends FoundWaiter {
  readonly state: OfferState;
  readonly acceptedAt: Date | null;
}

const IN_QUEUE_ORDER: Omit<PageRequest, 'limit'> = {
  status: 'waiting',
  credit: null,
  referredBy: null,
  keys: [],
  search: null,
  name: null,
  order: 'queue',
  start: { offset: 0 },
  without: LARGE,
};

/** Operations of accounts on the offers of their waitlists. */
@Injectable()
export class OfferService {
  constructor(
    private readonly writes: AccountWriteService,
    private readonly writer: QueueWriter,
    private readonly pages: QueueListing,
    private readonly offers: OfferReader,
    private readonly codes: OfferCodes,
    private readonly waiters: WaiterService,
  ) {}

  /**
   * Offers a seat to waiting records, all or none, and returns the uuids of those that this call offered one. The
   * caller reads the records, and their links by {@link linksOf}.
   * @throws Problem `WAITLIST_NOT_FOUND`, and those of {@link AccountWriteService.once}
   */
  async make(waitlistId: number, { selection, hours }: GivenOffers, write: AccountWrite): Promise<Moved> {
    const count = 'next' in selection ? selection.next : selection.uuids.length;
    const work = () => {
      const codes = Array.from({ length: count }, () => this.codes.make());
      return this.writer.submit(waitlistId, makeOffers({ selection, hours, codes }, write));
    };
    return this.writes.once<Moved>(write, work, ({ uuids, counts }) => ({
      uuids,
      active: counts.active as number,
    }));
  }

  /** The uuids that {@link make} would select now. The caller leaves out records that are not waiting. */
  async preview(waitlistId: number, { selection }: GivenOffers): Promise<readonly string[]> {
    if ('uuids' in selection) return [...new Set(selection.uuids)];
    const { waiters } = await this.pages.page(waitlistId, { ...IN_QUEUE_ORDER, limit: selection.next });
    return waiters.map(({ uuid }) => uuid);
  }

  /** The links of the open offers of these records, by their uuids. */
  async linksOf(waitlistId: number, uuids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const open = await this.offers.findLinks(waitlistId, uuids);
    return new Map(Array.from(open, ([uuid, { url }]) => [uuid, url]));
  }

  /**
   * Lets offered and offboarded records wait again, all or none, and returns the uuids of those that came back.
   * @throws Problem `WAITLIST_NOT_FOUND`, and those of {@link AccountWriteService.once}
   */
  async returnToQueue(waitlistId: number, uuids: readonly string[], write: AccountWrite): Promise<Moved> {
    return this.writes.once<Moved>(
      write,
      () => this.writer.submit(waitlistId, returnWaiters(uuids, write)),
      (done) => ({ uuids: done.uuids, active: done.counts.active as number }),
    );
  }

  /** The offer of a code on a waitlist within the reach. @throws Problem `OFFER_NOT_FOUND` */
  async check(reach: Reach, code: string): Promise<FoundOffer> {
    const offer = await this.offers.find(code);
    if (!offer) throw new Problem('OFFER_NOT_FOUND');
    try {
      const found = await this.waiters.get(reach, offer.waiterUuid);
      return { ...found, state: stateAt(offer, new Date()), acceptedAt: offer.acceptedAt };
    } catch (error) {
      // Another account's, or of a person or waitlist that was erased since the offer was read.
      if (error instanceof Problem && error.status === 404) throw new Problem('OFFER_NOT_FOUND');
      throw error;
    }
  }

  /**
   * Accepts the offer of a code for its person; an accepted one stays so.
   * @throws Problem `OFFER_NOT_FOUND`, `OFFER_ENDED`, and those of {@link AccountWriteService.once}
   */
  async accept(code: string, write: AccountWrite): Promise<FoundOffer> {
    const { waitlist } = await this.check(write, code);
    const work = async () => {
      const { state } = await this.writer.submit(waitlist.id, answerOffer(hashKey(code), 'accepted', write));
      if (state !== 'accepted') throw new Problem('OFFER_ENDED');
    };
    await this.writes.once<unknown>(write, work, () => undefined);
    return this.check(write, code);
  }

  /**
   * Gives the open offer of a record another code, and returns its link. The old code is unknown from then on.
   * @throws Problem `NO_WAITER_FOUND`, `OFFER_ENDED`, and those of {@link AccountWriteService.once}
   */
  async renewLink(uuid: string, write: AccountWrite): Promise<string> {
    const { waitlist } = await this.waiters.get(write, uuid);
    await this.writes.once<unknown>(
      write,
      () => this.writer.submit(waitlist.id, replaceOfferCode(uuid, this.codes.make(), write)),
      () => undefined,
    );
    const link = (await this.linksOf(waitlist.id, [uuid])).get(uuid);
    if (link === undefined) throw new Problem('OFFER_ENDED');
    return link;
  }
}
