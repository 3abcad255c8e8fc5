import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from '../api';
import type { components } from '../generated/openapi';

export type ReleaseRun = components['schemas']['Release'];

const PAGE_SIZE = 10;
/** While a run is under way, and otherwise, to show planned runs when they begin. */
const POLL_MS = { running: 2_000, idle: 30_000 };

/** The runs of a plan, newest first, page by page. */
export function releaseRunsQuery(waitlistId: number) {
  return infiniteQueryOptions({
    queryKey: ['waitlists', waitlistId, 'release runs'],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ signal, pageParam }) => {
      const params = { path: { waitlist_id: waitlistId }, query: { after_id: pageParam, limit: PAGE_SIZE } };
      return bodyOf(api.GET('/api/v1/waitlist/{waitlist_id}/release', { params, signal }));
    },
    getNextPageParam: (page) => (page.length < PAGE_SIZE ? undefined : (page.at(-1)?.id ?? undefined)),
    refetchInterval: ({ state }) => POLL_MS[state.data?.pages[0]?.some(isRunning) ? 'running' : 'idle'],
  });
}

export function isRunning({ state }: ReleaseRun): boolean {
  return state === 'running';
}

/** What a run would offer now. Changes nothing. */
export function releasePreviewQuery(waitlistId: number) {
  return queryOptions({
    queryKey: ['waitlists', waitlistId, 'release preview'],
    queryFn: async ({ signal }) => {
      const params = { path: { waitlist_id: waitlistId } };
      return bodyOf(api.POST('/api/v1/waitlist/{waitlist_id}/release', { params, body: { dry_run: true }, signal }));
    },
    staleTime: 0,
    // After a run, it would name those who have got an offer.
    gcTime: 0,
  });
}

/** Runs the plan once, now. A repeat with the same key does not run it again. @throws Problem */
export async function runRelease(waitlistId: number, key: string): Promise<ReleaseRun> {
  const params = { path: { waitlist_id: waitlistId }, header: { 'Idempotency-Key': key } };
  return bodyOf(api.POST('/api/v1/waitlist/{waitlist_id}/release', { params, body: {} }));
}
