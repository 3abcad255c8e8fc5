import { Anchor, Button, Code, DataList, Drawer, Group, Skeleton, Stack, Text, Timeline } from '@mantine/core'; // prettier-ignore
import { useMediaQuery } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { CopyButton } from '../parts/copy-button';
import { Delayed } from '../parts/delayed';
import { count, position } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { RelativeTime } from '../parts/relative-time';
import { PlainSection } from '../parts/section';
import { Problem } from '../problem';
import { auditQuery, waitlistQuery } from '../queries';
import { personRoute } from '../router';
import { CorrectForm } from './correct-form';
import { choicesFor, CREDIT_LABELS, isUncredited, reasonsOf, CREDIT_SENTENCES } from './credit';
import { DecideDialog } from './decide-dialog';
import { EraseDialog } from './erase-dialog';
import { LetInDialog, LetInResult } from './let-in';
import { MoveDialog } from './move-dialog';
import {
  contactOf,
  type HistoryEvent,
  nameOf,
  type Person,
  personQuery,
  referredPeopleQuery,
  refreshPeople,
  refuseReferrals,
  type WholePerson,
} from './people.queries';
import { NARROW } from './people-table';

const REFERRED_SHOWN = 5;
const WIDTH_PX = 560;

type Dialog =
  | 'let in'
  | 'move'
  | 'erase'
  | 'refuse all'
  | { readonly letIn: readonly Person[] }
  | { readonly credit: 'credited' | 'refused' };

/** One person, over the list: what the service knows about them, and what an owner can do. */
export function PersonPanel() {
  const { waitlistId, uuid } = personRoute.useParams();
  const search = personRoute.useSearch();
  const navigate = personRoute.useNavigate();
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const person = useQuery(personQuery(waitlistId, uuid));
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const [isCorrecting, setIsCorrecting] = useState(false);
  const close = () => void navigate({ to: '/$waitlistId/people', params: { waitlistId }, search });
  const closeDialog = () => setDialog(null);
  const { data } = person;
  return (
    <Drawer
      opened
      onClose={close}
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
      {data && isCorrecting && (
        <CorrectForm
          person={data}
          onSaved={() => {
            setIsCorrecting(false);
            notifications.show({ message: 'Saved' });
          }}
          onCancel={() => setIsCorrecting(false)}
        />
      )}
      {data && !isCorrecting && (
        <Stack gap="lg">
          <Place person={data} />
          <Group gap="xs">
            {data.status === 'waiting' && <Button onClick={() => setDialog('let in')}>Let in</Button>}
            {data.status === 'waiting' && (
              <Button variant="default" onClick={() => setDialog('move')}>
                Move
              </Button>
            )}
            <Button variant="default" onClick={() => setIsCorrecting(true)}>
              Edit
            </Button>
            <Button variant="subtle" color="red" onClick={() => setDialog('erase')}>
              Erase
            </Button>
          </Group>
          <Contact person={data} />
          <Answers person={data} />
          <Metadata metadata={data.metadata} />
          <CreditOfReferral person={data} onDecide={(credit) => setDialog({ credit })} />
          <Referrals person={data} onRefuseAll={() => setDialog('refuse all')} />
          <History person={data} />
        </Stack>
      )}
      {data && dialog === 'let in' && (
        <LetInDialog
          waitlistId={waitlistId}
          people={[data]}
          onDone={(people) => setDialog({ letIn: people })}
          onClose={() => setDialog((shown) => (shown === 'let in' ? null : shown))}
        />
      )}
      {typeof dialog === 'object' && dialog && 'letIn' in dialog && (
        <LetInResult waitlistId={waitlistId} people={dialog.letIn} onClose={closeDialog} />
      )}
      {data && typeof dialog === 'object' && dialog && 'credit' in dialog && (
        <DecideDialog
          waitlistId={waitlistId}
          people={[data]}
          credit={dialog.credit}
          onDone={() => undefined}
          onClose={closeDialog}
        />
      )}
      {data && dialog === 'refuse all' && <RefuseAllDialog person={data} onClose={closeDialog} />}
      {data && dialog === 'move' && <MoveDialog person={data} onClose={closeDialog} />}
      {data && dialog === 'erase' && <EraseDialog person={data} onErased={close} onClose={closeDialog} />}
    </Drawer>
  );
}

function isMissing(error: Error): boolean {
  return error instanceof Problem && error.status === 404;
}

