import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import type { Changed, Command } from '../command.js';
import { eraseRecord } from '../erasure.js';
import { idsOf, type State } from '../state.js';

/**
 * Deletes records of any status, all or none, and leaves tombstones without personal data. The queue closes up; their
 * referrers keep the credit. Returns the uuids of the records that this call erased, in the given order.
 */
export function erase(uuids: readonly string[], write: AccountWrite): Command<Changed> {
  return {
    kind: 'erase',
    weight: uuids.length,
    needs: { uuids, write },
    run(state) {
      const done = state.done.get(write.id);
      if (done) return { uuids: done };
      const changed = { uuids: remove(state, uuids) };
      state.written.push({ write, action: 'waiters_erased', ...changed });
      return changed;
    },
  };
}

function remove(state: State, uuids: readonly string[]): string[] {
  const leaving = [...new Set(idsOf(state, uuids))].flatMap((id) => state.records.get(id) ?? []);
  for (const record of leaving) eraseRecord(state, record);
  return leaving.map(({ uuid }) => uuid);
}
