import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './api';
import type { components } from './generated/openapi';

const PAGE_SIZE_MAX = 100;

export type Waitlist = components['schemas']['Waitlist'];

/** All waitlists of the owner. */
export function waitlistsQuery() {
  return queryOptions({
    queryKey: ['waitlists'],
    queryFn: async ({ signal }) => {
      const waitlists: Waitlist[] = [];
      for (;;) {
        const page = await bodyOf(
          api.GET('/api/v1/waitlist', {
            params: { query: { limit: PAGE_SIZE_MAX, after_id: waitlists.at(-1)?.id } },
            signal,
          }),
        );
        waitlists.push(...page);
        if (page.length < PAGE_SIZE_MAX) return waitlists;
      }
    },
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
