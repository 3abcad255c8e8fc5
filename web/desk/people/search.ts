/** The credits that the table can show alone. */
export const CREDIT_FILTERS = ['withheld', 'awaiting_verification', 'refused'] as const;

/** The filters of the table, which the address holds. */
export interface PeopleSearch {
  readonly search?: string;
  readonly status?: 'waiting' | 'offboarded' | 'pending';
  readonly credit?: (typeof CREDIT_FILTERS)[number];
  readonly order?: 'joined' | 'queue';
  /** A token: those whom this person referred; `true`: all that were referred. */
  readonly referral_token?: string;
}

/** Whether the search shows fewer people than its status has. */
export function isFiltered({ search, referral_token, credit }: PeopleSearch): boolean {
  return search !== undefined || referral_token !== undefined || credit !== undefined;
}

/** Other views have an order of their own. */
export function canSort({ status = 'waiting', search, credit }: PeopleSearch): boolean {
  return status === 'waiting' && search === undefined && credit === undefined;
}

/** Reads an address; what is not a filter is left out. */
export function peopleSearchOf({
  search,
  status,
  credit,
  order,
  referral_token,
}: Record<string, unknown>): PeopleSearch {
  return {
    ...(isText(search) && { search: String(search) }),
    ...((status === 'offboarded' || status === 'pending') && { status }),
    ...(isCreditFilter(credit) && { credit }),
    ...(order === 'joined' && { order }),
    ...(isText(referral_token) && { referral_token: String(referral_token) }),
  };
}

/** A text that looks like JSON comes from the address as a number or a boolean. */
function isText(value: unknown): boolean {
  return value !== '' && ['string', 'number', 'boolean'].includes(typeof value);
}

function isCreditFilter(value: unknown): value is PeopleSearch['credit'] {
  return CREDIT_FILTERS.some((credit) => credit === value);
}
