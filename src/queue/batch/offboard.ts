import { countRecord } from '../counters.js';
import { daysOf } from '../day-counts.js';
import type { StoredWaiter } from '../waiter.js';
import type { Offboard, Offboarded, Selection } from './facts.js';
import { emit, idsOf, type State } from './state.js';

/**
 * Removes the active records of a selection from the queue. The stored position is the one before this command: the
 * position before the batch, minus the records ahead that earlier commands of the batch removed.
 */
export function offboard(state: State, { selection, write }: Offboard): Offboarded {
  const { at, waitlist, records, positionsBefore, vacatedPositions, counters, days, mails } = state;
  const leaving = select(state, selection);
  const before = leaving.map(({ id }) => positionsBefore.get(id) as number);
  const positions = before.map((position) => position - vacatedPositions.filter((other) => other < position).length);
  vacatedPositions.push(...before);
  if (leaving.length > 0)
    state.removals.push({
      at,
      priorities: new Map(leaving.map(({ id }, index) => [id, positions[index] as number])),
    });
  for (const [index, record] of leaving.entries()) {
    const { uuid, emailKey } = record;
    const removed = {
      ...record,
      status: 'offboarded' as const,
      removedAt: at,
      removedPriority: positions[index] as number,
    };
    records.set(record.id, removed);
    countRecord(waitlist, record, -1);
    countRecord(waitlist, removed, 1);
    counters.leave(record);
    days.count(daysOf(record), -1);
    days.count(daysOf(removed), 1);
    emit(state, 'offboarded_signup', uuid);
    if (waitlist.mailOnOffboarding && emailKey !== null)
      mails.push({ waiterUuid: uuid, kind: 'your_turn', emailKey, network: null, at });
  }
  const result = { uuids: leaving.map(({ uuid }) => uuid), active: waitlist.active };
  state.written.push({ write, action: 'waiters_offboarded', uuids: result.uuids, counts: { active: result.active } });
  return result;
}

/** The active records of a selection, each once. */
function select(state: State, selection: Selection): StoredWaiter[] {
  const { records, first } = state;
  const selected = 'ids' in selection ? selection.ids : 'uuids' in selection ? idsOf(state, selection.uuids) : first;
  const active = [...new Set(selected)]
    .flatMap((id) => records.get(id) ?? [])
    .filter(({ status }) => status === 'waiting');
  return 'next' in selection ? active.slice(0, selection.next) : active;
}
