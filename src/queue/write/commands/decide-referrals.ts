import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import { BATCH_MAX, type Changed, type Command } from '../command.js';
import { decideCredit } from '../credit.js';
import { idsOf, type State } from '../state.js';

/** The deadline for more records than `BATCH_MAX`: each can move its referrer and cause an event. */
const DECISIONS_MAX_MS = 20_000;

/**
 * Approves or refuses the credit of records of any status, all of them or none. Ignores records that nobody
 * referred. Returns the uuids of the records whose credit this call changed, in the given order.
 */
export function decideReferrals(
  uuids: readonly string[],
  credit: 'credited' | 'refused',
  write: AccountWrite,
): Command<Changed> {
  return {
    kind: 'decide',
    weight: uuids.length,
    needs: { uuids, canChangeCredit: true, write },
    ...(uuids.length > BATCH_MAX && { deadlineMs: DECISIONS_MAX_MS }),
    run(state) {
      const done = state.done.get(write.id);
      if (done) return { uuids: done };
      const changed = { uuids: change(state, uuids, credit) };
      const action = credit === 'credited' ? 'credit_approved' : 'credit_refused';
      state.written.push({ write, action, ...changed });
      return changed;
    },
  };
}

function change(state: State, uuids: readonly string[], credit: 'credited' | 'refused'): string[] {
  return [...new Set(idsOf(state, uuids))].flatMap((id) => {
    const record = state.records.get(id);
    if (!record || record.credit === 'none') return [];
    decideCredit(state, id, credit);
    return state.records.get(id)?.credit === record.credit ? [] : [record.uuid];
  });
}
