import type { VerificationLinkEntity } from '../../outbox/verification-link.entity.js';
import type { NewMail } from '../../outbox/mail.store.js';
import type { EventName } from '../../outbox/webhook.entity.js';
import { CounterChanges, countRecord } from '../counters.js';
import { DayChanges, daysOf } from '../day-counts.js';
import { rankKey } from '../rank-key.js';
import type { RecentReferral } from '../recent-referral.store.js';
import type { StoredWaiter, Waiter } from '../waiter.js';
import type { Correction, MailboxHolder, Removal, TakenContact } from '../waiter.store.js';
import type { Facts, OwnerChange, QueueEvent, SignupEvent } from './facts.js';

/** The record that has an email or a phone, with the columns that decide whether a repeated signup gets a mail. */
export type Taken = Omit<TakenContact, 'phoneKey'>;

export type State = ReturnType<typeof stateOf>;

/** The facts and the decision so far; the commands change both, one after the other. */
export function stateOf(facts: Facts) {
  const { waitlist, named, first, done, taken, referrers, links, mailboxes, recent, hasSubscribers } = facts;
  const known: readonly StoredWaiter[] = [...referrers, ...first, ...named];
  return {
    at: new Date(),
    waitlist: { ...waitlist },
    /** The records by id, as the commands leave them; without those that are erased. */
    records: new Map(known.map((record) => [record.id, record])),
    /** The rank keys under which `counters` know the moved records, by id: stored ones, or of a click, the first one. */
    countedRankKeys: new Map<number, number>(),
    // Indexes of the facts, as the commands leave them.
    done,
    idsByUuid: new Map(named.map(({ uuid, id }) => [uuid, id])),
    first: first.map(({ id }) => id),
    positionsBefore: new Map([...named, ...first].map(({ id, priority }) => [id, priority])),
    /** The positions before the batch of the records that it offboards. */
    vacatedPositions: [] as number[],
    takenEmails: byKey('emailKey', taken),
    takenPhones: byKey('phoneKey', taken),
    referrerIds: new Map(referrers.map(({ referralToken, id }) => [referralToken, id])),
    linksByHash: new Map<string, VerificationLinkEntity>(links.map((link) => [link.tokenHash, link])),
    mailboxHolders: holdersOf(mailboxes),
    referralCounts: new Map(recent),
    hasSubscribers,
    /** The uuids of the records that joins have mailed. */
    mailed: new Set<string>(),
    // The decision so far.
    counters: new CounterChanges(waitlist),
    days: new DayChanges(),
    written: [] as OwnerChange[],
    removals: [] as Removal[],
    erased: [] as StoredWaiter[],
    corrections: [] as Correction[],
    joined: [] as Waiter[],
    entered: [] as StoredWaiter[],
    changedReferrerIds: new Set<number>(),
    recentReferrals: [] as RecentReferral[],
    usedLinks: [] as VerificationLinkEntity[],
    changedEmails: [] as string[],
    mails: [] as NewMail[],
    signups: [] as SignupEvent[],
    events: [] as QueueEvent[],
  };
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

/** Sets columns of a record, now in `records` and later in the database. Joins the last correction of the same record. */
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
 * Counts each record with another rank key once, from its first key of the batch to its last. Call it after all commands:
 * offboardings and erasures still count a record by its stored key.
 */
export function countMoves({ records, countedRankKeys, counters }: State): void {
  for (const [id, from] of countedRankKeys) {
    const record = records.get(id);
    if (record?.status === 'waiting') counters.move(from, record.rankKey, record.referred);
  }
}

/** Counts a record that takes the last place of the queue. */
export function countEntry({ waitlist, counters, days }: State, record: StoredWaiter): void {
  waitlist.nextSeq += 1;
  countRecord(waitlist, record, 1);
  counters.join(record);
  days.count(daysOf(record), 1);
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

/** The same for the `new_signup` of a new record. */
export function emitSignup({ waitlist, hasSubscribers, signups }: State, { uuid, priority }: Waiter): void {
  if (!hasSubscribers) return;
  signups.push({ number: waitlist.nextEvent, uuid, position: priority });
  waitlist.nextEvent += 1;
}

/** Adds a verification mail for a record that has an email. */
export function mailLink(
  { mails, at }: State,
  { uuid, emailKey }: Pick<StoredWaiter, 'uuid' | 'emailKey'>,
  network: string | null,
): void {
  if (emailKey !== null) mails.push({ waiterUuid: uuid, kind: 'verification', emailKey, network, at });
}
