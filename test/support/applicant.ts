import { randomUUID } from 'node:crypto';
import { contactKeys } from '../../src/queue/record/contact.js';
import type { Applicant, Trust } from '../../src/queue/record/waiter.js';

export const UNSUSPICIOUS: Trust = {
  signals: { isDisposable: false, secondsToFill: null, isHoneypotFilled: false, isCaptchaUnjudged: false },
  isCaptchaAccepted: false,
  mailboxKey: null,
  network: null,
};

/** An applicant with a random email, perhaps with a referrer's token, and with these fields. */
export function applicant(referrerToken?: string, fields: Partial<Omit<Applicant, 'keys'>> = {}): Applicant {
  const person = {
    email: `${randomUUID()}@example.com`,
    phone: null,
    firstName: null,
    lastName: null,
    metadata: null,
    answers: null,
    referrerTokens: referrerToken === undefined ? [] : [referrerToken],
    region: null,
    trust: UNSUSPICIOUS,
    ...fields,
  };
  return { ...person, keys: contactKeys(person, person.region) };
}
