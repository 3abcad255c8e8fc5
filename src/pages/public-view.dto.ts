import type { Leader, Place, PublicWaitlist, Status } from '../../web/page/model.js';
import type { Found, Waiter } from '../queue/record/waiter.js';
import { SignupDto } from '../signup/signup.dto.js';
import { LeaderboardDto } from '../waitlist/leaderboard.dto.js';
import { WaitlistViewDto } from '../waitlist/waitlist.dto.js';
import type { Waitlist } from '../waitlist/waitlist.service.js';

/* Pages show what the API would answer, and so no more than it, but for the contact on private pages. */

export const publicWaitlist = (waitlist: Waitlist, sendsMail: boolean): PublicWaitlist => ({
  ...WaitlistViewDto.fromPublic(waitlist, sendsMail),
  contact: waitlist.display.contact ?? null,
});

export const statusOf = (found: Found): Status => SignupDto.from(found);

/** Until `GET /api/v1/signup/place` is there: the place alone. */
export const placeOf = ({ waiter }: Found): Place => ({
  status: waiter.status,
  priority: waiter.priority,
  joined_priority: null,
  referrals: { count: waiter.creditedReferrals, spots: 0 },
  others: null,
  next_referral_priority: null,
  estimate: null,
  offer_expires_at: null,
});

export const leadersOf = (leaders: readonly Waiter[]): readonly Leader[] => LeaderboardDto.from(leaders).leaderboard;
