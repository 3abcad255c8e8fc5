/*
 * The formats that requests and responses share, as OpenAPI schemas and as functions. It imports nothing, because the
 * command line reads its arguments before it loads the service.
 */

/** Text without control characters. Lone surrogates are rejected when a body is read. */
export const TEXT_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';
/** The same, but for tabs and the ends of lines. */
export const LINES_PATTERN = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$';

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

/** Room for the values of later versions. */
const OPEN_ENUM_LENGTH_MAX = 64;

/** For responses. A later version may add values, so clients must accept unknown ones; `enum` would make them fail. */
export function openEnum(values: readonly string[]) {
  return { type: 'string', maxLength: OPEN_ENUM_LENGTH_MAX, 'x-extensible-enum': [...values] } as const;
}

/** A list of {@link openEnum}; its bound leaves room for more values. */
export function openEnumList(values: readonly string[]) {
  return { type: 'array', maxItems: 100, items: openEnum(values) } as const;
}

/** Whole numbers that both JavaScript and 64-bit languages hold exactly. */
export const ID_SCHEMA = { type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;
export const COUNT_SCHEMA = { ...ID_SCHEMA, minimum: 0 } as const;
export const ID_RULE = 'must be a whole number from 1 to 2^53 − 1';

/** The id that a path or an argument names, or null. */
export function parseId(text: string): number | null {
  const id = Number(text);
  return /^[1-9]\d*$/.test(text) && Number.isSafeInteger(id) ? id : null;
}

export const UUID_PATTERN = '^[\\dA-Fa-f]{8}(-[\\dA-Fa-f]{4}){3}-[\\dA-Fa-f]{12}$';
const UUID = new RegExp(UUID_PATTERN);

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export const UUID_SCHEMA = { format: 'uuid', maxLength: 36, example: '0199f2a4-5b6c-7def-8a90-123456789abc' } as const;

export const TIMESTAMP_SCHEMA = {
  description: 'UTC, `YYYY-MM-DD_HH-MM-SS`.',
  pattern: '^\\d{4}-\\d{2}-\\d{2}_\\d{2}-\\d{2}-\\d{2}$',
  maxLength: 19,
  example: '2026-11-21_09-30-00',
} as const;

/** The moment as in {@link TIMESTAMP_SCHEMA}. Reformatting the output of `toISOString` takes three times as long. */
export function timestamp(moment: Date): string {
  const date = `${moment.getUTCFullYear()}-${twoDigits(moment.getUTCMonth() + 1)}-${twoDigits(moment.getUTCDate())}`;
  const time = `${twoDigits(moment.getUTCHours())}-${twoDigits(moment.getUTCMinutes())}-${twoDigits(moment.getUTCSeconds())}`;
  return `${date}_${time}`;
}

/** ISO 8601 with a date; without a time of day it means midnight, and without an offset UTC. */
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;
const CONTRACT_TIME = /^(\d{4}-\d{2}-\d{2})_(\d{2})-(\d{2})-(\d{2})$/;
/** 1970 to 9999. */
const TIME_MAX_MS = 253_402_300_799_999;

/** The moment that a text names in ISO 8601 or as {@link TIMESTAMP_SCHEMA}, from 1970 on; otherwise null. */
export function parseTime(text: string): Date | null {
  const [, date, time = '00:00', offset = 'Z'] = ISO_TIME.exec(text.replace(CONTRACT_TIME, '$1T$2:$3:$4')) ?? [];
  if (date === undefined || !isDate(date)) return null;
  const zone = offset.toUpperCase().replace(/^(.\d{2})(\d{2})$/, '$1:$2');
  const moment = new Date(`${date}T${time.replace(',', '.')}${zone}`);
  return moment.getTime() >= 0 && moment.getTime() <= TIME_MAX_MS ? moment : null;
}

/** From 1970 on, as times. */
export const DAY_SCHEMA = {
  format: 'date',
  pattern: '^(19[7-9]\\d|[2-9]\\d{3})-\\d{2}-\\d{2}$',
  maxLength: 10,
} as const;
const DAY = new RegExp(DAY_SCHEMA.pattern);

/** Whether the text names a day as {@link DAY_SCHEMA} describes it. */
export function isDay(text: string): boolean {
  return DAY.test(text) && isDate(text);
}

/** The engine reads February 30 as a day in March. */
function isDate(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** RFC 3339, with the digits of the fraction that languages write. */
const ZONED_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;
export const TIME_SCHEMA = { format: 'date-time', maxLength: 35 } as const;
export const TIME_RULE = 'must be an ISO 8601 time with a zone, such as 2027-01-31T00:00:00Z';

/** The moment that the text names by {@link TIME_SCHEMA}; null if there is none, or none that databases can store. */
export function parseZonedTime(text: string): Date | null {
  return ZONED_TIME.test(text) ? parseTime(text) : null;
}

/** ASCII without spaces and quotes, each `%` with two hex digits: a subset of RFC 3986 that every client parses. */
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
