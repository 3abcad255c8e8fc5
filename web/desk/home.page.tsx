import { Button, Center, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { PageSkeleton } from './parts/delayed';
import { PageProblem } from './parts/page-fault';
import { PageHeading } from './parts/page-heading';
import { waitlistsQuery } from './queries';
import { useMay } from './roles';
import { NewWaitlistDialog } from './waitlist/new-waitlist-dialog';

/** Leads to the first waitlist, or to making one. */
export function HomePage() {
  const waitlists = useQuery(waitlistsQuery());
  const [isCreating, setIsCreating] = useState(false);
  const mayCreate = useMay('editor');
  if (waitlists.isError) return <PageProblem error={waitlists.error} onRetry={() => void waitlists.refetch()} />;
  if (!waitlists.data) return <PageSkeleton />;
  const [first] = waitlists.data;
  if (first && !isCreating) return <Navigate to="/$waitlistId/overview" params={{ waitlistId: first.id }} replace />;
  return (
    <Center mih="50vh">
      <Stack align="center">
        <PageHeading title="No waitlist yet" />
        <Text c="dimmed" ta="center" maw="var(--width-field)">
          Each waitlist has its own signup page, settings and queue.
          {!mayCreate && ' Editors and owners of your account can make one.'}
        </Text>
        {mayCreate && <Button onClick={() => setIsCreating(true)}>Create a waitlist</Button>}
        <NewWaitlistDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
      </Stack>
    </Center>
  );
}
