import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import type { StoredWaiter } from '../../record/waiter.js';
import { BATCH_MAX, type Command } from '../command.js';
import { endOffer, expire, mailTurn, noteExpired, openOfferOf } from '../offers.js';
import { MANY_RECORDS_MAX_MS, type Moved, needsOf, select, type Selection } from '../selection.js';
import { emit, type State } from '../state.js';
import { vacate } from '../vacate.js';

/**
 * Offboards the active records of a selection, and the offered ones that it names, all or none. Returns those that this
 * call removed, in the order of the selection.
 */
export function offboard(selection: Selection, write: AccountWrite): Command<Moved> {
  const { weight, ...needs } = needsOf(selection);
  return {
    kind: 'offboard',
    weight,
    needs: { ...needs, write },
    ...(weight > BATCH_MAX && { deadlineMs: MANY_RECORDS_MAX_MS }),
    run(state) {
      const { waitlist, done, written } = state;
      const doneBefore = done.get(write.id);
      if (doneBefore) return { uuids: doneBefore, active: waitlist.active };
      const uuids = remove(state, select(state, selection));
      const result = { uuids, active: waitlist.active };
      written.push({ write, action: 'waiters_offboarded', uuids, counts: { active: result.active } });
      return result;
    },
  };
}

/** Takes waiting records out of the queue, and accepts for offered ones. Leaves out those whose offer expired. */
function remove(state: State, leaving: readonly StoredWaiter[]): string[] {
  const { at } = state;
  const waiting = leaving.filter(({ status }) => status === 'waiting');
  vacate(state, waiting, () => ({
    status: 'offboarded',
    removedAt: at,
    removedReason: 'by_owner',
    offerExpiresAt: null,
  }));
  const expired = leaving.filter((record) => expire(state, record)).map(({ uuid }) => uuid);
  noteExpired(state, expired);
  for (const record of leaving) {
    const offer = openOfferOf(state, record.uuid);
    if (offer) endOffer(state, record, offer, 'accepted');
    if (record.status === 'offered') continue;
    emit(state, 'offboarded_signup', record.uuid);
    mailTurn(state, record);
  }
  return leaving.flatMap(({ uuid }) => (expired.includes(uuid) ? [] : [uuid]));
}
