import { Button, Group, Stack, Text } from '@mantine/core';
import { isFiltered, type PeopleSearch } from './search';

const WHO = { waiting: 'in line', offboarded: 'let in', pending: 'pending' } as const;
const EMPTY = {
  waiting: { sentence: 'Nobody is in line yet.', hint: 'People appear here as soon as they join.' },
  offboarded: { sentence: 'Nobody has been let in yet.', hint: 'Select people in line, or let the next ones in.' },
  pending: {
    sentence: 'Nobody is pending.',
    hint: 'People are pending until they confirm their address. Anyone who has not confirmed after 30 days is deleted.',
  },
} as const;

/** In place of the table: why it is empty, and ways to other people. */
export function Nobody({ search, onFilter }: { search: PeopleSearch; onFilter: (change: PeopleSearch) => void }) {
  const { status = 'waiting' } = search;
  return (
    <Stack align="center" py={64} gap="sm">
      <Text fw={500}>{isFiltered(search) ? `Nobody ${WHO[status]} matches.` : EMPTY[status].sentence}</Text>
      <Text size="sm" c="dimmed" maw="70ch" ta="center">
        {search.search !== undefined
          ? 'Search finds emails by their beginning, and phone numbers, tokens and UUIDs in full.'
          : search.credit === 'withheld'
            ? 'A referral that looks suspicious is withheld until you approve it.'
            : EMPTY[status].hint}
      </Text>
      {isFiltered(search) && (
        <Group justify="center">
          <Button
            variant="default"
            onClick={() => onFilter({ search: undefined, referral_token: undefined, credit: undefined })}
          >
            Show everybody
          </Button>
          <Button
            variant="default"
            onClick={() => onFilter({ status: status === 'waiting' ? 'offboarded' : undefined, order: undefined })}
          >
            {status === 'waiting' ? 'Search people let in' : 'Search people in line'}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
