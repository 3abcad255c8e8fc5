import { randomUUID } from 'node:crypto';
import type { Applicant, Trust } from '../../src/queue/waiter.js';

export const UNSUSPICIOUS: Trust = {
  signals: { isDisposable: false, secondsToFill: null, isHoneypotFilled: false, isCaptchaUnjudged: false },
  isCaptchaAccepted: false,
  mailboxKey: null,
  network: null,
};

/** An applicant with a random email, and perhaps with a referrer's token. */
export function applicant(referrerToken?: string): Applicant {
  return {
    email: `${randomUUID()}@example.com`,
    phone: null,
    firstName: null,
    lastName: null,
    metadata: null,
    answers: null,
    referrerTokens: referrerToken === undefined ? [] : [referrerToken],
    region: null,
    trust: UNSUSPICIOUS,
  };
}
