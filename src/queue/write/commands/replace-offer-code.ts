import { type AccountWrite, visitorWrite } from '../../../platform/idempotency/account-write.js';
import { Problem } from '../../../platform/problems/problem.js';
import type { OfferCode } from '../../offers/offer-codes.js';
import { stateAt } from '../../offers/offer.js';
import type { Changed, Command } from '../command.js';
import { mailOffer, openOfferOf, replaceCode } from '../offers.js';
import { recordOf } from '../state.js';

/** A request from a private page. Anybody may have that page, so the mail counts in the bounds. */
interface PageRequest {
  readonly requestId: string;
  /** A keyed hash of the network; null if no bound counts it. */
  readonly network: string | null;
}

/**
 * Gives a record's open offer another code, which waiting mails carry too. A request from the private page mails it,
 * one of the owner does not.
 * @throws Problem `NO_WAITER_FOUND`, `OFFER_ENDED` if no offer is open
 */
export function replaceOfferCode(uuid: string, code: OfferCode, origin: AccountWrite | PageRequest): Command<Changed> {
  return {
    kind: 'answer',
    weight: 1,
    needs: { uuids: [uuid], ...('id' in origin && { write: origin }) },
    run(state) {
      const done = 'id' in origin && state.done.get(origin.id);
      if (done) return { uuids: done };
      const record = recordOf(state, uuid);
      if (!record) throw new Problem('NO_WAITER_FOUND');
      const offer = openOfferOf(state, uuid);
      if (!offer || stateAt(offer, state.at) !== 'open') throw new Problem('OFFER_ENDED');
      replaceCode(state, offer, code);
      if (!('id' in origin)) mailOffer(state, record, origin.network);
      const write = 'id' in origin ? origin : visitorWrite(state.waitlist.accountId, origin.requestId);
      state.written.push({ write, action: 'offer_link_made', uuids: [uuid], isSecret: true });
      return { uuids: [uuid] };
    },
  };
}
