import type { WholeWaitlist } from '../settings/waitlist.table.js';

/** The address of the page of an offer. Like all private pages, it has the waitlist's number. */
export function offerLink({ numberedPage }: Pick<WholeWaitlist, 'numberedPage'>, code: string): string {
  return `${numberedPage}/offer/${code}`;
}
