import { randomUUID } from 'node:crypto';
import type { Applicant } from '../../src/queue/waiter.js';

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
  };
}
