import { Button, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import { showFaults } from '../parts/field-faults';
import { ProblemAlert } from '../parts/problem-alert';
import { Section } from '../parts/section';
import { sessionsQuery } from '../queries';
import { NewPasswordInput } from '../sign-in/new-password-input';

export function PasswordForm() {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { current_password: '', new_password: '' } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const change = useMutation({
    mutationFn: (body: typeof form.values) => bodyOf(api.POST('/api/v1/auth/password', { body })),
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
    onSuccess: () => {
      form.reset();
      notifications.show({ message: 'Password changed. All other logins have ended.' });
      return queries.invalidateQueries(sessionsQuery());
    },
  });
  return (
    <Section title="Password" description="A change ends all other logins. Account keys keep working.">
      <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
        <Stack maw="var(--width-field)" align="stretch">
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            {...form.getInputProps('current_password')}
          />
          <NewPasswordInput label="New password" {...form.getInputProps('new_password')} />
          {unplaced !== null && <ProblemAlert error={unplaced} />}
          <Button type="submit" variant="default" loading={change.isPending} style={{ alignSelf: 'flex-start' }}>
            Change password
          </Button>
        </Stack>
      </form>
    </Section>
  );
}
