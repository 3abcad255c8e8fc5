import { Modal } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { onSessionChange, refresh, sessionState } from '../session';
import { SignInForm } from './sign-in-form';

/** Shows the desk to those who are signed in. When a login ends, it asks over the page, which keeps what was typed. */
export function SessionGate() {
  const state = useSyncExternalStore(onSessionChange, sessionState);
  const [wasSignedIn, setWasSignedIn] = useState(false);
  useEffect(() => {
    if (state === 'unknown') void refresh();
    if (state === 'signed-in') setWasSignedIn(true);
  }, [state]);
  if (state === 'unknown') return null;
  if (state === 'signed-out' && !wasSignedIn) return <SignInForm />;
  return (
    <>
      <Outlet />
      <Modal opened={state === 'signed-out'} onClose={() => undefined} withCloseButton={false} title="Sign in again">
        <SignInForm />
      </Modal>
    </>
  );
}
