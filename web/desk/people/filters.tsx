import { CloseButton, Group, NativeSelect, Pill, SegmentedControl, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useEffect, useRef, useState } from 'react';
import { PERSON } from '../bounds';
import { count } from '../parts/format';
import type { Waitlist } from '../queries';
import { CREDIT_LABELS } from './credit';
import { NARROW } from './people-table';
import { canSort, CREDIT_FILTERS, type PeopleSearch } from './search';

const SEARCH_DELAY_MS = 250;
/** Nothing that a search finds is longer than an email. */
const SEARCH_LENGTH_MAX = PERSON.email.maxLength;

/** The filters and, on a narrow screen, the order. On a wide one, the header sorts. */
export function Filters({
  search,
  waitlist,
  referrer,
  onFilter,
}: {
  search: PeopleSearch;
  waitlist: Waitlist | undefined;
  /** The email of the referrer, if the table shows the people whom one person referred. */
  referrer: string | null | undefined;
  onFilter: (change: PeopleSearch) => void;
}) {
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  return (
    <Group gap="sm">
      <StatusFilter
        status={search.status ?? 'waiting'}
        waitlist={waitlist}
        onFilter={(status) => onFilter({ status, order: undefined })}
      />
      <SearchField value={search.search ?? ''} onSearch={(text) => onFilter({ search: text, order: undefined })} />
      {isNarrow && canSort(search) && (
        <NativeSelect
          aria-label="Sort by"
          value={search.order ?? 'queue'}
          onChange={({ currentTarget: { value } }) => onFilter({ order: value === 'joined' ? value : undefined })}
          data={[
            { value: 'queue', label: 'By position' },
            { value: 'joined', label: 'By time of joining' },
          ]}
        />
      )}
      <ReferralFilter
        token={search.referral_token}
        credit={search.credit}
        referrer={referrer ?? search.referral_token}
        onFilter={(change) => onFilter({ referral_token: undefined, credit: undefined, order: undefined, ...change })}
      />
    </Group>
  );
}

/** The statuses, with their numbers where they are known. */
function StatusFilter({
  status,
  waitlist,
  onFilter,
}: {
  status: NonNullable<PeopleSearch['status']>;
  waitlist: Waitlist | undefined;
  onFilter: (status: PeopleSearch['status']) => void;
}) {
  const { current_signups: inLine = null, total_signups: everybody = null } = waitlist?.statistics ?? {};
  const letIn = inLine === null || everybody === null ? null : everybody - inLine;
  return (
    <SegmentedControl
      aria-label="Status"
      transitionDuration={0}
      value={status}
      onChange={(next) => onFilter(next === 'waiting' ? undefined : next)}
      data={[
        { value: 'waiting', label: <Counted label="In line" number={inLine} /> },
        { value: 'offboarded', label: <Counted label="Let in" number={letIn} /> },
        // Records can wait for their click after verification was turned off, too: then the address still shows them.
        ...(status === 'pending' || waitlist?.verification === 'required'
          ? [{ value: 'pending' as const, label: 'Pending' }]
          : []),
      ]}
    />
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
  const search = useDebouncedCallback(
    (text: string) => onSearch(text.trim() === '' ? undefined : text),
    SEARCH_DELAY_MS,
  );
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
