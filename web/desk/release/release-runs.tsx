import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { count } from '../parts/format';
import { HeadRow } from '../parts/head-row';
import { ProblemAlert } from '../parts/problem-alert';
import { RelativeTime } from '../parts/relative-time';
import { Section } from '../parts/section';
import { clockOf } from './plan';
import { type ReleaseRun, releaseRunsQuery } from './release.queries';

const STATES: Readonly<Record<ReleaseRun['state'], { readonly label: string; readonly color: string }>> = {
  running: { label: 'Running', color: 'blue' },
  done: { label: 'Done', color: 'teal' },
  skipped: { label: 'Skipped', color: 'gray' },
};

/** The runs of the plan so far. Nothing if there is no plan and no run. */
export function ReleaseRuns({ waitlistId, timeZone }: { waitlistId: number; timeZone: string | null }) {
  const runs = useInfiniteQuery(releaseRunsQuery(waitlistId));
  const list = runs.data?.pages.flat() ?? [];
  if (timeZone === null && list.length === 0) return null;
  return (
    <Section
      title="Runs"
      description="Newest first. A run is skipped if it could not begin within an hour of its time."
    >
      {runs.isError && list.length === 0 ? (
        <ProblemAlert error={runs.error} onRetry={() => void runs.refetch()} />
      ) : (
        <Stack>
          {runs.isSuccess && list.length === 0 && (
            <Text size="sm" c="dimmed">
              The plan has not run yet.
            </Text>
          )}
          {list.length > 0 && <Runs runs={list} clock={clockOf(timeZone)} />}
          {runs.isFetchNextPageError && <ProblemAlert error={runs.error} onRetry={() => void runs.fetchNextPage()} />}
          {runs.hasNextPage && !runs.isFetchNextPageError && (
            <Group>
              <Button
                variant="default"
                size="compact-sm"
                loading={runs.isFetchingNextPage}
                onClick={() => void runs.fetchNextPage()}
              >
                Show earlier
              </Button>
            </Group>
          )}
        </Stack>
      )}
    </Section>
  );
}

function Runs({ runs, clock }: { runs: readonly ReleaseRun[]; clock: Intl.DateTimeFormat }) {
  return (
    <Table.ScrollContainer minWidth={320} type="native" tabIndex={0} role="region" aria-label="Runs of the plan">
      <Table>
        <HeadRow columns={['Time', 'State', 'Ran']} numbers={['Offered']} />
        <Table.Tbody>
          {runs.map(({ id, planned_at: planned, ran_at: ran, state, offered, count: number }) => (
            <Table.Tr key={id}>
              <Table.Th scope="row" fw={400}>
                <time dateTime={planned}>{clock.format(new Date(planned))}</time>
              </Table.Th>
              <Table.Td>
                <Badge variant="light" color={STATES[state].color} miw="max-content">
                  {STATES[state].label}
                </Badge>
              </Table.Td>
              <Table.Td>{ran && <RelativeTime time={ran} />}</Table.Td>
              <Table.Td ta="end">{state === 'skipped' ? '–' : `${count(offered)} of ${count(number)}`}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
