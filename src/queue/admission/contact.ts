import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { emailKey } from '../../platform/contract/email.js';
import { type FieldFault, Problem } from '../../platform/problems/problem.js';
import type { Applicant, ContactKeys } from '../waiter.js';

type Contact = Pick<Applicant, 'email' | 'phone'>;

/** Whether a phone number has a country code, and so needs no default region. */
export function isInternational(phone: string): boolean {
  return phone.trim().startsWith('+');
}

/** The keys that existing records may have for this contact data. Data that has no normal form has no key. */
export function lookupKeys({ email, phone }: Contact, region: string | null): ContactKeys {
  const [givenEmail, givenPhone] = [nonBlank(email), nonBlank(phone)];
  return {
    emailKey: givenEmail && emailKey(givenEmail),
    phoneKey: givenPhone && phoneKey(givenPhone, region),
  };
}

/**
 * The normal forms by which records match: see `emailKey` for an email; E.164 for a phone. `region` is the country of a
 * phone number without a country code.
 * @throws Problem `INVALID_REQUEST` for an email or a phone number that has no normal form
 */
export function contactKeys({ email, phone }: Contact, region: string | null): ContactKeys {
  const keys = lookupKeys({ email, phone }, region);
  const faults: FieldFault[] = [
    ...(email !== null && keys.emailKey === null
      ? [{ field: 'email', rule: 'format' as const, message: 'must be an email address' }]
      : []),
    ...(phone !== null && keys.phoneKey === null
      ? [{ field: 'phone', rule: 'format' as const, message: phoneRule(region) }]
      : []),
  ];
  if (faults.length > 0) throw Problem.invalid(faults);
  return keys;
}

/** The text as given, or null where it is blank. */
export function nonBlank(text: string | null | undefined): string | null {
  return text?.trim() ? text : null;
}

function phoneKey(phone: string, region: string | null): string | null {
  const defaultCountry = (region ?? undefined) as CountryCode | undefined;
  // With `extract`, the default, the library would find a number inside any text.
  const number = parsePhoneNumberFromString(phone.trim(), { defaultCountry, extract: false });
  return number?.isPossible() ? number.number : null;
}

function phoneRule(region: string | null): string {
  const form = 'must be a phone number with its country code, such as +14155550123';
  return region ? `${form}, or a number of ${region}` : form;
}
