import type { operations } from '../generated/openapi';
import { PERSON } from '../bounds';
import { canSort, isDeciding, type PeopleSearch } from './search';

export type ListingQuery = Omit<NonNullable<operations['listWaiters']['parameters']['query']>, 'waitlist_id'>;

/** One of the listings whose results a search shows, one after the other. */
interface Listing {
  readonly query: ListingQuery;
  /** Asked only if the listings before it found nobody. */
  readonly isFallback?: boolean;
}

export const STATUSES = ['waiting', 'offered', 'offboarded', 'pending'] as const;

/** Bounds of the service's query parameter `name`. */
const NAME_LENGTH = { min: 2, max: PERSON.first_name.maxLength };
/** A name of more words is searched as it was typed. */
const NAME_WORDS_MAX = 4;

/** The listings to request, in this order, for a search. */
export function listingsOf(search: PeopleSearch): readonly Listing[] {
  const { search: text, credit, status = 'waiting', order = 'queue', referral_token } = search;
  if (isDeciding(search))
    return STATUSES.map((each) => ({ query: { credit, status: each, search: text, referral_token } }));
  if (credit !== undefined) return [{ query: { credit, status, search: text, referral_token } }];
  const query = { ...statusQuery(status), referral_token };
  if (text === undefined) return [{ query: canSort(search) ? { ...query, order } : query }];
  return [
    ...(isName(text) ? [] : [{ query: { ...query, search: text } }]),
    ...namesOf(text).map((name, index) => ({ query: { ...query, name }, isFallback: index > 0 })),
  ];
}

/** Lists the people of a status in the order of joining, those offered or pending by id. */
export function statusQuery(status: NonNullable<PeopleSearch['status']>): ListingQuery {
  return status === 'pending' || status === 'offered' ? { status } : { offboarded_request: status === 'offboarded' };
}

/** Several words with a letter are a name: an email or a token has no space, and a phone no letter. */
function isName(text: string): boolean {
  return /\s/.test(text.trim()) && /\p{Letter}/u.test(text) && !text.includes('@');
}

/**
 * The values of `name` to try, because the service expects the last name first: "Berg Anna", then "Anna Berg", for the
 * typed "Anna Berg". None for a text that is no name.
 */
function namesOf(text: string): string[] {
  if (text.includes('@') || !/\p{Letter}/u.test(text)) return [];
  const words = text.split(/[\s,]+/).filter(Boolean);
  const spellings = text.includes(',') || words.length > NAME_WORDS_MAX ? [words] : rotationsOf(words);
  return spellings
    .map((spelling) => spelling.join(' ').slice(0, NAME_LENGTH.max))
    .filter(({ length }) => length >= NAME_LENGTH.min);
}

/** First the last word moved to the front, then the last two, and so on; the unchanged words come last. */
function rotationsOf<Word>(words: readonly Word[]): Word[][] {
  return words.map((_, index) => [
    ...words.slice(words.length - 1 - index),
    ...words.slice(0, words.length - 1 - index),
  ]);
}
