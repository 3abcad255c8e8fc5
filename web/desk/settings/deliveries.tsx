import { Anchor, Badge, Button, Checkbox, Group, Skeleton, Stack, Table, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { nanoid } from 'nanoid';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import type { components } from '../generated/openapi';
import { Delayed } from '../parts/delayed';
import { count } from '../parts/format';
import { HeadRow } from '../parts/head-row';
import { ProblemAlert } from '../parts/problem-alert';
import { RelativeTime } from '../parts/relative-time';
import { deliveriesQuery } from '../queries';
import { useMay } from '../roles';

type Delivery = components['schemas']['Delivery'];
type Replay = components['schemas']['ReplayDeliveries'];

const FAILURES: Readonly<Record<string, string>> = {
  dns: 'Name not found',
  blocked: 'Address not public',
  refused: 'Connection refused',
  unreachable: 'No route',
  tls: 'TLS failed',
  reset: 'Connection closed',
  timeout: 'No response in 10 s',
  protocol: 'Not HTTP',
  other: 'No response',
} satisfies Record<NonNullable<Delivery['last_failure']>, string>;
const COLORS: Readonly<Record<Delivery['status'], string>> = { pending: 'blue', delivered: 'teal', failed: 'red' };

const COLUMNS = ['Event', 'Person', 'Status', 'Attempts', 'Last response', 'Time', 'Next attempt'];

/** The deliveries of a webhook, newest first, with buttons to send them again. */
export function Deliveries({ waitlistId, webhookId }: { waitlistId: number; webhookId: number }) {
  const queries = useQueryClient();
  const deliveries = useInfiniteQuery(deliveriesQuery(waitlistId, webhookId));
  const list = deliveries.data?.pages.flat() ?? [];
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const mayReplay = useMay('editor');
  const replay = useMutation({
    mutationFn: (body: Replay) =>
      bodyOf(
        api.POST('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}/replay', {
          params: {
            path: { waitlist_id: waitlistId, webhook_id: webhookId },
            header: { 'Idempotency-Key': nanoid() },
          },
          body,
        }),
      ),
    onSuccess: async ({ replayed }) => {
      notifications.show({ message: `${count(replayed)} ${replayed === 1 ? 'event is' : 'events are'} sent again` });
      setChosen([]);
      await queries.invalidateQueries(deliveriesQuery(waitlistId, webhookId));
    },
  });
  if (deliveries.isPending)
    return (
      <Delayed>
        <Skeleton height={80} />
      </Delayed>
    );
  if (deliveries.isError && list.length === 0)
    return <ProblemAlert error={deliveries.error} onRetry={() => void deliveries.refetch()} />;
  if (list.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No deliveries yet.
      </Text>
    );
  return (
    <Stack>
      <Group align="flex-end" gap="xs">
        {mayReplay && <ReplayButtons chosen={chosen} onReplay={replay.mutate} />}
        <Button size="xs" variant="subtle" loading={deliveries.isRefetching} onClick={() => void deliveries.refetch()}>
          Refresh
        </Button>
      </Group>
      {replay.isError && <ProblemAlert error={replay.error} />}
      <Table.ScrollContainer minWidth={700} type="native">
        <Table>
          <HeadRow columns={mayReplay ? ['', ...COLUMNS] : COLUMNS} />
          <Table.Tbody>
            {list.map((delivery) => (
              <DeliveryRow
                key={delivery.id}
                waitlistId={waitlistId}
                delivery={delivery}
                isChosen={chosen.includes(delivery.id)}
                onChoose={
                  mayReplay &&
                  ((isChosen) =>
                    setChosen((ids) => (isChosen ? [...ids, delivery.id] : ids.filter((id) => id !== delivery.id))))
                }
              />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {deliveries.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            size="compact-sm"
            loading={deliveries.isFetchingNextPage}
            onClick={() => void deliveries.fetchNextPage()}
          >
            Show earlier
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function ReplayButtons({ chosen, onReplay }: { chosen: readonly string[]; onReplay: (replay: Replay) => void }) {
  const [since, setSince] = useState('');
  return (
    <>
      <Button
        size="xs"
        variant="default"
        disabled={chosen.length === 0}
        onClick={() => onReplay({ delivery_ids: [...chosen] })}
      >
        Send {chosen.length === 0 ? 'selected' : count(chosen.length)} again
      </Button>
      <TextInput
        size="xs"
        type="datetime-local"
        label="Or all since"
        value={since}
        onChange={({ currentTarget }) => setSince(currentTarget.value)}
      />
      <Button
        size="xs"
        variant="default"
        disabled={since === ''}
        onClick={() => onReplay({ since: new Date(since).toISOString() })}
      >
        Send all since then again
      </Button>
    </>
  );
}

function DeliveryRow({
  waitlistId,
  delivery: { id, event, signup_uuid: uuid, status, attempts, last_status, last_failure, created_at, next_attempt_at },
  isChosen,
  onChoose,
}: {
  waitlistId: number;
  delivery: Delivery;
  isChosen: boolean;
  /** False for those who may not send it again. */
  onChoose: false | ((isChosen: boolean) => void);
}) {
  return (
    <Table.Tr>
      {onChoose && (
        <Table.Td>
          <Checkbox
            aria-label={`Select ${event} ${id}`}
            checked={isChosen}
            onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
          />
        </Table.Td>
      )}
      <Table.Th scope="row" fw={500}>
        {event}
      </Table.Th>
      <Table.Td>
        {uuid === null || event === 'erased_signup' ? (
          '–'
        ) : (
          <Anchor
            size="sm"
            component={Link}
            to={`/${waitlistId}/people/${uuid}`}
            aria-label={`Show the person of ${event} ${id}`}
          >
            Show
          </Anchor>
        )}
      </Table.Td>
      <Table.Td>
        <Badge variant="light" color={COLORS[status]} miw="max-content">
          {status}
        </Badge>
      </Table.Td>
      <Table.Td>{count(attempts)}</Table.Td>
      <Table.Td>
        {last_status ?? (attempts === 0 ? '–' : (FAILURES[last_failure ?? 'other'] ?? FAILURES.other))}
      </Table.Td>
      <Table.Td>
        <RelativeTime time={created_at} />
      </Table.Td>
      <Table.Td>{next_attempt_at === null ? '–' : <RelativeTime time={next_attempt_at} />}</Table.Td>
    </Table.Tr>
  );
}
