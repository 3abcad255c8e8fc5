import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import { BATCH_MAX, type Changed, type Command } from '../command.js';
import { withdrawOffers } from '../offers.js';
import { changeStatus, emit, IN_QUEUE, idsOf } from '../state.js';
import { OFFBOARDING_MAX_MS } from './offboard.js';

/**
 * Lets offered and offboarded records wait again, at the place that their facts give now. Others are left out. Returns
 * those that this call brought back, in the given order.
 */
export function returnWaiters(uuids: readonly string[], write: AccountWrite): Command<Changed> {
  return {
    kind: 'return',
    weight: uuids.length,
    needs: { uuids, write },
    ...(uuids.length > BATCH_MAX && { deadlineMs: OFFBOARDING_MAX_MS }),
    run(state) {
      const done = state.done.get(write.id);
      if (done) return { uuids: done };
      const returning = [...new Set(idsOf(state, uuids))]
        .flatMap((id) => state.records.get(id) ?? [])
        .filter(({ status }) => status === 'offered' || status === 'offboarded');
      changeStatus(state, new Map(returning.map((record) => [record, IN_QUEUE])));
      for (const { uuid } of returning) {
        withdrawOffers(state, uuid);
        emit(state, 'returned_signup', uuid);
      }
      const changed = { uuids: returning.map(({ uuid }) => uuid) };
      state.written.push({ write, action: 'waiters_returned', ...changed });
      return changed;
    },
  };
}
