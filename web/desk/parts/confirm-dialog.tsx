import { Button, Group, Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemAlert } from './problem-alert';

/**
 * Asks before an act that cannot be undone. `children` says in one sentence what happens to whom; `act` is the label of the
 * button, a verb that repeats the act. Closes only after the service has done it.
 */
export function ConfirmDialog({
  isOpen,
  title,
  children,
  act,
  canAct = true,
  onConfirm,
  onClose,
}: {
  isOpen: boolean;
  title: string;
  children: ReactNode;
  act: string;
  canAct?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  const close = () => {
    confirm.reset();
    onClose();
  };
  return (
    <Modal opened={isOpen} onClose={close} title={title} centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          confirm.mutate();
        }}
      >
        <Stack>
          {children}
          {confirm.isError && <ProblemAlert error={confirm.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" color="red" disabled={!canAct} loading={confirm.isPending}>
              {act}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
