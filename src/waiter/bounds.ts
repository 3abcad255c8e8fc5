import { BATCH_MAX } from '../queue/write/command.js';

/** How many records one call can offboard, offer a seat, return, erase, or approve or refuse the referrals of. */
export const RECORDS_PER_CALL_MAX = 1_000;
export const RECORDS_BODY_MAX_BYTES = 1024 * 1024;

/** Whether the writer gives a call more time than a request has. The body is not validated yet. */
export function isLongCall(
  body?: Partial<Record<'waiters' | 'signups' | 'offboard_next' | 'count', unknown>> | null,
): boolean {
  const named = body?.waiters ?? body?.signups;
  const count = Array.isArray(named) ? named.length : (body?.offboard_next ?? body?.count);
  return typeof count === 'number' && count > BATCH_MAX;
}
