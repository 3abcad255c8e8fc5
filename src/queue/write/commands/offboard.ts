import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import type { StoredWaiter } from '../../record/waiter.js';
import { BATCH_MAX, type Changed, type Command, type Needs } from '../command.js';
import { emit, idsOf, type State } from '../state.js';

/** For an offboarding of more records than a batch has: its events can have 32 MB of payloads, 20,000 deliveries. */
const OFFBOARDING_MAX_MS = 20_000;

/** The records with these ids or uuids, or the first ones of the queue. */
export type Selection =
  { readonly ids: readonly number[] } | { readonly uuids: readonly string[] } | { readonly next: number };

/** The records that an offboarding removed. */
export interface Offboarded extends Changed {
  /** Active records of the waitlist after the offboarding. */
  readonly active: number;
}

/**
 * Offboards the active records of a selection, all or none. Returns those that this call removed, in the order of the
 * selection.
 */
export function offboard(selection: Selection, write: AccountWrite): Command<Offboarded> {
  const { weight, ...needs } = needsOf(selection);
  return {
    kind: 'offboard',
    weight,
    needs: { ...needs, write },
    ...(weight > BATCH_MAX && { deadlineMs: OFFBOARDING_MAX_MS }),
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

function needsOf(selection: Selection): Needs & Pick<Command<unknown>, 'weight'> {
  if ('next' in selection) return { weight: selection.next, first: selection.next };
  if ('ids' in selection) return { weight: selection.ids.length, ids: selection.ids };
  return { weight: selection.uuids.length, uuids: selection.uuids };
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

/**
 * The stored position is the one before this command: that before the batch, minus the records ahead that the batch
 * removed earlier.
 */
function remove(state: State, leaving: readonly StoredWaiter[]): string[] {
  const { at, waitlist, records, positionsBefore, vacatedPositions, ledger, mails, removals } = state;
  const before = leaving.map(({ id }) => positionsBefore.get(id) as number);
  const positions = before.map((position) => position - vacatedPositions.filter((other) => other < position).length);
  vacatedPositions.push(...before);
  if (leaving.length > 0)
    removals.push({ at, priorities: new Map(leaving.map(({ id }, index) => [id, positions[index] as number])) });
  for (const [index, record] of leaving.entries()) {
    const { uuid, emailKey } = record;
    const removedPriority = positions[index] as number;
    const removed = { ...record, status: 'offboarded' as const, removedAt: at, removedPriority };
    records.set(record.id, removed);
    ledger.remove(record);
    ledger.add(removed);
    emit(state, 'offboarded_signup', uuid);
    if (waitlist.mailOnOffboarding && emailKey !== null)
      mails.push({ waiterUuid: uuid, kind: 'your_turn', emailKey, network: null, isBounded: false, at });
  }
  return leaving.map(({ uuid }) => uuid);
}
