import { getRouteApi, Navigate, useNavigate } from '@tanstack/react-router';
import { SignInPage } from './sign-in.page';

const route = getRouteApi('/sign-in');

/** Tells why a sign-in failed, and offers another. Without an error, the first page does that. */
export function SignInRoute() {
  const { error } = route.useSearch();
  const navigate = useNavigate();
  if (error === undefined) return <Navigate to="/" replace />;
  return <SignInPage error={error} onSignedIn={() => void navigate({ to: '/', replace: true })} />;
}
