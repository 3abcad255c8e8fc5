import type { StoredWaiter } from './waiter.js';
import type { LeanWaitlist } from './waitlist.table.js';

/**
 * Whether a record still needs a click on the link of a verification mail. A pending record, and a credit that waits, need it
 * even after the owner has turned verification off.
 */
export function needsClick(
  { verification }: Pick<LeanWaitlist, 'verification'>,
  { verified, status, credit }: Pick<StoredWaiter, 'verified' | 'status' | 'credit'>,
): boolean {
  if (verified) return false;
  return verification !== 'off' || status === 'pending' || credit === 'awaiting_verification';
}
