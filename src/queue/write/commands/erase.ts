import type { OwnerWrite } from '../../../platform/idempotency/owner-write.js';
import type { Changed, Command } from '../command.js';
import { emit, idsOf, type State } from '../state.js';

/**
 * Deletes records of any status, all or none, and leaves tombstones without personal data. The queue closes up; their
 * referrers keep the credit. Returns the uuids of the records that this call erased, in the given order.
 */
export function erase(uuids: readonly string[], write: OwnerWrite): Command<Changed> {
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
  const { at, records, takenEmails, takenPhones, mailboxHolders, referrerIds, ledger, erased } = state;
  const leaving = [...new Set(idsOf(state, uuids))].flatMap((id) => records.get(id) ?? []);
  for (const record of leaving) {
    erased.push(record);
    records.delete(record.id);
    referrerIds.delete(record.referralToken);
    takenEmails.delete(record.emailKey);
    takenPhones.delete(record.phoneKey);
    for (const holders of mailboxHolders.values()) holders.delete(record.uuid);
    // A pending record counts nowhere, and no webhook knows it.
    if (record.status === 'pending') continue;
    ledger.erase(record, at);
    emit(state, 'erased_signup', record.uuid);
  }
  return leaving.map(({ uuid }) => uuid);
}
