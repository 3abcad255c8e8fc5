import { SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Delayed } from '../parts/delayed';
import { PageHeading } from '../parts/page-heading';
import { ProblemAlert } from '../parts/problem-alert';
import { statisticsQuery, waitlistQuery } from '../queries';
import { useMay } from '../roles';
import { Figures, OfferFigures } from './figures';
import { FirstSteps } from './first-steps';
import { Joined } from './joined';
import { StateBanner } from './state-banner';
import { TopReferrers } from './top-referrers';
import { Waiting } from './waiting';
import { YourPage } from './your-page';

/** Often enough to watch people join. */
const REFRESH_MS = 15_000;

const route = getRouteApi('/shell/$waitlistId/overview');

export function OverviewPage() {
  const { waitlistId } = route.useParams();
  // A hidden tab does not refetch.
  const waitlist = useQuery({ ...waitlistQuery(waitlistId), refetchInterval: REFRESH_MS });
  const statistics = useQuery({ ...statisticsQuery(waitlistId), refetchInterval: REFRESH_MS });
  const mayChange = useMay('editor');
  if (!waitlist.data) return null;
  const { days, top_referrers: referrers } = statistics.data ?? {};
  return (
    <>
      <PageHeading title="Overview" />
      <Stack gap="xl">
        <StateBanner waitlist={waitlist.data} />
        <Waiting waitlist={waitlist.data} />
        {/* They lead to a page that anybody can open and join on. */}
        {mayChange && !waitlist.data.is_closed && waitlist.data.is_public && <FirstSteps waitlist={waitlist.data} />}
        {statistics.isError && <ProblemAlert error={statistics.error} onRetry={() => void statistics.refetch()} />}
        <Figures totals={waitlist.data.statistics} days={days} />
        {days && <OfferFigures totals={waitlist.data.statistics} days={days} />}
        {days && <Joined days={days} since={waitlist.data.created_at} />}
        {statistics.isPending && (
          <Delayed>
            <Skeleton height={240} />
          </Delayed>
        )}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
          {referrers && <TopReferrers waitlistId={waitlistId} referrers={referrers} />}
          <YourPage waitlist={waitlist.data} />
        </SimpleGrid>
      </Stack>
    </>
  );
}
