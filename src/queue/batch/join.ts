import { v7 as uuidV7 } from 'uuid';
import { mailboxOf } from '../../fraud/mailbox.js';
import { admit } from '../admission/admit.js';
import { needsClick } from '../needs-click.js';
import { rankKey } from '../rank-key.js';
import { newReferralToken } from '../referral-link.js';
import type { Found, Newcomer, Status, StoredWaiter, Waiter } from '../waiter.js';
import type { LeanWaitlist } from '../waitlist.table.js';
import { giveCredit, judgeReferral, type Referral } from './credit.js';
import type { Duplicate, Join } from './facts.js';
import { addHolder, countEntry, emitSignup, mailLink, type State } from './state.js';

/**
 * Adds a record for an applicant, or finds the one that has the same email or phone.
 * @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `WAITLIST_CLOSED`
 */
export function join(state: State, { applicant }: Join): Found | Duplicate {
  const { waitlist, takenEmails, takenPhones } = state;
  const { keys, newcomer, refusal } = admit(applicant, waitlist);
  const { emailKey, phoneKey } = keys;
  const { network } = applicant.trust;
  const known = takenEmails.get(emailKey) ?? takenPhones.get(phoneKey);
  if (known) {
    if (needsClick(waitlist, known)) mailOnce(state, known, network);
    return { keys, isNew: false, revealsRecord: refusal !== null };
  }
  if (refusal) throw refusal;
  const mailbox = mailboxOf(newcomer);
  const referral = judgeReferral(state, applicant.referrerTokens, mailbox, applicant.trust);
  const isPending = waitlist.verification === 'required' && emailKey !== null;
  const waiter = newWaiter(waitlist, newcomer, referral, isPending ? 'pending' : 'waiting');
  state.joined.push(waiter);
  if (emailKey !== null) takenEmails.set(emailKey, waiter);
  if (phoneKey !== null) takenPhones.set(phoneKey, waiter);
  addHolder(state.mailboxHolders, mailbox, waiter.uuid);
  if (waitlist.verification !== 'off') mailOnce(state, waiter, network);
  if (isPending) {
    waitlist.nextPending += 1;
  } else {
    countEntry(state, waiter);
    emitSignup(state, waiter);
  }
  if (waiter.credit === 'credited') giveCredit(state, waiter);
  return { waiter, waitlist, keys, isNew: true, revealsRecord: false };
}

/** A repeated signup in the same batch causes no other mail. */
function mailOnce(state: State, record: Pick<StoredWaiter, 'uuid' | 'emailKey'>, network: string | null): void {
  if (state.mailed.has(record.uuid)) return;
  state.mailed.add(record.uuid);
  mailLink(state, record, network);
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
