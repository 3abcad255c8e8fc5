import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query';
import { OFFBOARDING } from '../bounds';
import { answerOf, api, bodyOf, hasNextPage } from '../api';
import type { components } from '../generated/openapi';
import { Problem } from '../problem';
import { listingsOf, type ListingQuery, STATUSES, statusQuery } from './listings';
import type { PeopleSearch } from './search';

/** A person as listings and offboardings show them. */
export type Person = components['schemas']['Waiter'];
/** A person with everything that the service knows. */
export type WholePerson = components['schemas']['DetailedWaiter'];
/** A person with a new offer. */
export type OfferedPerson = components['schemas']['OfferedWaiter'];
export type Changes = components['schemas']['UpdateWaiter'];
export type HistoryEvent = components['schemas']['AuditEvent'];

export type AnsweredQuestion = components['schemas']['OwnerAnswer'];

/** The start of a page of a search. */
interface Start {
  /** The index in `listingsOf`. */
  readonly listing: number;
  /** After this person; without it, at the beginning. */
  readonly afterId?: number;
}

interface PeoplePage {
  readonly people: readonly Person[];
  /** Where the next page begins; null on the last page. */
  readonly next: Start | null;
  /** All people that the filters find; null where the service doesn't count them, in a search. */
  readonly total: number | null;
}

/** The largest page of the service. */
const PAGE_MAX = 100;
/** Of a search by name: those whom it finds are scattered over the queue, so that each position is counted alone. */
const NAMES_PAGE = 50;

/** Everything about a waitlist and its people begins with this key, so that one call makes all of it fresh. */
const keyOf = (waitlistId: number) => ['waitlists', waitlistId];

async function fetchListing(
  waitlistId: number,
  query: ListingQuery & { readonly limit?: number; readonly after_id?: number },
  signal?: AbortSignal,
) {
  const params = { query: { waitlist_id: waitlistId, ...query } };
  const { body: people, headers } = await answerOf(api.GET('/api/v1/waiter', { params, signal }));
  return {
    people,
    nextAfterId: hasNextPage(headers) ? (people.at(-1)?.id ?? null) : null,
    total: headers.has('x-total-count') ? Number(headers.get('x-total-count')) : null,
  };
}

/** A page of a search. Skips listings without people. */
async function fetchPage(
  waitlistId: number,
  search: PeopleSearch,
  { listing: first, afterId }: Start,
  signal?: AbortSignal,
): Promise<PeoplePage> {
  const listings = listingsOf(search);
  for (const [at, { query }] of listings.entries()) {
    if (at < first) continue;
    const limit = query.name === undefined ? PAGE_MAX : NAMES_PAGE;
    const start = { after_id: at === first ? afterId : undefined, limit };
    const page = await fetchListing(waitlistId, { ...query, include_referrer: true, ...start }, signal);
    if (page.people.length === 0) continue;
    const nextListing = listings.findIndex(({ isFallback }, index) => index > at && !isFallback);
    return {
      people: page.people,
      next:
        page.nextAfterId !== null
          ? { listing: at, afterId: page.nextAfterId }
          : nextListing >= 0
            ? { listing: nextListing }
            : null,
      total: listings.length === 1 ? page.total : null,
    };
  }
  return { people: [], next: null, total: 0 };
}

/**
 * The people that the filters find, in pages. Each page starts after the last person of the one before, so nobody is
 * skipped. A person that two listings of a search find is in both.
 */
export function peopleQuery(waitlistId: number, search: PeopleSearch) {
  return infiniteQueryOptions({
    queryKey: [...keyOf(waitlistId), 'people', search],
    queryFn: async ({ pageParam, signal }) => fetchPage(waitlistId, search, pageParam, signal),
    initialPageParam: { listing: 0 },
    getNextPageParam: ({ next }) => next ?? undefined,
    // A reader of many pages would fetch them all again at each look into another window.
    refetchOnWindowFocus: false,
  });
}

/** Each person once, although two listings of a search may find somebody. */
export function unique(people: readonly Person[]): Person[] {
  return [...new Map(people.map((person) => [person.uuid, person])).values()];
}

/** All people that the filters find, `max` at most. Calls `onProgress` with their number so far. @throws Problem */
export async function fetchEverybody(
  waitlistId: number,
  search: PeopleSearch,
  max: number,
  onProgress: (found: number) => void,
): Promise<Person[]> {
  const found = new Map<string, Person>();
  for (let start: Start | null = { listing: 0 }; start !== null && found.size < max;) {
    const { people, next }: PeoplePage = await fetchPage(waitlistId, search, start);
    for (const person of people) found.set(person.uuid, person);
    onProgress(found.size);
    start = next;
  }
  return [...found.values()].slice(0, max);
}

/**
 * The answers of people, by uuid; empty if the waitlist never had a question. Lists the people of each status by id, so
 * that one request brings many neighbors.
 */
