import './sign-in/link-token';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './desk.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { hashKey, MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { styleNonce } from './environment';
import { connectionLost } from './connection';
import { Problem } from './problem';
import { ownMemberQuery, waitlistsQuery } from './queries';
import { router } from './router';
import { colorVariables, theme } from './theme';

const RETRIES_MAX = 2;

/** Refusals that say that the desk knows an old role of the member, or an old rule of the account. */
const CHANGED_RIGHTS = ['INSUFFICIENT_ROLE', 'TWO_FACTOR_REQUIRED'];

const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryHash }) => {
      // The list of waitlists, asked again by its own refusal, would be asked without end.
      if (queryHash !== hashKey(waitlistsQuery().queryKey)) learnRights(error);
    },
  }),
  mutationCache: new MutationCache({ onError: learnRights }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // A refusal stays one; a lost connection may come back.
      retry: (failures, error) => !(error instanceof Problem && error.status < 500) && failures < RETRIES_MAX,
      // Fails at once without a connection, where it would wait without a word.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

function learnRights(error: unknown): void {
  if (!(error instanceof Problem) || !CHANGED_RIGHTS.includes(error.code)) return;
  void queries.invalidateQueries({ queryKey: ownMemberQuery().queryKey });
  void queries.invalidateQueries({ queryKey: waitlistsQuery().queryKey, exact: true });
}

connectionLost.subscribe(() => {
  if (!connectionLost.get()) void queries.refetchQueries({ type: 'active' });
});
// For react-remove-scroll, which inserts a style element.
setNonce(styleNonce);

createRoot(document.getElementById('desk') as HTMLElement).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
      cssVariablesResolver={colorVariables}
    >
      <QueryClientProvider client={queries}>
        <Notifications />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
