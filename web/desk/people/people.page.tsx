import { Button, Stack, Text, VisuallyHidden } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet } from '@tanstack/react-router';
import type { RowSelectionState } from '@tanstack/react-table';
import { useCallback, useMemo, useState } from 'react';
import { Delayed } from '../parts/delayed';
import { count, countPeople } from '../parts/format';
import { PageHeading } from '../parts/page-heading';
import { ProblemAlert } from '../parts/problem-alert';
import { sentenceOf } from '../problem';
import { waitlistQuery } from '../queries';
import { useMay } from '../roles';
import { Filters } from './filters';
import { Nobody } from './nobody';
import { fetchEverybody, peopleQuery, type Person, unique } from './people.queries';
import { PeopleSkeleton, PeopleTable } from './people-table';
import { usePersonDialogs } from './person-dialogs';
import { type PeopleSearch, viewOf } from './search';
import { SelectionBar } from './selection-bar';

const route = getRouteApi('/shell/$waitlistId/people');

/** The most people who can be selected at once. */
const SELECTED_MAX = 10_000;

/** Everybody on a waitlist: found, filtered, sorted, selected, offered a seat and let in. */
export function PeoplePage() {
  const { waitlistId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const waitlist = useQuery(waitlistQuery(waitlistId));
  const mayChange = useMay('editor');
  const isEmpty = waitlist.data?.statistics.current_signups === 0;
  const { people, loaded, total, fetchMore } = usePeople(waitlistId, search);
  const { selection, selected, select, clear, more } = useSelection(waitlistId, search, loaded, total);
  const { open, dialog } = usePersonDialogs(waitlistId, { onDone: clear, onErased: clear });
  const filter = (change: PeopleSearch) =>
    void navigate({ to: '.', search: { ...search, ...change }, replace: change.search !== undefined });
  return (
    <Stack gap="md">
      <PageHeading title="People">
        {mayChange && (
          <>
            <Button variant="default" onClick={() => open({ kind: 'offer next' })} disabled={isEmpty}>
              Offer seats
            </Button>
            <Button onClick={() => open({ kind: 'let next in' })} disabled={isEmpty}>
              Let next people in
            </Button>
          </>
        )}
      </PageHeading>
      <Filters search={search} waitlist={waitlist.data} referrer={loaded[0]?.referrer?.email} onFilter={filter} />

      {people.isPending && (
        <Delayed>
          <PeopleSkeleton />
        </Delayed>
      )}
      {people.isError && loaded.length === 0 && (
        <ProblemAlert error={people.error} onRetry={() => void people.refetch()} />
      )}
      {people.isSuccess && loaded.length === 0 && (
        <Nobody search={search} totals={waitlist.data?.statistics} onFilter={filter} />
      )}
      {loaded.length > 0 && (
        <>
          <PeopleTable
            waitlistId={waitlistId}
            search={search}
            people={loaded}
            total={total}
            canSelect={mayChange}
            selection={selection}
            onSelect={select}
            onSort={(order) => filter({ order: order === 'queue' ? undefined : order })}
            onEnd={fetchMore}
          />
          {people.isFetchNextPageError ? (
            <ProblemAlert error={people.error} onRetry={() => void people.fetchNextPage()} />
          ) : (
            <Text size="sm" c="dimmed" ta="center" pb="xl">
              {people.hasNextPage
                ? 'Loading more'
                : total === 1
                  ? '1 person is shown.'
                  : `All ${count(total ?? 0)} people are shown.`}
            </Text>
          )}
        </>
      )}
      <VisuallyHidden role="status">
        {people.isSuccess && (total === null ? 'People found' : `${countPeople(total)} found`)}
      </VisuallyHidden>

      <SelectionBar
        waitlistId={waitlistId}
        people={selected}
        isDeciding={viewOf(search) === 'reasons'}
        more={more}
        onAct={open}
        onClear={clear}
      />
      {dialog}
      <Outlet />
    </Stack>
  );
}

/** The people that the filters find, as far as they are loaded. `total` is null if nobody counted all of them. */
function usePeople(waitlistId: number, search: PeopleSearch) {
  const people = useInfiniteQuery(peopleQuery(waitlistId, search));
  const { data, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = people;
  const loaded = useMemo(() => unique(data?.pages.flatMap((page) => page.people) ?? []), [data]);
  const fetchMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  return { people, loaded, total: data?.pages[0]?.total ?? (hasNextPage ? null : loaded.length), fetchMore };
}

interface Selection {
  readonly search: PeopleSearch;
  readonly rows: RowSelectionState;
  /** Everybody that the filters find, after "Select all". */
  readonly everybody: readonly Person[];
}

/** The selected people. Those of another view are no longer on the screen, so they are no longer selected. */
function useSelection(waitlistId: number, search: PeopleSearch, loaded: readonly Person[], total: number | null) {
  const nobody: Selection = { search, rows: {}, everybody: [] };
  const [chosen, setChosen] = useState(nobody);
  const current = chosen.search === search ? chosen : nobody;
  const { rows, everybody } = current;
  const [found, setFound] = useState(0);
  const selectAll = useMutation({
    // As a variable, because the filters can change meanwhile.
    mutationFn: async (asked: PeopleSearch) => fetchEverybody(waitlistId, asked, SELECTED_MAX, setFound),
    onMutate: () => setFound(0),
    onSuccess: (people, asked) => {
      if (asked !== search) return;
      setChosen({ search, rows: Object.fromEntries(people.map(({ uuid }) => [uuid, true])), everybody: people });
    },
    onError: (error) => notifications.show({ color: 'red', message: sentenceOf(error) }),
  });
  const known = useMemo(() => unique([...loaded, ...everybody]), [loaded, everybody]);
  const selected = known.filter(({ uuid }) => rows[uuid]);
  const hasMore = selected.length >= loaded.length && (total === null || selected.length < total);
  const label =
    total === null
      ? 'Select all that match'
      : total > SELECTED_MAX
        ? `Select the first ${count(SELECTED_MAX)}`
        : `Select all ${count(total)}`;
  return {
    selection: rows,
    selected,
    select: (change: (old: RowSelectionState) => RowSelectionState) => setChosen({ ...current, rows: change(rows) }),
    clear: () => setChosen(nobody),
    more:
      hasMore && everybody.length === 0
        ? {
            label: selectAll.isPending ? `${count(found)} found` : label,
            isBusy: selectAll.isPending,
            onSelect: () => selectAll.mutate(search),
          }
        : null,
  };
}
