import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { useEffect, useRef, useState } from 'react';
import { countPeople } from '../parts/format';
import { sentenceOf } from '../problem';
import { type Person, refreshPeople, returnPeople } from './people.queries';

/** Long enough to read the notice. Afterwards, “Put back in line” does the same. */
const SHOWN_MS = 20_000;

/** Puts people back in line who were let in or offered a seat just now. A repeat after a lost answer is harmless. */
export function useUndo(waitlistId: number, people: readonly Person[], onDone: () => void) {
  const queries = useQueryClient();
  const [key] = useState(() => nanoid());
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return useMutation({
    mutationFn: async () => returnPeople(waitlistId, people, key),
    onSuccess: (returned) => {
      onDone();
      tellReturned(returned.length);
    },
    // What asked for it may be gone.
    onError: (error) => {
      if (!isShown.current) notifications.show({ color: 'red', message: sentenceOf(error) });
    },
    onSettled: async () => refreshPeople(queries, waitlistId),
  });
}

export function tellReturned(number: number): void {
  const message =
    number === 0 ? 'Nobody was put back' : `${countPeople(number)} ${number === 1 ? 'is' : 'are'} back in line`;
  notifications.show({ message });
}

/** “Undo” would promise too much for an offer that was accepted for somebody: it is not open again. */
export function undoLabel(people: readonly Person[]): string {
  return people.some(({ removed_reason }) => removed_reason === 'accepted') ? 'Put back in line' : 'Undo';
}

/** Says what was done, and for a while offers to undo it. */
export function showUndo(waitlistId: number, people: readonly Person[], text: string): void {
  const id = nanoid();
  const message = (
    <Notice
      waitlistId={waitlistId}
      people={people}
      text={text}
      onUse={() => notifications.update({ id, message, autoClose: false })}
      onDone={() => notifications.hide(id)}
    />
  );
  notifications.show({ id, message, autoClose: SHOWN_MS });
}

function Notice({
  waitlistId,
  people,
  text,
  onUse,
  onDone,
}: {
  waitlistId: number;
  people: readonly Person[];
  text: string;
  /** From then on it stays until it is done. */
  onUse: () => void;
  onDone: () => void;
}) {
  const group = useRef<HTMLDivElement>(null);
  const undo = useUndo(waitlistId, people, () => {
    const { activeElement } = document;
    const isFocused = activeElement === document.body || group.current?.contains(activeElement);
    onDone();
    // The button that had the focus is gone.
    if (isFocused) document.querySelector<HTMLElement>('#page h1')?.focus({ preventScroll: true });
  });
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap" ref={group} onFocusCapture={onUse}>
      <Text size="sm" role={undo.isError ? 'alert' : undefined}>
        {undo.isError ? sentenceOf(undo.error) : text}
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        flex="none"
        loading={undo.isPending}
        onClick={() => {
          onUse();
          undo.mutate();
        }}
      >
        {undo.isError ? 'Try again' : undoLabel(people)}
      </Button>
    </Group>
  );
}
