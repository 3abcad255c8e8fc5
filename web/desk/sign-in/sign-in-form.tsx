import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { showFaults } from '../parts/field-faults';
import { ProblemAlert } from '../parts/problem-alert';
import { Problem } from '../problem';
import { signIn } from '../session';

export function SignInForm() {
  const form = useForm({ initialValues: { email: '', password: '' } });
  const password = useRef<HTMLInputElement>(null);
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const send = useMutation({
    mutationFn: ({ email, password }: typeof form.values) => signIn(email, password),
    onMutate: () => setUnplaced(null),
    onError: (error) => {
      setUnplaced(showFaults(error, form));
      password.current?.select();
    },
  });
  const secondsLeft = useCountdown(send.error);
  return (
    <form onSubmit={form.onSubmit((values) => send.mutate(values))}>
      <Stack>
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          required
          data-autofocus
          autoFocus
          {...form.getInputProps('email')}
        />
        <PasswordInput
          ref={password}
          label="Password"
          autoComplete="current-password"
          required
          {...form.getInputProps('password')}
        />
        {unplaced !== null && <ProblemAlert error={unplaced} />}
        <Button type="submit" loading={send.isPending} disabled={secondsLeft > 0}>
          {secondsLeft > 0 ? `Try again in ${secondsLeft} s` : 'Sign in'}
        </Button>
      </Stack>
    </form>
  );
}

/** The seconds until the service takes another attempt; 0 as soon as it does. */
function useCountdown(error: unknown): number {
  const [secondsLeft, setSecondsLeft] = useState(0);
  useEffect(() => {
    if (!(error instanceof Problem) || error.retryAfterSeconds === null) return;
    const end = Date.now() + error.retryAfterSeconds * 1_000;
    const tick = () => setSecondsLeft(Math.max(0, Math.ceil((end - Date.now()) / 1_000)));
    tick();
    const timer = setInterval(tick, 1_000);
    return () => clearInterval(timer);
  }, [error]);
  return secondsLeft;
}
