import type { VerificationLinkEntity } from '../../outbox/verification-link.entity.js';
import type { NewMail } from '../../outbox/mail.store.js';
import type { EventName } from '../../outbox/webhook.entity.js';
import { CounterChanges } from '../counters.js';
import { DayChanges } from '../day-counts.js';
import { rankKey } from '../rank-key.js';
import type { RecentReferral } from '../recent-referral.store.js';
import type { StoredWaiter, Waiter } from '../waiter.js';
import type { Correction, MailboxHolder, Removal, TakenContact } from '../waiter.store.js';
import type { Facts, QueueEvent, Written } from './facts.js';

/** The record that has an email or a phone, as far as a repeated signup needs it. */
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
    ids: new Map(named.map(({ uuid, id }) => [uuid, id])),
    first: first.map(({ id }) => id),
    /** The positions before the batch. */
    priorities: new Map([...named, ...first].map(({ id, priority }) => [id, priority])),
    /** The positions before the batch of the records that it offboards. */
    removedPositions: [] as number[],
    /** The rank keys before the batch of the records that it moves, by id; of one that it puts in the queue, the first. */
    oldRankKeys: new Map<number, number>(),
    done,
    takenEmails: byKey('emailKey', taken),
    takenPhones: byKey('phoneKey', taken),
    referrers: new Map(referrers.map(({ referralToken, id }) => [referralToken, id])),
    links: new Map<string, VerificationLinkEntity>(links.map((link) => [link.tokenHash, link])),
    mailboxes: holdersOf(mailboxes),
    recent: new Map(recent),
    hasSubscribers,
    credited: new Set<number>(),
    counters: new CounterChanges(waitlist),
    days: new DayChanges(),
    written: [] as Written[],
    removals: [] as Removal[],
    erased: [] as StoredWaiter[],
    corrections: [] as Correction[],
    joined: [] as Waiter[],
    confirmed: [] as StoredWaiter[],
    recentReferrals: [] as RecentReferral[],
    usedLinks: [] as VerificationLinkEntity[],
    endedLinks: [] as string[],
    mails: [] as NewMail[],
    events: [] as QueueEvent[],
  };
}

function byKey(key: 'emailKey' | 'phoneKey', taken: readonly TakenContact[]): Map<string | null, Taken> {
  return new Map(taken.flatMap((record) => (record[key] === null ? [] : [[record[key], record]])));
}

/** The uuids of the records by their folded mailbox. */
function holdersOf(mailboxes: readonly MailboxHolder[]): Map<string, Set<string>> {
  const holders = new Map<string, Set<string>>();
  for (const { mailbox, uuid } of mailboxes) hold(holders, mailbox, uuid);
  return holders;
}

/** Notes that a record has a mailbox. */
export function hold(holders: Map<string, Set<string>>, mailbox: string | null, uuid: string): void {
  if (mailbox !== null) holders.set(mailbox, (holders.get(mailbox) ?? new Set()).add(uuid));
}

/** The records with these uuids. */
export function idsOf(ids: ReadonlyMap<string, number>, uuids: readonly string[]): number[] {
  return uuids.flatMap((uuid) => ids.get(uuid) ?? []);
}

/** Sets columns of a record. */
export function set({ records, corrections }: State, id: number, columns: Correction['columns']): void {
  records.set(id, { ...(records.get(id) as StoredWaiter), ...columns });
  const last = corrections.at(-1);
  if (last?.id === id) corrections[corrections.length - 1] = { id, columns: { ...last.columns, ...columns } };
  else corrections.push({ id, columns });
}

/** Stores a record whose position may have changed in the facts, and returns its new rank key. */
export function moveTo({ waitlist, records, oldRankKeys }: State, changed: StoredWaiter): number {
  const key = rankKey(changed, waitlist.spotsPerReferral);
  if (!oldRankKeys.has(changed.id)) oldRankKeys.set(changed.id, changed.rankKey);
  records.set(changed.id, { ...changed, rankKey: key });
  return key;
}

/** Call it last: offboardings and erasures count a record by the rank key that is stored. */
export function countMoves({ records, oldRankKeys, counters }: State): void {
  for (const [id, from] of oldRankKeys) {
    const record = records.get(id);
    if (record?.status === 'waiting') counters.move(from, record.rankKey, record.referred);
  }
}

/** Tells the webhooks of an event. */
export function emit(
  { waitlist, hasSubscribers, events }: State,
  event: EventName,
  uuid: string,
  { newcomer = null, referredUuid = null }: Partial<Pick<QueueEvent, 'newcomer' | 'referredUuid'>> = {},
): void {
  if (!hasSubscribers) return;
  events.push({ number: waitlist.nextEvent, event, uuid, newcomer, referredUuid });
  waitlist.nextEvent += 1;
}

/** Sends a person the mail that verifies their email. */
export function mailLink(
  { mails, at }: State,
  { uuid, emailKey }: Pick<StoredWaiter, 'uuid' | 'emailKey'>,
  network: string | null,
): void {
  if (emailKey !== null) mails.push({ waiterUuid: uuid, kind: 'verification', emailKey, network, at });
}
