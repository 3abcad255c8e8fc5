import { NumberInput, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { OFFERING } from '../bounds';
import { sendsMail } from '../environment';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { count, countPeople, position } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { type Waitlist, waitlistQuery } from '../queries';
import { SHORT_INPUT } from '../theme';
import { BulkProgress } from './bulk-progress';
import { goToButton, HowMany } from './how-many';
import { backLater } from './let-in';
import { NamedPeople } from './named-people';
import {
  contactOf,
  offer,
  offerNext,
  offerPreviewQuery,
  type OfferedPerson,
  type Person,
  refreshPeople,
} from './people.queries';
import { usePieces } from './use-pieces';

const { count: COUNT, hours: HOURS } = OFFERING;
/** A pause in typing after which the service names the people. */
const PREVIEW_PAUSE_MS = 300;

interface OfferProps {
  readonly waitlistId: number;
  /** Called with those who were offered a seat. */
  readonly onDone: (people: readonly OfferedPerson[]) => void;
  readonly onClose: (isUncertain: boolean) => void;
}

/** Offers chosen people a seat. */
export function OfferDialog({ waitlistId, people, onDone, onClose }: OfferProps & { people: readonly Person[] }) {
  const [first] = people;
  const isOne = people.length === 1;
  const unmailed = people.filter(({ email }) => email === null).length;
  const hours = useHours(waitlistId, unmailed === 0 ? 'all' : unmailed === people.length ? 'none' : 'some');
  const { done, onProgress, finish, close } = usePieces(waitlistId, onDone, onClose);
  return (
    <ConfirmDialog
      title={`Offer ${isOne ? '' : `${countPeople(people.length)} `}a seat?`}
      act={`Offer ${countPeople(people.length)} a seat`}
      color="indigo"
      canAct={hours.isValid}
      retryText="nobody is offered a second seat."
      onConfirm={async (key) => {
        hours.keep();
        finish(await offer(waitlistId, people, hours.value, key, onProgress));
      }}
      onClose={close}
    >
      {(isLocked) => (
        <>
          <Text size="sm">
            {isOne && first ? <bdi>{contactOf(first)}</bdi> : countPeople(people.length)} {isOne ? 'leaves' : 'leave'}{' '}
            the line while the offer is open. {backLater(people.length)}
          </Text>
          {hours.fieldOf(isLocked || done > 0)}
          <Text size="sm">{linkSentence(people.length - unmailed, unmailed)}</Text>
          <BulkProgress done={done} total={people.length} />
        </>
      )}
    </ConfirmDialog>
  );
}

/** Names the first people of the queue, and offers them a seat. */
export function OfferNextDialog({ waitlistId, onDone, onClose }: OfferProps) {
  const queries = useQueryClient();
  const waitlist = useQuery(waitlistQuery(waitlistId));
  const hours = useHours(waitlistId, 'some');
  const max = Math.min(COUNT.maximum, waitlist.data?.statistics.current_signups ?? COUNT.maximum);
  const [typed, setTyped] = useState<number | string>('');
  const number = Number(typed);
  const isValid = Number.isInteger(number) && number >= 1 && number <= max;
  return (
    <ConfirmDialog
      title="Offer next people a seat"
      act={isValid ? `Offer ${countPeople(number)} a seat` : 'Offer people a seat'}
      color="indigo"
      canAct={isValid && hours.isValid}
      retryText="nobody is offered a second seat."
      onConfirm={async (key) => {
        hours.keep();
        onDone(await offerNext(waitlistId, number, hours.value, key));
        void refreshPeople(queries, waitlistId);
      }}
      onClose={onClose}
    >
      {(isLocked) => (
        <>
          <HowMany max={max} isLocked={isLocked} typed={typed} isValid={isValid} onType={setTyped} />
          {(isValid || isLocked) && <Preview waitlistId={waitlistId} number={number} isLocked={isLocked} />}
          {hours.fieldOf(isLocked)}
          <Text size="sm">
            They leave the line while the offer is open. {backLater(2)}{' '}
            {sendsMail
              ? 'Everyone who gave an email gets a mail with the link to accept or decline.'
              : 'No mail goes out. You get a link for each of them, to send yourself.'}
          </Text>
        </>
      )}
    </ConfirmDialog>
  );
}

/** Names those who would be offered a seat now; once it `isLocked`, those who would have been. */
export function Preview({ waitlistId, number, isLocked }: { waitlistId: number; number: number; isLocked: boolean }) {
  const [asked] = useDebouncedValue(number, PREVIEW_PAUSE_MS);
  const query = offerPreviewQuery(waitlistId, asked);
  const preview = useQuery({ ...query, placeholderData: keepPreviousData, enabled: !isLocked });
  if (preview.isError) return <ProblemAlert error={preview.error} onRetry={() => void preview.refetch()} />;
  if (!preview.data) return null;
  // While another list is on its way, the one before may be longer than asked for, or too short.
  const people = preview.data.slice(0, number);
  if (people.length < number && (asked !== number || preview.isPlaceholderData)) return null;
  return (
    <>
      <Text size="sm" fw={500} role="status">
        {people.length === 0 ? 'Nobody is in line.' : `${countPeople(people.length)} would get an offer:`}
      </Text>
      {people.length > 0 && (
        <NamedPeople
          people={people}
          label="Those who would get an offer"
          noteOf={({ priority }) => `number ${position(priority)}`}
        />
      )}
    </>
  );
}

interface Hours {
  /** Null: the offers never expire. */
  readonly value: number | null;
  readonly isValid: boolean;
  /** From now on, another setting of the waitlist no longer changes them: a repeat must ask for the same. */
  readonly keep: () => void;
  readonly fieldOf: (isLocked: boolean) => ReactNode;
}

/** Who of them gave an email; `some` if nobody knows. */
type Mailed = 'all' | 'some' | 'none';

/** How long the offers hold. Starts with the setting of the waitlist. */
function useHours(waitlistId: number, mailed: Mailed): Hours {
  const rules = useQuery(waitlistQuery(waitlistId)).data?.offers;
  const [changed, setTyped] = useState<number | string | null>(null);
  const typed = changed ?? rules?.hours ?? '';
  const value = typed === '' ? null : Number(typed);
  const isValid = value === null || (Number.isInteger(value) && value >= HOURS.minimum && value <= HOURS.maximum);
  return {
    value,
    isValid: isValid && rules !== undefined,
    keep: () => setTyped(typed),
    fieldOf: (isLocked) => (
      <NumberInput
        label="Hours to answer"
        description={hoursSentence(value, mailed, rules)}
        styles={SHORT_INPUT}
        min={HOURS.minimum}
        max={HOURS.maximum}
        clampBehavior="none"
        allowDecimal={false}
        allowNegative={false}
        readOnly={isLocked}
        error={!isValid && `Enter a whole number from ${HOURS.minimum} to ${count(HOURS.maximum)}, or leave it empty.`}
        value={typed}
        onChange={setTyped}
        onKeyDown={goToButton}
      />
    ),
  };
}

function hoursSentence(hours: number | null, mailed: Mailed, rules: Waitlist['offers'] | undefined): string {
  if (hours === null) return 'Empty: the offer never expires.';
  const begin =
    !sendsMail || mailed === 'none'
      ? 'The time starts now.'
      : `The time starts when the mail is sent${mailed === 'all' ? '' : '; for people without an email, now'}.`;
  const end = rules?.on_expiry === 'end' ? ' and go to the end of the line' : '';
  return `${begin} People who do not answer in time lose the seat${end}. Leave it empty for an offer that never expires.`;
}

/** Says how people get the link. */
function linkSentence(mailed: number, unmailed: number): string {
  const total = mailed + unmailed;
  if (!sendsMail || mailed === 0)
    return `No mail goes out${sendsMail ? ': they gave no email' : ''}. You get ${total === 1 ? 'the link' : 'a link for each of them'}, to send yourself.`;
  if (unmailed === 0) return `They get a mail with the link to accept or decline.`;
  return `${countPeople(mailed)} ${mailed === 1 ? 'gets' : 'get'} a mail with the link to accept or decline; ${countPeople(unmailed)} gave no email, so send ${unmailed === 1 ? 'the link' : 'their links'} yourself.`;
}
