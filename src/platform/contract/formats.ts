/*
 * The formats that requests and responses share, as OpenAPI schemas and as functions. It imports nothing, because the
 * command line reads its arguments before it loads the service.
 */

const END_OF_YEARS = Date.UTC(10_000);

/** Text without control characters. Lone surrogates are rejected when a body is read. */
export const TEXT_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

export const EMAIL_SCHEMA = {
  type: String,
  format: 'idn-email',
  maxLength: 254,
  pattern: TEXT_PATTERN,
  example: 'ada@example.com',
} as const;
export const PHONE_SCHEMA = {
  type: String,
  format: 'phone',
  maxLength: 32,
  pattern: TEXT_PATTERN,
  example: '+14155550123',
} as const;

/** Whole numbers that both JavaScript and 64-bit languages hold exactly. */
export const ID_SCHEMA = { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
export const COUNT_SCHEMA = { ...ID_SCHEMA, minimum: 0 } as const;
export const ID_RULE = 'must be a whole number from 1 to 2^53 − 1';

/** The id that a path or an argument names, or null. */
export function parseId(text: string): number | null {
  const id = Number(text);
  return /^[1-9]\d*$/.test(text) && isId(id) ? id : null;
}

export function isId(number: number): boolean {
  return Number.isSafeInteger(number) && number > 0;
}

export const UUID_PATTERN = '^[\\dA-Fa-f]{8}(-[\\dA-Fa-f]{4}){3}-[\\dA-Fa-f]{12}$';
const UUID = new RegExp(UUID_PATTERN);

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export const UUID_SCHEMA = {
  format: 'uuid',
  maxLength: 36,
  example: '0199f2a4-5b6c-7def-8a90-123456789abc',
} as const;

export const TIMESTAMP_SCHEMA = {
  description: 'UTC, `YYYY-MM-DD_HH-MM-SS`.',
  pattern: '^\\d{4}-\\d{2}-\\d{2}_\\d{2}-\\d{2}-\\d{2}$',
  maxLength: 19,
  example: '2026-11-21_09-30-00',
} as const;

/** The moment as {@link TIMESTAMP_SCHEMA} describes it. Formatting the output of `toISOString` takes three times as long. */
export function timestamp(moment: Date): string {
  const date = `${moment.getUTCFullYear()}-${twoDigits(moment.getUTCMonth() + 1)}-${twoDigits(moment.getUTCDate())}`;
  const time = `${twoDigits(moment.getUTCHours())}-${twoDigits(moment.getUTCMinutes())}-${twoDigits(moment.getUTCSeconds())}`;
  return `${date}_${time}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** RFC 3339, with the digits of the fraction that languages write. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;
export const TIME_SCHEMA = { format: 'date-time', maxLength: 35 } as const;
export const TIME_RULE = 'must be an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z';

/** The moment that the text names; null if there is none, or none that databases can store. */
export function parseTime(text: string): Date | null {
  const moment = new Date(text);
  const isTime = TIME.test(text) && moment.getTime() < END_OF_YEARS;
  const localTime = text.slice(0, 19).toUpperCase();
  // JavaScript reads February 30 as March 2.
  return isTime && new Date(`${localTime}Z`).toISOString().startsWith(localTime) ? moment : null;
}

/** ASCII without spaces and quotes, each `%` followed by two hex digits: a subset of RFC 3986 that every client parses. */
const URI_TEXT = String.raw`(?:[\w.~!$&'()*+,;=:@/?-]|%[\dA-F]{2})*`;
const HTTP_URL = new RegExp(String.raw`^https?://(?:\[[\dA-F:.]+\])?${URI_TEXT}(?:#${URI_TEXT})?$`, 'i');
export const HTTP_URL_RULE = 'must be an http or https URL, other characters than ASCII percent-encoded';

/** Whether the text is the URL of a page, usable as a link without further encoding. */
export function isHttpUrl(text: string): boolean {
  return HTTP_URL.test(text) && URL.canParse(text);
}

/** Undefined if the text is not percent-encoded UTF-8. */
export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
