import { count } from '../parts/format';

/** The fault of a field for a whole number; null without one. A field that was emptied holds an empty text. */
export function numberFault(
  number: number | string,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
): string | null {
  const isValid = typeof number === 'number' && number >= minimum && number <= maximum;
  return isValid ? null : `Enter a whole number from ${minimum} to ${count(maximum)}.`;
}
