import type { StoredWaiter } from '../record/waiter.js';
import { emit, type State } from './state.js';

/** Erases a record; the queue closes up. `tombstone` has the values that its tombstone keeps. */
export function eraseRecord(state: State, record: StoredWaiter, tombstone: StoredWaiter = record): void {
  const { at, records, countedRankKeys, changedReferrerIds, takenEmails, takenPhones, ledger, erased } = state;
  const { id, uuid, referralToken } = record;
  erased.push(tombstone);
  records.delete(id);
  changedReferrerIds.delete(id);
  state.referrerIds.delete(referralToken);
  takenEmails.delete(record.emailKey);
  takenPhones.delete(record.phoneKey);
  for (const holders of state.mailboxHolders.values()) holders.delete(uuid);
  // A pending record counts nowhere, and no webhook knows it.
  if (record.status === 'pending') return;
  // If a leave in this batch changed the record's rank key, the counters still hold the earlier one.
  ledger.erase({ ...record, rankKey: countedRankKeys.get(id) ?? record.rankKey }, at);
  emit(state, 'erased_signup', uuid);
}
