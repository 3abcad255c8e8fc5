import { Modal, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { type ReactNode, useReducer } from 'react';
import { FormButtons } from './form-buttons';
import { ProblemAlert } from './problem-alert';

/**
 * Asks before an act that cannot be undone. `children` says in one sentence what happens to whom; `act` is the label of the
 * button, a verb that repeats the act. Closes only after the service has done it. `onConfirm` gets a key that is the same for
 * all attempts of one opening: as `Idempotency-Key` it keeps a repeat after a lost answer from acting twice.
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
  title: ReactNode;
  children: ReactNode;
  act: string;
  canAct?: boolean;
  onConfirm: (key: string) => Promise<unknown>;
  onClose: () => void;
}) {
  const [key, renewKey] = useReducer(
    () => nanoid(),
    undefined,
    () => nanoid(),
  );
  const confirm = useMutation({ mutationFn: () => onConfirm(key), onSuccess: () => close() });
  const close = () => {
    confirm.reset();
    renewKey();
    onClose();
  };
  return (
    <Modal
      opened={isOpen}
      // Stays open until the result is known.
      onClose={() => !confirm.isPending && close()}
      title={title}
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          confirm.mutate();
        }}
      >
        <Stack>
          {children}
          {confirm.isError && <ProblemAlert error={confirm.error} />}
          <FormButtons act={act} color="red" canAct={canAct} isSending={confirm.isPending} onCancel={close} />
        </Stack>
      </form>
    </Modal>
  );
}

/** Whether the text is typed as the page shows it: without white space around it, and with one space for several. */
export function isTypedAsShown(typed: string, text: string): boolean {
  return asShown(typed) === asShown(text);
}

function asShown(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
