import { Center, Code, Container, Modal, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ConnectionNotice } from '../parts/connection-notice';
import { PageSkeleton } from '../parts/delayed';
import { PageProblem } from '../parts/page-fault';
import { resume as resumeLogin, session } from '../session';
import { useStore } from '../store';
import { SignInForm } from './sign-in-form';

/** Above all other dialogs, which may be open. */
const SIGN_IN_LAYER = 1_000;

/** Shows the desk to those who are signed in. When a login ends, it asks over the page, which keeps what was typed. */
export function SessionGate() {
  const state = useStore(session);
  const { mutate: resume, error } = useMutation({ mutationFn: resumeLogin });
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
      <ConnectionNotice />
      {wasSignedIn ? <Outlet /> : <SignInPage />}
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
              <SignInForm />
            </Stack>
          </Modal.Body>
        </Modal.Content>
      </Modal.Root>
    </>
  );
}

function SignInPage() {
  useDocumentTitle('Sign in · Waitlist desk');
  return (
    <Center component="main" mih="100vh" p="md">
      <Stack w="100%" maw="var(--width-field)" gap="lg">
        <Title order={1} size="h2">
          Sign in
        </Title>
        <SignInForm />
        <Text size="sm" c="dimmed">
          Forgot the password? The operator of this service can set a new one: <Code>owner set-password</Code>
        </Text>
      </Stack>
    </Center>
  );
}
