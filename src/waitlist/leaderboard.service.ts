import { Injectable } from '@nestjs/common';
import { QueueListing } from '../queue/read/queue.listing.js';
import type { Waiter } from '../queue/record/waiter.js';
import { DEFAULTS, WaitlistService } from './waitlist.service.js';

/** Lists the records of a public waitlist with the most referrals. */
@Injectable()
export class LeaderboardService {
  constructor(
    private readonly waitlists: WaitlistService,
    private readonly pages: QueueListing,
  ) {}

  /**
   * The first active records by their number of referrals, at least one; none unless the waitlist shows a leaderboard.
   * `length` replaces the waitlist's own.
   * @throws Problem `WAITLIST_NOT_FOUND`, also for a waitlist that is not public, `QUEUE_FULL`
   */
  async list(waitlistId: number, length: number | undefined): Promise<readonly Waiter[]> {
    const waitlist = await this.waitlists.getPublic(waitlistId);
    const { uses_leaderboard, leaderboard_length } = { ...DEFAULTS.display, ...waitlist.display };
    return uses_leaderboard ? this.pages.leaders(waitlistId, length ?? leaderboard_length) : [];
  }
}
