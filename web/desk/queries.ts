import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './api';
import type { components } from './generated/openapi';

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
