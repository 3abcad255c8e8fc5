import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyField } from './copy-field';

/**
 * Shows a key for the only time. Closes by its button alone then: a slip of the hand must not lose the key. `children`
 * says what the key is for, and what to do when it is lost. While `secret` is null, it shows `form`, which makes the
 * key.
 */
export function SecretDialog({
  isOpen,
  title,
  label,
  secret,
  form,
  children,
  onClose,
}: {
  isOpen: boolean;
  title: string;
  label: string;
  secret: string | null;
  form?: ReactNode;
  children: ReactNode;
  onClose: () => void;
}) {
  const isForm = secret === null;
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      centered
      closeOnClickOutside={isForm}
      closeOnEscape={isForm}
      withCloseButton={isForm}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {isForm ? (
        form
      ) : (
        <Stack>
          <Text size="sm">{children}</Text>
          <CopyField label={label} value={secret} />
          <Group justify="flex-end">
            <Button onClick={onClose} data-autofocus>
              I have saved it
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
