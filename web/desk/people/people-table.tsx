import { Anchor, Badge, Checkbox, Group, Skeleton, Text, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { ArrowDownIcon } from '@radix-ui/react-icons';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import {
  createColumnHelper,
  type RowSelectionState,
  rowSelectionFeature,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type MouseEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { count, position } from '../parts/format';
import { RelativeTime } from '../parts/relative-time';
import type { PeopleSearch } from '../router';
import { CREDIT_LABELS, isUncredited, reasonsOf } from './credit';
import { contactOf, nameOf, type Person } from './people.queries';
import classes from './people-table.module.css';

const ROW_HEIGHT_PX = 60;
/** A row of a narrow screen has its cells in three lines. */
const CARD_HEIGHT_PX = 88;
export const NARROW = '(max-width: 48em)';
/** Rows beyond the visible ones, so that the next one to focus is there. */
const OVERSCAN = 12;
/** The next page is fetched this many rows before the end. */
const ROWS_AHEAD = 30;
const ROWS_PER_PAGE_KEY = 10;

const features = tableFeatures({ rowSelectionFeature });
const helper = createColumnHelper<typeof features, Person>();

interface View {
  readonly waitlistId: number;
  readonly search: PeopleSearch;
}

function columnsOf({ waitlistId, search }: View) {
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
      cell: ({ row: { original: person } }) => (
        <>
          <Anchor
            className={classes.text}
            c="inherit"
            size="md"
            fw={500}
            tabIndex={-1}
            renderRoot={
              (props) =>
              <Link {...props} to="/$waitlistId/people/$uuid" params={{ waitlistId, uuid: person.uuid }} search={search} /> // prettier-ignore
            }
          >
            <bdi>{contactOf(person)}</bdi>
          </Anchor>
          <Group gap={6} wrap="nowrap">
            {isUncredited(person.credit) && (
              <Badge
                size="sm"
                variant="light"
                color={person.credit === 'withheld' ? 'orange' : 'gray'}
                miw="max-content"
              >
                {CREDIT_LABELS[person.credit]}
              </Badge>
            )}
            <Text className={classes.text} size="sm" c="dimmed" title={reasonsOf(person) || undefined}>
              <bdi>{nameOf(person)}</bdi>
              {nameOf(person) !== '' && person.credit_reasons.length > 0 && ' · '}
              {reasonsOf(person)}
            </Text>
          </Group>
        </>
      ),
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
    helper.accessor('status', {
      header: 'Status',
      cell: ({ row: { original: person } }) => (
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
      ),
    }),
  ]);
}

/** The address of the referrer; the token of one without an address, or of one who was erased. */
function referrerOf({ referrer, referred_by_waiter_token }: Person): string {
  return referrer?.email ?? referred_by_waiter_token ?? '';
}

/** What the header of a column sorts by, if it can. */
const SORTS: Readonly<Record<string, PeopleSearch['order']>> = { priority: 'queue', joined: 'joined' };

interface PeopleTableProps extends View {
  readonly people: readonly Person[];
  /** All people that the filters find, those that aren't loaded yet too; null if nobody counted them. */
  readonly total: number | null;
  readonly canSort: boolean;
  readonly selection: RowSelectionState;
  readonly onSelect: (change: (selection: RowSelectionState) => RowSelectionState) => void;
  readonly onSort: (order: NonNullable<PeopleSearch['order']>) => void;
  /** Called when the last rows come into view. */
  readonly onEnd: () => void;
}

/**
 * A grid of people; only the rows in view are drawn. Arrows move between rows, Enter opens one, Space selects one, and
 * Escape selects none. At the width of a phone, each row is a card.
 */
