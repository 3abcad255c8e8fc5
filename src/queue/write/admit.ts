import { type FieldFault, Problem } from '../../platform/problems/problem.js';
import type { Applicant, ContactKeys, Newcomer } from '../record/waiter.js';
import type { RequiredContact, WaitlistEntity } from '../settings/waitlist.entity.js';
import { checkAnswers } from './answers.js';
import { contactFaults, nonBlank } from '../record/contact.js';

type Rules = Pick<WaitlistEntity, 'requiredContact' | 'questions' | 'isClosed' | 'captcha'>;
type Contact = Pick<Newcomer, 'email' | 'phone' | 'firstName' | 'lastName'>;

/** A request to join, held to the rules of its waitlist. */
export interface Admission {
  /** The normal forms of the contact data that the waitlist keeps. */
  readonly keys: ContactKeys;
  /** Valid only if there is no `refusal`. */
  readonly newcomer: Newcomer;
  /** `WAITLIST_CLOSED`, or `WAITLIST_RULE_BROKEN` with every broken rule, for an applicant without a record. */
  readonly refusal: Problem | null;
}

const CAPTCHA_MISSING: FieldFault = {
  field: 'captcha_token',
  rule: 'required',
  message: 'must be a token of the captcha that was not used before',
};

/**
 * Without its captcha, a request learns nothing of whether the applicant is on the waitlist.
 * @throws Problem `INVALID_REQUEST` for contact data without a normal form and for answers that cannot be stored,
 * `WAITLIST_RULE_BROKEN` without the captcha of the waitlist
 */
export function admit(applicant: Applicant, rules: Rules): Admission {
  const contact = keptContact(applicant, rules.requiredContact);
  const keys = {
    emailKey: contact.email === null ? null : applicant.keys.emailKey,
    phoneKey: contact.phone === null ? null : applicant.keys.phoneKey,
  };
  const { answers, malformed, faults } = checkAnswers(rules.questions, applicant.answers);
  const invalid = [...contactFaults(contact, keys, applicant.region), ...malformed];
  if (invalid.length > 0) throw Problem.invalid(invalid);
  const mailboxKey = keys.emailKey === null ? null : applicant.trust.mailboxKey;
  const broken = [...missingContact(contact, rules.requiredContact), ...faults];
  if (rules.captcha && !applicant.trust.isCaptchaAccepted) throw Problem.ruleBroken([CAPTCHA_MISSING, ...broken]);
  return {
    keys,
    newcomer: { ...contact, ...keys, mailboxKey, metadata: applicant.metadata, answers },
    refusal: refusalOf(rules.isClosed, broken),
  };
}

/** No change of the request helps on a closed waitlist, so its other rules are not named. */
function refusalOf(isClosed: boolean, broken: readonly FieldFault[]): Problem | null {
  if (isClosed) return new Problem('WAITLIST_CLOSED');
  return broken.length > 0 ? Problem.ruleBroken(broken) : null;
}

/** Contact data that the waitlist does not ask for is dropped. */
function keptContact(applicant: Applicant, required: RequiredContact): Contact {
  return {
    email: required.email === 'off' ? null : nonBlank(applicant.email),
    phone: required.phone === 'off' ? null : nonBlank(applicant.phone),
    firstName: required.first_name === 'off' ? null : nonBlank(applicant.firstName),
    lastName: required.last_name === 'off' ? null : nonBlank(applicant.lastName),
  };
}

function missingContact({ email, phone, firstName, lastName }: Contact, required: RequiredContact): FieldFault[] {
  const given = { email, phone, first_name: firstName, last_name: lastName };
  const missing = Object.entries(given)
    .filter(([field, value]) => value === null && required[field as keyof RequiredContact] === 'required')
    .map(([field]) => ({ field, rule: 'required' as const, message: 'is required by this waitlist' }));
  const isReachable = email !== null || phone !== null;
  return isReachable || missing.some(({ field }) => field === 'email' || field === 'phone')
    ? missing
    : [...missing, missingBoth(required)];
}

/** A record is found by its email or its phone, so one of them is always needed. */
function missingBoth(required: RequiredContact): FieldFault {
  const isChoice = required.email !== 'off' && required.phone !== 'off';
  return {
    field: required.email === 'off' ? 'phone' : 'email',
    rule: 'required',
    message: isChoice ? 'is required unless a phone is given' : 'is required by this waitlist',
  };
}
