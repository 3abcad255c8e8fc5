import { type CountryCode, getCountries, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** Whether a phone number has a country code, and so needs no default region. */
export function isInternational(phone: string): boolean {
  return phone.trim().startsWith('+');
}

/**
 * The normal form by which phone numbers match: E.164. `region` is the country of a number without a country code. Null if
 * the text is not a phone number there.
 */
export function phoneKey(phone: string, region: string | null): string | null {
  const defaultCountry = (region ?? undefined) as CountryCode | undefined;
  // With `extract`, the default, the library would find a number inside any text.
  const number = parsePhoneNumberFromString(phone.trim(), { defaultCountry, extract: false });
  return number?.isPossible() ? number.number : null;
}

/** Whether the text is a phone number in any region. */
export function isPhoneAnywhere(phone: string): boolean {
  if (isInternational(phone)) return phoneKey(phone, null) !== null;
  return getCountries().some((region) => phoneKey(phone, region) !== null);
}

export function phoneRule(region: string | null): string {
  const form = 'must be a phone number with its country code, such as +14155550123';
  return region ? `${form}, or a number of ${region}` : form;
}
