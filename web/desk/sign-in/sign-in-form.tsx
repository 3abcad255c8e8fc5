import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { showFaults } from '../parts/field-faults';
import { ProblemAlert } from '../parts/problem-alert';
import { signIn } from '../session';

export function SignInForm() {
  const form = useForm({ initialValues: { email: '', password: '' } });
  const send = useMutation({
    mutationFn: ({ email, password }: typeof form.values) => signIn(email, password),
    onError: (error) => showFaults(error, form),
  });
  return (
    <form onSubmit={form.onSubmit((values) => send.mutate(values))}>
      <Stack>
        <TextInput label="Email" type="email" autoComplete="username" required {...form.getInputProps('email')} />
        <PasswordInput label="Password" autoComplete="current-password" required {...form.getInputProps('password')} />
        {send.isError && <ProblemAlert error={send.error} />}
        <Button type="submit" loading={send.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