export function PeopleTable(props: PeopleTableProps) {
  const { waitlistId, search, people, total, canSort, selection, onSelect, onSort, onEnd } = props;
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const navigate = useNavigate();
  const { uuid: openUuid } = useParams({ strict: false });
  const [active, setActive] = useState(0);
  const columns = useMemo(() => columnsOf({ waitlistId, search }), [waitlistId, search]);
  const table = useTable({
    features,
    columns,
    data: people,
    getRowId: ({ uuid }) => uuid,
    state: { rowSelection: selection },
    onRowSelectionChange: (change) => onSelect((old) => (typeof change === 'function' ? change(old) : change)),
  });
  const { rows } = table.getRowModel();

  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    if (body.current) setTop(body.current.getBoundingClientRect().top + window.scrollY);
  }, [isNarrow]);
  const rowHeight = isNarrow ? CARD_HEIGHT_PX : ROW_HEIGHT_PX;
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollMargin: top,
    scrollPaddingStart: 2 * ROW_HEIGHT_PX,
    scrollPaddingEnd: 2 * ROW_HEIGHT_PX,
    getItemKey: (index) => (rows[index] as (typeof rows)[number]).id,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  const items = virtualizer.getVirtualItems();
  const lastShown = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && lastShown >= rows.length - ROWS_AHEAD) onEnd();
  }, [lastShown, rows.length, onEnd]);

  /** The row that takes the focus as soon as it is drawn. */
  const wanted = useRef<number | null>(null);
  const focusWanted = () => {
    const row = body.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"]`);
    if (!row) return;
    row.focus({ preventScroll: true });
    wanted.current = null;
  };
  useEffect(focusWanted);
  const goTo = (index: number) => {
    wanted.current = Math.max(0, Math.min(rows.length - 1, index));
    setActive(wanted.current);
    virtualizer.scrollToIndex(wanted.current);
    focusWanted();
  };

  // The panel of a person gives the focus back to the person's row.
  const lastOpen = useRef(openUuid);
  useEffect(() => {
    const closed = openUuid === undefined ? lastOpen.current : undefined;
    lastOpen.current = openUuid;
    const index = rows.findIndex(({ id }) => id === closed);
    if (closed !== undefined && index >= 0) goTo(index);
  });

  const open = (index: number) => {
    const uuid = rows[index]?.id;
    if (uuid !== undefined) void navigate({ to: '/$waitlistId/people/$uuid', params: { waitlistId, uuid }, search });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.closest('[role=columnheader]')) return;
    const acts: Readonly<Record<string, () => void>> = {
      ArrowDown: () => goTo(active + 1),
      ArrowUp: () => goTo(active - 1),
      PageDown: () => goTo(active + ROWS_PER_PAGE_KEY),
      PageUp: () => goTo(active - ROWS_PER_PAGE_KEY),
      Home: () => goTo(0),
      End: () => goTo(rows.length - 1),
      Enter: () => open(active),
      ' ': () => rows[active]?.toggleSelected(),
      Escape: () => onSelect(() => ({})),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const onRowClick = (event: MouseEvent, index: number) => {
    setActive(index);
    // Links and boxes act for themselves, and a text that was marked is wanted as text.
    if ((event.target as HTMLElement).closest('a, input') || window.getSelection()?.type === 'Range') return;
    open(index);
  };

  return (
    <div
      role="grid"
      aria-label="People"
      aria-multiselectable
      aria-rowcount={total === null ? -1 : total + 1}
      data-status={search.status ?? 'waiting'}
      className={classes.grid}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className={classes.head}>
        {table.getHeaderGroups().map((group) => (
          <div role="row" aria-rowindex={1} key={group.id} className={classes.row}>
            {group.headers.map((header) => {
              const sort = canSort && !isNarrow ? SORTS[header.column.id] : undefined;
              const isSorted = sort !== undefined && sort === (search.order ?? 'queue');
              return (
                <div
                  role="columnheader"
                  key={header.id}
                  data-column={header.column.id}
                  aria-sort={isSorted ? 'ascending' : undefined}
                >
                  {isNarrow && header.column.id === 'select' ? (
                    'Selected'
                  ) : sort === undefined ? (
                    <table.FlexRender header={header} />
                  ) : (
                    <UnstyledButton className={classes.sort} onClick={() => onSort(sort)}>
                      <table.FlexRender header={header} />
                      <ArrowDownIcon aria-hidden className={classes.arrow} />
                    </UnstyledButton>
                  )}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      <div role="rowgroup" ref={body} className={classes.body} style={{ height: virtualizer.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <div
              role="row"
              key={row.id}
              data-index={item.index}
              data-open={row.id === openUuid || undefined}
              aria-rowindex={item.index + 2}
              aria-selected={row.getIsSelected()}
              tabIndex={item.index === Math.min(active, rows.length - 1) ? 0 : -1}
              className={`${classes.row} ${classes.person}`}
              style={{ height: rowHeight, transform: `translateY(${item.start - top}px)` }}
              onFocus={() => setActive(item.index)}
              onClick={(event) => onRowClick(event, item.index)}
            >
              {row.getAllCells().map((cell) => (
                <div role="gridcell" key={cell.id} data-column={cell.column.id} className={classes.cell}>
                  <table.FlexRender cell={cell} />
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The table before its people are there. */
export function PeopleSkeleton() {
  return (
    <div aria-hidden>
      {Array.from({ length: 8 }, (_, index) => (
        <div key={index} className={classes.skeleton}>
          <Skeleton height={14} width="35%" />
          <Skeleton height={12} width="20%" mt={8} />
        </div>
      ))}
    </div>
  );
}
