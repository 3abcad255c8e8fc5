import { reasonsFor } from '../../fraud/fraud-rules.js';
import { sourceKey } from './recent-referral.store.js';
import { needsClick } from '../record/needs-click.js';
import type { Credit, StoredWaiter, Trust } from '../record/waiter.js';
import { emit, enterQueue, rerank, setColumns, type State, welcome } from './state.js';

/** The columns of a record that its referral decides. */
export type Referral = Pick<StoredWaiter, 'referredByToken' | 'credit' | 'creditReasons'>;

export const UNREFERRED: Referral = { referredByToken: null, credit: 'none', creditReasons: [] };

/**
 * The referral of a newcomer: the first known token names the referrer, and the fraud rules give its credit. Also
 * counts it, so that later ones of the batch see it.
 */
export function judgeReferral(
  state: State,
  tokens: readonly string[],
  mailbox: string | null,
  { signals, network }: Trust,
): Referral {
  const { waitlist, referrerIds, referralCounts, recentReferrals, mailboxHolders, at } = state;
  const token = tokens.find((candidate) => referrerIds.has(candidate));
  if (token === undefined) return UNREFERRED;
  const sources = [sourceKey(token, null), ...(network === null ? [] : [sourceKey(token, network)])];
  const [byReferrer = 0, byNetwork = 0] = sources.map((source) => referralCounts.get(source) ?? 0);
  for (const source of sources) referralCounts.set(source, (referralCounts.get(source) ?? 0) + 1);
  recentReferrals.push({ token, network, at });
  const creditReasons = reasonsFor(
    {
      ...signals,
      isMailboxTaken: mailbox !== null && (mailboxHolders.get(mailbox)?.size ?? 0) > 0,
      referralsLastHour: byReferrer,
      networkReferralsLastHour: byNetwork,
    },
    waitlist.fraud,
  );
  const unlessWithheld = waitlist.verification === 'off' ? 'credited' : 'awaiting_verification';
  return { referredByToken: token, credit: creditReasons.length > 0 ? 'withheld' : unlessWithheld, creditReasons };
}

/** Gives the referrer of a record its credit. An erased referrer gets none. */
export function giveCredit(state: State, { uuid, referredByToken }: StoredWaiter): void {
  const referrer = addToReferrer(state, referredByToken, 1);
  // Webhooks do not know a pending referrer yet: its `new_signup` will show the count.
  if (referrer && referrer.status !== 'pending') emit(state, 'referral_credited', referrer.uuid, uuid);
}

/** Changes the credit of a record, and with it the count of its referrer. */
export function changeCredit(state: State, record: StoredWaiter, to: Credit): void {
  if (record.credit === to) return;
  setColumns(state, record.id, { credit: to });
  if (to === 'credited') giveCredit(state, record);
  else if (record.credit === 'credited') addToReferrer(state, record.referredByToken, -1);
}

/** Takes the credit of a record back from its referrer, and returns the record without it. */
export function takeBackCredit(state: State, record: StoredWaiter): StoredWaiter {
  if (record.credit !== 'credited') return record;
  addToReferrer(state, record.referredByToken, -1);
  return { ...record, credit: 'refused' };
}

/** Approves or refuses a credit. If the record must still be verified, an approved credit waits for that. */
export function decideCredit(state: State, id: number, decided: 'credited' | 'refused'): void {
  const record = state.records.get(id) as StoredWaiter;
  const mustWait = decided === 'credited' && needsClick(state.waitlist, { ...record, credit: decided });
  // A credit that counts already stays, even if a corrected email is not verified yet.
  if (mustWait && record.credit === 'credited') return;
  changeCredit(state, record, mustWait ? 'awaiting_verification' : decided);
}

/** Changes how many credited referrals the referrer has. Null without a referrer, or if it was erased. */
function addToReferrer(state: State, token: string | null, amount: 1 | -1): StoredWaiter | null {
  const { records, referrerIds, changedReferrerIds } = state;
  const referrer = records.get(referrerIds.get(token ?? '') ?? 0);
  if (!referrer) return null;
  rerank(state, { ...referrer, creditedReferrals: referrer.creditedReferrals + amount });
  changedReferrerIds.add(referrer.id);
  return referrer;
}

/** Marks a record as verified. A pending one enters the queue, and a credit that waited for this is given. */
export function markVerified(state: State, id: number): void {
  const record = state.records.get(id) as StoredWaiter;
  if (record.verified) return;
  if (record.status === 'pending') enter(state, record);
  setColumns(state, id, { verified: true });
  emit(state, 'verified_signup', record.uuid);
  if (record.credit === 'awaiting_verification') changeCredit(state, record, 'credited');
}

/** Puts a pending record at the end of the queue. It counts on the day of its signup. */
function enter(state: State, pending: StoredWaiter): void {
  emit(state, 'new_signup', pending.uuid);
  state.entered.push(enterQueue(state, pending));
  if (state.waitlist.mailOnSignup) welcome(state, pending, null);
}
