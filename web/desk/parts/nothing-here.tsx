import { Button, Center, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';

/** For an address that leads to nothing. `children` says what is missing. */
export function NothingHere({ children = 'There is no page at this address.' }: { children?: string }) {
  useDocumentTitle('Not found · Waitlist desk');
  return (
    <Center mih="50vh">
      <Stack align="center" gap="sm">
        <Title order={1} size="h2">
          Not found
        </Title>
        <Text c="dimmed">{children}</Text>
        <Button component={Link} to="/" variant="default">
          Go to your waitlists
        </Button>
      </Stack>
    </Center>
  );
}
