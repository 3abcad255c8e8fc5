import { Button, Drawer, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { Delayed } from '../parts/delayed';
import { ProblemAlert } from '../parts/problem-alert';
import { Problem } from '../problem';
import { useMay } from '../roles';
import { CorrectForm } from './correct-form';
import { contactOf, personQuery, type WholePerson } from './people.queries';
import { NARROW } from './people-table';
import { Answers, Contact, Links, Metadata, Place } from './person-data';
import { type PersonDialog, usePersonDialogs } from './person-dialogs';
import { History } from './person-history';
import { CreditOfReferral, Referrals } from './person-referrals';

const route = getRouteApi('/shell/$waitlistId/people/$uuid');

const WIDTH_PX = 560;

/** One person, over the list: what the service knows about them, and what an owner can do. */
export function PersonPanel() {
  const { waitlistId, uuid } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const person = useQuery(personQuery(waitlistId, uuid));
  const close = () => void navigate({ to: '/$waitlistId/people', params: { waitlistId }, search });
  const { open, dialog } = usePersonDialogs(waitlistId, { onErased: close });
  const { data } = person;
  return (
    <Drawer
      opened
      onClose={close}
      // Escape closes the dialog alone.
      closeOnEscape={dialog === null}
      position="right"
      size={isNarrow ? '100%' : WIDTH_PX}
      title={
        <Text fw={500} style={{ overflowWrap: 'anywhere' }}>
          {data ? <bdi>{contactOf(data)}</bdi> : 'Person'}
        </Text>
      }
      closeButtonProps={{ 'aria-label': 'Close' }}
      returnFocus={false}
    >
      {person.isPending && (
        <Delayed>
          <Stack aria-hidden>
            <Skeleton height={28} width="40%" />
            <Skeleton height={14} />
            <Skeleton height={14} width="70%" />
          </Stack>
        </Delayed>
      )}
      {person.isError && !data && isMissing(person.error) && (
        <Text size="sm">Nobody on this waitlist has this address. The person may have been erased.</Text>
      )}
      {person.isError && !data && !isMissing(person.error) && (
        <ProblemAlert error={person.error} onRetry={() => void person.refetch()} />
      )}
      {data && <Details key={data.uuid} person={data} onOpen={open} />}
      {dialog}
    </Drawer>
  );
}

function isMissing(error: Error): boolean {
  return error instanceof Problem && error.status === 404;
}

function Details({ person, onOpen: open }: { person: WholePerson; onOpen: (dialog: PersonDialog) => void }) {
  /** Null until the form is opened once. When it closes, the focus returns to “Edit”. */
  const [isCorrecting, setIsCorrecting] = useState<boolean | null>(null);
  const { status } = person;
  const [isWaiting, isOffered] = [status === 'waiting', status === 'offered'];
  const [mayChange, maySeeHistory] = [useMay('editor'), useMay('owner')];
  if (isCorrecting)
    return (
      <CorrectForm
        person={person}
        onSaved={() => {
          setIsCorrecting(false);
          notifications.show({ message: 'Saved' });
        }}
        onCancel={() => setIsCorrecting(false)}
      />
    );
  return (
    <Stack gap="lg">
      <Place person={person} />
      {mayChange && (
        <Group gap="xs">
          {(isWaiting || isOffered) && (
            <Button onClick={() => open({ kind: 'let in', people: [person] })}>Let in</Button>
          )}
          {isWaiting && (
            <Button variant="default" onClick={() => open({ kind: 'offer', people: [person] })}>
              Offer a seat
            </Button>
          )}
          {isOffered && (
            <Button variant="default" onClick={() => open({ kind: 'offer link', person })}>
              Copy new link
            </Button>
          )}
          {(isOffered || status === 'offboarded') && (
            <Button variant="default" onClick={() => open({ kind: 'return', people: [person] })}>
              Put back in line
            </Button>
          )}
          {isWaiting && (
            <Button variant="default" onClick={() => open({ kind: 'move', person })}>
              Move
            </Button>
          )}
          <Button variant="default" autoFocus={isCorrecting === false} onClick={() => setIsCorrecting(true)}>
            Edit
          </Button>
          <Button variant="subtle" color="red" onClick={() => open({ kind: 'erase', people: [person] })}>
            Erase
          </Button>
        </Group>
      )}
      <Contact person={person} />
      <Links person={person} />
      <Answers person={person} />
      <Metadata metadata={person.metadata} />
      <CreditOfReferral person={person} onDecide={(credit) => open({ kind: 'decide', people: [person], credit })} />
      <Referrals person={person} onRefuseAll={() => open({ kind: 'refuse all', person })} />
      {maySeeHistory && <History person={person} />}
    </Stack>
  );
}
