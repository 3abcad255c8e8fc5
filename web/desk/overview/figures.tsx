import { Paper, SimpleGrid, Text } from '@mantine/core';
import { count, countPeople, share } from '../parts/format';
import { Section } from '../parts/section';
import type { DayStatistics, Waitlist } from '../queries';

const SPAN_DAYS = 7;
/** With fewer people before, a change of the share is noise. */
const TELLING_FROM = 20;
const CHANGE = new Intl.NumberFormat(undefined, { signDisplay: 'exceptZero' });
const POINTS = new Intl.NumberFormat(undefined, { signDisplay: 'exceptZero', maximumFractionDigits: 1 });

/** The totals of a waitlist, each with its change over the last seven days as soon as the days are there. */
export function Figures({ totals, days }: { totals: Waitlist['statistics']; days?: readonly DayStatistics[] }) {
  const week = days?.slice(-SPAN_DAYS);
  const sum = (field: keyof Omit<DayStatistics, 'date'>) => week?.reduce((total, day) => total + day[field], 0);
  const [joined, referred, left] = [sum('signups'), sum('referred'), sum('offboarded')];
  const hadOffers = [sum('offered'), sum('accepted'), sum('declined'), sum('expired')].some((offers) => offers !== 0);
  const { current_signups, total_signups, referred_signups, offered_signups, offboarded_signups } = totals;
  const now = ratio(referred_signups, total_signups);
  const isCounted = joined !== undefined && referred !== undefined;
  const before = isCounted ? ratio(referred_signups - referred, total_signups - joined) : undefined;
  const isTelling =
    typeof now === 'number' && typeof before === 'number' && total_signups - (joined ?? 0) >= TELLING_FROM;
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md" component="dl" m={0}>
      <Figure
        label="In line"
        value={count(current_signups)}
        // Withdrawn offers are not counted, and people whose offer has ended left the line on an earlier day.
        change={joined !== undefined && left !== undefined && !hadOffers ? CHANGE.format(joined - left) : undefined}
        note={offered_signups > 0 ? `${count(offered_signups)} more with an open offer` : undefined}
      />
      <Figure
        label="Joined"
        value={count(total_signups)}
        change={joined === undefined ? undefined : CHANGE.format(joined)}
      />
      <Figure
        label="Referred"
        value={now === null ? '–' : share(now)}
        change={isTelling ? `${POINTS.format((now - before) * 100)} points` : undefined}
        // On the first days there is nothing to compare with.
        note={now === null ? undefined : `${count(referred_signups)} of ${countPeople(total_signups)}`}
      />
      <Figure
        label="No longer in line"
        value={count(offboarded_signups)}
        change={left === undefined ? undefined : CHANGE.format(left)}
      />
    </SimpleGrid>
  );
}

function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null;
}

/** The numbers of offers. Nothing if there were none. */
export function OfferFigures({ totals, days }: { totals: Waitlist['statistics']; days: readonly DayStatistics[] }) {
  const sum = (field: 'offered' | 'accepted' | 'declined' | 'expired', from: readonly DayStatistics[] = days) =>
    from.reduce((total, day) => total + day[field], 0);
  if (totals.offered_signups === 0 && sum('offered') + sum('accepted') + sum('declined') + sum('expired') === 0)
    return null;
  const ofWeek = (field: 'accepted' | 'declined' | 'expired') => CHANGE.format(sum(field, days.slice(-SPAN_DAYS)));
  return (
    <Section
      title="Offers"
      description={`${sum('offered') === 1 ? '1 offer was' : `${count(sum('offered'))} offers were`} made in ${days.length} days, with those taken back. What happened to offers in this time:`}
    >
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md" component="dl" m={0}>
        <Figure label="Open now" value={count(totals.offered_signups)} />
        <Figure label="Accepted" value={count(sum('accepted'))} change={ofWeek('accepted')} />
        <Figure label="Declined" value={count(sum('declined'))} change={ofWeek('declined')} />
        <Figure label="Expired" value={count(sum('expired'))} change={ofWeek('expired')} />
      </SimpleGrid>
    </Section>
  );
}

/** Under the figure, its change or, as long as there is none, a note. */
function Figure({ label, value, change, note = '' }: { label: string; value: string; change?: string; note?: string }) {
  return (
    <Paper withBorder p="md">
      <Text component="dt" size="sm" c="dimmed">
        {label}
      </Text>
      <Text component="dd" m={0} fz="xl" fw={600} lh={1.3}>
        {value}
      </Text>
      <Text component="dd" m={0} size="sm" c="dimmed" mih="1.55em">
        {change === undefined ? note : `${change} in ${SPAN_DAYS} days`}
      </Text>
    </Paper>
  );
}
