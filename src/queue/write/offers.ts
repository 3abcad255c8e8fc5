/** The changes of offers and their records, which the commands share. A seat is kept until its offer ends. */
import { operatorWrite } from '../../platform/idempotency/account-write.js';
import { dayOf } from '../order/day-counts.js';
import type { OfferCode } from '../offers/offer-codes.js';
import { endOf, type Offer, type OfferState, reminderAt, stateAt } from '../offers/offer.js';
import type { StoredWaiter } from '../record/waiter.js';
import { offerRules } from '../settings/offer-rules.js';
import { changeStatus, emit, enterQueue, type State } from './state.js';

const HOUR_MS = 3_600_000;
/** The longest wait for the mail of an offer. After it, the time begins without the mail. */
const MAIL_AWAITED_MS = 24 * HOUR_MS;
/** A corrected email restarts the time at most once in this interval, so corrections cannot keep an offer open. */
const RENEWAL_MS = 24 * HOUR_MS;
/** A person who lets this many offers expire is offboarded, whatever `on_expiry` says. */
const EXPIRED_MAX = 3;

/** The columns of an offer that say when it ends. */
type OfferTime = Pick<Offer, 'expiresAt' | 'dueAt'>;

/** Whether the offer is mailed. If so, its time begins when the mail server has taken the mail. */
export function isMailed({ sendsMails }: State, { emailKey }: Pick<StoredWaiter, 'emailKey'>): boolean {
  return sendsMails && emailKey !== null;
}

/** The time of an offer that is made now, or whose time restarts. */
export function firstTime(state: State, record: StoredWaiter, hours: number | null): OfferTime {
  if (hours === null) return { expiresAt: null, dueAt: null };
  if (isMailed(state, record)) return { expiresAt: null, dueAt: new Date(state.at.getTime() + MAIL_AWAITED_MS) };
  return runningTime(state.at, hours);
}

function runningTime(from: Date, hours: number): OfferTime {
  const end = endOf({ hours }, from);
  return { expiresAt: end, dueAt: end };
}

/**
 * Mails the link of an offer to its person. `network` is that of the visitor who asked for the mail; the mail then
 * counts in the bounds, also if it is null. Undefined if no visitor asked.
 */
export function mailOffer({ mails, at }: State, { uuid, emailKey }: StoredWaiter, network?: string | null): void {
  if (emailKey === null) return;
  const isBounded = network !== undefined;
  mails.push({ waiterUuid: uuid, kind: 'offer', emailKey, network: network ?? null, isBounded, at });
}

/** Adds an offer that is made now. */
export function addOffer({ newOffers, offersById, offerIdsByUuid }: State, offer: Offer): void {
  newOffers.push(offer);
  offersById.set(offer.id, offer);
  offerIdsByUuid.set(offer.waiterUuid, [...(offerIdsByUuid.get(offer.waiterUuid) ?? []), offer.id]);
}

/** The offers of a record. */
function offersOf({ offersById, offerIdsByUuid }: State, uuid: string): Offer[] {
  return (offerIdsByUuid.get(uuid) ?? []).map((id) => offersById.get(id) as Offer);
}

/** The open offer of a record. */
export function openOfferOf(state: State, uuid: string): Offer | undefined {
  return offersOf(state, uuid).find((offer) => offer.state === 'open');
}

/** Begins the time of an offer that waited for its mail, at `dueAt` at the latest, and plans the reminder. */
export function beginTime(state: State, record: StoredWaiter, offer: Offer, from: Date): void {
  const { hours, expiresAt, dueAt } = offer;
  if (offer.state !== 'open' || expiresAt !== null || dueAt === null || hours === null) return;
  const begun = { ...offer, ...runningTime(from < dueAt ? from : dueAt, hours) };
  setTime(state, record, begun);
  if (isMailed(state, record)) remind(state, record, begun);
}

/** Plans the reminder of an offer whose time runs, unless its moment is over. */
function remind({ mails, at: now }: State, { uuid, emailKey }: StoredWaiter, offer: Offer): void {
  const at = reminderAt(offer);
  if (emailKey === null || at === null) return;
  if (at > now) mails.push({ waiterUuid: uuid, kind: 'offer_reminder', emailKey, network: null, isBounded: false, at });
}

/** Stores an offer with another time, and copies `expiresAt` to its record. */
export function setTime(state: State, record: StoredWaiter, offer: Offer): void {
  storeOffer(state, offer);
  changeStatus(state, new Map([[record, { ...record, offerExpiresAt: offer.expiresAt }]]));
}

