import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Problem } from '../problem';
import { ProblemAlert } from './problem-alert';

/** In place of a page that failed to load or to draw. After an upgrade, only a reload finds the new files. */
export function PageFault({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  if (error instanceof Problem) return <ProblemAlert error={error} onRetry={retry} />;
  return (
    <Alert color="red" variant="light" role="alert" title="This page could not be shown">
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
  );
}
