import { Skeleton, Stack, Switch, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { Delayed } from '../parts/delayed';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import { accountQuery, membersQuery, ownMemberQuery, signInMethodsQuery } from '../queries';
import { countMembers } from './member-name';

/** Whether all members need a second factor. */
export function TwoFactorRule() {
  const queries = useQueryClient();
  const account = useQuery(accountQuery());
  const { data: members = [] } = useQuery(membersQuery());
  const { data: me } = useQuery(ownMemberQuery());
  const { data: methods } = useQuery(signInMethodsQuery());
  const [isAsking, setIsAsking] = useState(false);
  const set = useMutation({
    mutationFn: (require_two_factor: boolean) => bodyOf(api.PATCH('/api/v1/account', { body: { require_two_factor } })),
    onSuccess: (changed) => {
      queries.setQueryData(accountQuery().queryKey, changed);
      notifications.show({
        message: changed.require_two_factor
          ? 'A second factor is required from now on.'
          : 'A second factor is no longer required.',
      });
    },
  });
  // Without passwords, the provider decides.
  if (methods && !methods.password) return null;
  const without = members.filter(
    ({ status, two_factor, sign_in }) => status === 'active' && !two_factor && sign_in.includes('password'),
  ).length;
  return (
    <Section
      title="Second factor"
      description="A code from an app, besides the password. Account keys need none. For single sign-on, the provider decides."
    >
      {account.isError && <ProblemAlert error={account.error} onRetry={() => void account.refetch()} />}
      {account.isPending && (
        <Delayed>
          <Skeleton height={40} />
        </Delayed>
      )}
      {account.data && (
        <Stack gap="sm">
          <Switch
            label="Require a second factor of all members who sign in with a password"
            checked={account.data.require_two_factor}
            disabled={set.isPending}
            onChange={({ currentTarget }) => (currentTarget.checked ? setIsAsking(true) : set.mutate(false))}
          />
          {set.isError && !isAsking && <ProblemAlert error={set.error} />}
        </Stack>
      )}
      <ConfirmDialog
        isOpen={isAsking}
        title="Require a second factor?"
        act="Require it"
        color="indigo"
        onConfirm={() => set.mutateAsync(true)}
        onClose={() => setIsAsking(false)}
      >
        <Text size="sm">
          {without === 0
            ? 'All active members with a password have one already.'
            : `${countMembers(without)} without one can open only the profile until they set it up there, also in logins that are open now.`}
        </Text>
        {me && !me.two_factor && me.sign_in.includes('password') && (
          <Text size="sm" fw={500}>
            You have none yet.
          </Text>
        )}
      </ConfirmDialog>
    </Section>
  );
}
