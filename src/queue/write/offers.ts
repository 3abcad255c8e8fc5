/** What happens to offers and their people. A seat is kept until the offer ends. */
import { operatorWrite } from '../../platform/idempotency/account-write.js';
import { dayOf } from '../order/day-counts.js';
import type { OfferCode } from '../offers/offer-codes.js';
import { type Offer, type OfferState, stateAt } from '../offers/offer.js';
import type { StoredWaiter } from '../record/waiter.js';
import { offerRules } from '../settings/offer-rules.js';
import { changeStatus, emit, enterQueue, type State } from './state.js';

const HOUR_MS = 3_600_000;
/** The longest wait for the mail of an offer: then its time begins without. */
const MAIL_AWAITED_MS = 24 * HOUR_MS;
/** A corrected email lets the time run anew once in this time, or an offer could be kept open for ever. */
const RENEWAL_MS = 24 * HOUR_MS;
/** Somebody who lets this many offers expire is out. */
const EXPIRED_MAX = 3;
/** The part of its time that is left when an offer is recalled to mind. */
const REMINDER_SHARE = 1 / 3;

/** The columns of an offer that say when it ends. */
type OfferTime = Pick<Offer, 'expiresAt' | 'dueAt'>;

/** Whether a mail goes to the person. Then the time begins when it is handed over. */
export function isMailed({ sendsMails }: State, { emailKey }: Pick<StoredWaiter, 'emailKey'>): boolean {
  return sendsMails && emailKey !== null;
}

/** The time of an offer that is made now, or begins anew. */
export function firstTime(state: State, record: StoredWaiter, hours: number | null): OfferTime {
  if (hours === null) return { expiresAt: null, dueAt: null };
  if (isMailed(state, record)) return { expiresAt: null, dueAt: new Date(state.at.getTime() + MAIL_AWAITED_MS) };
  return runningTime(state.at, hours);
}

function runningTime(from: Date, hours: number): OfferTime {
  const end = new Date(from.getTime() + hours * HOUR_MS);
  return { expiresAt: end, dueAt: end };
}

/** Mails the link of an offer to its person. With the network that asked for it, which may be null, bounds count it. */
export function mailOffer({ mails, at }: State, { uuid, emailKey }: StoredWaiter, network?: string | null): void {
  if (emailKey === null) return;
  const isBounded = network !== undefined;
  mails.push({ waiterUuid: uuid, kind: 'offer', emailKey, network: network ?? null, isBounded, at });
}

/** The open offer of a record. */
export function openOfferOf({ offersById }: State, uuid: string): Offer | undefined {
  return [...offersById.values()].find((offer) => offer.waiterUuid === uuid && offer.state === 'open');
}

/** Begins the time of an offer that waited for its mail, but not later than it may, and plans the reminder. */
export function beginTime(state: State, record: StoredWaiter, offer: Offer, from: Date): void {
  const { hours, expiresAt, dueAt } = offer;
  if (offer.state !== 'open' || expiresAt !== null || dueAt === null || hours === null) return;
  const begun = { ...offer, ...runningTime(from < dueAt ? from : dueAt, hours) };
  setTime(state, record, begun);
  if (isMailed(state, record)) remind(state, record, begun);
}

/** Plans the reminder of an offer whose time runs, unless its moment is over. */
function remind({ mails, at: now }: State, { uuid, emailKey }: StoredWaiter, { hours, expiresAt }: Offer): void {
  if (emailKey === null || hours === null || expiresAt === null) return;
  const at = new Date(expiresAt.getTime() - hours * HOUR_MS * REMINDER_SHARE);
  if (at > now) mails.push({ waiterUuid: uuid, kind: 'offer_reminder', emailKey, network: null, isBounded: false, at });
}

/** Stores an offer with another time, and shows it in its record. */
export function setTime(state: State, record: StoredWaiter, offer: Offer): void {
  storeOffer(state, offer);
  changeStatus(state, new Map([[record, { ...record, offerExpiresAt: offer.expiresAt }]]));
}

function storeOffer({ offersById, changedOfferIds }: State, offer: Offer): void {
  offersById.set(offer.id, offer);
  changedOfferIds.add(offer.id);
}

/** Gives the open offer of a record another code: the old one is unknown from now on. */
export function replaceCode(state: State, offer: Offer, code: OfferCode): void {
  storeOffer(state, { ...offer, ...code });
}

/** After another email: another code, mailed there; the time runs anew, but not each time. */
export function renewOffer(state: State, record: StoredWaiter, code: OfferCode): void {
  const offer = openOfferOf(state, record.uuid);
  const { at } = state;
  if (!offer || stateAt(offer, at) !== 'open') return;
  const isRenewed = offer.renewedAt === null || at.getTime() - offer.renewedAt.getTime() >= RENEWAL_MS;
  const renewed = { ...offer, ...code, ...(isRenewed && { renewedAt: at, ...firstTime(state, record, offer.hours) }) };
  setTime(state, record, renewed);
  if (!isMailed(state, record)) return;
  mailOffer(state, record);
  // That to the old email is dropped.
  remind(state, record, renewed);
}

/**
 * Accepts, declines or lets expire an open offer; one whose time is over expires whatever was asked for. Returns the
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

/** Lets the open offer of a record expire if its time is over. Returns whether it did. */
export function expire(state: State, record: StoredWaiter): boolean {
  const offer = openOfferOf(state, record.uuid);
  if (!offer || stateAt(offer, state.at) !== 'expired') return false;
  endOffer(state, record, offer, 'expired');
  return true;
}

/** Notes for the audit log whose offers expired. */
export function noteExpired({ waitlist, written }: State, uuids: readonly string[]): void {
  if (uuids.length > 0) written.push({ write: operatorWrite(waitlist.accountId), action: 'offers_expired', uuids });
}

/** Whether the offer that has just expired lets its person wait again. */
function returnsToEnd({ waitlist, offersById }: State, uuid: string): boolean {
  const expired = [...offersById.values()].filter((offer) => offer.waiterUuid === uuid && offer.state === 'expired');
  return offerRules(waitlist).on_expiry === 'end' && expired.length < EXPIRED_MAX;
}

/** Mails a record that it is let in. */
export function mailTurn({ mails, waitlist, at }: State, { uuid, emailKey }: StoredWaiter): void {
  if (waitlist.mailOnOffboarding && emailKey !== null)
    mails.push({ waiterUuid: uuid, kind: 'your_turn', emailKey, network: null, isBounded: false, at });
}

/** Withdraws the open or accepted offers of a record that returns. */
export function withdrawOffers(state: State, uuid: string): void {
  for (const offer of state.offersById.values())
    if (offer.waiterUuid === uuid && (offer.state === 'open' || offer.state === 'accepted'))
      storeOffer(state, {
        ...offer,
        state: 'withdrawn',
        sealedCode: null,
        dueAt: null,
        endedAt: offer.endedAt ?? state.at,
      });
}
