import { List, NumberInput, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { OFFBOARDING } from '../bounds';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { count, countPeople } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { waitlistQuery } from '../queries';
import { contactOf, letIn, letNextIn, nameOf, nextPeopleQuery, type Person, refreshPeople } from './people.queries';

const NAMED = 5;
const NEXT_MAX = OFFBOARDING.offboard_next.maximum;
const NEXT_DEFAULT = 10;

interface LetInProps {
  readonly waitlistId: number;
  /** Called with those who were let in. */
  readonly onDone: (people: readonly Person[]) => void;
  readonly onClose: (isUncertain: boolean) => void;
}

/** Lets chosen people in. */
export function LetInDialog({ waitlistId, people, onDone, onClose }: LetInProps & { people: readonly Person[] }) {
  const queries = useQueryClient();
  const [first] = people;
  const isOne = people.length === 1;
  return (
    <ConfirmDialog
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

/** Lets the first people of the queue in. */
export function LetNextInDialog({ waitlistId, onDone, onClose }: LetInProps) {
  const queries = useQueryClient();
  const waitlist = useQuery(waitlistQuery(waitlistId));
  const max = Math.min(NEXT_MAX, waitlist.data?.statistics.current_signups ?? NEXT_MAX);
  const [typed, setTyped] = useState<number | string>(Math.min(NEXT_DEFAULT, max));
  const number = Number(typed);
  const isValid = Number.isInteger(number) && number >= 1 && number <= max;
  return (
    <ConfirmDialog
      title="Let next people in"
      act={isValid ? `Let ${countPeople(number)} in` : 'Let people in'}
      canAct={isValid}
      retryText="nobody is let in twice."
      onConfirm={async (key) => {
        onDone(await letNextIn(waitlistId, number, key));
        void refreshPeople(queries, waitlistId);
      }}
      onClose={onClose}
    >
      {(isLocked) => (
        <>
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
            readOnly={isLocked}
            error={!isValid && `Enter a number from 1 to ${count(max)}.`}
            value={typed}
            onChange={setTyped}
          />
          <FirstOfThem waitlistId={waitlistId} number={isValid ? number : null} />
          <Text size="sm">
            {isValid ? countPeople(number) : 'These people'} {number === 1 ? 'leaves' : 'leave'} the line for good. This
            cannot be undone.
          </Text>
        </>
      )}
    </ConfirmDialog>
  );
}

/** Names the first of the next people. `number` is how many are let in; null if nobody knows. */
function FirstOfThem({ waitlistId, number }: { waitlistId: number; number: number | null }) {
  const next = useQuery(nextPeopleQuery(waitlistId, NAMED));
  const named = (next.data ?? []).slice(0, number ?? NAMED);
  const others = number === null ? 0 : number - named.length;
  return (
    <>
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
    </>
  );
}
