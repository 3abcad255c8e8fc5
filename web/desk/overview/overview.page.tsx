import { SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PageSkeleton } from '../parts/delayed';
import { PageHeading } from '../parts/page-heading';
import { ProblemAlert } from '../parts/problem-alert';
import { statisticsQuery, waitlistQuery } from '../queries';
import { Figures } from './figures';
import { FirstSteps } from './first-steps';
import { Joined } from './joined';
import { TopReferrers } from './top-referrers';
import { YourPage } from './your-page';

const route = getRouteApi('/shell/$waitlistId/overview');

export function OverviewPage() {
  const { waitlistId } = route.useParams();
  const waitlist = useQuery(waitlistQuery(waitlistId));
  const statistics = useQuery(statisticsQuery(waitlistId));
  if (!waitlist.data) return null;
  const { days, top_referrers: referrers } = statistics.data ?? {};
  return (
    <>
      <PageHeading title="Overview" />
      <Stack gap="xl">
        <FirstSteps waitlist={waitlist.data} />
        {statistics.isError && <ProblemAlert error={statistics.error} onRetry={() => void statistics.refetch()} />}
        <Figures totals={waitlist.data.statistics} days={days} />
        {days ? <Joined days={days} /> : statistics.isPending && <PageSkeleton />}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
          {referrers && <TopReferrers waitlistId={waitlistId} referrers={referrers} />}
          <YourPage waitlist={waitlist.data} />
        </SimpleGrid>
      </Stack>
    </>
  );
}
