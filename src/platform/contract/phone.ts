import { type CountryCode, parsePhoneNumberFromString, validatePhoneNumberLength } from 'libphonenumber-js/max';

/** The shortest national numbers, of Niue. */
const NATIONAL_DIGITS_MIN = 4;
/** E.164 has up to 15 digits, and a prefix for calls abroad comes before them. */
const NATIONAL_DIGITS_MAX = 20;

/** Whether a phone number has a country code, and so needs no default region. */
export function isInternational(phone: string): boolean {
  return phone.trim().startsWith('+');
}

/**
 * The normal form by which phone numbers match: E.164. A number without a country code is of `region`. Null if it is no
 * phone number there.
 */
export function phoneKey(phone: string, region: string | null): string | null {
  const defaultCountry = (region ?? undefined) as CountryCode | undefined;
  // With `extract`, the default, the library would find a number inside any text.
  const number = parsePhoneNumberFromString(phone.trim(), { defaultCountry, extract: false });
  return number?.isPossible() ? number.number : null;
}

/** Whether the text may be a phone number in some region. Trying every region would take 10 ms for other text. */
export function isPhoneAnywhere(phone: string): boolean {
  if (isInternational(phone)) return phoneKey(phone, null) !== null;
  const digits = phone.match(/\p{Nd}/gu)?.length ?? 0;
  if (digits < NATIONAL_DIGITS_MIN || digits > NATIONAL_DIGITS_MAX) return false;
  // Whether a text has the form of a number does not depend on the country, but the library asks for one.
  return validatePhoneNumberLength(phone.trim(), 'US') !== 'NOT_A_NUMBER';
}

export function phoneRule(region: string | null): string {
  const form = 'must be a phone number with its country code, such as +14155550123';
  return region ? `${form}, or a number of ${region}` : form;
}
