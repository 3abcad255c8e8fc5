import { Alert, Anchor, Code, Divider, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { wordsOfSso } from '../fault-words';
import { PageSkeleton } from '../parts/delayed';
import { ProblemAlert } from '../parts/problem-alert';
import { signInMethodsQuery } from '../queries';
import { PlainPage } from './plain-page';
import { ProviderButton } from './provider-button';
import { SignInForm } from './sign-in-form';

/** `error`: the code of a sign-in at the provider that failed. */
export function SignInPage({ error, onSignedIn }: { error?: string; onSignedIn?: () => void }) {
  return (
    <PlainPage title="Sign in">
      {error !== undefined && (
        <Alert color="red" variant="light" role="alert">
          {wordsOfSso(error)}
        </Alert>
      )}
      <SignInMethods onSignedIn={onSignedIn}>
        <ForgottenPassword />
      </SignInMethods>
    </PlainPage>
  );
}

/** The ways to sign in that the service has. `children` follow the form of the password. */
export function SignInMethods({
  isOverPage = false,
  onSignedIn,
  children,
}: {
  /** Whether it stands over a page that must stay as it is. */
  isOverPage?: boolean;
  onSignedIn?: (() => void) | undefined;
  children?: ReactNode;
}) {
  const methods = useQuery(signInMethodsQuery());
  if (methods.isError) return <ProblemAlert error={methods.error} onRetry={() => void methods.refetch()} />;
  if (!methods.data) return <PageSkeleton />;
  const { password: hasPasswords, sso } = methods.data;
  return (
    <Stack>
      {hasPasswords && <SignInForm onSignedIn={onSignedIn} />}
      {hasPasswords && children}
      {hasPasswords && sso && <Divider label="or" />}
      {sso && <ProviderButton name={sso.name} isInNewTab={isOverPage} />}
      {sso && isOverPage && (
        <Text size="sm" c="dimmed">
          It opens in another tab. Come back here afterwards.
        </Text>
      )}
    </Stack>
  );
}

function ForgottenPassword() {
  const { data: methods } = useQuery(signInMethodsQuery());
  if (methods?.password_reset)
    return (
      <Anchor size="sm" component={Link} to="/forgotten">
        Forgot your password?
      </Anchor>
    );
  return (
    <Text size="sm" c="dimmed">
      Forgot the password? An owner of your account can give you a link, and the operator of this service can set a new
      one: <Code>member set-password</Code>
    </Text>
  );
}
