import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import type { StoredWaiter } from '../../record/waiter.js';
import { BATCH_MAX, type Changed, type Command, type Needs } from '../command.js';
import { endOffer, expire, mailTurn, noteExpired, openOfferOf } from '../offers.js';
import { emit, idsOf, type State } from '../state.js';
import { vacate } from '../vacate.js';

/** For more records than a batch has: the events can have 32 MB of payloads, 20,000 deliveries. */
export const OFFBOARDING_MAX_MS = 20_000;

/** The records with these ids or uuids, or the first ones of the queue. */
export type Selection =
  { readonly ids: readonly number[] } | { readonly uuids: readonly string[] } | { readonly next: number };

/** The records that a command took out of the queue, or brought back to it. */
export interface Moved extends Changed {
  /** Active records of the waitlist after the command. */
  readonly active: number;
}

/**
 * Offboards the active records of a selection, and the offered ones that it names, all or none. Returns those that this
 * call removed, in the order of the selection.
 */
export function offboard(selection: Selection, write: AccountWrite): Command<Moved> {
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

/** Takes waiting records out of the queue, and accepts for offered ones. Leaves out those whose offer expired. */
function remove(state: State, leaving: readonly StoredWaiter[]): string[] {
  const { at } = state;
  const waiting = leaving.filter(({ status }) => status === 'waiting');
  vacate(state, waiting, () => ({
    status: 'offboarded',
    removedAt: at,
    removedReason: 'by_owner',
    offerExpiresAt: null,
  }));
  const expired = leaving.filter((record) => expire(state, record)).map(({ uuid }) => uuid);
  noteExpired(state, expired);
  for (const record of leaving) {
    const offer = openOfferOf(state, record.uuid);
    if (offer) endOffer(state, record, offer, 'accepted');
    if (record.status === 'offered') continue;
    emit(state, 'offboarded_signup', record.uuid);
    mailTurn(state, record);
  }
  return leaving.flatMap(({ uuid }) => (expired.includes(uuid) ? [] : [uuid]));
}
