import { ActionBar, Button, CloseButton, Group, NativeSelect, Pill, SegmentedControl, Stack, Text, TextInput, VisuallyHidden } from '@mantine/core'; // prettier-ignore
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import type { RowSelectionState } from '@tanstack/react-table';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Delayed } from '../parts/delayed';
import { count } from '../parts/format';
import { PageHeading } from '../parts/page-heading';
import { ProblemAlert } from '../parts/problem-alert';
import { waitlistQuery } from '../queries';
import { CREDIT_FILTERS, peopleRoute, type PeopleSearch } from '../router';
import { choicesFor, CREDIT_LABELS } from './credit';
import { DecideDialog } from './decide-dialog';
import { LetInDialog, LetInResult, LetNextInDialog } from './let-in';
import { LET_IN_MAX, peopleQuery, type Person } from './people.queries';
import { savePeople } from './people-csv';
import { NARROW, PeopleSkeleton, PeopleTable } from './people-table';

const SEARCH_DELAY_MS = 250;
const SEARCH_LENGTH_MAX = 254;
const NOBODY: RowSelectionState = {};

type Dialog =
  | { readonly kind: 'selected' | 'next' }
  | { readonly kind: 'decide'; readonly credit: 'credited' | 'refused'; readonly people: readonly Person[] }
  | { readonly kind: 'result'; readonly people: readonly Person[] };

