import type { operations } from '../generated/openapi';
import { PERSON } from '../bounds';
import { canSort, type PeopleSearch } from './search';

export type ListingQuery = Omit<NonNullable<operations['listWaiters']['parameters']['query']>, 'waitlist_id'>;

/** One of the listings that a search walks through. */
interface Listing {
  readonly query: ListingQuery;
  /** Only if those before it found nobody. */
  readonly isFallback?: boolean;
}

export const STATUSES = ['waiting', 'offboarded', 'pending'] as const;

/** The bounds of the names that the service searches for. */
const NAME_LENGTH = { min: 2, max: PERSON.first_name.maxLength };
/** In which a name of more words is not taken apart. */
const NAME_WORDS_MAX = 4;

/** What the service must be asked, one after the other, to find the people of a search. */
export function listingsOf(search: PeopleSearch): readonly Listing[] {
  const { search: text, credit, status = 'waiting', order = 'queue', referral_token } = search;
  // Whoever decides on withheld referrals wants all of them.
  if (credit === 'withheld' && search.status === undefined)
    return STATUSES.map((each) => ({ query: { credit, status: each, search: text, referral_token } }));
  if (credit !== undefined) return [{ query: { credit, status, search: text, referral_token } }];
  const query = { ...statusQuery(status), referral_token };
  if (text === undefined) return [{ query: canSort(search) ? { ...query, order } : query }];
  return [
    ...(isName(text) ? [] : [{ query: { ...query, search: text } }]),
    ...namesOf(text).map((name, index) => ({ query: { ...query, name }, isFallback: index > 0 })),
  ];
}

/** Those of a status, in an order of joining. */
export function statusQuery(status: NonNullable<PeopleSearch['status']>): ListingQuery {
  return status === 'pending' ? { status } : { offboarded_request: status === 'offboarded' };
}

/** Several words are neither an email nor a token. A phone has only digits in its words. */
function isName(text: string): boolean {
  return /\s/.test(text.trim()) && /\p{Letter}/u.test(text) && !text.includes('@');
}

/**
 * The spellings of a name that the service may know, which begin with the last name: for "Anna Berg" first "Berg Anna",
 * then "Anna Berg". None for a text that is no name.
 */
function namesOf(text: string): string[] {
  if (text.includes('@') || !/\p{Letter}/u.test(text)) return [];
  const words = text.split(/[\s,]+/).filter(Boolean);
  const spellings = text.includes(',') || words.length > NAME_WORDS_MAX ? [words] : rotationsOf(words);
  return spellings
    .map((spelling) => spelling.join(' ').slice(0, NAME_LENGTH.max))
    .filter(({ length }) => length >= NAME_LENGTH.min);
}

/** The last word first, then the last two, and so on; the words as they are come last. */
function rotationsOf<Word>(words: readonly Word[]): Word[][] {
  return words.map((_, index) => [
    ...words.slice(words.length - 1 - index),
    ...words.slice(0, words.length - 1 - index),
  ]);
}
