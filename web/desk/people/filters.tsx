import { CloseButton, NativeSelect, Pill, SegmentedControl, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import { MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useEffect, useRef, useState } from 'react';
import { PERSON } from '../bounds';
import { count, countBounded } from '../parts/format';
import type { Waitlist } from '../queries';
import { CREDIT_LABELS } from './credit';
import { NARROW } from './people-table';
import classes from './filters.module.css';
import { canSort, CREDIT_FILTERS, isDeciding, ORDERS, type PeopleSearch } from './search';
import { STATUS_LABELS } from './status';

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
  const tab = tabOf(search);
  return (
    <div className={classes.filters}>
      <Tabs
        tab={tab}
        waitlist={waitlist}
        isNarrow={isNarrow}
        onChoose={(next) =>
          onFilter({
            order: undefined,
            ...(next === 'withheld'
              ? { status: undefined, credit: next, referral_token: undefined }
              : {
                  status: next === 'waiting' ? undefined : next,
                  ...(tab === 'withheld' && { credit: undefined }),
                }),
          })
        }
      />
      <SearchField
        value={search.search ?? ''}
        // The service finds no names together with a credit.
        hasNames={search.credit === undefined}
        onSearch={(text) => onFilter({ search: text, order: undefined })}
      />
      {tab !== 'withheld' && (
        <ReferralFilter
          token={search.referral_token}
          credit={search.credit}
          referrer={referrer ?? search.referral_token}
          onFilter={(change) => onFilter({ referral_token: undefined, credit: undefined, order: undefined, ...change })}
        />
      )}
      {isNarrow && canSort(search) && (
        <NativeSelect
          aria-label="Sort by"
          value={search.order ?? 'queue'}
          onChange={({ currentTarget: { value } }) => {
            const order = ORDERS.find((each) => each === value);
            onFilter({ order: order === 'queue' ? undefined : order });
          }}
          data={[
            { value: 'queue', label: 'By position' },
            { value: 'joined', label: 'By joining' },
            { value: 'referrals', label: 'By referrals' },
          ]}
        />
      )}
    </div>
  );
}

type Tab = keyof typeof TAB_LABELS;
const TAB_LABELS = { ...STATUS_LABELS, withheld: CREDIT_LABELS.withheld };

function tabOf(search: PeopleSearch): Tab {
  return isDeciding(search) ? 'withheld' : (search.status ?? 'waiting');
}

/** The statuses and the referrals that wait for a decision, with their numbers where they are known. */
function Tabs({
  tab,
  waitlist,
  isNarrow,
  onChoose,
}: {
  tab: Tab;
  waitlist: Waitlist | undefined;
  isNarrow: boolean | undefined;
  onChoose: (tab: Tab) => void;
}) {
  const totals = waitlist?.statistics;
  const { pending_signups: pending = 0, withheld_signups: withheld = 0 } = totals ?? {};
  const numbers: Readonly<Record<Tab, string | null>> = {
    waiting: totals ? count(totals.current_signups) : null,
    offered: totals ? count(totals.offered_signups) : null,
    offboarded: totals ? count(totals.offboarded_signups) : null,
    pending: totals ? countBounded(pending) : null,
    withheld: totals ? countBounded(withheld) : null,
  };
  const isShown: Readonly<Record<Tab, boolean>> = {
    waiting: true,
    offered: (totals?.offered_signups ?? 0) > 0,
    offboarded: true,
    // Records can wait for their click after verification was turned off, too.
    pending: waitlist?.verification === 'required' || pending > 0,
    withheld: withheld > 0,
  };
  const tabs = TABS.filter((each) => each === tab || isShown[each]);
  const choose = (value: string) => onChoose(TABS.find((each) => each === value) ?? 'waiting');
  if (isNarrow)
    return (
      <NativeSelect
        aria-label="Status"
        value={tab}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={tabs.map((value) => ({ value, label: [TAB_LABELS[value], numbers[value]].filter(Boolean).join(' ') }))}
      />
    );
  return (
    <SegmentedControl
      aria-label="Status"
      transitionDuration={0}
      value={tab}
      onChange={choose}
      data={tabs.map((value) => ({ value, label: <Counted label={TAB_LABELS[value]} number={numbers[value]} /> }))}
    />
  );
}

const TABS = ['waiting', 'offered', 'offboarded', 'pending', 'withheld'] as const;

function Counted({ label, number }: { label: string; number: string | null }) {
  return (
    <>
      {label}
      {number !== null && (
        <Text span inherit c="dimmed">
          {' '}
          {number}
        </Text>
      )}
    </>
  );
}

/** The text goes into the address once the typing pauses. */
function SearchField({
  value,
  hasNames,
  onSearch,
}: {
  value: string;
  hasNames: boolean;
  onSearch: (text: string | undefined) => void;
}) {
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
      placeholder={hasNames ? 'Last name, email, phone or code' : 'Email, phone or code'}
      leftSection={<MagnifyingGlassIcon aria-hidden />}
      rightSection={typed !== '' && <CloseButton size="sm" aria-label="Clear the search" onClick={() => type('')} />}
      maxLength={SEARCH_LENGTH_MAX}
      autoComplete="off"
      spellCheck={false}
      className={classes.search}
      value={typed}
      onChange={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}

const ANYONE = 'true';

/** Everybody, those who were referred, those whose referral does not count, or those whom one person referred. */
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
        // Withheld referrals of every status have a tab of their own.
        ...CREDIT_FILTERS.filter((name) => name !== 'withheld' || name === credit).map((name) => ({
          value: name,
          label: `Referral ${CREDIT_LABELS[name].toLowerCase()}`,
        })),
      ]}
    />
  );
}
