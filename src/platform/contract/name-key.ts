/** Characters of the key of a name. */
export const NAME_KEY_LENGTH_MAX = 100;

/**
 * The form by which people are found by name, and listed: the last name before the first, in Unicode NFKD without
 * marks, lower case. Null for no name.
 */
export function nameKey(person: {
  readonly firstName: string | null;
  readonly lastName: string | null;
}): string | null {
  return nameKeyPrefix([person.lastName, person.firstName].filter((name) => name !== null).join(' ')) || null;
}

/**
 * The beginning of the keys of all names that begin with this text; empty if no character of it is part of a key. A
 * final sigma becomes a plain one, so that the beginning of a word gives that of its key. It has no character below the
 * space, and no space at its end: MySQL compares texts as if spaces filled the shorter one.
 */
export function nameKeyPrefix(typed: string): string {
  const plain = typed.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ς', 'σ');
  const spaced = plain.replaceAll(/[\s\p{Cc}]+/gu, ' ').trimStart();
  return [...spaced].slice(0, NAME_KEY_LENGTH_MAX).join('').trimEnd();
}