function storeOffer({ offersById, changedOfferIds }: State, offer: Offer): void {
  offersById.set(offer.id, offer);
  changedOfferIds.add(offer.id);
}

/** Gives an open offer another code. The old one is unknown from now on. */
export function replaceCode(state: State, offer: Offer, code: OfferCode): void {
  storeOffer(state, { ...offer, ...code });
}

/**
 * Gives the open offer of a record whose email was corrected another code, and mails it to the new email. Restarts the
 * time, at most once in {@link RENEWAL_MS}.
 */
export function renewOffer(state: State, record: StoredWaiter, code: OfferCode): void {
  const offer = openOfferOf(state, record.uuid);
  const { at } = state;
  if (!offer || stateAt(offer, at) !== 'open') return;
  const isRenewed = offer.renewedAt === null || at.getTime() - offer.renewedAt.getTime() >= RENEWAL_MS;
  const renewed = { ...offer, ...code, ...(isRenewed && { renewedAt: at, ...firstTime(state, record, offer.hours) }) };
  setTime(state, record, renewed);
  if (!isMailed(state, record)) return;
  mailOffer(state, record);
  // The reminder to the old email is dropped.
  remind(state, record, renewed);
}

/**
 * Ends an open offer as `wanted`, or as expired if its time is over. One that has ended stays as it is. Returns the
 * state that the offer has then.
 */
export function endOffer(
  state: State,
  record: StoredWaiter,
  offer: Offer,
  wanted: 'accepted' | 'declined' | 'expired',
): OfferState {
  if (offer.state !== 'open') return offer.state;
  const end = stateAt(offer, state.at) === 'expired' ? 'expired' : wanted;
  const at = end === 'expired' ? (offer.expiresAt ?? state.at) : state.at;
  const acceptedAt = end === 'accepted' ? at : null;
  storeOffer(state, { ...offer, state: end, sealedCode: null, dueAt: null, endedAt: at, acceptedAt });
  state.ledger.days.countOffer(end, dayOf(at));
  if (end === 'expired' && returnsToEnd(state, record.uuid)) {
    state.ledger.remove(record);
    enterQueue(state, record);
  } else {
    const { removedPriority } = record;
    const left = {
      status: 'offboarded',
      removedAt: at,
      removedPriority,
      removedReason: end,
      offerExpiresAt: null,
    } as const;
    changeStatus(state, new Map([[record, left]]));
  }
  emit(state, EVENTS[end], record.uuid);
  if (end === 'accepted') mailTurn(state, record);
  return end;
}

const EVENTS = { accepted: 'offboarded_signup', declined: 'declined_offer', expired: 'expired_offer' } as const;

/** Ends the open offer of a record if its time is over. Returns whether it did. */
export function expire(state: State, record: StoredWaiter): boolean {
  const offer = openOfferOf(state, record.uuid);
  if (!offer || stateAt(offer, state.at) !== 'expired') return false;
  endOffer(state, record, offer, 'expired');
  return true;
}

/** Notes expired offers for the audit log, by the uuids of their records. */
export function noteExpired({ waitlist, written }: State, uuids: readonly string[]): void {
  if (uuids.length > 0) written.push({ write: operatorWrite(waitlist.accountId), action: 'offers_expired', uuids });
}

/** Whether the record goes to the end of the queue after its offer has expired, as the state shows already. */
function returnsToEnd(state: State, uuid: string): boolean {
  const expired = offersOf(state, uuid).filter((offer) => offer.state === 'expired');
  return offerRules(state.waitlist).on_expiry === 'end' && expired.length < EXPIRED_MAX;
}

/** Mails the person of a record that it is their turn, if the waitlist has that on. */
export function mailTurn({ mails, waitlist, at }: State, { uuid, emailKey }: StoredWaiter): void {
  if (waitlist.mailOnOffboarding && emailKey !== null)
    mails.push({ waiterUuid: uuid, kind: 'your_turn', emailKey, network: null, isBounded: false, at });
}

/** Withdraws the open or accepted offers of a record that returns. */
export function withdrawOffers(state: State, uuid: string): void {
  for (const offer of offersOf(state, uuid))
    if (offer.state === 'open' || offer.state === 'accepted')
      storeOffer(state, {
        ...offer,
        state: 'withdrawn',
        sealedCode: null,
        dueAt: null,
        endedAt: offer.endedAt ?? state.at,
      });
}