export async function fetchAnswers(
  waitlistId: number,
  people: readonly Person[],
): Promise<Map<string, readonly AnsweredQuestion[]>> {
  const answers = new Map<string, readonly AnsweredQuestion[]>();
  const path = { waitlist_id: waitlistId };
  const waitlist = await bodyOf(api.GET('/api/v1/waitlist/{waitlist_id}', { params: { path } }));
  if (waitlist.questions.length === 0) return answers;
  const wanted = new Set(people.map(({ uuid }) => uuid));
  for (const status of STATUSES) {
    let left = people
      .flatMap((person) => (person.status === status ? [person.id] : []))
      .sort((one, other) => one - other);
    while (left.length > 0) {
      const [next = 0] = left;
      // The parameter must be at least 1, as ids are.
      const after_id = next > 1 ? next - 1 : undefined;
      const query = { status, questions_request: true, after_id, limit: PAGE_MAX };
      const { people: listed, nextAfterId } = await fetchListing(waitlistId, query);
      for (const { uuid, answers: given } of listed) if (wanted.has(uuid) && given) answers.set(uuid, given);
      left = nextAfterId === null ? [] : left.filter((id) => id > nextAfterId);
    }
  }
  return answers;
}

/** The first people of the queue. */
export function nextPeopleQuery(waitlistId: number, limit: number) {
  return queryOptions({
    queryKey: [...keyOf(waitlistId), 'next people', limit],
    queryFn: async ({ signal }) => (await fetchListing(waitlistId, { order: 'queue', limit }, signal)).people,
    staleTime: 0,
    // The first of before are no longer in line once they were let in.
    gcTime: 0,
  });
}

/** Those whom the person with this token referred: for each status that any of them has, the first few. */
export function referredPeopleQuery(waitlistId: number, token: string, limit: number) {
  return queryOptions({
    queryKey: [...keyOf(waitlistId), 'referred people', token, limit],
    queryFn: async ({ signal }) => {
      const fetchGroup = async (status: NonNullable<PeopleSearch['status']>) => {
        const query = { ...statusQuery(status), referral_token: token, limit };
        return { status, ...(await fetchListing(waitlistId, query, signal)) };
      };
      const groups = await Promise.all(STATUSES.map(fetchGroup));
      return groups.filter(({ people }) => people.length > 0);
    },
  });
}

export function personQuery(waitlistId: number, uuid: string) {
  return queryOptions({
    queryKey: [...keyOf(waitlistId), 'person', uuid],
    queryFn: async ({ signal }) => {
      const person = await bodyOf(api.GET('/api/v1/signup/{uuid}', { params: { path: { uuid } }, signal }));
      // The service finds the people of all waitlists.
      if (person.waitlist_id !== waitlistId)
        throw new Problem(404, 'NO_WAITER_FOUND', 'No such person is on this waitlist.');
      return person;
    },
  });
}

/** Reads everything about a waitlist and its people anew, once it is looked at. */
export async function refreshPeople(queries: QueryClient, waitlistId: number): Promise<void> {
  await Promise.all([keyOf(waitlistId), ['audit']].map((queryKey) => queries.invalidateQueries({ queryKey })));
}

/** A header that makes a repeat of a write harmless: the service gives the first answer again. */
const once = (key: string) => ({ header: { 'Idempotency-Key': key } });

/** Gets the number of people who are done, and the results of their requests. */
export type OnProgress<Result = unknown> = (done: number, results: readonly Result[]) => void;

/** People in one request. */
export const BULK_MAX = OFFBOARDING.waiters.maxItems;

/**
 * Sends an action on many people in requests of at most `BULK_MAX`. A repeat with the same key and people continues
 * where the attempt before it stopped.
 */
async function inBulks<Result>(
  people: readonly Person[],
  key: string,
  onProgress: OnProgress<Result> | undefined,
  act: (some: readonly Person[], key: string) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let done = 0; done < people.length; done += BULK_MAX) {
    onProgress?.(done, results);
    results.push(await act(people.slice(done, done + BULK_MAX), done === 0 ? key : `${key}-${done}`));
  }
  return results;
}

/** Lets some people in, and returns those who were still in the queue. @throws Problem */
export async function letIn(
  waitlistId: number,
  people: readonly Person[],
  key: string,
  onProgress?: OnProgress<readonly Person[]>,
): Promise<Person[]> {
  const results = await inBulks(people, key, onProgress, async (some, key) => {
    const waiters = some.map(({ id }) => ({ id }));
    const body = { waitlist_id: waitlistId, offboard_request: true as const, waiters };
    return bodyOf(api.PATCH('/api/v1/waiter', { params: once(key), body }));
  });
  return results.flat();
}

/** Approves or refuses the referrals of people, and returns how many of these changed. @throws Problem */
export async function decideReferrals(
  waitlistId: number,
  people: readonly Person[],
  credit: 'credited' | 'refused',
  key: string,
  onProgress?: OnProgress,
): Promise<number> {
  const params = { path: { waitlist_id: waitlistId } };
  const results = await inBulks(people, key, onProgress, async (some, key) => {
    const body = { credit, signups: some.map(({ uuid }) => ({ uuid })) };
    return bodyOf(
      api.POST('/api/v1/waitlist/{waitlist_id}/decide_referrals', { params: { ...params, ...once(key) }, body }),
    );
  });
  return results.reduce((sum, { changed }) => sum + changed, 0);
}

