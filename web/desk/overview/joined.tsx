import { Box, Button, Group, SegmentedControl, Skeleton, Table, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { Delayed } from '../parts/delayed';
import { count, momentOf } from '../parts/format';
import { HeadRow } from '../parts/head-row';
import { Section } from '../parts/section';
import type { DayStatistics } from '../queries';
import { type OverviewSearch, SPANS } from './search';

const route = getRouteApi('/shell/$waitlistId/overview');
const HEIGHT = 260;
const DAYS_MIN = 7;
/** A longer table scrolls in a box. Its height cuts a row in two, which shows that there are more. */
const BOX_FROM_DAYS = 12;
const BOX_HEIGHT = 424;
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** The columns of offers, shown if there were any. */
const OFFERS = [
  { field: 'offered', label: 'Offered' },
  { field: 'accepted', label: 'Accepted' },
  { field: 'declined', label: 'Declined' },
  { field: 'expired', label: 'Expired' },
] as const;

/** Big, and not needed by any other page. */
const JoinedChart = lazy(() => import('./joined-chart'));

/**
 * The numbers of each day (UTC), as a chart and as a table. The URL holds the span. Leaves out the days without numbers
 * before `since`, when the waitlist was created.
 */
export function Joined({ days, since }: { days: readonly DayStatistics[]; since: string }) {
  const { days: span = 30 } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (days: OverviewSearch['days']) =>
    void navigate({ to: '.', search: { days }, replace: true, resetScroll: false });
  const [isTable, setIsTable] = useState(false);
  const shown = lastDays(days, span, since).map((day) => ({ ...day, label: DAY.format(new Date(day.date)) }));
  const total = (field: 'signups' | 'referred' | 'page_views') => shown.reduce((sum, day) => sum + day[field], 0);
  const [joined, views] = [total('signups'), total('page_views')];
  const sentence = `${count(joined)} joined in ${span} days, ${count(total('referred'))} of them referred.`;
  const description = [
    sentence,
    views > 0 && `${views === 1 ? '1 page view' : `${count(views)} page views`}.`,
    shown.length < span && `The waitlist is new, so ${shown.length} days are shown.`,
  ];
  return (
    <Section
      title="Joined per day"
      description={description.filter(Boolean).join(' ')}
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
        <Box
          role="img"
          aria-label={`Chart: ${sentence} “Show the numbers” gives them as a table.`}
          h={HEIGHT}
          // The tooltip of the last day would widen a narrow page.
          style={{ overflow: 'hidden' }}
        >
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

/** The last `span` days, without the leading days before `since` that have no numbers; at least a week. */
function lastDays(days: readonly DayStatistics[], span: number, since: string): readonly DayStatistics[] {
  const last = days.slice(-span);
  const made = momentOf(since).toISOString().slice(0, 10);
  const first = last.findIndex(
    ({ date, signups, offered, offboarded, page_views }) =>
      date >= made || signups + offered + offboarded + page_views > 0,
  );
  return last.slice(Math.max(0, Math.min(first, last.length - DAYS_MIN)));
}

function NumbersTable({ days }: { days: readonly (DayStatistics & { label: string })[] }) {
  const isLong = days.length >= BOX_FROM_DAYS;
  const hasOffers = OFFERS.some(({ field }) => days.some((day) => day[field] > 0));
  const offers = hasOffers ? OFFERS : [];
  return (
    <>
      <Table.ScrollContainer
        minWidth={420 + 80 * offers.length}
        {...(isLong && { maxHeight: BOX_HEIGHT })}
        type="native"
        tabIndex={0}
        role="region"
        aria-label="Numbers of each day"
      >
        <Table stickyHeader>
          <HeadRow
            columns={['Day (UTC)']}
            numbers={['Joined', 'Referred', ...offers.map(({ label }) => label), 'No longer in line', 'Page views']}
          />
          <Table.Tbody>
            {days.toReversed().map((day) => (
              <Table.Tr key={day.date}>
                <Table.Th scope="row" fw={400}>
                  <time dateTime={day.date}>{day.label}</time>
                </Table.Th>
                <Table.Td ta="end">{count(day.signups)}</Table.Td>
                <Table.Td ta="end">{count(day.referred)}</Table.Td>
                {offers.map(({ field }) => (
                  <Table.Td key={field} ta="end">
                    {count(day[field])}
                  </Table.Td>
                ))}
                <Table.Td ta="end">{count(day.offboarded)}</Table.Td>
                <Table.Td ta="end">{count(day.page_views)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {isLong && (
        <Text size="sm" c="dimmed" mt="xs">
          {count(days.length)} days: scroll for the earlier ones.
        </Text>
      )}
    </>
  );
}
