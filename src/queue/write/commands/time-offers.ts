import type { Changed, Command } from '../command.js';
import { beginTime, expire, noteExpired, openOfferOf } from '../offers.js';
import { recordOf, type State } from '../state.js';

/** Begins the time of a record's open offer at `at`, when the mail server took its mail. */
export function beginOffer(uuid: string, at: Date): Command<Changed> {
  return {
    kind: 'answer',
    weight: 1,
    needs: { uuids: [uuid] },
    run(state) {
      const [record, offer] = [recordOf(state, uuid), openOfferOf(state, uuid)];
      if (!record || !offer) return { uuids: [] };
      beginTime(state, record, offer, at);
      return { uuids: [uuid] };
    },
  };
}

/**
 * Ends the open offers of records whose time is over, and begins the time of those that have waited for their mail long
 * enough. Returns the records whose offer expired.
 */
export function expireOffers(uuids: readonly string[]): Command<Changed> {
  return {
    kind: 'answer',
    weight: uuids.length,
    needs: { uuids },
    run(state) {
      const expired = uuids.filter((uuid) => expireOrBegin(state, uuid));
      noteExpired(state, expired);
      return { uuids: expired };
    },
  };
}

function expireOrBegin(state: State, uuid: string): boolean {
  const [record, offer] = [recordOf(state, uuid), openOfferOf(state, uuid)];
  if (!record || !offer) return false;
  if (expire(state, record)) return true;
  if (offer.dueAt !== null && offer.dueAt <= state.at) beginTime(state, record, offer, offer.dueAt);
  return false;
}