/** The position, and what made it. */
function Place({ person }: { person: WholePerson }) {
  const waitlist = useQuery(waitlistQuery(person.waitlist_id));
  const { amount_referred: referrals, spots_advanced: granted, removed_date } = person;
  const worth = waitlist.data?.spots_to_move_upon_referral;
  return (
    <Stack gap={4}>
      <Text size="xl" fw={600} component="p">
        {removed_date ? (
          <>
            Let in <RelativeTime time={removed_date} />, as number {position(person.priority)}
          </>
        ) : person.status === 'pending' ? (
          'Pending'
        ) : (
          <>Number {position(person.priority)}</>
        )}
      </Text>
      {person.status === 'pending' && (
        <Text size="sm" c="dimmed">
          Joins the end of the queue once the address is confirmed.
        </Text>
      )}
      {person.status === 'waiting' && (
        <Text size="sm" c="dimmed">
          {person.priority === 0
            ? 'Nobody is ahead.'
            : person.priority === 1
              ? '1 person is ahead.'
              : `${count(person.priority)} people are ahead.`}
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {person.join_order !== null && `Joined as number ${position(person.join_order)}`}
        {worth !== undefined &&
          referrals > 0 &&
          ` · ${count(referrals)} ${referrals === 1 ? 'referral' : 'referrals'} × ${placesOf(worth)} = ${placesOf(referrals * worth)} forward`}
        {granted > 0 && ` · ${placesOf(granted)} granted`}
      </Text>
    </Stack>
  );
}

function placesOf(number: number): string {
  return number === 1 ? '1 place' : `${count(number)} places`;
}

function Contact({ person }: { person: WholePerson }) {
  const { email, registered_email, phone, verified, created_at, referral_token, referral_link } = person;
  return (
    <PlainSection isDense title="Contact">
      <DataList gap={6}>
        <Item label="Name">{nameOf(person)}</Item>
        <Item label="Email">{email}</Item>
        {email !== null && <Item label="Verified">{verified ? 'Yes' : 'No'}</Item>}
        {registered_email !== email && <Item label="Email at signup">{registered_email}</Item>}
        <Item label="Phone">{phone}</Item>
        <Item label="Joined">
          <RelativeTime time={created_at} />
        </Item>
        <Item label="Token">
          <Code>{referral_token}</Code>
        </Item>
      </DataList>
      <Group gap="xs">
        <CopyButton size="compact-sm" text={referral_token}>
          Copy token
        </CopyButton>
        <CopyButton size="compact-sm" text={referral_link}>
          Copy referral link
        </CopyButton>
      </Group>
    </PlainSection>
  );
}

/** A text that somebody typed keeps its own direction, and breaks where it must. */
function Item({ label, children }: { label: string; children: ReactNode }) {
  const isEmpty = children === null || children === '';
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {isEmpty ? (
          <Text span inherit c="dimmed">
            Not given
          </Text>
        ) : (
          <bdi>{children}</bdi>
        )}
      </DataList.ItemValue>
    </DataList.Item>
  );
}

function Answers({ person: { answers } }: { person: WholePerson }) {
  if (answers.length === 0) return null;
  return (
    <PlainSection isDense title="Answers">
      <DataList orientation="vertical" gap="xs">
        {answers.map(({ id, question_value, answer_value, soft_deleted }) => (
          <Item key={id} label={soft_deleted ? `${question_value} (removed question)` : question_value}>
            {[answer_value ?? ''].flat().join(', ')}
          </Item>
        ))}
      </DataList>
    </PlainSection>
  );
}

function Metadata({ metadata }: { metadata: Person['metadata'] }) {
  const entries = Object.entries(metadata ?? {});
  if (entries.length === 0) return null;
  return (
    <PlainSection isDense title="Metadata">
      <DataList gap={6}>
        {entries.map(([key, value]) => (
          <Item key={key} label={key}>
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </Item>
        ))}
      </DataList>
    </PlainSection>
  );
}

const REFERRED: Readonly<Record<Person['status'], string>> = {
  waiting: 'Referred, in line',
  offboarded: 'Referred, let in',
  pending: 'Referred, pending',
};

/** Who referred a person, and whom the person referred. */
function Referrals({ person, onRefuseAll }: { person: WholePerson; onRefuseAll: () => void }) {
  const { waitlist_id: waitlistId, referral_token: token, referrer, referred_by_waiter_token: by } = person;
  const referred = useQuery(referredPeopleQuery(waitlistId, token, REFERRED_SHOWN));
  const groups = referred.data ?? [];
  return (
    <PlainSection isDense title="Referrals">
      <Text size="sm">
        {referrer ? (
          <>
            Referred by{' '}
            <PersonLink
              person={{ ...referrer, waitlist_id: waitlistId }}
              name={referrer.email ?? referrer.referral_token}
            />
          </>
        ) : by !== null ? (
          <>
            Referred with the token <Code>{by}</Code>, which belongs to nobody on this list.
          </>
        ) : (
          'Not referred.'
        )}
      </Text>
      {referred.isError && <ProblemAlert error={referred.error} onRetry={() => void referred.refetch()} />}
      {referred.data && groups.length === 0 && <Text size="sm">No referrals yet.</Text>}
      {groups.map(({ status, people, total, nextAfterId }) => (
        <Stack gap={4} key={status}>
          <Text size="sm" c="dimmed">
            {REFERRED[status]}
            {total !== null && `: ${count(total)}`}
          </Text>
          {people.map((other) => (
            <Text size="sm" key={other.uuid}>
              <PersonLink person={other} name={contactOf(other)} />
              {isUncredited(other.credit) && (
                <Text span inherit c="dimmed">
                  {` · ${CREDIT_LABELS[other.credit]}`}
                </Text>
              )}
            </Text>
          ))}
          {nextAfterId !== null && (
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link
                  {...props}
                  to="/$waitlistId/people"
                  params={{ waitlistId }}
                  search={{ referral_token: token, ...(status !== 'waiting' && { status }) }}
                />
              )}
            >
              Show all {total !== null && count(total)}
            </Anchor>
          )}
        </Stack>
      ))}
      {groups.length > 0 && (
        <Group>
          <Button size="compact-sm" variant="subtle" color="red" onClick={onRefuseAll}>
            Refuse all referrals
          </Button>
        </Group>
      )}
    </PlainSection>
  );
}

