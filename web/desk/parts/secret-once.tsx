import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyField } from './copy-field';

/**
 * The content of a dialog that shows a key for the only time. Its dialog closes by this button alone: a slip of the hand
 * must not lose the key. `children` says what opens with it, and what to do when it is lost.
 */
export function SecretOnce({ value, children, onSaved }: { value: string; children: ReactNode; onSaved: () => void }) {
  return (
    <Stack>
      <Text size="sm">{children}</Text>
      <CopyField label="Key" value={value} />
      <Group justify="flex-end">
        <Button onClick={onSaved} data-autofocus>
          I have saved it
        </Button>
      </Group>
    </Stack>
  );
}
