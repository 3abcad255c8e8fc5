import type { VerificationLinkEntity } from '../../outbox/verification-link.entity.js';
import type { NewMail } from '../../outbox/mail.store.js';
import type { WelcomeMailEntity } from '../../outbox/welcome-mail.entity.js';
import type { EventName } from '../../outbox/webhook.entity.js';
import type { AuditAction } from '../../platform/audit/audit-record.js';
import type { AccountWrite } from '../../platform/idempotency/account-write.js';
import type { Offer } from '../offers/offer.js';
import { LedgerChanges } from '../order/ledger-changes.js';
import { rankKey } from '../order/rank-key.js';
import type { RecentReferral } from './recent-referral.store.js';
import type { StoredWaiter, Waiter } from '../record/waiter.js';
import type { Correction, MailboxHolder, StatusChange, StatusColumns, TakenContact } from '../record/waiter.store.js';
import type { Facts } from './facts.js';

/** The record that has an email or a phone, with the columns that decide whether a repeated signup gets a mail. */
export type Taken = Omit<TakenContact, 'phoneKey'>;

/** A command of an account that was carried out, for the audit log. */
export interface AccountChange {
  readonly write: AccountWrite;
  readonly action: AuditAction;
  readonly uuids: readonly string[];
  /** Counts of the response that cannot be read again later. */
  readonly counts?: { readonly active: number };
  /** Whether the response holds a new secret: see `WriteRecord`. */
  readonly isSecret?: boolean;
}

/** The `new_signup` of a new record. Its deliveries are made later (signup-deliveries.ts). */
export interface SignupEvent {
  readonly number: number;
  readonly uuid: string;
  readonly position: number;
}

/** Another event for webhooks. */
export interface QueueEvent {
  readonly number: number;
  readonly event: EventName;
  /** The record that the event shows, as it is after the changes. */
  readonly uuid: string;
  /** Of `referral_credited`: the record that was referred. */
  readonly referredUuid: string | null;
}

export type State = ReturnType<typeof stateOf>;

/** The state after all commands: the changes to store. */
export interface Decision extends Readonly<State> {
  /** Referrers that gained or lost credit, with their new counts and rank keys. */
  readonly changedReferrers: readonly StoredWaiter[];
  readonly changedOffers: readonly Offer[];
}

/** The facts and the decision so far; the commands change both, one after the other. */
export function stateOf(facts: Facts) {
  const { waitlist, named, first, done, taken, referrers, links, mailboxes, recent, mailed, subscribers } = facts;
  const { offers, sendsMails } = facts;
  const changed = { ...waitlist };
  // The facts can have an offer twice: as that of a code, and as one of its record.
  const offersById = new Map(offers.map((offer) => [offer.id, offer]));
  const known: readonly StoredWaiter[] = [...referrers, ...first, ...named];
  return {
    at: new Date(),
    waitlist: changed,
    /** The records by id, as the commands leave them; without those that are erased. */
    records: new Map(known.map((record) => [record.id, record])),
    /**
     * The rank key under which `ledger` counts each moved record, by id: its stored key, or the first key of a pending
     * record that entered the queue in this batch.
     */
    countedRankKeys: new Map<number, number>(),
    // Indexes of the facts, as the commands leave them.
    done,
    idsByUuid: new Map(named.map(({ uuid, id }) => [uuid, id])),
    first: first.map(({ id }) => id),
    /**
     * The positions of waiting records before the batch. A record that enters the queue in the batch has none, so no
     * command selects it.
     */
    positionsBefore: new Map(
      [...named, ...first].flatMap(({ id, status, priority }) => (status === 'waiting' ? [[id, priority]] : [])),
    ),
    /** The positions before the batch of the records that it offboards or offers a seat. */
    vacatedPositions: [] as number[],
    takenEmails: byKey('emailKey', taken),
    takenPhones: byKey('phoneKey', taken),
    referrerIds: new Map(referrers.map(({ referralToken, id }) => [referralToken, id])),
    linksByHash: new Map<string, VerificationLinkEntity>(links.map((link) => [link.tokenHash, link])),
    offersById,
    offerIdsByUuid: offerIdsOf(offersById.values()),
    sendsMails,
    mailboxHolders: holdersOf(mailboxes),
    referralCounts: new Map(recent),
    hasSubscribers: subscribers.length > 0,
    /** The uuids of records that joins of this batch must not mail (again). */
    mailed: new Set(mailed.records),
    fullNetworks: mailed.networks,
    // The decision so far.
    ledger: new LedgerChanges(changed),
    written: [] as AccountChange[],
    /** In this order, because a record can change twice. */
    statusChanges: [] as (StatusChange & { readonly records: Map<number, StatusColumns> })[],
    newOffers: [] as Offer[],
    changedOfferIds: new Set<string>(),
    erased: [] as StoredWaiter[],
    /** In this order, because one can take an email that an earlier one gave up. */
    corrections: [] as Correction[],
    joined: [] as Waiter[],
    /** Pending records that entered the queue. */
    entered: [] as StoredWaiter[],
    changedReferrerIds: new Set<number>(),
    recentReferrals: [] as RecentReferral[],
    /** The links that were clicked. The other links of their records end. */
    usedLinks: [] as VerificationLinkEntity[],
    /** The uuids of the records with another email: their links end. */
    changedEmails: [] as string[],
    mails: [] as NewMail[],
    welcomes: [] as WelcomeMailEntity[],
    signups: [] as SignupEvent[],
    /** In the order of their numbers. */
    events: [] as QueueEvent[],
  };
}