/** Whether the referral by which a person came counts, and if not, why. */
function CreditOfReferral({
  person,
  onDecide,
}: {
  person: WholePerson;
  onDecide: (credit: 'credited' | 'refused') => void;
}) {
  const { credit } = person;
  if (credit === 'none') return null;
  const { canApprove, canRefuse } = choicesFor(person);
  return (
    <PlainSection isDense title="Credit of the referral">
      <Text size="sm">
        {CREDIT_SENTENCES[credit]}
        {person.credit_reasons.length > 0 && ` Reasons: ${reasonsOf(person)}.`}
      </Text>
      <Group gap="xs">
        {canApprove && (
          <Button size="compact-sm" variant="default" onClick={() => onDecide('credited')}>
            Approve
          </Button>
        )}
        {canRefuse && (
          <Button size="compact-sm" variant="default" onClick={() => onDecide('refused')}>
            Refuse
          </Button>
        )}
      </Group>
    </PlainSection>
  );
}

function RefuseAllDialog({ person, onClose }: { person: WholePerson; onClose: () => void }) {
  const queries = useQueryClient();
  const waitlist = useQuery(waitlistQuery(person.waitlist_id));
  const places = person.amount_referred * (waitlist.data?.spots_to_move_upon_referral ?? 0);
  const refuse = async (key: string) => {
    const refused = await refuseReferrals(person, key);
    await refreshPeople(queries, person.waitlist_id);
    notifications.show({ message: `${count(refused)} ${refused === 1 ? 'referral' : 'referrals'} refused` });
  };
  return (
    <ConfirmDialog
      isOpen
      title="Refuse all referrals of this person?"
      act="Refuse all"
      onConfirm={refuse}
      onClose={onClose}
    >
      <Text size="sm">
        {count(person.amount_referred)} of them {person.amount_referred === 1 ? 'counts' : 'count'} now.{' '}
        {places > 0 && (
          <>
            <bdi>{contactOf(person)}</bdi> moves back by up to {placesOf(places)}.{' '}
          </>
        )}
        The people who came keep their places. You can approve their referrals later, one by one. The rules decide on
        new referrals, as before.
      </Text>
    </ConfirmDialog>
  );
}

function PersonLink({ person, name }: { person: Pick<Person, 'uuid' | 'waitlist_id'>; name: string }) {
  const params = { waitlistId: person.waitlist_id, uuid: person.uuid };
  return (
    <Anchor
      inherit
      style={{ overflowWrap: 'anywhere' }}
      renderRoot={(props) => <Link {...props} to="/$waitlistId/people/$uuid" params={params} search />}
    >
      <bdi>{name}</bdi>
    </Anchor>
  );
}

const ACTIONS: Readonly<Partial<Record<HistoryEvent['action'], string>>> = {
  waiters_offboarded: 'Let in',
  waiter_corrected: 'Edited or moved',
  credit_approved: 'Referral approved',
  credit_refused: 'Referral refused',
  waiters_imported: 'Imported',
  referrals_refused: 'All referrals refused',
};

/** What happened to a person, latest first, from the audit log. */
function History({ person: { waitlist_id, uuid, created_at } }: { person: WholePerson }) {
  const history = useInfiniteQuery(auditQuery({ waitlist: waitlist_id, uuid }));
  const events = history.data?.pages.flat() ?? [];
  if (history.isError && events.length === 0)
    return (
      <PlainSection isDense title="History">
        <ProblemAlert error={history.error} onRetry={() => void history.refetch()} />
      </PlainSection>
    );
  return (
    <PlainSection isDense title="History">
      <Timeline bulletSize={12} lineWidth={2}>
        {events.map(({ id, action, created_at: time }) => (
          <Timeline.Item key={id} title={ACTIONS[action] ?? action}>
            <Text size="sm" c="dimmed">
              <RelativeTime time={time} />
            </Text>
          </Timeline.Item>
        ))}
        {!history.hasNextPage && (
          <Timeline.Item title="Joined">
            <Text size="sm" c="dimmed">
              <RelativeTime time={created_at} />
            </Text>
          </Timeline.Item>
        )}
      </Timeline>
      {history.hasNextPage && (
        <Button
          variant="default"
          size="compact-sm"
          loading={history.isFetchingNextPage}
          onClick={() => void history.fetchNextPage()}
        >
          Show earlier
        </Button>
      )}
    </PlainSection>
  );
}
