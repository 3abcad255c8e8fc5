import type { StoredWaiter } from '../record/waiter.js';
import type { Changed, Command, Needs } from './command.js';
import { idsOf, type State } from './state.js';

/** For more records than a batch has: the events can have 32 MB of payloads, 20,000 deliveries. */
export const MANY_RECORDS_MAX_MS = 20_000;

/** The records with these ids or uuids, or the first ones of the queue. */
export type Selection =
  { readonly ids: readonly number[] } | { readonly uuids: readonly string[] } | { readonly next: number };

/** The records that a command took out of the queue, or brought back to it. */
export interface Moved extends Changed {
  /** Active records of the waitlist after the command. */
  readonly active: number;
}

/** What a command needs that works on a selection, and how much that weighs. */
export function needsOf(selection: Selection): Needs & Pick<Command<unknown>, 'weight'> {
  if ('next' in selection) return { weight: selection.next, first: selection.next };
  if ('ids' in selection) return { weight: selection.ids.length, ids: selection.ids };
  return { weight: selection.uuids.length, uuids: selection.uuids };
}

/**
 * The active records of a selection, and the offered ones that it names, each once. Without records that an expired
 * offer put back into the queue in this batch: they have no position from before the batch.
 */
export function select(state: State, selection: Selection): StoredWaiter[] {
  const { records, first, positionsBefore } = state;
  const selected = 'ids' in selection ? selection.ids : 'uuids' in selection ? idsOf(state, selection.uuids) : first;
  const found = [...new Set(selected)]
    .flatMap((id) => records.get(id) ?? [])
    .filter(({ id, status }) => status === 'offered' || (status === 'waiting' && positionsBefore.has(id)));
  if (!('next' in selection)) return found;
  return found.filter(({ status }) => status === 'waiting').slice(0, selection.next);
}
