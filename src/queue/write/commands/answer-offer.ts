import { type AccountWrite, visitorWrite } from '../../../platform/idempotency/account-write.js';
import { Problem } from '../../../platform/problems/problem.js';
import type { OfferState } from '../../offers/offer.js';
import type { Command } from '../command.js';
import { endOffer, noteExpired } from '../offers.js';
import { recordOf } from '../state.js';

/** The record of a code, and the state that its offer has after the answer. */
export interface Answered {
  readonly uuid: string;
  readonly state: OfferState;
}

/**
 * Accepts or declines the offer of a code, for its person or, with `write`, for the owner. An offer that has ended
 * stays as it is, so a repeated answer changes nothing.
 * @throws Problem `OFFER_NOT_FOUND`, also if the person was erased
 */
export function answerOffer(
  codeHash: string,
  answer: 'accepted' | 'declined',
  origin: AccountWrite | { readonly requestId: string },
): Command<Answered> {
  return {
    kind: 'answer',
    weight: 1,
    needs: { offerCode: codeHash },
    run(state) {
      const offer = [...state.offersById.values()].find((known) => known.codeHash === codeHash);
      const record = offer && recordOf(state, offer.waiterUuid);
      if (!record) throw new Problem('OFFER_NOT_FOUND');
      const wasOpen = offer.state === 'open';
      const reached = endOffer(state, record, offer, answer);
      const write = 'id' in origin ? origin : visitorWrite(state.waitlist.accountId, origin.requestId);
      if (wasOpen && reached === answer)
        state.written.push({ write, action: `offer_${answer}` as const, uuids: [record.uuid] });
      // Nobody asked for that. Stored as the owner's write, it would make a refused call a success to be repeated.
      else if (wasOpen) noteExpired(state, [record.uuid]);
      return { uuid: record.uuid, state: reached };
    },
  };
}
