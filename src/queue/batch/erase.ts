import { countRecord } from '../counters.js';
import { dayOf, daysOf } from '../day-counts.js';
import type { Changed, Erase } from './facts.js';
import { emit, idsOf, type State } from './state.js';

/** Deletes records, whatever their status, each once. Their referrers keep the credit. */
export function erase(state: State, { uuids, write }: Erase): Changed {
  const { at, waitlist, records, takenEmails, takenPhones, mailboxHolders, referrerIds, counters, days } = state;
  const leaving = [...new Set(idsOf(state, uuids))].flatMap((id) => records.get(id) ?? []);
  for (const record of leaving) {
    state.erased.push(record);
    records.delete(record.id);
    referrerIds.delete(record.referralToken);
    takenEmails.delete(record.emailKey);
    takenPhones.delete(record.phoneKey);
    for (const holders of mailboxHolders.values()) holders.delete(record.uuid);
    // A pending record counts nowhere, and nobody heard of it.
    if (record.status === 'pending') continue;
    countRecord(waitlist, record, -1);
    counters.count(record, record.status === 'waiting', -1);
    days.count(daysOf(record), -1);
    days.countErasure(dayOf(at));
    emit(state, 'erased_signup', record.uuid);
  }
  const changed = { uuids: leaving.map(({ uuid }) => uuid) };
  state.written.push({ write, action: 'waiters_erased', ...changed });
  return changed;
}
