/** The credits that the table can show alone. */
export const CREDIT_FILTERS = ['withheld', 'awaiting_verification', 'refused'] as const;

/** The orders of those in line; the first is the usual one. */
export const ORDERS = ['queue', 'joined', 'referrals'] as const;

export type Status = 'waiting' | 'offered' | 'offboarded' | 'pending';

/** Statuses besides the usual one. */
const OTHER_STATUSES = ['offered', 'offboarded', 'pending'] as const;

/** The filters of the table, which the address holds. */
export interface PeopleSearch {
  readonly search?: string;
  /** By default people in line; with withheld referrals, people of every status. */
  readonly status?: Status;
  readonly credit?: (typeof CREDIT_FILTERS)[number];
  readonly order?: (typeof ORDERS)[number];
  /** A token: those whom this person referred; `true`: all that were referred. */
  readonly referral_token?: string;
}

/** Whether the search shows fewer people than its status has. */
export function isFiltered({ search, referral_token, credit }: PeopleSearch): boolean {
  return search !== undefined || referral_token !== undefined || credit !== undefined;
}

/** What the table shows: people of a status, or withheld referrals with their reasons. */
export function viewOf({ status = 'waiting', credit }: PeopleSearch): Status | 'reasons' {
  return credit === 'withheld' || credit === 'refused' ? 'reasons' : status;
}

/** The view of the referrals that wait for the owner, of people of every status. */
export function isDeciding({ credit, status }: PeopleSearch): boolean {
  return credit === 'withheld' && status === undefined;
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
    ...(isOneOf(OTHER_STATUSES, status) && { status }),
    ...(isOneOf(CREDIT_FILTERS, credit) && { credit }),
    ...(isOneOf(ORDERS, order) && order !== 'queue' && { order }),
    ...(isText(referral_token) && { referral_token: String(referral_token) }),
  };
}

/** A text that looks like JSON comes from the address as a number or a boolean. */
function isText(value: unknown): boolean {
  return value !== '' && ['string', 'number', 'boolean'].includes(typeof value);
}

function isOneOf<Value>(values: readonly Value[], value: unknown): value is Value {
  return values.some((one) => one === value);
}
