import { Button, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import { ConfirmDialog, isTypedAsShown } from '../parts/confirm-dialog';
import { count } from '../parts/format';
import { Section } from '../parts/section';
import { type Waitlist, waitlistQuery, waitlistsQuery } from '../queries';

/** Deleting the waitlist. */
export function DangerTab({ waitlist }: { waitlist: Waitlist }) {
  return (
    <Stack maw="var(--width-form)">
      <Delete waitlist={waitlist} />
    </Stack>
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