/** Everybody on a waitlist: found, filtered, sorted, selected and let in. */
export function PeoplePage() {
  const { waitlistId } = peopleRoute.useParams();
  const search = peopleRoute.useSearch();
  const navigate = peopleRoute.useNavigate();
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const waitlist = useQuery(waitlistQuery(waitlistId));
  const people = useInfiniteQuery(peopleQuery(waitlistId, search));
  const [selected, setSelected] = useState({ search, rows: NOBODY });
  const [dialog, setDialog] = useState<Dialog | null>(null);

  // People of another view are no longer on the screen, so they are no longer selected.
  const selection = selected.search === search ? selected.rows : NOBODY;
  const select = (change: (old: RowSelectionState) => RowSelectionState) =>
    setSelected({ search, rows: change(selection) });
  const loaded = useMemo(() => people.data?.pages.flatMap((page) => page.people) ?? [], [people.data]);
  const chosen = loaded.filter(({ uuid }) => selection[uuid]);

  const filter = (change: PeopleSearch) =>
    void navigate({ to: '.', search: { ...search, ...change }, replace: change.search !== undefined });
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = people;
  const fetchMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);

  const { status = 'waiting' } = search;
  const isSearching = search.search !== undefined;
  const isFiltered = isSearching || search.referral_token !== undefined || search.credit !== undefined;
  const canSort = status === 'waiting' && !isSearching && search.credit === undefined;
  const [approvable, refusable] = [
    chosen.filter((person) => choicesFor(person).canApprove),
    chosen.filter((person) => choicesFor(person).canRefuse),
  ];
  const { current_signups: inLine = null, total_signups: everybody = null } = waitlist.data?.statistics ?? {};
  const letIn = inLine === null || everybody === null ? null : everybody - inLine;
  const total = people.data?.pages[0]?.total ?? (hasNextPage ? null : loaded.length);

  return (
    <Stack gap="md">
      <PageHeading title="People">
        <Button onClick={() => setDialog({ kind: 'next' })} disabled={inLine === 0}>
          Let next people in
        </Button>
      </PageHeading>
      <Group gap="sm">
        <SegmentedControl
          aria-label="Status"
          transitionDuration={0}
          value={status}
          onChange={(next) => filter({ status: next === 'waiting' ? undefined : next, order: undefined })}
          data={[
            { value: 'waiting', label: <Counted label="In line" number={inLine} /> },
            { value: 'offboarded', label: <Counted label="Let in" number={letIn} /> },
            // Records can wait for their click after verification was turned off, too: then the address still shows them.
            ...(status === 'pending' || (waitlist.data && waitlist.data.verification === 'required')
              ? [{ value: 'pending' as const, label: 'Pending' }]
              : []),
          ]}
        />
        <SearchField value={search.search ?? ''} onSearch={(text) => filter({ search: text, order: undefined })} />
        {isNarrow && canSort && (
          <NativeSelect
            aria-label="Sort by"
            value={search.order ?? 'queue'}
            onChange={({ currentTarget: { value } }) => filter({ order: value === 'joined' ? value : undefined })}
            data={[
              { value: 'queue', label: 'By position' },
              { value: 'joined', label: 'By time of joining' },
            ]}
          />
        )}
        <ReferralFilter
          token={search.referral_token}
          credit={search.credit}
          referrer={loaded[0]?.referrer?.email ?? search.referral_token}
          onFilter={(change) => filter({ referral_token: undefined, credit: undefined, order: undefined, ...change })}
        />
      </Group>

      {people.isPending && (
        <Delayed>
          <PeopleSkeleton />
        </Delayed>
      )}
      {people.isError && loaded.length === 0 && (
        <ProblemAlert error={people.error} onRetry={() => void people.refetch()} />
      )}
      {people.isSuccess && loaded.length === 0 && (
        <Nobody
          search={search}
          onClear={() => filter({ search: undefined, referral_token: undefined, credit: undefined })}
        >
          {isFiltered && (
            <Button
              variant="default"
              onClick={() => filter({ status: status === 'waiting' ? 'offboarded' : undefined, order: undefined })}
            >
              {status === 'waiting' ? 'Search people let in' : 'Search people in line'}
            </Button>
          )}
        </Nobody>
      )}
      {loaded.length > 0 && (
        <>
          <PeopleTable
            waitlistId={waitlistId}
            search={search}
            people={loaded}
            total={total}
            canSort={canSort}
            selection={selection}
            onSelect={select}
            onSort={(order) => filter({ order: order === 'joined' ? order : undefined })}
            onEnd={fetchMore}
          />
          {isFetchNextPageError ? (
            <ProblemAlert error={people.error} onRetry={() => void fetchNextPage()} />
          ) : (
            <Text size="sm" c="dimmed" ta="center" pb="xl">
              {hasNextPage
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

      <ActionBar
        opened={chosen.length > 0}
        // Within the page's landmark.
        withinPortal={false}
        position={{ bottom: 'calc(var(--app-shell-footer-offset, 0rem) + 16px)', left: 0, right: 0 }}
        aria-label="Selected people"
        style={{ flexWrap: 'wrap', justifyContent: 'center' }}
      >
        <Text size="sm" fw={500} px="xs">
          {count(chosen.length)} selected
        </Text>
        {status === 'waiting' && (
          <Button
            size="sm"
            disabled={chosen.length > LET_IN_MAX}
            title={chosen.length > LET_IN_MAX ? `At most ${count(LET_IN_MAX)} at once` : undefined}
            onClick={() => setDialog({ kind: 'selected' })}
          >
            Let in
          </Button>
        )}
        {approvable.length > 0 && (
          <Button
            size="sm"
            variant="default"
            onClick={() => setDialog({ kind: 'decide', credit: 'credited', people: approvable })}
          >
            Approve
          </Button>
        )}
        {refusable.length > 0 && (
          <Button
            size="sm"
            variant="default"
            onClick={() => setDialog({ kind: 'decide', credit: 'refused', people: refusable })}
          >
            Refuse
          </Button>
        )}
        <Button size="sm" variant="default" onClick={() => void savePeople(`people-${waitlistId}`, chosen)}>
          Export
        </Button>
        <CloseButton aria-label="Clear selection" onClick={() => select(() => NOBODY)} />
      </ActionBar>

      {dialog?.kind === 'selected' && (
        <LetInDialog
          waitlistId={waitlistId}
          people={chosen}
          onDone={(done) => {
            select(() => NOBODY);
            setDialog({ kind: 'result', people: done });
          }}
          onClose={() => setDialog((shown) => (shown?.kind === 'selected' ? null : shown))}
        />
      )}
      {dialog?.kind === 'decide' && (
        <DecideDialog
          waitlistId={waitlistId}
          people={dialog.people}
          credit={dialog.credit}
          onDone={() => select(() => NOBODY)}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog?.kind === 'next' && (
        <LetNextInDialog
          waitlistId={waitlistId}
          inLine={inLine}
          onDone={(done) => setDialog({ kind: 'result', people: done })}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog?.kind === 'result' && (
        <LetInResult waitlistId={waitlistId} people={dialog.people} onClose={() => setDialog(null)} />
      )}
      <Outlet />
    </Stack>
  );
}

function Counted({ label, number }: { label: string; number: number | null }) {
  return (
    <>
      {label}
      {number !== null && (
        <Text span inherit c="dimmed">
          {' '}
          {count(number)}
        </Text>
      )}
    </>
  );
}

/** The text goes into the address once the typing pauses. */
function SearchField({ value, onSearch }: { value: string; onSearch: (text: string | undefined) => void }) {
  const [typed, setTyped] = useState(value);
  const search = useDebouncedCallback((text: string) => onSearch(text.trim() === '' ? undefined : text), SEARCH_DELAY_MS); // prettier-ignore
  const lastTyped = useRef(value);
  useEffect(() => {
    // The address changed otherwise: by the browser's own buttons, or by a link.
    if (value !== lastTyped.current.trim()) setTyped(value);
    lastTyped.current = value;
  }, [value]);
  const type = (text: string) => {
    lastTyped.current = text;
    setTyped(text);
    search(text);
  };
  return (
    <TextInput
      type="search"
      aria-label="Search people"
      aria-keyshortcuts="/"
      placeholder="Email, phone, token"
      leftSection={<MagnifyingGlassIcon aria-hidden />}
      rightSection={typed !== '' && <CloseButton size="sm" aria-label="Clear the search" onClick={() => type('')} />}
      maxLength={SEARCH_LENGTH_MAX}
      autoComplete="off"
      spellCheck={false}
      flex={1}
      miw={180}
      maw={360}
      value={typed}
      onChange={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}

const ANYONE = 'true';

/** Everybody, those who were referred, those whose credit is open, or those whom one person referred. */
function ReferralFilter({
  token,
  credit,
  referrer,
  onFilter,
}: {
  token: string | undefined;
  credit: PeopleSearch['credit'];
  referrer: string | undefined;
  onFilter: (change: Pick<PeopleSearch, 'referral_token' | 'credit'>) => void;
}) {
  if (token !== undefined && token !== ANYONE)
    return (
      <Pill
        size="md"
        withRemoveButton
        onRemove={() => onFilter({})}
        removeButtonProps={{ 'aria-label': 'Show everybody', tabIndex: 0, 'aria-hidden': false }}
      >
        Referred by <bdi>{referrer}</bdi>
      </Pill>
    );
  return (
    <NativeSelect
      aria-label="Referrals"
      value={credit ?? token ?? ''}
      onChange={({ currentTarget: { value } }) => {
        const chosen = CREDIT_FILTERS.find((name) => name === value);
        onFilter(chosen ? { credit: chosen } : value === ANYONE ? { referral_token: value } : {});
      }}
      data={[
        { value: '', label: 'Everybody' },
        { value: ANYONE, label: 'Referred' },
        ...CREDIT_FILTERS.map((name) => ({ value: name, label: CREDIT_LABELS[name] })),
      ]}
    />
  );
}

const WHO = { waiting: 'in line', offboarded: 'let in', pending: 'pending' } as const;
const EMPTY = {
  waiting: { sentence: 'Nobody is in line yet.', hint: 'People appear here as soon as they join.' },
  offboarded: { sentence: 'Nobody has been let in yet.', hint: 'Select people in line, or let the next ones in.' },
  pending: {
    sentence: 'Nobody is pending.',
    hint: 'People are pending until they confirm their address. After 30 days without it they are deleted.',
  },
} as const;

function Nobody({
  search: { search, status = 'waiting', referral_token, credit },
  onClear,
  children,
}: {
  search: PeopleSearch;
  onClear: () => void;
  children: React.ReactNode;
}) {
  const isFiltered = search !== undefined || referral_token !== undefined || credit !== undefined;
  const sentence = isFiltered ? `Nobody ${WHO[status]} matches.` : EMPTY[status].sentence;
  return (
    <Stack align="center" py={64} gap="sm">
      <Text fw={500}>{sentence}</Text>
      <Text size="sm" c="dimmed" maw="70ch" ta="center">
        {search !== undefined
          ? 'Search finds emails by their beginning, and phone numbers, tokens and UUIDs in full.'
          : credit === 'withheld'
            ? 'A referral that looks suspicious is withheld until you approve it.'
            : EMPTY[status].hint}
      </Text>
      {isFiltered && (
        <Group justify="center">
          <Button variant="default" onClick={onClear}>
            Show everybody
          </Button>
          {children}
        </Group>
      )}
    </Stack>
  );
}
