import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { useState } from 'react';
import { countPeople } from '../parts/format';
import { sentenceOf } from '../problem';
import { type Person, refreshPeople, returnPeople } from './people.queries';

/** Long enough to read the notice. Afterwards, “Put back in line” does the same. */
const SHOWN_MS = 20_000;

/** Puts people back in line who were let in or offered a seat just now. A repeat after a lost answer is harmless. */
export function useUndo(waitlistId: number, people: readonly Person[], onDone: () => void) {
  const queries = useQueryClient();
  const [key] = useState(() => nanoid());
  return useMutation({
    mutationFn: async () => returnPeople(waitlistId, people, key),
    onSuccess: (returned) => {
      onDone();
      tellReturned(returned.length);
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
  notifications.show({
    id,
    autoClose: SHOWN_MS,
    message: <Notice waitlistId={waitlistId} people={people} text={text} onDone={() => notifications.hide(id)} />,
  });
}

function Notice({
  waitlistId,
  people,
  text,
  onDone,
}: {
  waitlistId: number;
  people: readonly Person[];
  text: string;
  onDone: () => void;
}) {
  const undo = useUndo(waitlistId, people, () => {
    onDone();
    // The button that had the focus is gone.
    document.querySelector<HTMLElement>('#page h1')?.focus({ preventScroll: true });
  });
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap">
      <Text size="sm" role={undo.isError ? 'alert' : undefined}>
        {undo.isError ? sentenceOf(undo.error) : text}
      </Text>
      <Button size="compact-sm" variant="default" flex="none" loading={undo.isPending} onClick={() => undo.mutate()}>
        {undo.isError ? 'Try again' : undoLabel(people)}
      </Button>
    </Group>
  );
}
