import { v7 as uuidV7 } from 'uuid';
import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import type { OfferCode } from '../../offers/offer-codes.js';
import type { Offer } from '../../offers/offer.js';
import { dayOf } from '../../order/day-counts.js';
import type { StoredWaiter } from '../../record/waiter.js';
import { offerRules } from '../../settings/offer-rules.js';
import { freeSeats } from '../../settings/release-plan.js';
import { BATCH_MAX, type Command } from '../command.js';
import { addOffer, firstTime, isMailed, mailOffer } from '../offers.js';
import { MANY_RECORDS_MAX_MS, type Moved, needsOf, select, type Selection } from '../selection.js';
import { emit, type State } from '../state.js';
import { vacate } from '../vacate.js';

/** Offers by hand, or by a run of the release plan. */
export interface OfferRequest {
  readonly selection: Exclude<Selection, { readonly ids: readonly number[] }>;
  /** How long the offers stay open. Null: they never expire. Undefined: the waitlist's `offers.hours`. */
  readonly hours?: number | null | undefined;
  /** One for each record that may be selected. */
  readonly codes: readonly OfferCode[];
  /** The run of the release plan that makes the offers: they stay within its seats. */
  readonly run?: { readonly id: string };
}

/**
 * Keeps a seat for each of the waiting records of a selection, and takes them out of the queue. Returns those that this
 * call offered a seat, in the order of the selection.
 */
export function makeOffers(request: OfferRequest, write: AccountWrite): Command<Moved> {
  const { weight, ...needs } = needsOf(request.selection);
  return {
    kind: 'offer',
    weight,
    needs: { ...needs, write },
    ...(weight > BATCH_MAX && { deadlineMs: MANY_RECORDS_MAX_MS }),
    run(state) {
      const { waitlist, done, written } = state;
      const doneBefore = done.get(write.id);
      if (doneBefore) return { uuids: doneBefore, active: waitlist.active };
      const uuids = offer(state, request);
      const result = { uuids, active: waitlist.active };
      // A plan runs every hour, also with no free seat.
      if (uuids.length > 0 || !request.run)
        written.push({ write, action: 'offers_made', uuids, counts: { active: result.active }, isSecret: true });
      return result;
    },
  };
}

function offer(state: State, { selection, hours: given, codes, run }: OfferRequest): string[] {
  const { at, waitlist, ledger } = state;
  const hours = given === undefined ? offerRules(waitlist).hours : given;
  const free = run ? freeSeats(waitlist) : Infinity;
  const selected = select(state, selection)
    .filter(({ status }) => status === 'waiting')
    .slice(0, free);
  const times = new Map(selected.map((record) => [record.id, firstTime(state, record, hours)]));
  vacate(state, selected, ({ id }) => ({
    status: 'offered',
    removedAt: null,
    removedReason: null,
    offerExpiresAt: times.get(id)?.expiresAt ?? null,
  }));
  for (const [index, { id, uuid }] of selected.entries()) {
    const record = state.records.get(id) as StoredWaiter;
    addOffer(state, {
      id: uuidV7(),
      waitlistId: waitlist.id,
      waiterUuid: uuid,
      state: 'open',
      ...(codes[index] as OfferCode),
      priority: record.removedPriority as number,
      hours,
      madeAt: at,
      renewedAt: null,
      ...(times.get(id) as Pick<Offer, 'expiresAt' | 'dueAt'>),
      acceptedAt: null,
      endedAt: null,
      runId: run?.id ?? null,
    });
    emit(state, 'offered_signup', uuid);
    if (isMailed(state, record)) mailOffer(state, record);
  }
  if (selected.length > 0) ledger.days.countOffer('offered', dayOf(at), selected.length);
  return selected.map(({ uuid }) => uuid);
}
