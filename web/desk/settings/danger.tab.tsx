import { Button, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import { ConfirmDialog, isTypedAsShown } from '../parts/confirm-dialog';
import { count } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import { type Waitlist, waitlistQuery, waitlistsQuery } from '../queries';

/** Closing, hiding and deleting the waitlist. */
export function DangerTab({ waitlist }: { waitlist: Waitlist }) {
  const { is_closed: isClosed, is_public: isPublic } = waitlist;
  return (
    <Stack maw={640}>
      <Toggle
        waitlist={waitlist}
        title={isClosed ? 'The waitlist is closed' : 'Close the waitlist'}
        text={
          isClosed
            ? 'Nobody new can join. Those who joined still find their place.'
            : 'Nobody new can join. Those who joined still find their place. You can open it again at any time.'
        }
        act={isClosed ? 'Open the waitlist' : 'Close the waitlist'}
        done={isClosed ? 'The waitlist is open.' : 'The waitlist is closed.'}
        change={{ is_closed: !isClosed }}
      />
      <Toggle
        waitlist={waitlist}
        title={isPublic ? 'Make the waitlist private' : 'The waitlist is private'}
        text={
          isPublic
            ? 'Its signup page, widget and leaderboard disappear. Apps that know its id can still sign people up, and private status pages stay. You can make it public again at any time.'
            : 'It has no signup page, widget or leaderboard. Apps that know its id can still sign people up.'
        }
        act={isPublic ? 'Make it private' : 'Make it public'}
        done={isPublic ? 'The waitlist is private.' : 'The waitlist is public.'}
        change={{ is_public: !isPublic }}
      />
      <Delete waitlist={waitlist} />
    </Stack>
  );
}

/** An act that can be taken back, so it happens at once. */
function Toggle({
  waitlist,
  title,
  text,
  act,
  done,
  change,
}: {
  waitlist: Waitlist;
  title: string;
  text: string;
  act: string;
  done: string;
  change: { is_closed: boolean } | { is_public: boolean };
}) {
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: () =>
      bodyOf(
        api.PATCH('/api/v1/waitlist/{waitlist_id}', { params: { path: { waitlist_id: waitlist.id } }, body: change }),
      ),
    onSuccess: (updated) => {
      queries.setQueryData(waitlistQuery(waitlist.id).queryKey, updated);
      void queries.invalidateQueries({ queryKey: waitlistsQuery().queryKey });
      notifications.show({ message: done });
    },
  });
  return (
    <Section title={title} description={text}>
      <Stack gap="sm" align="flex-start">
        {send.isError && <ProblemAlert error={send.error} onRetry={() => send.mutate()} />}
        <Button variant="default" loading={send.isPending} onClick={() => send.mutate()}>
          {act}
        </Button>
      </Stack>
    </Section>
  );
}

function Delete({ waitlist }: { waitlist: Waitlist }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const { waitlist_name: name, statistics } = waitlist;
  // The name may hold marks that turn the direction of what follows.
  const isolatedName = <bdi>{name}</bdi>;
  const close = () => {
    setAsking(false);
    setTyped('');
  };
  const remove = async (key: string) => {
    const params = { path: { waitlist_id: waitlist.id }, header: { 'Idempotency-Key': key } };
    await bodyOf(api.DELETE('/api/v1/waitlist/{waitlist_id}', { params }));
    // The page that follows leads to a waitlist of this list.
    queries.setQueryData(waitlistsQuery().queryKey, (all) => all?.filter(({ id }) => id !== waitlist.id));
    await navigate({ to: '/', replace: true });
    queries.removeQueries({ queryKey: waitlistQuery(waitlist.id).queryKey });
    notifications.show({ message: <>“{isolatedName}” is deleted.</> });
  };
  return (
    <Section
      title="Delete the waitlist"
      description="Deletes it with all its people, answers and referrals. Export it first if you may need the data."
    >
      <Button color="red" variant="outline" onClick={() => setAsking(true)}>
        Delete the waitlist
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title={<>Delete “{isolatedName}”?</>}
        act="Delete the waitlist"
        canAct={isTypedAsShown(typed, name)}
        onConfirm={remove}
        onClose={close}
      >
        <Text size="sm">
          {peopleOf(statistics.total_signups)} Pages that show this waitlist stop working. This cannot be undone.
        </Text>
        <TextInput
          label={<>Type {isolatedName} to confirm</>}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
      </ConfirmDialog>
    </Section>
  );
}

function peopleOf(total: number): string {
  if (total === 0) return 'Nobody is on it yet.';
  const people = total === 1 ? 'The 1 person on it is' : `The ${count(total)} people on it are`;
  return `${people} erased with everything they gave.`;
}
