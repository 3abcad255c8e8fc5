import { Button, Group, Text } from '@mantine/core';
import { tryConnection, useIsConnectionLost } from '../connection';
import classes from '../shell.module.css';

/** Stays on top as long as the service cannot be reached; what is on the page may be old. */
export function ConnectionNotice() {
  const isLost = useIsConnectionLost();
  return (
    <div role="status" className={classes.connection}>
      {isLost && (
        <Group justify="center" gap="sm" p="xs">
          <Text size="sm">No connection to the service. The desk keeps trying; what you typed is kept.</Text>
          <Button size="compact-sm" variant="default" onClick={() => void tryConnection()}>
            Try now
          </Button>
        </Group>
      )}
    </div>
  );
}
