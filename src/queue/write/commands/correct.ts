import type { AuditAction } from '../../../platform/audit/audit-record.js';
import { Problem } from '../../../platform/problems/problem.js';
import { foldedMailbox, mailboxOf } from '../../../fraud/mailbox.js';
import { correctedColumns } from '../../record/corrected-columns.js';
import { needsClick } from '../../record/needs-click.js';
import { spotsAfter } from '../../order/rank-key.js';
import type { ContactKeys, PersonChanges, StoredWaiter } from '../../record/waiter.js';
import type { AccountWrite } from '../../../platform/idempotency/account-write.js';
import { decideCredit, markVerified } from '../credit.js';
import type { OfferCode } from '../../offers/offer-codes.js';
import { type Changed, type Command, weightOf } from '../command.js';
import { renewOffer } from '../offers.js';
import { addHolder, mailUnverified, recordOf, rerank, setColumns, type State, type Taken } from '../state.js';

/** The record to correct, and its changes. */
export interface CorrectionRequest {
  readonly uuid: string;
  readonly changes: PersonChanges;
  /** The country of a phone number without a country code; null if there is none. */
  readonly region: string | null;
  /** The normal forms of the changed contact data. */
  readonly keys: ContactKeys;
  /** The new code of an open offer, used if the email changes. */
  readonly offerCode: OfferCode;
}

/**
 * Corrects a record of any status, moves it forward or back by spots, and decides its credit. An offboarded record
 * keeps its last position. Returns the uuid; the caller reads the changed record.
 * @throws Problem `NO_WAITER_FOUND`, `CONTACT_TAKEN` for an email or a phone of another record, `INVALID_REQUEST` for
 * contact data without a normal form, `WAITLIST_RULE_BROKEN` if neither email nor phone would be left, or for the
 * credit of a record that nobody referred
 */
export function correct(correction: CorrectionRequest, write: AccountWrite): Command<Changed> {
  const { uuid, changes, keys } = correction;
  const mailboxKey = foldedMailbox(keys.emailKey);
  const canChangeCredit = changes.verified === true || changes.credit !== undefined;
  return {
    kind: 'correct',
    weight: weightOf(changes.metadata),
    needs: { uuids: [uuid], contact: keys, canChangeCredit, write },
    run(state) {
      const done = state.done.get(write.id);
      if (done) return { uuids: done };
      change(state, correction, mailboxKey);
      state.written.push({ write, action: actionOf(changes), uuids: [uuid] });
      return { uuids: [uuid] };
    },
  };
}

function change(state: State, request: CorrectionRequest, mailboxKey: string | null): void {
  const { uuid, changes, keys, region, offerCode } = request;
  const { records, takenEmails, takenPhones, mailboxHolders } = state;
  const record = recordOf(state, uuid);
  if (!record) throw new Problem('NO_WAITER_FOUND');
  const { id } = record;
  const corrected = correctedColumns(record, changes, { ...keys, mailboxKey }, region);
  const { emailKey, phoneKey } = { ...record, ...corrected };
  // No two records share a key, so a taken key that is not the record's own belongs to another record.
  if (emailKey !== record.emailKey && takenEmails.has(emailKey)) throw contactTaken('email');
  if (phoneKey !== record.phoneKey && takenPhones.has(phoneKey)) throw contactTaken('phone');
  if (changes.credit !== undefined && record.credit === 'none') throw notReferred();
  if (Object.keys(corrected).length > 0) setColumns(state, id, corrected);
  if (emailKey !== record.emailKey) changeEmail(state, id, changes.verified === true, offerCode);
  if (changes.spotsToAdvance !== undefined) advance(state, id, changes.spotsToAdvance);
  if (changes.credit !== undefined) decideCredit(state, id, changes.credit);
  if (changes.verified === true) markVerified(state, id);
  // The record keeps the position and the credit that the verification gave.
  if (changes.verified === false) setColumns(state, id, { verified: false });
  const after = records.get(id) as StoredWaiter;
  replace(takenEmails, record.emailKey, after.emailKey, after);
  replace(takenPhones, record.phoneKey, after.phoneKey, after);
  for (const holders of mailboxHolders.values()) holders.delete(uuid);
  addHolder(mailboxHolders, mailboxOf(after), uuid);
}

/** A decision about the credit has its own action, unless other fields change with it. */
function actionOf({ credit, ...others }: PersonChanges): AuditAction {
  const isDecision = Object.values(others).every((value: unknown) => value === undefined);
  if (credit === undefined || !isDecision) return 'waiter_corrected';
  return credit === 'credited' ? 'credit_approved' : 'credit_refused';
}

function contactTaken(field: 'email' | 'phone'): Problem {
  return new Problem('CONTACT_TAKEN', {
    fields: [{ field, rule: 'unique', message: 'is that of another record of this waitlist' }],
  });
}

function notReferred(): Problem {
  const message = 'cannot be decided: nobody of this waitlist referred this record';
  return Problem.ruleBroken([{ field: 'credit', rule: 'known', message }]);
}

/**
 * Ends the links that went to the old email; a new link of an open offer goes to the new one. The new email is not
 * verified, unless the owner says so. Position and credit stay.
 */
function changeEmail(state: State, id: number, isVerified: boolean, offerCode: OfferCode): void {
  const record = { ...(state.records.get(id) as StoredWaiter), verified: isVerified };
  state.changedEmails.push(record.uuid);
  renewOffer(state, state.records.get(id) as StoredWaiter, offerCode);
  if (isVerified) return;
  setColumns(state, id, { verified: false });
  if (needsClick(state.waitlist, record)) mailUnverified(state, 'verification', record, null);
}

/** Grants a record more spots, or takes some back. */
function advance(state: State, id: number, spots: number): void {
  const record = state.records.get(id) as StoredWaiter;
  const spotsAdvanced = spotsAfter(record.spotsAdvanced, spots);
  const rankKey = rerank(state, { ...record, spotsAdvanced });
  setColumns(state, id, { spotsAdvanced, rankKey });
}

function replace(taken: Map<string | null, Taken>, from: string | null, to: string | null, record: Taken): void {
  taken.delete(from);
  if (to !== null) taken.set(to, record);
}
