import { STATISTICS } from '../bounds';

const WHOLE = new Intl.NumberFormat();
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const SIZES = [
  ['byte', 1],
  ['kilobyte', 1e3],
  ['megabyte', 1e6],
  ['gigabyte', 1e9],
] as const;

/** With thousands separators of the reader's locale. */
export function count(number: number): string {
  return WHOLE.format(number);
}

/** The service stops counting here if it keeps no counter. */
const COUNTED_MAX = STATISTICS.withheld_signups.maximum;

/** A number that is marked if the service stopped counting there. */
export function countBounded(number: number): string {
  return number < COUNTED_MAX ? count(number) : `${count(COUNTED_MAX)}+`;
}

/** "1 person", "1,200 people". */
export function countPeople(number: number): string {
  return number === 1 ? '1 person' : `${count(number)} people`;
}

/** "1 referral", "1,200 referrals". */
export function countReferrals(number: number): string {
  return number === 1 ? '1 referral' : `${count(number)} referrals`;
}

/** "1 place", "1,200 places". */
export function countPlaces(number: number): string {
  return number === 1 ? '1 place' : `${count(number)} places`;
}

/** A `priority` as people count: the first is number 1. */
export function position(priority: number): string {
  return WHOLE.format(priority + 1);
}

/** A share of 0 to 1. */
export function share(ratio: number): string {
  return PERCENT.format(ratio);
}

/** A size of a file. */
export function size(bytes: number): string {
  const unit = SIZES.findLast(([, bytesOfOne]) => bytes >= bytesOfOne) ?? SIZES[0];
  return new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit: unit[0],
    // "byte" has no short form for more than one.
    unitDisplay: unit[1] === 1 ? 'long' : 'short',
    maximumFractionDigits: bytes < 10 * unit[1] && unit[1] > 1 ? 1 : 0,
  }).format(bytes / unit[1]);
}

/** A stretch of time, as "3 minutes". */
export function duration(seconds: number): string {
  const [unit, length] = seconds < 60 ? (['second', 1] as const) : (['minute', 60] as const);
  return new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' }).format(
    Math.max(1, Math.round(seconds / length)),
  );
}

/** The moment of a time in a form of the API: `YYYY-MM-DD_HH-MM-SS` in UTC, or ISO 8601. */
export function momentOf(text: string): Date {
  if (!text.includes('_')) return new Date(text);
  const [date = '', time = ''] = text.split('_');
  return new Date(`${date}T${time.replaceAll('-', ':')}Z`);
}
