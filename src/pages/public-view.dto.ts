import type { Leader, Place, PublicWaitlist, Status } from '../../web/page/model.js';
import type { Found, Waiter } from '../queue/record/waiter.js';
import { PlaceDto } from '../signup/place.dto.js';
import { SignupDto } from '../signup/signup.dto.js';
import type { FoundPlace } from '../signup/signup.service.js';
import { LeaderboardDto } from '../waitlist/leaderboard.dto.js';
import { WaitlistViewDto } from '../waitlist/waitlist.dto.js';
import type { Waitlist } from '../waitlist/waitlist.service.js';

/* Pages show what the API would answer, and so no more than it, but for the contact on private pages. */

export const publicWaitlist = (waitlist: Waitlist, sendsMail: boolean): PublicWaitlist => ({
  ...WaitlistViewDto.fromPublic(waitlist, sendsMail),
  contact: waitlist.display.contact ?? null,
});

export const statusOf = (found: Found): Status => SignupDto.from(found);

export const placeOf = ({ place }: FoundPlace): Place => PlaceDto.from(place);

export const leadersOf = (leaders: readonly Waiter[]): readonly Leader[] => LeaderboardDto.from(leaders).leaderboard;
