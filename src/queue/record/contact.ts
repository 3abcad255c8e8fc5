import { emailKey, invalidEmail } from '../../platform/contract/email.js';
import { phoneKey, phoneRule } from '../../platform/contract/phone.js';
import type { FieldFault } from '../../platform/problems/problem.js';
import type { Applicant, ContactKeys } from './waiter.js';

type Contact = Pick<Applicant, 'email' | 'phone'>;

/**
 * The normal forms by which records match; null where blank or without one. `region` is for phones without country
 * code.
 */
export function contactKeys({ email, phone }: Contact, region: string | null): ContactKeys {
  const [givenEmail, givenPhone] = [nonBlank(email), nonBlank(phone)];
  return { emailKey: givenEmail && emailKey(givenEmail), phoneKey: givenPhone && phoneKey(givenPhone, region) };
}

/** The parts that have no normal form. A record without its key would never be found. */
export function contactFaults({ email, phone }: Contact, keys: ContactKeys, region: string | null): FieldFault[] {
  const faults: FieldFault[] = [];
  if (nonBlank(email) !== null && keys.emailKey === null) faults.push({ ...invalidEmail(email ?? ''), field: 'email' });
  if (nonBlank(phone) !== null && keys.phoneKey === null)
    faults.push({ field: 'phone', rule: 'format', message: phoneRule(region) });
  return faults;
}

/** Finds a record by contact data; null if there is none. If email and phone match two records, the email decides. */
export function finderByContact<Found extends ContactKeys>(
  records: readonly Found[],
): (keys: ContactKeys) => Found | null {
  const byEmail = new Map(records.map((record) => [record.emailKey, record]));
  const byPhone = new Map(records.map((record) => [record.phoneKey, record]));
  return ({ emailKey, phoneKey }) =>
    (emailKey === null ? undefined : byEmail.get(emailKey)) ??
    (phoneKey === null ? undefined : byPhone.get(phoneKey)) ??
    null;
}

/** The text as given, or null where it is blank. */
export function nonBlank(text: string | null | undefined): string | null {
  return text?.trim() ? text : null;
}
