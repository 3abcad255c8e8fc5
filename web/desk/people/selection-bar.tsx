import { ActionBar, Button, CloseButton, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { count } from '../parts/format';
import { useFocusKeeper } from '../parts/use-focus-keeper';
import { sentenceOf } from '../problem';
import { choicesFor } from './credit';
import type { Person } from './people.queries';
import { savePeople } from './people-csv';
import type { PersonDialog } from './person-dialogs';

/** What an owner can do with the selected people. */
export function SelectionBar({
  waitlistId,
  people,
  isDeciding,
  more,
  onAct,
  onClear,
}: {
  waitlistId: number;
  people: readonly Person[];
  /** Whether the table shows withheld referrals. */
  isDeciding: boolean;
  /** Selects everybody that the filters find; null if all are selected already, or not all loaded ones are. */
  more: { readonly label: string; readonly isBusy: boolean; readonly onSelect: () => void } | null;
  onAct: (dialog: PersonDialog) => void;
  onClear: () => void;
}) {
  const total = useRef<HTMLParagraphElement>(null);
  const wasBusy = useRef(false);
  useEffect(() => {
    // The button that selected everybody is gone.
    if (wasBusy.current && more === null) total.current?.focus();
    wasBusy.current = more?.isBusy ?? false;
  }, [more]);
  const isOpen = people.length > 0;
  const keepFocus = useFocusKeeper(isOpen);
  const waiting = people.filter(({ status }) => status === 'waiting');
  const offered = people.filter(({ status }) => status === 'offered');
  const left = people.filter(({ status }) => status === 'offboarded');
  const approvable = people.filter((person) => choicesFor(person).canApprove);
  const refusable = people.filter((person) => choicesFor(person).canRefuse);
  const save = useMutation({
    mutationFn: () => savePeople(`people-${waitlistId}`, waitlistId, people),
    onError: (error) => notifications.show({ color: 'red', message: sentenceOf(error) }),
  });
  /** The label of a button; with the number of people if it acts on only some of the selected. */
  const labelOf = (act: string, those: readonly Person[]) =>
    those.length < people.length ? `${act} ${count(those.length)}` : act;
  const admissible = [...waiting, ...offered];
  const returnable = [...offered, ...left];
  const letIn = admissible.length > 0 && (
    <Button
      key="let in"
      size="sm"
      variant={isDeciding ? 'default' : 'filled'}
      onClick={() => onAct({ kind: 'let in', people: admissible })}
    >
      {labelOf('Let in', admissible)}
    </Button>
  );
  const offerOrReturn = (
    [
      { act: 'Offer', kind: 'offer', those: waiting },
      { act: 'Put back', kind: 'return', those: returnable },
    ] as const
  ).map(
    ({ act, kind, those }) =>
      those.length > 0 && (
        <Button key={kind} size="sm" variant="default" onClick={() => onAct({ kind, people: those })}>
          {labelOf(act, those)}
        </Button>
      ),
  );
  const decide = [
    { act: 'Approve', credit: 'credited', those: approvable } as const,
    { act: 'Refuse', credit: 'refused', those: refusable } as const,
  ].map(
    ({ act, credit, those }) =>
      those.length > 0 && (
        <Button
          key={act}
          size="sm"
          variant={isDeciding && act === 'Approve' ? 'filled' : 'default'}
          onClick={() => onAct({ kind: 'decide', credit, people: those })}
        >
          {labelOf(act, those)}
        </Button>
      ),
  );
  return (
    <ActionBar
      opened={isOpen}
      // While it fades, its buttons cannot be focused.
      inert={!isOpen}
      // Within the page's landmark.
      withinPortal={false}
      position={{ bottom: 'calc(var(--app-shell-footer-offset, 0rem) + 16px)', left: 0, right: 0 }}
      aria-label="Selected people"
      style={{ flexWrap: 'wrap', justifyContent: 'center' }}
    >
      <Text size="sm" fw={500} px="xs" ref={total} tabIndex={-1}>
        {count(people.length)} selected
      </Text>
      {more && (
        <Button size="sm" variant="subtle" disabled={more.isBusy} onClick={more.onSelect}>
          {more.label}
        </Button>
      )}
      {isDeciding ? [...decide, letIn, offerOrReturn] : [letIn, offerOrReturn, ...decide]}
      <Button size="sm" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
        Export
      </Button>
      <Button size="sm" variant="subtle" color="red" onClick={() => onAct({ kind: 'erase', people })}>
        Erase
      </Button>
      <CloseButton
        aria-label="Clear selection"
        onClick={() => {
          keepFocus();
          onClear();
        }}
      />
    </ActionBar>
  );
}
