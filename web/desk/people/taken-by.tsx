import { Anchor } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, bodyOf } from '../api';

/** The error for an email or phone that another person on the waitlist has, with a link to that person. */
export function TakenBy({ waitlistId, contact }: { waitlistId: number; contact: { email?: string; phone?: string } }) {
  const { data: other } = useQuery({
    queryKey: ['waitlists', waitlistId, 'taken-by', contact],
    queryFn: async ({ signal }) =>
      bodyOf(api.GET('/api/v1/signup', { params: { query: { waitlist_id: waitlistId, ...contact } }, signal })),
  });
  return (
    <>
      Somebody else on this list has this {contact.email === undefined ? 'phone number' : 'email'}.
      {other && (
        <>
          {' '}
          <Anchor inherit underline="always" component={Link} to={`/${waitlistId}/people/${other.uuid}`}>
            Show them
          </Anchor>
        </>
      )}
    </>
  );
}
