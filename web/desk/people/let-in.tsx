import { Alert, Button, Group, List, Modal, NumberInput, ScrollArea, Stack, Text } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { useState } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { CopyButton } from '../parts/copy-button';
import { count, countPeople, position } from '../parts/format';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { mayHaveArrived } from '../problem';
import {
  contactOf,
  LET_IN_MAX,
  letIn,
  letNextIn,
  nameOf,
  nextPeopleQuery,
  type Person,
  refreshPeople,
} from './people.queries';
import { savePeople } from './people-csv';

const NAMED = 5;
const NEXT_DEFAULT = 10;

/** Lets chosen people in. */
export function LetInDialog({
  waitlistId,
  people,
  onDone,
  onClose,
}: {
  waitlistId: number;
  people: readonly Person[];
  onDone: (people: readonly Person[]) => void;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const [first] = people;
  const isOne = people.length === 1;
  return (
    <ConfirmDialog
      isOpen
      title={`Let ${countPeople(people.length)} in?`}
      act={`Let ${countPeople(people.length)} in`}
      onConfirm={async (key) => {
        onDone(await letIn(waitlistId, people, key));
        void refreshPeople(queries, waitlistId);
      }}
      onClose={onClose}
    >
      <Text size="sm">
        {isOne && first ? <bdi>{contactOf(first)}</bdi> : countPeople(people.length)} {isOne ? 'leaves' : 'leave'} the
        line for good. This cannot be undone.
      </Text>
    </ConfirmDialog>
  );
}

/**
 * Lets the first people of the queue in. All attempts of one opening have one key: the service does a request once, however
 * often it arrives. Once an attempt may have arrived, the number stays as it is.
 */
export function LetNextInDialog({
  waitlistId,
  inLine,
  onDone,
  onClose,
}: {
  waitlistId: number;
  inLine: number | null;
  onDone: (people: readonly Person[]) => void;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const [key] = useState(() => nanoid());
  const [typed, setTyped] = useState<number | string>(Math.min(NEXT_DEFAULT, inLine ?? NEXT_DEFAULT));
  const [isUncertain, setIsUncertain] = useState(false);
  const next = useQuery(nextPeopleQuery(waitlistId, NAMED));
  const max = Math.min(LET_IN_MAX, inLine ?? LET_IN_MAX);
  const number = Number(typed);
  const isValid = Number.isInteger(number) && number >= 1 && number <= max;
  const send = useMutation({
    mutationFn: () => letNextIn(waitlistId, number, key),
    onSuccess: (people) => {
      onDone(people);
      void refreshPeople(queries, waitlistId);
    },
    onError: (error) => mayHaveArrived(error) && setIsUncertain(true),
  });
  const close = () => {
    if (send.isPending) return;
    if (isUncertain) void refreshPeople(queries, waitlistId);
    onClose();
  };
  const named = (next.data ?? []).slice(0, isValid ? number : NAMED);
  const others = isValid ? number - named.length : 0;
  return (
    <Modal opened onClose={close} title="Let next people in" centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <Stack>
          <NumberInput
            label="How many"
            description={`From the front of the line; at most ${count(max)} at once.`}
            min={1}
            max={max}
            clampBehavior="none"
            allowDecimal={false}
            allowNegative={false}
            thousandSeparator
            data-autofocus
            readOnly={send.isPending || isUncertain}
            error={!isValid && `Enter a number from 1 to ${count(max)}.`}
            value={typed}
            onChange={setTyped}
          />
          {next.isError && <ProblemAlert error={next.error} onRetry={() => void next.refetch()} />}
          <List type="ordered" size="sm" spacing={4} aria-label="The first of them">
            {named.map((person) => (
              <List.Item key={person.uuid}>
                <bdi>{contactOf(person)}</bdi>{' '}
                <Text span inherit c="dimmed">
                  <bdi>{nameOf(person)}</bdi>
                </Text>
              </List.Item>
            ))}
          </List>
          {others > 0 && (
            <Text size="sm" c="dimmed">
              and {countPeople(others)} behind them
            </Text>
          )}
          <Text size="sm">
            {isValid ? countPeople(number) : 'These people'} {number === 1 ? 'leaves' : 'leave'} the line for good. This
            cannot be undone.
          </Text>
          {send.isError && <ProblemAlert error={send.error} />}
          {isUncertain && (
            <Text size="sm">The request may have arrived. It is safe to try again: nobody is let in twice.</Text>
          )}
          <FormButtons
            act={isUncertain ? 'Try again' : isValid ? `Let ${countPeople(number)} in` : 'Let people in'}
            color="red"
            canAct={isValid}
            isSending={send.isPending}
            onCancel={close}
          />
        </Stack>
      </form>
    </Modal>
  );
}

/** Names those who were let in, because the owner has to write to them. */
export function LetInResult({
  waitlistId,
  people,
  onClose,
}: {
  waitlistId: number;
  people: readonly Person[];
  onClose: () => void;
}) {
  const contacts = people.map(contactOf);
  return (
    <Modal
      opened
      onClose={onClose}
      // A click beside it must not lose the list.
      closeOnClickOutside={false}
      title={people.length === 0 ? 'Nobody was let in' : `${countPeople(people.length)} let in`}
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        {people.length === 0 ? (
          <Text size="sm">None of them were still in line.</Text>
        ) : (
          <>
            <Alert variant="light">
              They have not been notified. Copy their contacts or download the list, and write to them.
            </Alert>
            <ScrollArea.Autosize
              mah={280}
              type="auto"
              viewportProps={{ tabIndex: 0, 'aria-label': 'Those let in', role: 'region' }}
            >
              <List size="sm" spacing={4} listStyleType="none">
                {people.map((person) => (
                  <List.Item key={person.uuid}>
                    <bdi>{contactOf(person)}</bdi>{' '}
                    <Text span inherit c="dimmed">
                      was number {position(person.priority)}
                    </Text>
                  </List.Item>
                ))}
              </List>
            </ScrollArea.Autosize>
            <Group>
              <CopyButton text={contacts.join('\n')}>Copy contacts</CopyButton>
              <Button
                variant="default"
                leftSection={<DownloadIcon aria-hidden />}
                onClick={() => void savePeople(`let-in-${waitlistId}`, people)}
              >
                Download CSV
              </Button>
            </Group>
          </>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
