import type { OfferEntity, OfferState } from './offer.entity.js';

export { OFFER_STATES, type OfferState } from './offer.entity.js';

const HOUR_MS = 3_600_000;
/** The reminder is due when one part in this many of the offer's time is left. */
const REMINDER_PARTS = 3;

/** An offer as it is stored. */
export type Offer = Readonly<OfferEntity>;

/** When an offer ends whose time begins at a moment; null if it never expires. */
export function endOf({ hours }: Pick<Offer, 'hours'>, from: Date): Date | null {
  return hours === null ? null : new Date(from.getTime() + hours * HOUR_MS);
}

/** When the reminder of an offer is due; null before its time has begun, and if it never expires. */
export function reminderAt({ hours, expiresAt }: Pick<Offer, 'hours' | 'expiresAt'>): Date | null {
  return hours === null || expiresAt === null
    ? null
    : new Date(expiresAt.getTime() - (hours * HOUR_MS) / REMINDER_PARTS);
}

/** The state at a moment: an offer expires by its time, even if the sweep has not ended it yet. */
export function stateAt({ state, expiresAt }: Pick<Offer, 'state' | 'expiresAt'>, at: Date): OfferState {
  return state === 'open' && expiresAt !== null && expiresAt <= at ? 'expired' : state;
}
