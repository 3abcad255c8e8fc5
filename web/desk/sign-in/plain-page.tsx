import { Center, Stack, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';

/** A page for somebody who is not signed in. */
export function PlainPage({ title, children }: { title: string; children: ReactNode }) {
  useDocumentTitle(`${title} · Waitlist desk`);
  return (
    <Center component="main" mih="100vh" p="md">
      <Stack w="100%" maw="var(--width-field)" gap="lg">
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          {title}
        </Title>
        {children}
      </Stack>
    </Center>
  );
}
