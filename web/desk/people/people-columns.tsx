import { Anchor, Badge, Checkbox, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { createColumnHelper, rowSelectionFeature, tableFeatures } from '@tanstack/react-table';
import { count, position } from '../parts/format';
import { RelativeTime } from '../parts/relative-time';
import { CREDIT_LABELS, isUncredited, reasonsOf } from './credit';
import { contactOf, nameOf, type Person } from './people.queries';
import classes from './people-table.module.css';
import type { PeopleSearch } from './search';

export const features = tableFeatures({ rowSelectionFeature });
const helper = createColumnHelper<typeof features, Person>();

export interface View {
  readonly waitlistId: number;
  readonly search: PeopleSearch;
}

/** The columns of the table, as the view needs them. */
export function columnsOf({ waitlistId, search }: View) {
  const isOffboarded = search.status === 'offboarded';
  return helper.columns([
    helper.display({
      id: 'select',
      header: ({ table }) => (
        <Checkbox
          aria-label="Select all loaded people"
          checked={table.getIsAllRowsSelected()}
          indeterminate={table.getIsSomeRowsSelected() && !table.getIsAllRowsSelected()}
          onChange={table.getToggleAllRowsSelectedHandler()}
        />
      ),
      cell: ({ row }) => (
        <Checkbox
          aria-label={`Select ${contactOf(row.original)}`}
          tabIndex={-1}
          checked={row.getIsSelected()}
          onChange={() => undefined}
          onClick={row.getToggleSelectedHandler()}
        />
      ),
    }),
    helper.accessor('priority', {
      header: isOffboarded ? 'Was number' : 'Position',
      cell: ({ getValue, row }) => (
        <Text inherit fw={600}>
          {row.original.status === 'pending' ? '–' : position(getValue())}
        </Text>
      ),
    }),
    helper.accessor('email', {
      id: 'person',
      header: 'Person',
      cell: ({ row }) => <PersonCell person={row.original} waitlistId={waitlistId} search={search} />,
    }),
    helper.accessor('created_at', {
      id: 'joined',
      header: 'Joined',
      cell: ({ getValue }) => <RelativeTime time={getValue()} isFocusable={false} />,
    }),
    helper.accessor('amount_referred', {
      id: 'referrals',
      header: 'Referrals',
      cell: ({ getValue }) => count(getValue()),
    }),
    helper.accessor('referred_by_waiter_token', {
      id: 'referrer',
      header: 'Referred by',
      cell: ({ row: { original: person } }) => (
        <Text className={classes.text} size="sm">
          <bdi>{referrerOf(person)}</bdi>
        </Text>
      ),
    }),
    helper.accessor('status', { header: 'Status', cell: ({ row }) => <StatusCell person={row.original} /> }),
  ]);
}

/** The contact, which leads to the person, above the name and what is open about the referral. */
function PersonCell({ person, waitlistId, search }: { person: Person } & View) {
  const name = nameOf(person);
  const params = { waitlistId, uuid: person.uuid };
  return (
    <>
      <Anchor
        className={classes.text}
        c="inherit"
        size="md"
        fw={500}
        tabIndex={-1}
        renderRoot={(props) => <Link {...props} to="/$waitlistId/people/$uuid" params={params} search={search} />}
      >
        <bdi>{contactOf(person)}</bdi>
      </Anchor>
      <Group gap={6} wrap="nowrap">
        {isUncredited(person.credit) && (
          <Badge size="sm" variant="light" color={person.credit === 'withheld' ? 'orange' : 'gray'} miw="max-content">
            {CREDIT_LABELS[person.credit]}
          </Badge>
        )}
        <Text className={classes.text} size="sm" c="dimmed" title={reasonsOf(person) || undefined}>
          <bdi>{name}</bdi>
          {name !== '' && person.credit_reasons.length > 0 && ' · '}
          {reasonsOf(person)}
        </Text>
      </Group>
    </>
  );
}

/** The address of the referrer; the token of one without an address, or of one who was erased. */
function referrerOf({ referrer, referred_by_waiter_token }: Person): string {
  return referrer?.email ?? referred_by_waiter_token ?? '';
}

function StatusCell({ person }: { person: Person }) {
  return (
    <Group gap={6} wrap="nowrap">
      {person.removed_date ? (
        <Text size="sm" className={classes.text}>
          Let in <RelativeTime time={person.removed_date} isFocusable={false} />
        </Text>
      ) : (
        <Text size="sm">{person.status === 'pending' ? 'Pending' : 'In line'}</Text>
      )}
      {person.verified && (
        <Badge size="sm" variant="light" color="teal">
          Verified
        </Badge>
      )}
    </Group>
  );
}
