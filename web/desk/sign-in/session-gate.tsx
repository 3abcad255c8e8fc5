import { Container, Modal, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { PageSkeleton } from '../parts/delayed';
import { PageProblem } from '../parts/page-fault';
import { signInMethodsQuery } from '../queries';
import { mayHaveLogin, resume as resumeLogin, session } from '../session';
import { useStore } from '../store';
import { SignInMethods, SignInPage } from './sign-in.page';

/** Above all other dialogs, which may be open. */
const SIGN_IN_LAYER = 1_000;

/** Shows a page to those who are signed in. When a login ends, it asks over the page, which keeps what was typed. */
export function SessionGate({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const state = useStore(session);
  const { mutate: resume, error } = useMutation({
    // A sign-in at the provider may have begun there.
    mutationFn: async () =>
      resumeLogin(mayHaveLogin() || (await queries.ensureQueryData(signInMethodsQuery())).sso !== null),
  });
  const [wasSignedIn, setWasSignedIn] = useState(false);
  useEffect(() => {
    if (session.get() === 'unknown') resume();
  }, [resume]);
  if (state === 'signed-in' && !wasSignedIn) setWasSignedIn(true);
  if (state === 'unknown')
    return (
      <Container component="main" size="sm" py="xl">
        {error ? <PageProblem error={error} onRetry={() => resume()} /> : <PageSkeleton />}
      </Container>
    );
  return (
    <>
      {wasSignedIn ? children : <SignInPage />}
      <Modal.Root
        opened={wasSignedIn && state === 'signed-out'}
        onClose={() => undefined}
        closeOnClickOutside={false}
        closeOnEscape={false}
        centered
        zIndex={SIGN_IN_LAYER}
      >
        <Modal.Overlay />
        {/* Without the library's header, which would be a second one above another dialog. */}
        <Modal.Content aria-label="Sign in again">
          <Modal.Body>
            <Stack>
              <Title order={2} size="h4">
                Sign in again
              </Title>
              <Text size="sm">Your login has ended. Anything you typed is kept.</Text>
              <SignInMethods isOverPage />
            </Stack>
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}
