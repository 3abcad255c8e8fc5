import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '../api';
import { type Waitlist, waitlistQuery, waitlistsQuery } from '../queries';

export type WaitlistChange = { readonly is_closed: boolean } | { readonly is_public: boolean };

/** Opens or closes a waitlist, or makes it public or private. Shows the notice `done` afterwards. */
export function useWaitlistChange(waitlistId: number) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ change }: { change: WaitlistChange; done: string }) =>
      bodyOf(
        api.PATCH('/api/v1/waitlist/{waitlist_id}', { params: { path: { waitlist_id: waitlistId } }, body: change }),
      ),
    onSuccess: (updated, { done }) => {
      queries.setQueryData(waitlistQuery(waitlistId).queryKey, updated);
      void queries.invalidateQueries({ queryKey: waitlistsQuery().queryKey });
      notifications.show({ message: done });
    },
  });
}

export function stateTitle({ is_closed: isClosed, is_public: isPublic }: Waitlist): string {
  if (isClosed) return isPublic ? 'The waitlist is closed' : 'The waitlist is closed and private';
  return isPublic ? 'The waitlist is open' : 'The waitlist is private';
}

/** Who can join. */
export function stateText({ is_closed: isClosed, is_public: isPublic }: Waitlist): string {
  if (isPublic && !isClosed) return 'Everybody who has the address can join.';
  const joining = isClosed
    ? 'Nobody new can join. Those who joined still find their place.'
    : 'Apps that know its id can still sign people up.';
  return isPublic ? joining : `It has no signup page, widget or leaderboard. ${joining}`;
}
