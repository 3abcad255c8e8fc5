import { List, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { OFFBOARDING } from '../bounds';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { countPeople } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { waitlistQuery } from '../queries';
import { BulkProgress } from './bulk-progress';
import { HowMany } from './how-many';
import { contactOf, letIn, letNextIn, nameOf, nextPeopleQuery, type Person, refreshPeople } from './people.queries';
import { useIsMailed } from './use-is-mailed';
import { usePieces } from './use-pieces';

const NAMED = 5;
const NEXT_MAX = OFFBOARDING.offboard_next.maximum;

interface LetInProps {
  readonly waitlistId: number;
  /** Called with those who were let in. */
  readonly onDone: (people: readonly Person[]) => void;
  readonly onClose: (isUncertain: boolean) => void;
}

/** Lets chosen people in. For those who have an open offer, this accepts it. */
export function LetInDialog({ waitlistId, people, onDone, onClose }: LetInProps & { people: readonly Person[] }) {
  const isMailed = useIsMailed(waitlistId);
  const { done, onProgress, finish, close } = usePieces(waitlistId, onDone, onClose);
  return (
    <ConfirmDialog
      title={`Let ${countPeople(people.length)} in?`}
      act={`Let ${countPeople(people.length)} in`}
      color="indigo"
      onConfirm={async (key) => finish(await letIn(waitlistId, people, key, onProgress))}
      onClose={close}
    >
      <Text size="sm">
        <WhatHappens people={people} /> {backLater(people.length)}
      </Text>
      {isMailed !== undefined && <Text size="sm">{mailSentence(isMailed, people)}</Text>}
      <BulkProgress done={done} total={people.length} />
    </ConfirmDialog>
  );
}

function WhatHappens({ people }: { people: readonly Person[] }) {
  const offered = people.filter(({ status }) => status === 'offered').length;
  const [first] = people;
  const isOne = people.length === 1;
  const who = isOne && first ? <bdi>{contactOf(first)}</bdi> : countPeople(people.length);
  if (offered === people.length) return <>This accepts the offer for {who}.</>;
  return (
    <>
      {who} {isOne ? 'leaves' : 'leave'} the line.
      {offered > 0 &&
        ` ${countPeople(offered)} of them ${offered === 1 ? 'has' : 'have'} an offer, which this accepts.`}
    </>
  );
}

export function backLater(number: number): string {
  return `You can put ${number === 1 ? 'this person' : 'them'} back in line later.`;
}

/** Lets the first people of the queue in. */
export function LetNextInDialog({ waitlistId, onDone, onClose }: LetInProps) {
  const queries = useQueryClient();
  const waitlist = useQuery(waitlistQuery(waitlistId));
  const isMailed = useIsMailed(waitlistId);
  const max = Math.min(NEXT_MAX, waitlist.data?.statistics.current_signups ?? NEXT_MAX);
  const [typed, setTyped] = useState<number | string>('');
  const number = Number(typed);
  const isValid = Number.isInteger(number) && number >= 1 && number <= max;
  return (
    <ConfirmDialog
      title="Let next people in"
      act={isValid ? `Let ${countPeople(number)} in` : 'Let people in'}
      color="indigo"
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
          <HowMany max={max} isLocked={isLocked} typed={typed} isValid={isValid} onType={setTyped} />
          <FirstOfThem waitlistId={waitlistId} number={isValid || isLocked ? number : null} isLocked={isLocked} />
          <Text size="sm">
            {isValid || isLocked
              ? `${countPeople(number)} ${number === 1 ? 'leaves' : 'leave'} the line. ${backLater(number)}`
              : `These people leave the line. ${backLater(2)}`}
          </Text>
          {isMailed !== undefined && <Text size="sm">{mailSentence(isMailed)}</Text>}
        </>
      )}
    </ConfirmDialog>
  );
}

/** Says who will be mailed. Without `people`, nobody knows yet who has an email. */
function mailSentence(isMailed: boolean, people?: readonly Person[]): string {
  if (!isMailed) return 'No mail goes out. Tell them yourself.';
  if (!people) return 'Everyone who gave an email gets a mail that it is their turn.';
  const unmailed = people.filter(({ email }) => email === null).length;
  if (unmailed === 0) return 'They get a mail that it is their turn.';
  if (unmailed === people.length) return 'No mail goes out: they gave no email.';
  return `${countPeople(people.length - unmailed)} ${people.length - unmailed === 1 ? 'gets' : 'get'} a mail that it is their turn; ${countPeople(unmailed)} gave no email.`;
}

/**
 * Names the first of the next people; once it `isLocked`, those who were. `number` is how many are let in; null if
 * nobody knows.
 */
function FirstOfThem({
  waitlistId,
  number,
  isLocked,
}: {
  waitlistId: number;
  number: number | null;
  isLocked: boolean;
}) {
  const next = useQuery({ ...nextPeopleQuery(waitlistId, NAMED), enabled: !isLocked });
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
