import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query';
import { answerOf, api, bodyOf, hasNextPage } from '../api';
import type { components } from '../generated/openapi';
import { Problem } from '../problem';
import type { PeopleSearch } from './search';

/** A person as listings and offboardings show them. */
export type Person = components['schemas']['Waiter'];
/** A person with everything that the service knows. */
export type WholePerson = components['schemas']['DetailedWaiter'];
export type Changes = components['schemas']['UpdateWaiter'];
export type HistoryEvent = components['schemas']['AuditEvent'];

interface PeoplePage {
  readonly people: readonly Person[];
  /** Where the next page begins; null on the last page. */
  readonly nextAfterId: number | null;
  /** All people that the filters find; null where the service doesn't count them, in a search. */
  readonly total: number | null;
}

/** Everything about a waitlist and its people begins with this key, so that one call makes all of it fresh. */
const keyOf = (waitlistId: number) => ['waitlists', waitlistId];

interface Filter extends PeopleSearch {
  readonly limit?: number;
  readonly afterId?: number;
}

async function fetchPeople(waitlistId: number, filter: Filter, signal: AbortSignal): Promise<PeoplePage> {
  const { search, status = 'waiting', credit, order = 'queue', referral_token, limit, afterId } = filter;
  // These views have an order of their own, and the service pages them by id.
  const isById = status === 'pending' || credit !== undefined;
  const query = {
    waitlist_id: waitlistId,
    search,
    referral_token,
    credit,
    ...(isById ? { status } : { offboarded_request: status === 'offboarded' }),
    // A search has an order of its own too.
    order: search === undefined && !isById ? order : undefined,
    include_referrer: true,
    limit,
    after_id: afterId,
  };
  const { body: people, headers } = await answerOf(api.GET('/api/v1/waiter', { params: { query }, signal }));
  return {
    people,
    nextAfterId: hasNextPage(headers) ? (people.at(-1)?.id ?? null) : null,
    total: headers.has('x-total-count') ? Number(headers.get('x-total-count')) : null,
  };
}

/**
 * The people that the filters find, a page at a time. Pages follow each other by id, so none is skipped or shown twice.
 */
export function peopleQuery(waitlistId: number, filter: PeopleSearch) {
  return infiniteQueryOptions({
    queryKey: [...keyOf(waitlistId), 'people', filter],
    queryFn: async ({ pageParam, signal }) => fetchPeople(waitlistId, { ...filter, afterId: pageParam }, signal),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ nextAfterId }) => nextAfterId ?? undefined,
    // A reader of many pages would fetch them all again at each look into another window.
    refetchOnWindowFocus: false,
  });
}

/** The first people of the queue. */
export function nextPeopleQuery(waitlistId: number, limit: number) {
  return queryOptions({
    queryKey: [...keyOf(waitlistId), 'next people', limit],
    queryFn: async ({ signal }) => (await fetchPeople(waitlistId, { limit }, signal)).people,
    staleTime: 0,
  });
}

/** Those whom the person with this token referred: for each status that any of them has, the first few. */
export function referredPeopleQuery(waitlistId: number, token: string, limit: number) {
  return queryOptions({
    queryKey: [...keyOf(waitlistId), 'referred people', token, limit],
    queryFn: async ({ signal }) => {
      const filter = { referral_token: token, order: 'joined', limit } as const;
      const fetchGroup = async (status: Person['status']) => ({
        status,
        ...(await fetchPeople(waitlistId, { ...filter, status }, signal)),
      });
      const groups = await Promise.all((['waiting', 'offboarded', 'pending'] as const).map(fetchGroup));
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

/** Lets some people in, and returns those who were still in the queue. @throws Problem */
export async function letIn(waitlistId: number, people: readonly Pick<Person, 'id'>[], key: string): Promise<Person[]> {
  const body = {
    waitlist_id: waitlistId,
    offboard_request: true as const,
    waiters: people.map(({ id }) => ({ id })),
  };
  return bodyOf(api.PATCH('/api/v1/waiter', { params: once(key), body }));
}

/** Lets the first people of the queue in. @throws Problem */
export async function letNextIn(waitlistId: number, count: number, key: string): Promise<Person[]> {
  const body = { waitlist_id: waitlistId, offboard_request: true as const, offboard_next: count };
  return bodyOf(api.PATCH('/api/v1/waiter', { params: once(key), body }));
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
export async function erasePerson({ waitlist_id, uuid }: Person, key: string): Promise<void> {
  const body = { waitlist_id, signups: [{ uuid }] };
  await bodyOf(api.DELETE('/api/v1/signup', { params: once(key), body }));
}

/** What the desk calls a person: the email or the phone. */
export function contactOf({ email, phone }: Pick<Person, 'email' | 'phone'>): string {
  return email ?? phone ?? '';
}

export function nameOf({ first_name, last_name }: Pick<Person, 'first_name' | 'last_name'>): string {
  return [first_name, last_name].filter(Boolean).join(' ');
}
