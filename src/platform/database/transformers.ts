import type { ValueTransformer } from 'typeorm';

/** Stores a word as its index in the list. */
export function coded<Word extends string>(words: readonly Word[]): ValueTransformer {
  return { to: (word: Word) => words.indexOf(word), from: (code: number) => words[code] };
}

/** {@link coded}, or null. */
export function codedOrNull<Word extends string>(words: readonly Word[]): ValueTransformer {
  return {
    to: (word: Word | null) => (word === null ? null : words.indexOf(word)),
    from: (code: number | null) => (code === null ? null : words[code]),
  };
}

/** Stores a list of words with commas between them, and an empty list as null. */
export const listed: ValueTransformer = {
  to: (words: readonly string[]) => (words.length === 0 ? null : words.join(',')),
  from: (text: string | null) => text?.split(',') ?? [],
};
