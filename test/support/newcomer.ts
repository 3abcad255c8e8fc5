import { randomUUID } from 'node:crypto';
import type { Newcomer } from '../../src/queue/waiter.js';

/** Somebody with a random email, who came by the link of this token. */
export function newcomer(referrerToken?: string): Newcomer {
  const email = `${randomUUID()}@example.com`;
  return {
    email,
    emailKey: email,
    phone: null,
    phoneKey: null,
    firstName: null,
    lastName: null,
    metadata: null,
    answers: [],
    referrerTokens: referrerToken === undefined ? [] : [referrerToken],
  };
}
