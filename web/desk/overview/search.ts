/** The spans that the chart can show. */
export const SPANS = [7, 30, 90] as const;
const SPAN_DEFAULT = 30;

/** The days that the chart shows, which the address holds if they are not the usual ones. */
export interface OverviewSearch {
  readonly days?: (typeof SPANS)[number];
}

/** Reads an address; another number of days is left out. */
export function overviewSearchOf({ days: asked }: Record<string, unknown>): OverviewSearch {
  const days = SPANS.find((span) => span === asked);
  return days === undefined || days === SPAN_DEFAULT ? {} : { days };
}
