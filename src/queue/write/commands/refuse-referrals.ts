import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import { LedgerChanges } from '../../order/ledger-changes.js';
import { withCredits } from '../../order/rank-key.js';
import type { Exclusive } from '../command.js';

/** One referrer can have hundreds of thousands of referrals. */
const REFUSAL_MAX_MS = 60_000;

/** How many records the refusal changed. */
export interface Refused {
  readonly refused: number;
}

/**
 * Refuses the credit of all referrals by the record that has this token, whatever their status, erased ones and those
 * that an import brought as a number included. Later referrals are judged as any other.
 */
export function refuseReferrals(token: string, write: AccountWrite): Exclusive<Refused> {
  // Outside `run`, so that a retry after a lost commit returns the number of the first attempt.
  let refused = 0;
  return {
    kind: 'exclusive',
    deadlineMs: REFUSAL_MAX_MS,
    async run(session, waitlistId, { queues, ledger, waiters, audit, writes }) {
      const [waitlist, done, [referrer], named] = await session.all([
        queues.lock(waitlistId),
        audit.findDone([write.id]),
        waiters.findReferrers(waitlistId, [token]),
        waiters.countRefusable(waitlistId, token),
      ]);
      // A retry after a lost answer to the commit.
      if (done.has(write.id)) return { refused };
      refused = named + (referrer?.importedReferrals ?? 0);
      const changes = new LedgerChanges(waitlist);
      const changed = referrer && withCredits(referrer, 0, waitlist.spotsPerReferral);
      if (changed) changes.move(referrer, changed.rankKey);
      const siblings = await session.one(ledger.read(changes));
      await session.commit([
        waiters.refuseReferrals(waitlistId, token),
        waiters.updateStandings(waitlistId, changed ? [changed] : []),
        ledger.save(changes, siblings),
        writes.record(write, {
          action: 'referrals_refused',
          waitlistId,
          uuids: referrer ? [referrer.uuid] : [],
          counts: { refused },
        }),
      ]);
      return { refused };
    },
  };
}
