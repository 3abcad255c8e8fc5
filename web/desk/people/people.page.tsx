import { Button, Stack, Text, VisuallyHidden } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Outlet } from '@tanstack/react-router';
import type { RowSelectionState } from '@tanstack/react-table';
import { useCallback, useMemo, useState } from 'react';
import { Delayed } from '../parts/delayed';
import { count } from '../parts/format';
import { PageHeading } from '../parts/page-heading';
import { ProblemAlert } from '../parts/problem-alert';
import { waitlistQuery } from '../queries';
import { Filters } from './filters';
import { Nobody } from './nobody';
import { peopleQuery } from './people.queries';
import { PeopleSkeleton, PeopleTable } from './people-table';
import { usePersonDialogs } from './person-dialogs';
import { canSort, type PeopleSearch } from './search';
import { SelectionBar } from './selection-bar';

const route = getRouteApi('/shell/$waitlistId/people');

const NOBODY: RowSelectionState = {};

/** Everybody on a waitlist: found, filtered, sorted, selected and let in. */
export function PeoplePage() {
  const { waitlistId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const waitlist = useQuery(waitlistQuery(waitlistId));
  const { people, loaded, total, fetchMore } = usePeople(waitlistId, search);
  const [selection, select] = useSelection(search);
  const { open, dialog } = usePersonDialogs(waitlistId, { onDone: () => select(() => NOBODY) });
  const filter = (change: PeopleSearch) =>
    void navigate({ to: '.', search: { ...search, ...change }, replace: change.search !== undefined });
  return (
    <Stack gap="md">
      <PageHeading title="People">
        <Button
          onClick={() => open({ kind: 'let next in' })}
          disabled={waitlist.data?.statistics.current_signups === 0}
        >
          Let next people in
        </Button>
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
      {people.isSuccess && loaded.length === 0 && <Nobody search={search} onFilter={filter} />}
      {loaded.length > 0 && (
        <>
          <PeopleTable
            waitlistId={waitlistId}
            search={search}
            people={loaded}
            total={total}
            canSort={canSort(search)}
            selection={selection}
            onSelect={select}
            onSort={(order) => filter({ order: order === 'joined' ? order : undefined })}
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
        {people.isSuccess && (total === null ? 'People found' : `${count(total)} people found`)}
      </VisuallyHidden>

      <SelectionBar
        waitlistId={waitlistId}
        people={loaded.filter(({ uuid }) => selection[uuid])}
        canLetIn={(search.status ?? 'waiting') === 'waiting'}
        onAct={open}
        onClear={() => select(() => NOBODY)}
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
  const loaded = useMemo(() => data?.pages.flatMap((page) => page.people) ?? [], [data]);
  const fetchMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  return { people, loaded, total: data?.pages[0]?.total ?? (hasNextPage ? null : loaded.length), fetchMore };
}

/** The selected rows. People of another view are no longer on the screen, so they are no longer selected. */
function useSelection(search: PeopleSearch) {
  const [selected, setSelected] = useState({ search, rows: NOBODY });
  const selection = selected.search === search ? selected.rows : NOBODY;
  const select = (change: (old: RowSelectionState) => RowSelectionState) =>
    setSelected({ search, rows: change(selection) });
  return [selection, select] as const;
}
