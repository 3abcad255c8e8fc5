import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { ProblemAlert } from './parts/problem-alert';
import { waitlistsQuery } from './queries';

/** Leads to the first waitlist. */
export function HomePage() {
  const waitlists = useQuery(waitlistsQuery());
  if (waitlists.isError) return <ProblemAlert error={waitlists.error} onRetry={() => void waitlists.refetch()} />;
  const [first] = waitlists.data ?? [];
  if (!first) return null;
  return <Navigate to="/$waitlistId/overview" params={{ waitlistId: first.id }} replace />;
}
