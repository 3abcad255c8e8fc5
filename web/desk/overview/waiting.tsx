import { Anchor, Paper, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { countBounded } from '../parts/format';
import type { PeopleSearch } from '../people/search';
import type { Waitlist } from '../queries';

/** The numbers of withheld referrals and unconfirmed people. Nothing if both are 0. */
export function Waiting({ waitlist: { id, statistics } }: { waitlist: Waitlist }) {
  const { withheld_signups: withheld = 0, pending_signups: pending = 0 } = statistics;
  if (withheld === 0 && pending === 0) return null;
  return (
    <Paper component="section" withBorder p="md" aria-label="What waits">
      <Stack gap={4}>
        {withheld > 0 && (
          <Text size="sm">
            <strong>
              {withheld === 1 ? '1 referral waits for you' : `${countBounded(withheld)} referrals wait for you`}
            </strong>
            , because {withheld === 1 ? 'it looks' : 'they look'} suspicious:{' '}
            <PeopleLink waitlistId={id} search={{ credit: 'withheld' }}>
              look at {withheld === 1 ? 'it' : 'them'}
            </PeopleLink>
          </Text>
        )}
        {pending > 0 && (
          <Text size="sm">
            {pending === 1 ? '1 person has' : `${countBounded(pending)} people have`} not confirmed the email yet, and{' '}
            {pending === 1 ? 'is' : 'are'} not in line:{' '}
            <PeopleLink waitlistId={id} search={{ status: 'pending' }}>
              see {pending === 1 ? 'who' : 'them'}
            </PeopleLink>
          </Text>
        )}
      </Stack>
    </Paper>
  );
}

function PeopleLink({
  waitlistId,
  search,
  children,
}: {
  waitlistId: number;
  search: PeopleSearch;
  children: ReactNode;
}) {
  return (
    <Anchor
      inherit
      underline="always"
      renderRoot={(props) => <Link {...props} to="/$waitlistId/people" params={{ waitlistId }} search={search} />}
    >
      {children}
    </Anchor>
  );
}
