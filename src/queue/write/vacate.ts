import { dayOf } from '../order/day-counts.js';
import type { StoredWaiter } from '../record/waiter.js';
import type { StatusColumns } from '../record/waiter.store.js';
import { changeStatus, type State } from './state.js';

/**
 * Takes active records out of the queue, and stores the number ahead of each as `removedPriority`: the position before
 * the batch, minus the records ahead that left earlier in it.
 */
export function vacate(
  state: State,
  leaving: readonly StoredWaiter[],
  columnsOf: (record: StoredWaiter) => Omit<StatusColumns, 'removedPriority'>,
): void {
  const { at, ledger, positionsBefore, vacatedPositions } = state;
  const before = leaving.map(({ id }) => positionsBefore.get(id) as number);
  const positions = before.map((position) => position - vacatedPositions.filter((other) => other < position).length);
  vacatedPositions.push(...before);
  ledger.days.countDeparture(dayOf(at), leaving.length);
  changeStatus(
    state,
    new Map(
      leaving.map((record, index) => [record, { ...columnsOf(record), removedPriority: positions[index] as number }]),
    ),
  );
}
