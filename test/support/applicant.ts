import { randomUUID } from 'node:crypto';
import type { Applicant } from '../../src/queue/waiter.js';

export const noRules = () => Promise.resolve(null);

/** A newcomer with a random email whom every rule admits, referred by the owner of this token. */
export function applicant(referrerToken?: string): Applicant {
  const email = `${randomUUID()}@example.com`;
  const keys = { emailKey: email, phoneKey: null };
  const newcomer = { ...keys, email, phone: null, firstName: null, lastName: null, metadata: null, answers: [] };
  return {
    ...keys,
    referrerTokens: referrerToken === undefined ? [] : [referrerToken],
    textBytes: 0,
    readRules: noRules,
    admit: () => newcomer,
  };
}