/** Lets the first people of the queue in. @throws Problem */
export async function letNextIn(waitlistId: number, count: number, key: string): Promise<Person[]> {
  const body = { waitlist_id: waitlistId, offboard_request: true as const, offboard_next: count };
  return bodyOf(api.PATCH('/api/v1/waiter', { params: once(key), body }));
}

/** Offers some people a seat, and returns those who were still in the queue, with their links. @throws Problem */
export async function offer(
  waitlistId: number,
  people: readonly Person[],
  hours: number | null,
  key: string,
  onProgress?: OnProgress<readonly OfferedPerson[]>,
): Promise<OfferedPerson[]> {
  const results = await inBulks(people, key, onProgress, (some, key) =>
    makeOffers(waitlistId, { signups: some.map(({ uuid }) => ({ uuid })), hours }, key),
  );
  return results.flat();
}

/** Offers the first people of the queue a seat. @throws Problem */
export async function offerNext(
  waitlistId: number,
  count: number,
  hours: number | null,
  key: string,
): Promise<OfferedPerson[]> {
  return makeOffers(waitlistId, { count, hours }, key);
}

async function makeOffers(
  waitlistId: number,
  body: components['schemas']['MakeOffers'],
  key: string,
): Promise<OfferedPerson[]> {
  const params = { path: { waitlist_id: waitlistId }, ...once(key) };
  return bodyOf(api.POST('/api/v1/waitlist/{waitlist_id}/offer', { params, body }));
}

/** The people who would be offered a seat now. Changes nothing. */
export function offerPreviewQuery(waitlistId: number, count: number) {
  return queryOptions({
    queryKey: [...keyOf(waitlistId), 'offer preview', count],
    queryFn: async ({ signal }) => {
      const params = { path: { waitlist_id: waitlistId } };
      const body = { count, dry_run: true };
      return bodyOf(api.POST('/api/v1/waitlist/{waitlist_id}/offer', { params, body, signal }));
    },
    staleTime: 0,
    // Those who were named an offer ago are no longer in line.
    gcTime: 0,
  });
}

/** Makes a new link for an open offer. The one before ends. @throws Problem */
export async function renewOfferLink(uuid: string, key: string): Promise<string> {
  const params = { path: { uuid }, ...once(key) };
  const { offer_url } = await bodyOf(api.POST('/api/v1/signup/{uuid}/offer_link', { params }));
  return offer_url;
}

/** Puts people who have an offer, or are no longer in line, back. Returns those who came back. @throws Problem */
export async function returnPeople(
  waitlistId: number,
  people: readonly Person[],
  key: string,
  onProgress?: OnProgress,
): Promise<Person[]> {
  const params = { path: { waitlist_id: waitlistId } };
  const results = await inBulks(people, key, onProgress, async (some, key) => {
    const body = { signups: some.map(({ uuid }) => ({ uuid })) };
    return bodyOf(api.POST('/api/v1/waitlist/{waitlist_id}/return', { params: { ...params, ...once(key) }, body }));
  });
  return results.flat();
}

/** Corrects or moves a person. @throws Problem */
export async function updatePerson(uuid: string, changes: Changes, key: string): Promise<WholePerson> {
  return bodyOf(api.PATCH('/api/v1/signup/{uuid}', { params: { path: { uuid }, ...once(key) }, body: changes }));
}

/** Takes back the credit of all whom a person referred, and returns how many records that changed. @throws Problem */
export async function refuseReferrals(
  { waitlist_id, referral_token }: Pick<Person, 'waitlist_id' | 'referral_token'>,
  key: string,
): Promise<number> {
  const { refused } = await bodyOf(
    api.POST('/api/v1/waitlist/{waitlist_id}/refuse_referrals', {
      params: { path: { waitlist_id }, ...once(key) },
      body: { referral_token },
    }),
  );
  return refused;
}

/** @throws Problem */
export async function erasePeople(
  waitlistId: number,
  people: readonly Person[],
  key: string,
  onProgress?: OnProgress,
): Promise<void> {
  await inBulks(people, key, onProgress, async (some, key) => {
    const body = { waitlist_id: waitlistId, signups: some.map(({ uuid }) => ({ uuid })) };
    await bodyOf(api.DELETE('/api/v1/signup', { params: once(key), body }));
  });
}

/** What the desk calls a person: the email or the phone. */
export function contactOf({ email, phone }: Pick<Person, 'email' | 'phone'>): string {
  return email ?? phone ?? '';
}

export function nameOf({ first_name, last_name }: Pick<Person, 'first_name' | 'last_name'>): string {
  return [first_name, last_name].filter(Boolean).join(' ');
}
