export const ON_EXPIRY = ['out', 'end'] as const;

/** The rules of a waitlist's offers, by the names of its fields in the API. */
export interface OfferRules {
  /** How long an offer stays open; null: without end. */
  readonly hours: number | null;
  /** Whether who lets an offer expire is out, or waits again at the end of the queue. */
  readonly on_expiry: (typeof ON_EXPIRY)[number];
  /** Where somebody goes after accepting; null for the waitlist's other pages. */
  readonly url: string | null;
}

const DEFAULTS: OfferRules = { hours: 48, on_expiry: 'out', url: null };

export function offerRules({ offers }: { readonly offers: Partial<OfferRules> | null }): OfferRules {
  return { ...DEFAULTS, ...offers };
}
