import { Button, Group, Stack, Text } from '@mantine/core';
import type { Waitlist } from '../queries';
import { isDeciding, isFiltered, type PeopleSearch } from './search';

const WHO = {
  waiting: 'in line',
  offered: 'with an open offer',
  offboarded: 'who is no longer in line',
  pending: 'unconfirmed',
} as const;
const EMPTY = {
  waiting: { sentence: 'Nobody is in line yet.', hint: 'People appear here as soon as they join.' },
  offered: { sentence: 'Nobody has an open offer.', hint: 'Select people in line, or offer the next ones a seat.' },
  offboarded: { sentence: 'Nobody has been let in yet.', hint: 'Select people in line, or let the next ones in.' },
  pending: {
    sentence: 'Nobody is unconfirmed.',
    hint: 'People are unconfirmed until they confirm their email. Anyone who has not done so after 30 days is deleted.',
  },
} as const;
const ALL_OUT = { sentence: 'Nobody is in line.', hint: 'Everybody who joined has an offer or is no longer in line.' };
const NO_DECISION = {
  sentence: 'No referral waits for you.',
  hint: 'A referral that looks suspicious is withheld until you approve or refuse it.',
};
const SEARCHED =
  'Search finds names by the last name and as much of the first as is typed (“Anna Berg”, “Berg A”), emails by their beginning, and phone numbers, referral codes and UUIDs in full.';
const SEARCHED_WITH_CREDIT =
  'With this filter, search finds emails by their beginning, and phone numbers, referral codes and UUIDs in full, but no names.';

/** In place of the table: why it is empty, and ways to other people. */
export function Nobody({
  search,
  totals,
  onFilter,
}: {
  search: PeopleSearch;
  totals: Waitlist['statistics'] | undefined;
  onFilter: (change: PeopleSearch) => void;
}) {
  const { status = 'waiting' } = search;
  const { sentence, hint } = wordsOf(search, totals);
  return (
    <Stack align="center" py={64} gap="sm">
      <Text fw={500} ta="center" style={{ overflowWrap: 'anywhere' }}>
        {sentence}
      </Text>
      <Text size="sm" c="dimmed" maw="var(--width-form)" ta="center">
        {hint}
      </Text>
      {isFiltered(search) && (
        <Group justify="center">
          <Button
            variant="default"
            onClick={() => onFilter({ search: undefined, referral_token: undefined, credit: undefined })}
          >
            Show everybody
          </Button>
          {!isDeciding(search) && (
            <Button
              variant="default"
              onClick={() => onFilter({ status: status === 'waiting' ? 'offboarded' : undefined, order: undefined })}
            >
              {status === 'waiting' ? 'Search people no longer in line' : 'Search people in line'}
            </Button>
          )}
        </Group>
      )}
    </Stack>
  );
}

function wordsOf(
  search: PeopleSearch,
  totals: Waitlist['statistics'] | undefined,
): { readonly sentence: string; readonly hint: string } {
  const { status = 'waiting', credit, search: text } = search;
  if (text !== undefined)
    return {
      sentence: isDeciding(search)
        ? `No withheld referral matches “${text}”.`
        : `Nobody ${WHO[status]} matches “${text}”.`,
      hint: credit === undefined ? SEARCHED : SEARCHED_WITH_CREDIT,
    };
  if (isDeciding(search)) return NO_DECISION;
  if (isFiltered(search))
    return { sentence: `Nobody ${WHO[status]} matches.`, hint: 'Choose another filter, or show everybody.' };
  return status === 'waiting' && (totals?.total_signups ?? 0) > 0 ? ALL_OUT : EMPTY[status];
}
