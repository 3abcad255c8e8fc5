import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './api';
import type { components } from './generated/openapi';
import { Problem } from './problem';

export type Waitlist = components['schemas']['Waitlist'];

/** All waitlists of the owner. */
export function waitlistsQuery() {
  return queryOptions({
    queryKey: ['waitlists'],
    queryFn: async ({ signal }) => bodyOf(api.GET('/api/v1/waitlist', { signal })),
  });
}

/** One waitlist with its settings and totals. */
export function waitlistQuery(waitlistId: number) {
  return queryOptions({
    queryKey: ['waitlists', waitlistId],
    queryFn: async ({ signal }) =>
      (await bodyOf(
        api.GET('/api/v1/waitlist/{waitlist_id}', { params: { path: { waitlist_id: waitlistId } }, signal }),
      )) as Waitlist,
  });
}

const IMPORT_POLL_MS = 2_000;

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
