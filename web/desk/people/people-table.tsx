import { Skeleton, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { ArrowDownIcon, ArrowUpIcon } from '@radix-ui/react-icons';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type RowSelectionState, useTable } from '@tanstack/react-table';
import { type MouseEvent, useMemo } from 'react';
import type { Person } from './people.queries';
import { columnsOf, features, type View } from './people-columns';
import classes from './people-table.module.css';
import { canSort, type PeopleSearch, viewOf } from './search';
import { useActiveRow, useFocusReturn } from './use-active-row';
import { useVisibleRows } from './use-visible-rows';

const ROW_HEIGHT_PX = 52;
/** A row of a narrow screen has its cells in three lines, and the reasons against a referral in two more. */
const CARD_HEIGHT_PX = 80;
const REASONS_HEIGHT_PX = 40;
export const NARROW = '(max-width: 48em)';

/** What the header of a column sorts by, if it can. */
const SORTS: Readonly<Record<string, PeopleSearch['order']>> = {
  priority: 'queue',
  joined: 'joined',
  referrals: 'referrals',
};

interface PeopleTableProps extends View {
  readonly people: readonly Person[];
  /** All people that the filters find, those that aren't loaded yet too; null if nobody counted them. */
  readonly total: number | null;
  readonly canSelect: boolean;
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
  const { waitlistId, search, people, total, canSelect, selection, onSelect, onSort, onEnd } = props;
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const navigate = useNavigate();
  const { uuid: openUuid } = useParams({ strict: false });
  const columns = useMemo(
    () => columnsOf({ waitlistId, search }).filter(({ id }) => canSelect || id !== 'select'),
    [waitlistId, search, canSelect],
  );
  const table = useTable({
    features,
    columns,
    data: people,
    getRowId: ({ uuid }) => uuid,
    state: { rowSelection: selection },
    onRowSelectionChange: (change) => onSelect((old) => (typeof change === 'function' ? change(old) : change)),
  });
  const { rows } = table.getRowModel();
  const ids = useMemo(() => rows.map(({ id }) => id), [rows]);
  const open = (index: number) => {
    const uuid = ids[index];
    if (uuid !== undefined) void navigate({ to: '/$waitlistId/people/$uuid', params: { waitlistId, uuid }, search });
  };
  const view = viewOf(search);
  const rowHeight = isNarrow ? CARD_HEIGHT_PX + (view === 'reasons' ? REASONS_HEIGHT_PX : 0) : ROW_HEIGHT_PX;
  const visible = useVisibleRows(ids, rowHeight, onEnd);
  const { active, setActive, goTo, onKeyDown } = useActiveRow(visible.body, rows.length, visible.scrollTo, {
    Enter: open,
    ' ': (index) => canSelect && rows[index]?.toggleSelected(),
    Escape: () => onSelect(() => ({})),
  });
  useFocusReturn(openUuid, ids, goTo);
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
      aria-multiselectable={canSelect || undefined}
      aria-rowcount={total === null ? -1 : total + 1}
      data-view={view}
      data-selectable={canSelect || undefined}
      className={classes.grid}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className={classes.head}>
        {table.getHeaderGroups().map((group) => (
          <div role="row" aria-rowindex={1} key={group.id} className={classes.row}>
            {group.headers.map((header) => {
              const sort = canSort(search) && !isNarrow ? SORTS[header.column.id] : undefined;
              const sorted = header.column.id === sortedColumn(search) ? sortOf(header.column.id) : undefined;
              const Arrow = sorted === 'ascending' ? ArrowUpIcon : ArrowDownIcon;
              return (
                <div role="columnheader" key={header.id} data-column={header.column.id} aria-sort={sorted}>
                  {isNarrow && header.column.id === 'select' ? (
                    'Selected'
                  ) : sort === undefined ? (
                    <span className={sorted && classes.sort}>
                      <table.FlexRender header={header} />
                      {sorted && <Arrow aria-hidden />}
                    </span>
                  ) : (
                    <UnstyledButton className={classes.sort} onClick={() => onSort(sort)}>
                      <table.FlexRender header={header} />
                      <Arrow aria-hidden className={classes.arrow} />
                    </UnstyledButton>
                  )}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      <div role="rowgroup" ref={visible.body} className={classes.body} style={{ height: visible.height }}>
        {visible.rows.map(({ index, top }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <div
              role="row"
              key={row.id}
              data-index={index}
              data-open={row.id === openUuid || undefined}
              aria-rowindex={index + 2}
              aria-selected={canSelect ? row.getIsSelected() : undefined}
              tabIndex={index === active ? 0 : -1}
              className={`${classes.row} ${classes.person}`}
              style={{ height: rowHeight, transform: `translateY(${top}px)` }}
              onFocus={() => setActive(index)}
              onClick={(event) => onRowClick(event, index)}
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

/** The column by which the view is sorted; undefined of a search, which shows emails before names. */
function sortedColumn(search: PeopleSearch): string | undefined {
  if (search.search !== undefined) return undefined;
  if (!canSort(search)) return 'joined';
  return Object.keys(SORTS).find((column) => SORTS[column] === (search.order ?? 'queue'));
}

function sortOf(column: string): 'ascending' | 'descending' {
  return column === 'referrals' ? 'descending' : 'ascending';
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
