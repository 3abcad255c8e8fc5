import type { OfferEntity } from './offer.entity.js';

export { OFFER_STATES, type OfferState } from './offer.entity.js';

/** An offer as it is stored. */
export type Offer = Readonly<OfferEntity>;

/** The state at a moment: an offer ends with its time, whether or not the sweep has been there. */
export function stateAt({ state, expiresAt }: Pick<Offer, 'state' | 'expiresAt'>, at: Date): OfferEntity['state'] {
  return state === 'open' && expiresAt !== null && expiresAt <= at ? 'expired' : state;
}
