import { Box, Button, Group, SegmentedControl, Skeleton, Table } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Delayed } from '../parts/delayed';
import { count } from '../parts/format';
import { HeadRow } from '../parts/head-row';
import { Section } from '../parts/section';
import type { DayStatistics } from '../queries';
import { type OverviewSearch, SPANS } from './search';

const route = getRouteApi('/shell/$waitlistId/overview');
const HEIGHT = 260;
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** Big, and not needed by any other page. */
const JoinedChart = lazy(() => import('./joined-chart'));

/** Who joined on each day (UTC), as a chart and as a table of the same numbers. The address holds the span. */
export function Joined({ days }: { days: readonly DayStatistics[] }) {
  const { days: span = 30 } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (days: OverviewSearch['days']) =>
    void navigate({ to: '.', search: { days }, replace: true, resetScroll: false });
  const [isTable, setIsTable] = useState(false);
  const shown = days.slice(-span).map((day) => ({ ...day, label: DAY.format(new Date(day.date)) }));
  const total = (field: 'signups' | 'referred' | 'page_views') => shown.reduce((sum, day) => sum + day[field], 0);
  const [joined, views] = [total('signups'), total('page_views')];
  const sentence = `${count(joined)} joined in ${span} days, ${count(total('referred'))} of them referred.`;
  const description = views > 0 ? `${sentence} ${count(views)} page views.` : sentence;
  return (
    <Section
      title="Joined per day"
      description={description}
      action={
        <Group gap="xs">
          <Button size="compact-sm" variant="subtle" onClick={() => setIsTable(!isTable)}>
            {isTable ? 'Show the chart' : 'Show the numbers'}
          </Button>
          <SegmentedControl
            size="xs"
            aria-label="Days shown"
            data={SPANS.map((days) => ({ value: String(days), label: `${days} days` }))}
            value={String(span)}
            onChange={(value) => show(Number(value) as OverviewSearch['days'])}
          />
        </Group>
      }
    >
      {isTable ? (
        <NumbersTable days={shown} />
      ) : (
        <Box role="img" aria-label={`Chart: ${sentence} “Show the numbers” gives them as a table.`} h={HEIGHT}>
          <Suspense
            fallback={
              <Delayed>
                <Skeleton height={HEIGHT} />
              </Delayed>
            }
          >
            <JoinedChart days={shown} height={HEIGHT} />
          </Suspense>
        </Box>
      )}
    </Section>
  );
}

function NumbersTable({ days }: { days: readonly (DayStatistics & { label: string })[] }) {
  return (
    <Table.ScrollContainer minWidth={420} maxHeight={HEIGHT} type="native" tabIndex={0}>
      <Table stickyHeader>
        <HeadRow columns={['Day (UTC)']} numbers={['Joined', 'Referred', 'Let in', 'Page views']} />
        <Table.Tbody>
          {days.toReversed().map(({ date, label, signups, referred, offboarded, page_views }) => (
            <Table.Tr key={date}>
              <Table.Th scope="row" fw={400}>
                <time dateTime={date}>{label}</time>
              </Table.Th>
              <Table.Td ta="end">{count(signups)}</Table.Td>
              <Table.Td ta="end">{count(referred)}</Table.Td>
              <Table.Td ta="end">{count(offboarded)}</Table.Td>
              <Table.Td ta="end">{count(page_views)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
