import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import { BATCH_MAX, type Command } from '../command.js';
import { expire, noteExpired, withdrawOffers } from '../offers.js';
import { MANY_RECORDS_MAX_MS, type Moved } from '../selection.js';
import { changeStatus, emit, IN_QUEUE, idsOf } from '../state.js';

/**
 * Lets offered and offboarded records wait again, at the place that their facts give now. Leaves out all others, and
 * records that this call puts at the end of the queue because their offer is over. Returns those that it brought back,
 * in the given order.
 */
export function returnWaiters(uuids: readonly string[], write: AccountWrite): Command<Moved> {
  return {
    kind: 'return',
    weight: uuids.length,
    needs: { uuids, write },
    ...(uuids.length > BATCH_MAX && { deadlineMs: MANY_RECORDS_MAX_MS }),
    run(state) {
      const { waitlist, done, written } = state;
      const doneBefore = done.get(write.id);
      if (doneBefore) return { uuids: doneBefore, active: waitlist.active };
      const ids = [...new Set(idsOf(state, uuids))];
      const named = () => ids.flatMap((id) => state.records.get(id) ?? []);
      const expired = named().filter((record) => expire(state, record));
      noteExpired(
        state,
        expired.map(({ uuid }) => uuid),
      );
      const returning = named().filter(({ status }) => status === 'offered' || status === 'offboarded');
      changeStatus(state, new Map(returning.map((record) => [record, IN_QUEUE])));
      for (const { uuid } of returning) {
        withdrawOffers(state, uuid);
        emit(state, 'returned_signup', uuid);
      }
      const result = { uuids: returning.map(({ uuid }) => uuid), active: waitlist.active };
      written.push({ write, action: 'waiters_returned', uuids: result.uuids, counts: { active: result.active } });
      return result;
    },
  };
}
