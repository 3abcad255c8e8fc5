import type { AuditAction } from '../../platform/audit/audit-log.js';
import { Problem } from '../../platform/problems/problem.js';
import { correct } from '../admission/correct.js';
import { needsClick } from '../needs-click.js';
import { spotsAfter } from '../rank-key.js';
import type { PersonChanges, StoredWaiter } from '../waiter.js';
import { changeCredit, confirm } from './credit.js';
import type { Changed, Correct } from './facts.js';
import { hold, mailLink, moveTo, set, type State, type Taken } from './state.js';

/** @throws Problem `NO_WAITER_FOUND`, `CONTACT_TAKEN`, `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN` */
export function correctOne(state: State, command: Correct): Changed {
  const { uuid, changes, keys, mailboxKey, region, write } = command;
  const { records, ids, takenEmails, takenPhones, mailboxes } = state;
  const record = records.get(ids.get(uuid) ?? 0);
  if (!record) throw new Problem('NO_WAITER_FOUND');
  const { id } = record;
  const corrected = correct(record, changes, { ...keys, mailboxKey }, region);
  const { emailKey, phoneKey } = { ...record, ...corrected };
  // No two records share a key, so a taken key that is not the record's own belongs to another record.
  if (emailKey !== record.emailKey && takenEmails.has(emailKey)) throw contactTaken('email');
  if (phoneKey !== record.phoneKey && takenPhones.has(phoneKey)) throw contactTaken('phone');
  if (changes.credit !== undefined && record.credit === 'none') throw notReferred();
  if (Object.keys(corrected).length > 0) set(state, id, corrected);
  if (emailKey !== record.emailKey) changeEmail(state, id, changes.verified === true);
  if (changes.spotsToAdvance !== undefined) advance(state, id, changes.spotsToAdvance);
  if (changes.credit !== undefined) decideCredit(state, id, changes.credit);
  if (changes.verified === true) confirm(state, id);
  // It takes neither the place nor the credit that the verification gave.
  if (changes.verified === false) set(state, id, { verified: false });
  const after = records.get(id) as StoredWaiter;
  replace(takenEmails, record.emailKey, after.emailKey, after);
  replace(takenPhones, record.phoneKey, after.phoneKey, after);
  for (const holders of mailboxes.values()) holders.delete(uuid);
  hold(mailboxes, after.mailboxKey ?? after.emailKey, uuid);
  const changed = { uuids: [uuid] };
  state.written.push({ write, action: actionOf(changes), ...changed });
  return changed;
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

/** Links to the old email end. The new one is not verified; place and credit stay. */
function changeEmail(state: State, id: number, isVerified: boolean): void {
  const record = { ...(state.records.get(id) as StoredWaiter), verified: isVerified };
  state.endedLinks.push(record.uuid);
  if (isVerified) return;
  set(state, id, { verified: false });
  if (needsClick(state.waitlist, record)) mailLink(state, record, null);
}

/** Grants a record more spots, or takes some back. */
function advance(state: State, id: number, spots: number): void {
  const record = state.records.get(id) as StoredWaiter;
  const spotsAdvanced = spotsAfter(record.spotsAdvanced, spots);
  set(state, id, { spotsAdvanced, rankKey: moveTo(state, { ...record, spotsAdvanced }) });
}

/** A credit that is approved before the verification counts with it. */
function decideCredit(state: State, id: number, decided: 'credited' | 'refused'): void {
  const record = state.records.get(id) as StoredWaiter;
  const mustWait = decided === 'credited' && needsClick(state.waitlist, { ...record, credit: decided });
  if (mustWait && record.credit === 'credited') return;
  changeCredit(state, record, mustWait ? 'awaiting_verification' : decided);
}

function replace(taken: Map<string | null, Taken>, from: string | null, to: string | null, record: Taken): void {
  taken.delete(from);
  if (to !== null) taken.set(to, record);
}
