import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { bodyOf, publicApi } from '../api';
import { showFaults } from '../parts/field-faults';
import { ProblemAlert } from '../parts/problem-alert';
import { Problem } from '../problem';
import { signInMethodsQuery } from '../queries';
import { useStore } from '../store';
import { linkToken } from './link-token';
import { NewPasswordInput } from './new-password-input';
import { PlainPage } from './plain-page';

/** Where the link of a reset leads to. */
export function ResetPage() {
  const token = useStore(linkToken);
  return token === null ? <EndedReset /> : <ResetForm key={token} token={token} />;
}

function ResetForm({ token }: { token: string }) {
  const form = useForm({ initialValues: { new_password: '' } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const reset = useMutation({
    mutationFn: (values: typeof form.values) =>
      bodyOf(publicApi.POST('/api/v1/auth/password/reset', { body: { token, ...values } })),
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
  });
  if (reset.isSuccess)
    return (
      <PlainPage title="Password changed">
        <Text role="status">All your logins have ended. Sign in with the new password.</Text>
        <Button component={Link} to="/">
          Go to sign in
        </Button>
      </PlainPage>
    );
  if (unplaced instanceof Problem && unplaced.code === 'LINK_NOT_FOUND') return <EndedReset />;
  return (
    <PlainPage title="Set a new password">
      <form onSubmit={form.onSubmit((values) => reset.mutate(values))}>
        <Stack>
          <NewPasswordInput label="New password" autoFocus {...form.getInputProps('new_password')} />
          {unplaced !== null && <ProblemAlert error={unplaced} />}
          <Button type="submit" loading={reset.isPending}>
            Set password
          </Button>
        </Stack>
      </form>
    </PlainPage>
  );
}

function EndedReset() {
  const { data: methods } = useQuery(signInMethodsQuery());
  return (
    <PlainPage title="This link has ended">
      <Text>
        A link for a new password works once, for one hour, until a newer one is made. If you have just reloaded the
        page, open the link again.
      </Text>
      {methods?.password_reset && (
        <Anchor component={Link} to="/forgotten">
          Get a new link
        </Anchor>
      )}
      <Anchor component={Link} to="/">
        Go to sign in
      </Anchor>
    </PlainPage>
  );
}
