/** Code points. */
export const NAME_KEY_LENGTH_MAX = 100;

/**
 * The key by which people are searched and sorted by name: the last name before the first, in Unicode NFKD without
 * marks, in lower case. Null without a name.
 */
export function nameKey(person: {
  readonly firstName: string | null;
  readonly lastName: string | null;
}): string | null {
  return nameKeyPrefix([person.lastName, person.firstName].filter((name) => name !== null).join(' ')) || null;
}

/**
 * The prefix that the keys of all names beginning with this text share; empty if no character of it is part of a key.
 * A final sigma becomes a plain one: otherwise the prefix of a word would have another key than the word. The key has
 * no character below the space and no space at its end, because MySQL compares texts as if padded with spaces.
 */
export function nameKeyPrefix(typed: string): string {
  const plain = typed.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().replaceAll('ς', 'σ');
  const spaced = plain.replaceAll(/[\s\p{Cc}]+/gu, ' ').trimStart();
  return [...spaced].slice(0, NAME_KEY_LENGTH_MAX).join('').trimEnd();
}
