import { v7 as uuidV7 } from 'uuid';
import { admit } from '../admission/admit.js';
import { countRecord } from '../counters.js';
import { daysOf } from '../day-counts.js';
import { needsClick } from '../needs-click.js';
import { rankKey } from '../rank-key.js';
import { newReferralToken } from '../referral-link.js';
import type { Found, Newcomer, Status, Waiter } from '../waiter.js';
import type { LeanWaitlist } from '../waitlist.table.js';
import { credit, judge, type Referral } from './credit.js';
import type { Duplicate, Join } from './facts.js';
import { emit, hold, mailLink, type State } from './state.js';

/** @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `WAITLIST_CLOSED` */
export function join(state: State, { applicant }: Join): Found | Duplicate {
  const { waitlist, takenEmails, takenPhones, mailboxes, counters, days } = state;
  const { keys, newcomer, refusal } = admit(applicant, waitlist);
  const { emailKey, phoneKey } = keys;
  const { network } = applicant.trust;
  const known = takenEmails.get(emailKey) ?? takenPhones.get(phoneKey);
  if (known) {
    if (needsClick(waitlist, known)) mailLink(state, known, network);
    return { keys, isNew: false, revealsRecord: refusal !== null };
  }
  if (refusal) throw refusal;
  const mailbox = newcomer.mailboxKey ?? emailKey;
  const referral = judge(state, applicant.referrerTokens, mailbox, applicant.trust);
  const isPending = waitlist.verification === 'required' && emailKey !== null;
  const waiter = newWaiter(waitlist, newcomer, referral, isPending ? 'pending' : 'waiting');
  state.joined.push(waiter);
  // It gets its mail here, so that a duplicate in the same batch causes no other.
  const taken = { ...waiter, verified: true };
  if (emailKey !== null) takenEmails.set(emailKey, taken);
  if (phoneKey !== null) takenPhones.set(phoneKey, taken);
  hold(mailboxes, mailbox, waiter.uuid);
  if (waitlist.verification !== 'off') mailLink(state, waiter, network);
  if (isPending) {
    waitlist.nextPending += 1;
    return { waiter, waitlist, keys, isNew: true, revealsRecord: false };
  }
  waitlist.nextSeq += 1;
  countRecord(waitlist, waiter, 1);
  counters.join(waiter);
  days.count(daysOf(waiter), 1);
  emit(state, 'new_signup', waiter.uuid, { newcomer: waiter });
  if (waiter.credit === 'credited') credit(state, waiter);
  return { waiter, waitlist, keys, isNew: true, revealsRecord: false };
}

type Queue = Pick<LeanWaitlist, 'id' | 'nextSeq' | 'nextPending' | 'active' | 'spotsPerReferral'>;

/** A record at the end of the queue. No active record has a greater key, so its position is the number of active records. */
export function newWaiter(
  waitlist: Queue,
  newcomer: Newcomer,
  referral: Referral,
  status: Status & ('waiting' | 'pending') = 'waiting',
): Waiter {
  const seq = status === 'pending' ? -1 - waitlist.nextPending : waitlist.nextSeq;
  const facts = { seq, creditedReferrals: 0, spotsAdvanced: 0 };
  return {
    id: 0,
    waitlistId: waitlist.id,
    uuid: uuidV7(),
    ...newcomer,
    registeredEmail: newcomer.email,
    answers: newcomer.answers.length > 0 ? [...newcomer.answers] : null,
    referralToken: newReferralToken(),
    ...referral,
    referred: referral.referredByToken !== null,
    importedReferrals: 0,
    rankKey: rankKey(facts, waitlist.spotsPerReferral),
    status,
    verified: false,
    removedAt: null,
    removedPriority: null,
    createdAt: new Date(),
    priority: waitlist.active,
    ...facts,
  };
}
