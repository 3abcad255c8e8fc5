export const ON_EXPIRY = ['out', 'end'] as const;

/** The rules of a waitlist's offers, named as the fields of `offers` in the API. */
export interface OfferRules {
  /** How long an offer stays open; null if it never expires. */
  readonly hours: number | null;
  /** What an expired offer does with its person: `out` offboards them, `end` puts them at the end of the queue. */
  readonly on_expiry: (typeof ON_EXPIRY)[number];
  /** Where the browser goes after Accept; null for `your_turn_url`, or without one for the private page. */
  readonly url: string | null;
}

const DEFAULTS: OfferRules = { hours: 48, on_expiry: 'out', url: null };

/** The rules, with the defaults for those that were never set. */
export function offerRules({ offers }: { readonly offers: Partial<OfferRules> | null }): OfferRules {
  return { ...DEFAULTS, ...offers };
}
