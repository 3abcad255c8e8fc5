/** The API's form of a moment: UTC, `YYYY-MM-DD_HH-MM-SS`. */
export function timestamp(moment: Date): string {
  const iso = moment.toISOString();
  return `${iso.slice(0, 10)}_${iso.slice(11, 13)}-${iso.slice(14, 16)}-${iso.slice(17, 19)}`;
}

/** What {@link timestamp} writes, for the contract. */
export const TIMESTAMP_SCHEMA = {
  description: 'UTC, `YYYY-MM-DD_HH-MM-SS`.',
  pattern: '^\\d{4}-\\d{2}-\\d{2}_\\d{2}-\\d{2}-\\d{2}$',
  maxLength: 19,
  example: '2026-11-21_09-30-00',
} as const;
