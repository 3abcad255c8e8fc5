import { Alert, Button, Group, Text } from '@mantine/core';
import { sentenceOf } from '../problem';

/** An error where its cause is, with a way to try again. */
export function ProblemAlert({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <Alert color="red" variant="light" role="alert">
      <Group justify="space-between">
        <Text size="sm">{sentenceOf(error)}</Text>
        {onRetry && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}
