import { dayOf } from '../queue/order/day-counts.js';
import type { Places, Standing } from '../queue/read/place.reader.js';
import type { Status } from '../queue/record/waiter.js';
import { type Estimate, estimate } from './estimate.js';

/** A place in a queue and what explains it, as a person may see it. */
export interface Place {
  readonly status: Status;
  readonly priority: number;
  /** The people ahead when the person entered the queue; null if that is unknown. */
  readonly joinedPriority: number | null;
  readonly referrals: { readonly count: number; readonly spots: number };
  /** Spots gained by what others and the owner did, or lost if below 0. Null unless both positions are known. */
  readonly others: number | null;
  /** The priority with one more credited referral, as things stand; null unless the person is waiting. */
  readonly nextReferralPriority: number | null;
  readonly estimate: Estimate | null;
  readonly offerExpiresAt: Date | null;
}

/** Explains the place of one person. `days` are the counters of `weeksBefore` the day of `now`. */
export function explain(
  { waiter, nextReferralPriority }: Standing,
  { waitlist, days }: Pick<Places, 'waitlist' | 'days'>,
  now: Date,
): Place {
  const { status, priority, joinedPriority, creditedReferrals: count, offerExpiresAt } = waiter;
  const isWaiting = status === 'waiting';
  const spots = waitlist.spotsPerReferral * count;
  return {
    status,
    priority,
    joinedPriority,
    referrals: { count, spots },
    others: isWaiting && joinedPriority !== null ? joinedPriority - priority - spots : null,
    nextReferralPriority,
    estimate: isWaiting ? estimate(priority, dayOf(now), days) : null,
    offerExpiresAt,
  };
}
