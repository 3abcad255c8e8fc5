import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Problem } from '../problem';
import { PageHeading } from './page-heading';
import { ProblemAlert } from './problem-alert';

const TITLE = 'This page could not be shown';

/** In place of a page that failed to load or to draw. After an upgrade, only a reload finds the new files. */
export function PageFault({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  if (error instanceof Problem) return <PageProblem error={error} onRetry={retry} />;
  return (
    <>
      <PageHeading title={TITLE} />
      <Alert color="red" variant="light" role="alert">
        <Stack align="flex-start">
          <Text size="sm">Your data is safe. Try again, or reload the desk if it has been upgraded meanwhile.</Text>
          <Group gap="xs">
            <Button size="compact-sm" variant="default" onClick={retry}>
              Try again
            </Button>
            <Button size="compact-sm" variant="default" onClick={() => location.reload()}>
              Reload
            </Button>
          </Group>
        </Stack>
      </Alert>
    </>
  );
}

/** Stands in place of a page if the service does not return its data. */
export function PageProblem({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <>
      <PageHeading title={TITLE} />
      <ProblemAlert error={error} onRetry={onRetry} />
    </>
  );
}
