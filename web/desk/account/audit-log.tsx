import { Anchor, Button, Code, Group, NativeSelect, Skeleton, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { wordsOf } from '../fault-words';
import type { components } from '../generated/openapi';
import { Delayed } from '../parts/delayed';
import { count } from '../parts/format';
import { HeadRow } from '../parts/head-row';
import { ProblemAlert } from '../parts/problem-alert';
import { RelativeTime } from '../parts/relative-time';
import { Section } from '../parts/section';
import { Problem } from '../problem';
import { auditQuery, type Member, membersQuery, waitlistsQuery } from '../queries';
import { memberNames, nameOf } from '../team/member-name';
import type { AccountSearch } from './search';

const route = getRouteApi('/shell/account');

type Event = components['schemas']['AuditEvent'];

const TYPING_MS = 300;
const PEOPLE_SHOWN = 2;
const ADDRESS_CHARACTERS = 6;
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i;

const ACTIONS: Readonly<Record<string, string>> = {
  account_created: 'Account created',
  account_disabled: 'Account disabled',
  account_enabled: 'Account enabled',
  account_updated: 'Account changed',
  member_invited: 'Member invited',
  member_joined: 'Member joined',
  member_updated: 'Member changed',
  member_role_changed: 'Role of a member changed',
  member_disabled: 'Member disabled',
  member_enabled: 'Member enabled',
  member_removed: 'Member removed',
  password_set: 'Password set by the operator',
  password_changed: 'Password changed',
  password_reset_started: 'Password reset started',
  password_reset: 'Password set by a link',
  two_factor_set_up: 'Second factor set up',
  two_factor_removed: 'Second factor removed',
  login_failed: 'Login failed',
  login_throttled: 'Login refused after many attempts',
  refresh_token_reused: 'Login ended: its token was used twice',
  session_ended: 'Login ended',
  waitlist_created: 'Waitlist created',
  waitlist_updated: 'Settings changed',
  waitlist_deleted: 'Waitlist deleted',
  api_key_replaced: 'API key replaced',
  account_key_created: 'Account key created',
  account_key_revoked: 'Account key revoked',
  waiters_offboarded: 'Let in',
  offers_made: 'Seats offered',
  offer_link_made: 'New link for an offer',
  offer_accepted: 'Offer accepted',
  offer_declined: 'Offer declined',
  offers_expired: 'Offers expired',
  waiters_returned: 'Put back in line',
  release_plan_changed: 'Release plan changed',
  release_ran: 'Release plan run',
  waiters_imported: 'People imported',
  waiter_corrected: 'Person edited',
  waiters_erased: 'Erased',
  waiter_left: 'Left the waitlist',
  credit_approved: 'Referral approved',
  credit_refused: 'Referral refused',
  referrals_refused: 'All referrals of a person refused',
  webhook_created: 'Webhook added',
  webhook_updated: 'Webhook changed',
  webhook_deleted: 'Webhook deleted',
  webhook_secret_replaced: 'Secret of a webhook replaced',
  webhook_tested: 'Webhook tested',
  webhook_turned_off: 'Webhook turned off: it failed for days, or is gone',
  deliveries_replayed: 'Events sent again',
} satisfies Record<Event['action'], string> & Record<string, string>;

/** What happened to the account and its waitlists. The address holds the filters. */
export function AuditLog() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const waitlists = useQuery(waitlistsQuery()).data ?? [];
  const members = useQuery(membersQuery()).data;
  const events = useInfiniteQuery(auditQuery(filter));
  const narrow = (change: AccountSearch) =>
    void navigate({ to: '/account', search: { ...filter, ...change }, replace: true, resetScroll: false });
  const narrowLater = useDebouncedCallback((typed: string) => narrow({ uuid: uuidOf(typed) }), TYPING_MS);
  const uuidFault =
    events.error instanceof Problem ? events.error.faults.find(({ field }) => field === 'uuid') : undefined;
  const list = events.data?.pages.flat() ?? [];
  // Those of the events that are shown. An address may name another.
  const removed = [...new Set([filter.member ?? null, ...list.map(({ member }) => member)])].filter(
    (member): member is string => member !== null && !members?.some(({ id }) => id === member),
  );
  return (
    <Section
      title="Audit log"
      description="It holds neither contact data nor what a setting was. “From” has a mark in place of a network address: the same mark, the same address. Old events are deleted after the time that the operator sets."
    >
      <Group align="flex-start" mb="md" grow preventGrowOverflow={false}>
        <NativeSelect
          label="Waitlist"
          value={filter.waitlist ?? ''}
          onChange={({ currentTarget: { value } }) => narrow({ waitlist: value === '' ? undefined : Number(value) })}
          data={[
            { value: '', label: 'All' },
            ...waitlists.map(({ id, waitlist_name }) => ({ value: String(id), label: waitlist_name })),
          ]}
        />
        <NativeSelect
          label="Done by"
          value={filter.member ?? ''}
          onChange={({ currentTarget: { value } }) => narrow({ member: value === '' ? undefined : value })}
          data={[
            { value: '', label: 'Everybody' },
            ...(members ?? []).map((member) => ({ value: member.id, label: nameOf(member) })),
            ...removed.map((id) => ({ value: id, label: memberNames()(id) })),
          ]}
        />
        <TextInput
          label="Person"
          description="Paste the address of their page at the desk, or choose them in the log."
          defaultValue={filter.uuid}
          onChange={({ currentTarget: { value } }) => narrowLater(value)}
          error={uuidFault && wordsOf(uuidFault)}
        />
      </Group>
      {events.isError && !uuidFault && <ProblemAlert error={events.error} onRetry={() => void events.refetch()} />}
      {events.isPending && (
        <Delayed>
          <Skeleton height={200} />
        </Delayed>
      )}
      {events.data && list.length === 0 && (
        <Text size="sm" c="dimmed">
          No matching events.
        </Text>
      )}
      {list.length > 0 && (
        <Table.ScrollContainer minWidth={820} type="native">
          <Table>
            <HeadRow columns={['When', 'What', 'Who', 'Waitlist', 'About', 'From']} />
            <Table.Tbody>
              {list.map((event) => (
                <EventRow
                  key={event.id}
                  event={event}
                  members={members}
                  waitlistName={waitlists.find(({ id }) => id === event.waitlist_id)?.waitlist_name}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {events.hasNextPage && (
        <Group justify="center" mt="md">
          <Button variant="default" loading={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
            Show older events
          </Button>
        </Group>
      )}
    </Section>
  );
}

/** That of a pasted address of a person's page, or the text itself, which the service may refuse. */
function uuidOf(typed: string): string | undefined {
  const [uuid = typed.trim()] = UUID.exec(typed) ?? [];
  return uuid || undefined;
}

/** `waitlistName` is missing for an event of the account and for a deleted waitlist. */
function EventRow({
  event,
  members,
  waitlistName,
}: {
  event: Event;
  members: readonly Member[] | undefined;
  waitlistName?: string;
}) {
  const { waitlist_id: waitlistId, uuids, address_hash: addressHash } = event;
  return (
    <Table.Tr>
      <Table.Td>
        <RelativeTime time={event.created_at} />
      </Table.Td>
      {/* A newer service may name other actions. */}
      <Table.Td>{ACTIONS[event.action] ?? event.action}</Table.Td>
      <Table.Td>
        <bdi>{whoDid(event, members)}</bdi>
      </Table.Td>
      <Table.Td>{waitlistName ?? (waitlistId !== null && `${waitlistId} (deleted)`)}</Table.Td>
      <Table.Td>
        <Stack gap={0} align="flex-start">
          {uuids.slice(0, PEOPLE_SHOWN).map((uuid) =>
            isAboutMember(event) ? (
              <bdi key={uuid}>{memberNames(members)(uuid)}</bdi>
            ) : waitlistName === undefined ? (
              <Code key={uuid}>{uuid}</Code>
            ) : (
              <Anchor key={uuid} size="xs" ff="monospace" component={Link} to={`/${waitlistId ?? ''}/people/${uuid}`}>
                {uuid}
              </Anchor>
            ),
          )}
          {uuids.length > PEOPLE_SHOWN && (
            <Text size="xs" c="dimmed">
              and {count(uuids.length - PEOPLE_SHOWN)} more
            </Text>
          )}
        </Stack>
      </Table.Td>
      <Table.Td>
        {addressHash !== null && (
          <Code title="The same mark stands for the same network address">
            {addressHash.slice(0, ADDRESS_CHARACTERS)}
          </Code>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

/** Whether the event names a member, where others name people of a waitlist. */
function isAboutMember({ waitlist_id: waitlistId, uuids }: Event): boolean {
  return waitlistId === null && uuids.length > 0;
}

/** What acts without a member is a command of the operator or the service itself, or a request with an address. */
function whoDid(
  { member, address_hash: addressHash, request_id: requestId }: Event,
  members?: readonly Member[],
): string {
  if (member !== null) return memberNames(members)(member);
  if (addressHash === null && requestId === null) return 'The operator';
  return 'Account key';
}