/** The ids of the offers of each record, by its uuid. */
function offerIdsOf(offers: Iterable<Offer>): Map<string, string[]> {
  const ids = new Map<string, string[]>();
  for (const { id, waiterUuid } of offers) ids.set(waiterUuid, [...(ids.get(waiterUuid) ?? []), id]);
  return ids;
}

function byKey(key: 'emailKey' | 'phoneKey', taken: readonly TakenContact[]): Map<string | null, Taken> {
  return new Map(taken.flatMap((record) => (record[key] === null ? [] : [[record[key], record]])));
}

/** The uuids of the records by their folded mailbox. */
function holdersOf(mailboxes: readonly MailboxHolder[]): Map<string, Set<string>> {
  const holders = new Map<string, Set<string>>();
  for (const { mailbox, uuid } of mailboxes) addHolder(holders, mailbox, uuid);
  return holders;
}

/** Adds a record to the holders of a mailbox. */
export function addHolder(holders: Map<string, Set<string>>, mailbox: string | null, uuid: string): void {
  if (mailbox !== null) holders.set(mailbox, (holders.get(mailbox) ?? new Set()).add(uuid));
}

/** The record with this uuid; undefined if the waitlist has none, or the batch has erased it. */
export function recordOf({ records, idsByUuid }: State, uuid: string): StoredWaiter | undefined {
  const id = idsByUuid.get(uuid);
  return id === undefined ? undefined : records.get(id);
}

/** The ids of the records with these uuids. */
export function idsOf({ idsByUuid }: State, uuids: readonly string[]): number[] {
  return uuids.flatMap((uuid) => idsByUuid.get(uuid) ?? []);
}

/** Sets columns of a record, now in `records` and later in the database. Joins its last correction. */
export function setColumns({ records, corrections }: State, id: number, columns: Correction['columns']): void {
  records.set(id, { ...(records.get(id) as StoredWaiter), ...columns });
  const last = corrections.at(-1);
  if (last?.id === id) corrections[corrections.length - 1] = { id, columns: { ...last.columns, ...columns } };
  else corrections.push({ id, columns });
}

/**
 * Computes the rank key of a changed record, keeps the record in `records`, and notes its first key of the batch for
 * {@link countMoves}. Returns the new key. The caller stores it, as a correction or as that of a changed referrer.
 */
export function rerank({ waitlist, records, countedRankKeys }: State, changed: StoredWaiter): number {
  const key = rankKey(changed, waitlist.spotsPerReferral);
  if (!countedRankKeys.has(changed.id)) countedRankKeys.set(changed.id, changed.rankKey);
  records.set(changed.id, { ...changed, rankKey: key });
  return key;
}

