import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Query } from '../../platform/database/session.js';
import { hashKey } from '../../platform/secrets/random-key.js';
import type { Offer } from './offer.js';
import { OfferCodes } from './offer-codes.js';
import { OfferStore } from './offer.store.js';

/** Finds offers for those who show or send their codes. */
@Injectable()
export class OfferReader {
  constructor(
    private readonly database: Database,
    private readonly offers: OfferStore,
    private readonly codes: OfferCodes,
  ) {}

  /** The offer of a code, on whatever waitlist and in whatever state; null for an unknown code. */
  async find(code: string): Promise<Offer | null> {
    return this.database.one(this.offers.findByHash(hashKey(code)));
  }

  /** The open offers of these records, by their uuids. */
  openOf(waitlistId: number, uuids: readonly string[]): Query<ReadonlyMap<string, Offer>> {
    return this.offers.findOpen(waitlistId, uuids);
  }

  /** The codes of the open offers of these records, by their uuids. */
  async findCodes(waitlistId: number, uuids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const open = await this.database.one(this.offers.findOpen(waitlistId, uuids));
    return new Map(
      [...open].flatMap(([uuid, offer]) => {
        const code = this.codes.open(offer);
        return code === null ? [] : [[uuid, code]];
      }),
    );
  }
}
