import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './desk.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { styleNonce } from './environment';
import { connectionLost } from './connection';
import { Problem } from './problem';
import { router } from './router';
import { colorVariables, theme } from './theme';

const RETRIES_MAX = 2;

const queries = new QueryClient({
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
