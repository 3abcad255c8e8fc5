import { Button, Group, Text } from '@mantine/core';
import { connectionLost, tryConnection } from '../connection';
import classes from '../shell.module.css';
import { useStore } from '../store';

/** Stays on top as long as the service cannot be reached; what is on the page may be old. */
export function ConnectionNotice() {
  const isLost = useStore(connectionLost);
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
