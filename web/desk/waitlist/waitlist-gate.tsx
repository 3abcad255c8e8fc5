import { useQuery } from '@tanstack/react-query';
import { Outlet, useParams } from '@tanstack/react-router';
import { PageSkeleton } from '../parts/delayed';
import { NothingHere } from '../parts/nothing-here';
import { PageProblem } from '../parts/page-fault';
import { Problem } from '../problem';
import { waitlistQuery } from '../queries';

/** Shows a waitlist's pages once the waitlist is there, so that they need not ask whether it exists. */
export function WaitlistGate() {
  const { waitlistId } = useParams({ from: '/shell/$waitlistId' });
  const isId = Number.isSafeInteger(waitlistId) && waitlistId > 0;
  const waitlist = useQuery({ ...waitlistQuery(waitlistId), enabled: isId });
  if (!isId) return <NothingHere />;
  if (waitlist.data) return <Outlet />;
  if (!waitlist.isError) return <PageSkeleton />;
  if (waitlist.error instanceof Problem && waitlist.error.status === 404)
    return <NothingHere>Your account has no waitlist with this number.</NothingHere>;
  return <PageProblem error={waitlist.error} onRetry={() => void waitlist.refetch()} />;
}
