import { random } from 'nanoid';
import { v7 as uuidV7 } from 'uuid';
import { mailboxOf } from '../../../fraud/mailbox.js';
import { nameKey } from '../../../platform/contract/name-key.js';
import { admit } from '../admit.js';
import { needsClick } from '../../record/needs-click.js';
import { rankKey } from '../../order/rank-key.js';
import { newReferralToken } from '../../record/referral-link.js';
import type { Applicant, Found, Newcomer, Status, StoredWaiter, Waiter } from '../../record/waiter.js';
import type { LeanWaitlist } from '../../settings/waitlist.table.js';
import { giveCredit, judgeReferral, type Referral } from '../credit.js';
import { type Command, weightOf } from '../command.js';
import { addHolder, emitSignup, mailUnverified, type State, welcome } from '../state.js';

/** The answer to a join whose contact data a record of the waitlist has already. */
export type Duplicate = Omit<Found, 'waiter' | 'waitlist'>;

/**
 * Puts an applicant at the end of the queue and moves the referrer forward, or finds the record with the same email or
 * phone. If they match two records, the email decides.
 * @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `WAITLIST_CLOSED`
 */
export function join(applicant: Applicant): Command<Found | Duplicate> {
  const { keys, trust, referrerTokens: tokens, metadata, answers } = applicant;
  const mailbox = mailboxOf({ ...keys, mailboxKey: trust.mailboxKey });
  return {
    kind: 'join',
    weight: weightOf(metadata, answers ?? null),
    needs: { contact: keys, referral: { tokens, network: trust.network, mailbox } },
    run: (state) => findOrAdd(state, applicant),
  };
}

function findOrAdd(state: State, applicant: Applicant): Found | Duplicate {
  const { waitlist, takenEmails, takenPhones } = state;
  const { keys, newcomer, refusal } = admit(applicant, waitlist);
  const { emailKey, phoneKey } = keys;
  const { network } = applicant.trust;
  const known = takenEmails.get(emailKey) ?? takenPhones.get(phoneKey);
  if (known) {
    const isFull = network !== null && state.fullNetworks.has(network);
    if (needsClick(waitlist, known) && !isFull) mailOnce(state, 'verification', known, network);
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
  const kind = newcomersMail(waitlist, isPending);
  if (kind === 'welcome') welcome(state, waiter, network);
  else if (kind) mailOnce(state, kind, waiter, network);
  if (isPending) {
    waitlist.nextPending += 1;
  } else {
    state.ledger.join(waiter);
    emitSignup(state, waiter);
  }
  if (waiter.credit === 'credited') giveCredit(state, waiter);
  return { waiter, waitlist, keys, isNew: true, revealsRecord: false };
}

/** A pending person is welcomed at the click. */
function newcomersMail({ verification, mailOnSignup }: LeanWaitlist, isPending: boolean) {
  if (verification === 'off') return mailOnSignup ? 'welcome' : null;
  return mailOnSignup && !isPending ? 'signup' : 'verification';
}

/** A repeated signup in the same batch causes no other mail. */
function mailOnce(
  state: State,
  kind: 'verification' | 'signup',
  record: Pick<StoredWaiter, 'uuid' | 'emailKey'>,
  network: string | null,
): void {
  if (state.mailed.has(record.uuid)) return;
  state.mailed.add(record.uuid);
  mailUnverified(state, kind, record, network);
}

type Queue = Pick<LeanWaitlist, 'id' | 'nextSeq' | 'nextPending' | 'active' | 'spotsPerReferral'>;

/** A record at the end of the queue. No active one has a greater key, so its position is the number of active ones. */
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
    // From nanoid's pool: uuid asks the system for random bytes each time, which takes six times as long.
    uuid: uuidV7({ random: random(16) }),
    ...newcomer,
    nameKey: nameKey(newcomer),
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
    removedReason: null,
    offerExpiresAt: null,
    joinedPriority: status === 'pending' ? null : waitlist.active,
    createdAt: new Date(),
    priority: waitlist.active,
    ...facts,
  };
}
