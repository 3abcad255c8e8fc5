import type { StoredWaiter } from './waiter.js';
import type { LeanWaitlist } from '../settings/waitlist.table.js';

/**
 * Whether a record still needs a click on the link of a verification mail. Pending records and waiting credits need it
 * even after verification was turned off.
 */
export function needsClick(
  { verification }: Pick<LeanWaitlist, 'verification'>,
  { verified, status, credit }: Pick<StoredWaiter, 'verified' | 'status' | 'credit'>,
): boolean {
  if (verified) return false;
  return verification !== 'off' || status === 'pending' || credit === 'awaiting_verification';
}
