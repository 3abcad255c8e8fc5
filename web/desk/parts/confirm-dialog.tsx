import { Modal, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { mayHaveArrived } from '../problem';
import { FormButtons } from './form-buttons';
import { ProblemAlert } from './problem-alert';

interface Opening {
  /** As `Idempotency-Key` it keeps a repeat after a lost answer from acting twice. */
  readonly key: string;
  /** Whether an attempt may have arrived although it failed. */
  readonly isUncertain: boolean;
}

const newOpening = (): Opening => ({ key: nanoid(), isUncertain: false });

/**
 * Asks before an act that matters. `children` says in one sentence what happens to whom; `act` is the label of
 * the button, a verb that repeats the act. Closes only after the service has done it. All attempts of one opening have
 * one key, which `onConfirm` gets.
 *
 * An act with fields has children that take `isLocked`: from the first attempt that may have arrived, the fields must
 * stay as they are. `retryText` then says why it is safe to try again.
 */
export function ConfirmDialog({
  isOpen = true,
  title,
  children,
  act,
  color = 'red',
  canAct = true,
  retryText,
  onConfirm,
  onClose,
}: {
  isOpen?: boolean;
  title: ReactNode;
  children: ReactNode | ((isLocked: boolean) => ReactNode);
  act: string;
  /** Of the button; red for an act that destroys something. */
  color?: string;
  canAct?: boolean;
  retryText?: string;
  onConfirm: (key: string) => Promise<unknown>;
  /** `isUncertain`: the act may have been done although no attempt succeeded. */
  onClose: (isUncertain: boolean) => void;
}) {
  const [{ key, isUncertain }, setOpening] = useState(newOpening);
  const confirm = useMutation({
    mutationFn: () => onConfirm(key),
    onSuccess: () => close(false),
    onError: (error) =>
      setOpening((opening) => ({ ...opening, isUncertain: opening.isUncertain || mayHaveArrived(error) })),
  });
  const close = (mayHaveActed: boolean) => {
    confirm.reset();
    setOpening(newOpening());
    onClose(mayHaveActed);
  };
  const cancel = () => close(isUncertain);
  const showsRetry = isUncertain && retryText !== undefined;
  // On a phone, a notice of an earlier act would cover the buttons.
  useEffect(() => {
    if (isOpen) notifications.clean();
  }, [isOpen]);
  return (
    <Modal
      opened={isOpen}
      // Stays open until the result is known.
      onClose={() => !confirm.isPending && cancel()}
      title={title}
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          confirm.mutate();
        }}
        onKeyDown={ignoreHeldEnter}
      >
        <Stack>
          {typeof children === 'function' ? children(confirm.isPending || isUncertain) : children}
          {confirm.isError && <ProblemAlert error={confirm.error} />}
          {showsRetry && <Text size="sm">The request may have arrived. It is safe to try again: {retryText}</Text>}
          <FormButtons
            act={showsRetry ? 'Try again' : act}
            color={color}
            canAct={showsRetry || canAct}
            isSending={confirm.isPending}
            onCancel={cancel}
          />
        </Stack>
      </form>
    </Modal>
  );
}

/** A held Enter repeats: the one that opened a dialog must not answer it too. */
export function ignoreHeldEnter(event: KeyboardEvent): void {
  if (event.key === 'Enter' && event.repeat) event.preventDefault();
}

/** Whether the text is typed as the page shows it: without white space around it, and with one space for several. */
export function isTypedAsShown(typed: string, text: string): boolean {
  return asShown(typed) === asShown(text);
}

function asShown(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}
