import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { Query } from '../../platform/database/session.js';
import { hashKey } from '../../platform/secrets/random-key.js';
import { WaitlistTable } from '../settings/waitlist.table.js';
import { OfferCodes } from './offer-codes.js';
import { OfferStore } from './offer.store.js';
import type { Offer } from './offer.js';

/** The link of an open offer. */
export interface OfferLink {
  readonly url: string;
  readonly madeAt: Date;
}

/** Finds offers and the links of open ones. */
@Injectable()
export class OfferReader {
  constructor(
    private readonly database: Database,
    private readonly offers: OfferStore,
    private readonly codes: OfferCodes,
    private readonly waitlists: WaitlistTable,
  ) {}

  /** The offer of a code, of any waitlist and in any state; null for an unknown code. */
  async find(code: string): Promise<Offer | null> {
    return this.database.one(this.offers.findByHash(hashKey(code)));
  }

  /** The open offers of records, by their uuids. */
  findOpen(waitlistId: number, uuids: readonly string[]): Query<ReadonlyMap<string, Offer>> {
    return this.offers.findOpen(waitlistId, uuids);
  }

  /** The link of an open offer; null if this process cannot decrypt its code. */
  linkOf(offer: Offer): string | null {
    const code = this.codes.open(offer);
    // Private pages have the number of the waitlist, not its slug.
    const { numberedPage } = this.waitlists.pagesOf({ id: offer.waitlistId, slug: null });
    return code === null ? null : `${numberedPage}/offer/${code}`;
  }

  /** The links of the open offers of records, by their uuids; without those whose code this process cannot decrypt. */
  async findLinks(waitlistId: number, uuids: readonly string[]): Promise<ReadonlyMap<string, OfferLink>> {
    const open = await this.database.one(this.findOpen(waitlistId, uuids));
    return new Map(
      [...open].flatMap(([uuid, offer]) => {
        const url = this.linkOf(offer);
        return url === null ? [] : [[uuid, { url, madeAt: offer.madeAt }]];
      }),
    );
  }
}
