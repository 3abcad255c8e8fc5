import { Alert, Button, Code, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { WRONG_CODE } from '../fault-words';
import { showFaults } from '../parts/field-faults';
import { duration } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { Problem } from '../problem';
import { signIn } from '../session';

/** Wrong codes can mean a wait of hours. */
const MINUTES_FROM = 100;

const isRefusal = (error: unknown, code: string) => error instanceof Problem && error.code === code;

/** Asks for the email and the password, then for the code of those who have a second factor. */
export function SignInForm({ onSignedIn }: { onSignedIn?: (() => void) | undefined }) {
  const form = useForm({ initialValues: { email: '', password: '', otp: '' } });
  const password = useRef<HTMLInputElement>(null);
  const code = useRef<HTMLInputElement>(null);
  const [asksCode, setAsksCode] = useState(false);
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const send = useMutation({
    mutationFn: ({ otp, ...credentials }: typeof form.values) =>
      signIn({ ...credentials, ...(asksCode && { otp: otp.trim() }) }),
    onMutate: () => setUnplaced(null),
    onSuccess: onSignedIn,
    onError: (error) => {
      if (isRefusal(error, 'OTP_REQUIRED')) return setAsksCode(true);
      setUnplaced(showFaults(error, form));
      (asksCode ? code : password).current?.select();
    },
  });
  const secondsLeft = useCountdown(send.error);
  const begin = () => {
    setAsksCode(false);
    setUnplaced(null);
    form.setValues({ password: '', otp: '' });
  };
  return (
    <form onSubmit={form.onSubmit((values) => send.mutate(values))}>
      <Stack>
        {asksCode ? (
          <>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              Signing in as <bdi>{form.values.email}</bdi>
            </Text>
            <TextInput
              key="otp"
              ref={code}
              label="Code"
              description="The six digits that your authenticator app shows now, or one of your recovery codes."
              autoComplete="one-time-code"
              autoCapitalize="off"
              spellCheck={false}
              required
              data-autofocus
              autoFocus
              {...form.getInputProps('otp')}
            />
          </>
        ) : (
          <>
            <TextInput
              key="email"
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
          </>
        )}
        {unplaced !== null &&
          (asksCode && isRefusal(unplaced, 'WRONG_CREDENTIALS') ? (
            <Alert color="red" variant="light" role="alert">
              {WRONG_CODE}
            </Alert>
          ) : (
            <ProblemAlert error={unplaced} />
          ))}
        <Button type="submit" loading={send.isPending} disabled={secondsLeft > 0}>
          {secondsLeft > 0 ? `Try again in ${waitOf(secondsLeft)}` : 'Sign in'}
        </Button>
        {asksCode && (
          <>
            <Button variant="subtle" onClick={begin}>
              Use another login
            </Button>
            <Text size="sm" c="dimmed">
              Lost both the app and the recovery codes? An owner of your account can reset your second factor, and so
              can the operator of this service: <Code>member reset-two-factor</Code>
            </Text>
          </>
        )}
      </Stack>
    </form>
  );
}

function waitOf(seconds: number): string {
  return seconds < MINUTES_FROM ? `${seconds} s` : duration(seconds);
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
