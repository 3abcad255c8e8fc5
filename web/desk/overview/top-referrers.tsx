import { Anchor, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { components } from '../generated/openapi';
import { count } from '../parts/format';
import { Section } from '../parts/section';
import { contactOf } from '../people/people.queries';
import classes from './overview.module.css';

type Referrer = components['schemas']['TopReferrer'];

export function TopReferrers({ waitlistId, referrers }: { waitlistId: number; referrers: readonly Referrer[] }) {
  return (
    <Section title="Top referrers">
      {referrers.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nobody in line has referred anybody yet. Each person who joins gets a link to share.
        </Text>
      ) : (
        <ol className={classes.list}>
          {referrers.map(({ amount_referred, uuid, ...contact }) => (
            <li key={uuid}>
              <Group justify="space-between" wrap="nowrap" gap="md">
                <Anchor component={Link} to={`/${waitlistId}/people/${uuid}`} size="sm" truncate>
                  {contactOf(contact)}
                </Anchor>
                <Text size="sm" flex="none">
                  {count(amount_referred)} referred
                </Text>
              </Group>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}
