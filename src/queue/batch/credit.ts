import { reasonsFor } from '../../fraud/fraud-rules.js';
import { countRecord } from '../counters.js';
import { daysOf } from '../day-counts.js';
import { rankKey } from '../rank-key.js';
import { sourceKey } from '../recent-referral.store.js';
import type { Credit, StoredWaiter, Trust } from '../waiter.js';
import { emit, moveTo, set, type State } from './state.js';

/** The columns of a record that its referral decides. */
export type Referral = Pick<StoredWaiter, 'referredByToken' | 'credit' | 'creditReasons'>;

export const UNREFERRED: Referral = { referredByToken: null, credit: 'none', creditReasons: [] };

/** Judges the referral of a newcomer, and counts it for the rates. The first token that is known names the referrer. */
export function judge(
  state: State,
  tokens: readonly string[],
  mailbox: string | null,
  { signals, network }: Trust,
): Referral {
  const { waitlist, referrers, recent, recentReferrals, mailboxes, at } = state;
  const token = tokens.find((candidate) => referrers.has(candidate));
  if (token === undefined) return UNREFERRED;
  const sources = [sourceKey(token, null), ...(network === null ? [] : [sourceKey(token, network)])];
  const [byReferrer = 0, byNetwork = 0] = sources.map((source) => recent.get(source) ?? 0);
  for (const source of sources) recent.set(source, (recent.get(source) ?? 0) + 1);
  recentReferrals.push({ token, network, at });
  const creditReasons = reasonsFor(
    {
      ...signals,
      isMailboxTaken: mailbox !== null && (mailboxes.get(mailbox)?.size ?? 0) > 0,
      referralsLastHour: byReferrer,
      networkReferralsLastHour: byNetwork,
    },
    waitlist.fraud,
  );
  const earned = waitlist.verification === 'off' ? 'credited' : 'awaiting_verification';
  return { referredByToken: token, credit: creditReasons.length > 0 ? 'withheld' : earned, creditReasons };
}

/** Gives the referrer of a record its credit. An erased referrer gets none. */
export function credit(state: State, { uuid, referredByToken }: StoredWaiter): void {
  const referrer = count(state, referredByToken, 1);
  // Nobody has heard of a pending one: its `new_signup` will show the count.
  if (referrer && referrer.status !== 'pending')
    emit(state, 'referral_credited', referrer.uuid, { referredUuid: uuid });
}

/** Changes the credit of a record, and with it the count of its referrer. */
export function changeCredit(state: State, record: StoredWaiter, to: Credit): void {
  if (record.credit === to) return;
  set(state, record.id, { credit: to });
  if (to === 'credited') credit(state, record);
  else if (record.credit === 'credited') count(state, record.referredByToken, -1);
}

function count(state: State, token: string | null, amount: 1 | -1): StoredWaiter | null {
  const { records, referrers, credited } = state;
  const referrer = records.get(referrers.get(token ?? '') ?? 0);
  if (!referrer) return null;
  moveTo(state, { ...referrer, creditedReferrals: referrer.creditedReferrals + amount });
  credited.add(referrer.id);
  return referrer;
}

/** Marks a record as verified: a pending one takes the last place of the queue, and a credit that waited for it counts. */
export function confirm(state: State, id: number): void {
  const record = state.records.get(id) as StoredWaiter;
  if (record.verified) return;
  if (record.status === 'pending') enter(state, record);
  set(state, id, { verified: true });
  emit(state, 'verified_signup', record.uuid);
  if (record.credit === 'awaiting_verification') changeCredit(state, record, 'credited');
}

function enter(state: State, pending: StoredWaiter): void {
  const { waitlist, counters, days, oldRankKeys, confirmed } = state;
  const placed = { ...pending, seq: waitlist.nextSeq, status: 'waiting' as const };
  const record = { ...placed, rankKey: rankKey(placed, waitlist.spotsPerReferral) };
  set(state, record.id, { seq: record.seq, status: record.status, rankKey: record.rankKey });
  oldRankKeys.set(record.id, record.rankKey);
  waitlist.nextSeq += 1;
  countRecord(waitlist, record, 1);
  counters.join(record);
  days.count(daysOf(record), 1);
  confirmed.push(record);
  emit(state, 'new_signup', record.uuid);
}
