import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { emailKey } from '../platform/contract/email.js';
import { Problem } from '../platform/problems/problem.js';
import type { ContactKeys } from '../queue/waiter.js';

/** What a person says of themselves; empty text counts as not said. */
export interface Contact {
  readonly email: string | null;
  readonly phone: string | null;
}

/** Whether a phone says itself where it is from. */
export function isInternational(phone: string): boolean {
  return phone.trim().startsWith('+');
}

/** As `contactKeys`, of what can be parsed. */
export function knownKeys({ email, phone }: Contact, defaultRegion: string | null): ContactKeys {
  const [givenEmail, givenPhone] = [said(email), said(phone)];
  return {
    emailKey: givenEmail && emailKey(givenEmail),
    phoneKey: givenPhone && phoneKey(givenPhone, defaultRegion),
  };
}

/**
 * The normal forms by which records match: of an email see `emailKey`, of a phone E.164.
 * @throws Problem `invalid` for a phone number that can't be parsed, or an email that is none
 */
export function contactKeys({ email, phone }: Contact, defaultRegion: string | null): ContactKeys {
  const keys = {
    emailKey: email === null ? null : emailKey(email),
    phoneKey: phone === null ? null : phoneKey(phone, defaultRegion),
  };
  const faults = [
    ...(email !== null && keys.emailKey === null ? [{ field: 'email', message: 'must be an email address' }] : []),
    ...(phone !== null && keys.phoneKey === null ? [{ field: 'phone', message: phoneRule(defaultRegion) }] : []),
  ];
  if (faults.length > 0) throw Problem.invalid(faults);
  return keys;
}

/** Text as given, or null where it says nothing. */
export function said(text: string | null | undefined): string | null {
  return text?.trim() ? text : null;
}

function phoneKey(phone: string, defaultRegion: string | null): string | null {
  const defaultCountry = (defaultRegion ?? undefined) as CountryCode | undefined;
  // Otherwise the library picks a number out of any text around it.
  const number = parsePhoneNumberFromString(phone.trim(), { defaultCountry, extract: false });
  return number?.isPossible() ? number.number : null;
}

function phoneRule(defaultRegion: string | null): string {
  const form = 'must be a phone number with its country code, such as +14155550123';
  return defaultRegion ? `${form}, or a number of ${defaultRegion}` : form;
}
