import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, bodyOf } from '../api';
import { type Waitlist, waitlistQuery, waitlistsQuery } from '../queries';
import { useFocusKeeper } from './use-focus-keeper';

type WaitlistChange = { readonly is_closed: boolean } | { readonly is_public: boolean };

export interface Act {
  readonly name: 'closing' | 'hiding';
  readonly label: string;
  readonly change: WaitlistChange;
  readonly done: string;
  /** Asked before the action; null if it takes nothing away, and happens at once. */
  readonly question: { readonly title: string; readonly text: string } | null;
}

/**
 * Opens or closes a waitlist, or makes it public or private. Shows the notice `done` afterwards. `start` is for a
 * button that the act disables or removes: it keeps the focus.
 */
export function useWaitlistChange(waitlistId: number) {
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: ({ change }: Act) =>
      bodyOf(
        api.PATCH('/api/v1/waitlist/{waitlist_id}', { params: { path: { waitlist_id: waitlistId } }, body: change }),
      ),
    onSuccess: (updated, { done }) => {
      queries.setQueryData(waitlistQuery(waitlistId).queryKey, updated);
      void queries.invalidateQueries({ queryKey: waitlistsQuery().queryKey });
      notifications.show({ message: done });
    },
  });
  const keepFocus = useFocusKeeper(send.isPending);
  const start = (act: Act) => {
    keepFocus();
    send.mutate(act);
  };
  return { send, start };
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

/** What an owner can do about who can join, and where. */
export function actsOf(waitlist: Waitlist): readonly [Act, Act] {
  return [closing(waitlist), hiding(waitlist)];
}

function closing({ is_closed: isClosed }: Waitlist): Act {
  return isClosed
    ? {
        name: 'closing',
        label: 'Open it again',
        change: { is_closed: false },
        done: 'The waitlist is open.',
        question: null,
      }
    : {
        name: 'closing',
        label: 'Close the waitlist',
        change: { is_closed: true },
        done: 'The waitlist is closed.',
        question: {
          title: 'Close the waitlist?',
          text: 'Nobody new can join, not even on your own pages. Those who joined keep their place and still find it. You can open the waitlist again at any time.',
        },
      };
}

function hiding({ is_public: isPublic }: Waitlist): Act {
  return isPublic
    ? {
        name: 'hiding',
        label: 'Make it private',
        change: { is_public: false },
        done: 'The waitlist is private.',
        question: {
          title: 'Make the waitlist private?',
          text: 'Its signup page, widget and leaderboard disappear, and referral links to the page lead to nothing. Apps that know its id can still sign people up, and private pages of people stay. You can make it public again at any time.',
        },
      }
    : {
        name: 'hiding',
        label: 'Make it public again',
        change: { is_public: true },
        done: 'The waitlist is public.',
        question: null,
      };
}
