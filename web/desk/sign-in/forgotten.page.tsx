import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { bodyOf, publicApi } from '../api';
import { showFaults } from '../parts/field-faults';
import { ProblemAlert } from '../parts/problem-alert';
import { signInMethodsQuery } from '../queries';
import { PlainPage } from './plain-page';

/** Mails a link for a new password. The answer is the same for every email. */
export function ForgottenPage() {
  const form = useForm({ initialValues: { email: '' } });
  const { data: methods } = useQuery(signInMethodsQuery());
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const ask = useMutation({
    mutationFn: (body: typeof form.values) => bodyOf(publicApi.POST('/api/v1/auth/password/forgotten', { body })),
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
  });
  // The page of the sign-in says what to do instead.
  if (methods && !methods.password_reset) return <Navigate to="/" replace />;
  const back = (
    <Anchor size="sm" component={Link} to="/">
      Back to sign in
    </Anchor>
  );
  if (ask.isSuccess)
    return (
      <PlainPage title="Check your mail">
        <Text role="status" style={{ overflowWrap: 'anywhere' }}>
          If <bdi>{ask.variables.email}</bdi> has a password here, a mail with a link is on its way. The link works
          once, for one hour.
        </Text>
        <Text size="sm" c="dimmed">
          No mail? Check your spam folder, or ask an owner of your account for a link.
        </Text>
        {back}
      </PlainPage>
    );
  return (
    <PlainPage title="Forgot your password?">
      <form onSubmit={form.onSubmit((values) => ask.mutate(values))}>
        <Stack>
          <TextInput
            label="Email"
            description="The one that you sign in with. We mail you a link to set a new password."
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
          {unplaced !== null && <ProblemAlert error={unplaced} />}
          <Button type="submit" loading={ask.isPending}>
            Mail me a link
          </Button>
        </Stack>
      </form>
      {back}
    </PlainPage>
  );
}
