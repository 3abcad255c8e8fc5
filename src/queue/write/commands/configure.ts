import type { Session } from '../../../platform/database/session.js';
import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import { firstKeyOf, QUEUE_AXIS } from '../../order/counters.js';
import { LedgerChanges } from '../../order/ledger-changes.js';
import { type Mails, type WordChange, withWords } from '../../settings/mail-words.js';
import { type SettingChanges, withSettings } from '../../settings/settings.js';
import type { WholeWaitlist } from '../../settings/waitlist.table.js';
import type { Exclusive } from '../command.js';
import type { ExclusiveStores } from '../exclusive-stores.js';

/** A reordering can move millions of records. */
const REORDERING_MAX_MS = 10 * 60_000;

/** The changed waitlist, and how many active records got another rank key. */
export interface Configured {
  readonly waitlist: WholeWaitlist;
  readonly mails: Mails;
  readonly recordsMoved: number;
}

/**
 * Changes settings and the words of mails. If the spots per referral change, reorders the queue, past referrals too.
 * @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `SLUG_TAKEN`, `TOO_MANY_SLUGS`
 */
export function configure(
  changes: SettingChanges,
  write: AccountWrite,
  wordChanges: readonly WordChange[] = [],
): Exclusive<Configured> {
  // Outside `run`, so that a retry after a lost commit returns the number of the first attempt.
  let recordsMoved = 0;
  return {
    kind: 'exclusive',
    deadlineMs: changes.spotsPerReferral === undefined ? undefined : REORDERING_MAX_MS,
    async run(session, waitlistId, stores) {
      const { queues, waitlists, releases, audit, writes } = stores;
      const [current, words, done] = await session.all([
        queues.lockWhole(waitlistId),
        stores.mails.find(waitlistId),
        audit.findDone([write.id]),
      ]);
      // A retry after a lost answer to the commit.
      if (done.has(write.id)) return { waitlist: current, mails: words, recordsMoved };
      const changed = withSettings(current, changes);
      const mails = withWords(words, wordChanges);
      if (changed.slug !== current.slug) await waitlists.claimSlug(session, changed);
      const waitlist = { ...changed, ...waitlists.pagesOf(changed) };
      const isReordered = waitlist.spotsPerReferral !== current.spotsPerReferral;
      recordsMoved = isReordered ? await reorder(session, waitlist, stores) : 0;
      const isReplanned = waitlist.releasePlan !== current.releasePlan;
      await session.commit([
        queues.updateSettings(waitlist),
        ...(isReplanned ? [releases.note(waitlistId, waitlist.releasePlan, new Date())] : []),
        ...(mails === words ? [] : [stores.mails.replace(waitlistId, mails)]),
        writes.record(write, { action: 'waitlist_updated', waitlistId, counts: { recordsMoved } }),
        ...(isReplanned ? [audit.record({ ...originOf(write), action: 'release_plan_changed', waitlistId })] : []),
      ]);
      return { waitlist, mails, recordsMoved };
    },
  };
}

function originOf({ accountId, memberId, requestId, addressHash }: AccountWrite) {
  return { accountId, memberId, requestId, addressHash };
}

/** Computes all rank keys again, and the counters with them. Returns how many active records got another rank key. */
async function reorder(
  session: Session,
  waitlist: WholeWaitlist,
  { ledger, waiters }: ExclusiveStores,
): Promise<number> {
  const { id, spotsPerReferral } = waitlist;
  const moves = await session.one(waiters.countMoves(id, spotsPerReferral));
  const changes = new LedgerChanges(waitlist);
  for (const { from, to, referred, amount } of moves)
    changes.counters.move(firstKeyOf(QUEUE_AXIS, from), firstKeyOf(QUEUE_AXIS, to), referred, amount);
  const siblings = await session.one(ledger.read(changes));
  await session.all([waiters.rekey(id, spotsPerReferral), ledger.save(changes, siblings)]);
  return moves.reduce((sum, { amount }) => sum + amount, 0);
}
