import { useQuery } from '@tanstack/react-query';
import { Problem } from './problem';
import { waitlistsQuery } from './queries';

/** Whether the service opens nothing but the profile, because the account requires a second factor of this login. */
export function useNeedsSecondFactor(): boolean {
  // Only the service knows how the login was made: those of single sign-on need none.
  const { error } = useQuery(waitlistsQuery());
  return needsSecondFactor(error);
}

export function needsSecondFactor(error: unknown): boolean {
  return error instanceof Problem && error.code === 'TWO_FACTOR_REQUIRED';
}
