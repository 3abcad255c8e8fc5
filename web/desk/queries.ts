import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { answerOf, api, bodyOf, hasNextPage, publicApi } from './api';
import type { components } from './generated/openapi';
import { Problem } from './problem';

const AUDIT_PAGE_SIZE = 25;
const IMPORT_POLL_MS = 2_000;
const DELIVERY_PAGE_SIZE = 25;
const DELIVERY_POLL_MS = 3_000;
const DAY_MS = 86_400_000;

export type Waitlist = components['schemas']['Waitlist'];
export type Webhook = components['schemas']['Webhook'];
export type Member = components['schemas']['Member'];
export type DayStatistics = components['schemas']['DayStatistics'];

/** All waitlists of the account. */
export function waitlistsQuery() {
  return queryOptions({
    queryKey: ['waitlists'],
    queryFn: async ({ signal }) => {
      const waitlists: Waitlist[] = [];
      for (;;) {
        const params = { query: { after_id: waitlists.at(-1)?.id } };
        const { body, headers } = await answerOf(api.GET('/api/v1/waitlist', { params, signal }));
        waitlists.push(...body);
        if (!hasNextPage(headers)) return waitlists;
      }
    },
  });
}

/** One waitlist with its settings and totals. */
export function waitlistQuery(waitlistId: number) {
  return queryOptions({
    queryKey: ['waitlists', waitlistId],
    queryFn: async ({ signal }) => {
      const params = { path: { waitlist_id: waitlistId } };
      const get = () => bodyOf(api.GET('/api/v1/waitlist/{waitlist_id}', { params, signal }));
      const waitlist = await get();
      if (isOwners(waitlist)) return waitlist;
      // This operation is public, so the token has ended without a refusal. One that is not refreshes it.
      await bodyOf(api.GET('/api/v1/auth/session', { signal }));
      const again = await get();
      if (isOwners(again)) return again;
      throw new Problem(404, 'WAITLIST_NOT_FOUND', 'Your account has no such waitlist.');
    },
  });
}

/** The public view does not say `is_public`. */
function isOwners(waitlist: components['schemas']['WaitlistView']): waitlist is Waitlist {
  return waitlist.is_public !== undefined;
}

/** The longest span that the overview shows, today included. */
export const DAYS_MAX = 90;

/** The counts of the last {@link DAYS_MAX} days, and the top referrers. */
export function statisticsQuery(waitlistId: number) {
  return queryOptions({
    queryKey: ['waitlists', waitlistId, 'statistics'],
    queryFn: async ({ signal }) => {
      const from = new Date(Date.now() - (DAYS_MAX - 1) * DAY_MS).toISOString().slice(0, 10);
      const params = { path: { waitlist_id: waitlistId }, query: { from } };
      return bodyOf(api.GET('/api/v1/waitlist/{waitlist_id}/statistics', { params, signal }));
    },
  });
}

/** The member who is signed in. */
export function ownMemberQuery() {
  return queryOptions({
    queryKey: ['members', 'me'],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/member/me', { signal })),
  });
}

/** All members of the account, oldest first. */
export function membersQuery() {
  return queryOptions({
    queryKey: ['members'],
    queryFn: async ({ signal }) => {
      const members: Member[] = [];
      for (;;) {
        const params = { query: { after_id: members.at(-1)?.id } };
        const { body, headers } = await answerOf(api.GET('/api/v1/member', { params, signal }));
        members.push(...body);
        if (!hasNextPage(headers)) return members;
      }
    },
  });
}

/** The account that the member belongs to. */
export function accountQuery() {
  return queryOptions({
    queryKey: ['account'],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/account', { signal })),
  });
}

/** The ways to sign in at this service. */
export function signInMethodsQuery() {
  return queryOptions({
    queryKey: ['sign-in-methods'],
    staleTime: Infinity,
    queryFn: async ({ signal }) => bodyOf(publicApi.GET('/api/v1/auth/methods', { signal })),
  });
}

/** The live logins of the member. */
export function sessionsQuery() {
  return queryOptions({
    queryKey: ['sessions'],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/auth/session', { signal })),
  });
}

/** The keys of the account, without the keys themselves. */
export function accountKeysQuery() {
  return queryOptions({
    queryKey: ['account-keys'],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/api_key', { signal })),
  });
}

/** The audit log, newest first, page by page. */
export function auditQuery({ waitlist, uuid, member }: { waitlist?: number; uuid?: string; member?: string }) {
  return infiniteQueryOptions({
    queryKey: ['audit', { waitlist, uuid, member }],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ signal, pageParam }) => {
      const query = { waitlist_id: waitlist, uuid, member, after_id: pageParam, limit: AUDIT_PAGE_SIZE };
      return bodyOf(api.GET('/api/v1/audit', { params: { query }, signal }));
    },
    getNextPageParam: (page) => (page.length < AUDIT_PAGE_SIZE ? undefined : page.at(-1)?.id),
  });
}

/** The webhooks of a waitlist, without their secrets. */
export function webhooksQuery(waitlistId: number) {
  return queryOptions({
    queryKey: ['waitlists', waitlistId, 'webhooks'],
    queryFn: async ({ signal }) => {
      const params = { path: { waitlist_id: waitlistId } };
      return bodyOf(api.GET('/api/v1/waitlist/{waitlist_id}/webhook', { params, signal }));
    },
  });
}

/** The deliveries of a webhook, latest first. Asks again while some are pending. */
export function deliveriesQuery(waitlistId: number, webhookId: number) {
  return infiniteQueryOptions({
    queryKey: ['waitlists', waitlistId, 'webhooks', webhookId, 'deliveries'],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ signal, pageParam }) => {
      const path = { waitlist_id: waitlistId, webhook_id: webhookId };
      const query = { after_id: pageParam, limit: DELIVERY_PAGE_SIZE };
      return bodyOf(
        api.GET('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}/delivery', { params: { path, query }, signal }),
      );
    },
    getNextPageParam: (page) => (page.length < DELIVERY_PAGE_SIZE ? undefined : page.at(-1)?.id),
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.some(({ status }) => status === 'pending') ? DELIVERY_POLL_MS : false,
  });
}

/** The latest import of the last 30 days, or null. Asks again while it runs. */
export function latestImportQuery(waitlistId: number) {
  return queryOptions({
    queryKey: ['waitlists', waitlistId, 'import'],
    queryFn: async ({ signal }) => {
      try {
        const path = { waitlist_id: waitlistId };
        return await bodyOf(api.GET('/api/v1/waitlist/{waitlist_id}/import', { params: { path }, signal }));
      } catch (error) {
        if (error instanceof Problem && error.code === 'NO_IMPORT_FOUND') return null;
        throw error;
      }
    },
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? IMPORT_POLL_MS : false),
  });
}
