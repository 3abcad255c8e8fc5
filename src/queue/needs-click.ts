import type { StoredWaiter } from './waiter.js';
import type { LeanWaitlist } from './waitlist.table.js';

/**
 * Whether a click on the link of a verification mail would change something for a record. Whoever waits for that goes on to
 * wait if the waitlist asks for no verification any more.
 */
export function needsClick(
  { verification }: Pick<LeanWaitlist, 'verification'>,
  { verified, status, credit }: Pick<StoredWaiter, 'verified' | 'status' | 'credit'>,
): boolean {
  if (verified) return false;
  return verification !== 'off' || status === 'pending' || credit === 'awaiting_verification';
}
