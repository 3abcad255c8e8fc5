import { Anchor, Badge, Checkbox, Group, Text, VisuallyHidden } from '@mantine/core';
import { CheckCircledIcon } from '@radix-ui/react-icons';
import { Link } from '@tanstack/react-router';
import { createColumnHelper, rowSelectionFeature, tableFeatures } from '@tanstack/react-table';
import { count, position } from '../parts/format';
import { RelativeTime } from '../parts/relative-time';
import { CREDIT_LABELS, isUncredited, reasonsOf } from './credit';
import { contactOf, nameOf, type Person } from './people.queries';
import classes from './people-table.module.css';
import { type PeopleSearch, viewOf } from './search';
import { OfferEndCell } from './offer-end';
import { leavingOf, STATUS_LABELS } from './status';

export const features = tableFeatures({ rowSelectionFeature });
const helper = createColumnHelper<typeof features, Person>();

export interface View {
  readonly waitlistId: number;
  readonly search: PeopleSearch;
}

/** The columns of the table, as the view needs them. */
export function columnsOf({ waitlistId, search }: View) {
  const view = viewOf(search);
  const columns = helper.columns([
    helper.display({
      id: 'select',
      header: ({ table }) => (
        <Checkbox
          aria-label="Select all loaded people"
          checked={table.getIsAllRowsSelected()}
          indeterminate={table.getIsSomeRowsSelected() && !table.getIsAllRowsSelected()}
          // Those who are selected but not loaded go too.
          onChange={() =>
            table.getIsAllRowsSelected() ? table.setRowSelection({}) : table.toggleAllRowsSelected(true)
          }
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
      header: view === 'offboarded' || view === 'offered' ? 'Was number' : 'Position',
      cell: ({ row: { original: person } }) => (
        <Text inherit fw={600} className={classes.text}>
          {person.status === 'waiting' || view === 'offboarded' || view === 'offered'
            ? position(person.priority)
            : statusOf(person)}
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
        <Text className={classes.text} size="sm" title={referrerOf(person) || undefined}>
          <bdi>{referrerOf(person)}</bdi>
        </Text>
      ),
    }),
    helper.accessor('credit_reasons', {
      id: 'reasons',
      header: 'Reasons',
      cell: ({ row }) => (
        <Text size="sm" lineClamp={2} title={reasonsOf(row.original)}>
          {reasonsOf(row.original)}
        </Text>
      ),
    }),
    helper.accessor('removed_date', {
      id: 'removed',
      header: 'Outcome',
      cell: ({ row: { original: person } }) =>
        person.removed_date && (
          <>
            {leavingOf(person)}{' '}
            <Text span inherit c="dimmed" className={classes.time}>
              <RelativeTime time={person.removed_date} isFocusable={false} />
            </Text>
          </>
        ),
    }),
    helper.accessor('offer_expires_at', {
      id: 'expires',
      header: 'Expires',
      cell: ({ row: { original: person } }) => <OfferEndCell person={person} />,
    }),
  ]);
  const hidden: readonly (string | undefined)[] = {
    waiting: ['reasons', 'removed', 'expires'],
    offered: ['reasons', 'removed'],
    offboarded: ['reasons', 'expires'],
    pending: ['priority', 'referrals', 'reasons', 'removed', 'expires'],
    reasons: ['referrals', 'removed', 'expires'],
  }[view];
  return columns.filter(
    (column) => !hidden.includes(column.id ?? ('accessorKey' in column ? column.accessorKey : undefined)),
  );
}

/** In place of a position. */
function statusOf(person: Person): string {
  return person.status === 'offboarded' ? leavingOf(person) : STATUS_LABELS[person.status];
}

/** The contact, which leads to the person, above the name and what is open about the referral. */
function PersonCell({ person, waitlistId, search }: { person: Person } & View) {
  const params = { waitlistId, uuid: person.uuid };
  const showsCredit = isUncredited(person.credit) && person.credit !== search.credit;
  return (
    <>
      <Group gap={4} wrap="nowrap">
        <Anchor
          className={classes.text}
          c="inherit"
          size="sm"
          fw={500}
          tabIndex={-1}
          title={contactOf(person)}
          renderRoot={(props) => <Link {...props} to="/$waitlistId/people/$uuid" params={params} search={search} />}
        >
          <bdi>{contactOf(person)}</bdi>
        </Anchor>
        {person.verified && (
          <span title="Email confirmed" className={classes.confirmed}>
            <CheckCircledIcon aria-hidden />
            <VisuallyHidden component="span">Email confirmed</VisuallyHidden>
          </span>
        )}
      </Group>
      <Group gap={6} wrap="nowrap">
        {showsCredit && (
          <Badge
            size="sm"
            variant="light"
            color={person.credit === 'withheld' ? 'orange' : 'gray'}
            miw="max-content"
            title={reasonsOf(person) || undefined}
          >
            {CREDIT_LABELS[person.credit]}
          </Badge>
        )}
        <Text className={classes.text} size="sm" c="dimmed">
          <bdi>{nameOf(person)}</bdi>
        </Text>
      </Group>
    </>
  );
}

/** The address of the referrer; the token of one without an address, or of one who was erased. */
function referrerOf({ referrer, referred_by_waiter_token }: Person): string {
  return referrer?.email ?? referred_by_waiter_token ?? '';
}