/**
 * Counts each moved record once, from its first rank key of the batch to its last. Call it after all commands:
 * offboardings still count a record by its stored key.
 */
export function countMoves({ records, countedRankKeys, ledger }: State): void {
  for (const [id, from] of countedRankKeys) {
    const record = records.get(id);
    if (record) ledger.move({ ...record, rankKey: from }, record.rankKey);
  }
}

/**
 * Gives records that are not pending another status, in `records`, in the counters and later in the database. All must
 * get the same status and reason.
 */
export function changeStatus(state: State, changes: ReadonlyMap<StoredWaiter, StatusColumns>): void {
  const [first] = changes.values();
  if (!first) return;
  const { records, countedRankKeys, ledger, statusChanges } = state;
  for (const [record, columns] of changes) {
    const changed = { ...record, ...columns };
    ledger.remove(record);
    ledger.add(changed);
    records.set(record.id, changed);
    // A record that returns is counted under this key; `countMoves` counts a later move of the batch from it.
    if (columns.status === 'waiting') countedRankKeys.set(record.id, record.rankKey);
  }
  const { status, removedReason } = first;
  const columnsById = Array.from(changes, ([{ id }, columns]) => [id, columns] as const);
  const last = statusChanges.at(-1);
  // Neighbors share a statement.
  if (last?.status === status && last.removedReason === removedReason)
    for (const [id, columns] of columnsById) last.records.set(id, columns);
  else statusChanges.push({ status, removedReason, records: new Map(columnsById) });
}

/** The columns of a record that is in the queue. */
export const IN_QUEUE: StatusColumns = {
  status: 'waiting',
  removedAt: null,
  removedPriority: null,
  removedReason: null,
  offerExpiresAt: null,
};

/** Puts a record at the end of the queue; spots that it has earned count. */
export function enterQueue(state: State, record: StoredWaiter): StoredWaiter {
  const { waitlist, countedRankKeys, ledger } = state;
  const placed = { ...record, ...IN_QUEUE, seq: waitlist.nextSeq, joinedPriority: waitlist.active };
  const entered = { ...placed, rankKey: rankKey(placed, waitlist.spotsPerReferral) };
  const { seq, joinedPriority, rankKey: key } = entered;
  setColumns(state, record.id, { ...IN_QUEUE, seq, joinedPriority, rankKey: key });
  // It is counted under this key; `countMoves` counts a later move of the batch from it.
  countedRankKeys.set(record.id, key);
  ledger.join(entered);
  return entered;
}

/** Adds an event with the next number, if the waitlist has an active webhook. */
export function emit(
  { waitlist, hasSubscribers, events }: State,
  event: EventName,
  uuid: string,
  referredUuid: string | null = null,
): void {
  if (!hasSubscribers) return;
  events.push({ number: waitlist.nextEvent, event, uuid, referredUuid });
  waitlist.nextEvent += 1;
}

/** Adds the `new_signup` of a new record, if the waitlist has an active webhook. */
export function emitSignup({ waitlist, hasSubscribers, signups }: State, { uuid, priority }: Waiter): void {
  if (!hasSubscribers) return;
  signups.push({ number: waitlist.nextEvent, uuid, position: priority });
  waitlist.nextEvent += 1;
}

/** Adds a mail that a stranger may have caused, for a record that has an email. */
export function mailUnverified(
  { mails, at }: State,
  kind: 'verification' | 'signup',
  { uuid, emailKey }: Pick<StoredWaiter, 'uuid' | 'emailKey'>,
  network: string | null,
): void {
  if (emailKey !== null) mails.push({ waiterUuid: uuid, kind, emailKey, network, isBounded: true, at });
}

/** Adds the welcome of a record that entered the queue, if it has an email. */
export function welcome(
  { welcomes, waitlist, at }: State,
  { uuid, emailKey }: Pick<StoredWaiter, 'uuid' | 'emailKey'>,
  network: string | null,
): void {
  if (emailKey !== null)
    welcomes.push({ waitlistId: waitlist.id, waiterUuid: uuid, networkHash: network, createdAt: at });
}
