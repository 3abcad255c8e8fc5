import { AppShell, Badge, Box, Group, NavLink, VisuallyHidden } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { DashboardIcon, GearIcon, PersonIcon, StackIcon, WidthIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useParams, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ColorSchemeMenu } from './parts/color-scheme-menu';
import { countBounded } from './parts/format';
import { waitlistQuery, waitlistsQuery } from './queries';
import classes from './shell.module.css';
import { WaitlistSwitcher } from './waitlist/waitlist-switcher';

/** `shortLabel` fits into the bar of a phone. The label begins with it, so that voice control finds it. */
const PAGES: readonly { path: string; label: string; shortLabel?: string; Icon: typeof GearIcon }[] = [
  { path: 'overview', label: 'Overview', Icon: DashboardIcon },
  { path: 'people', label: 'People', Icon: StackIcon },
  { path: 'transfer', label: 'Import and export', shortLabel: 'Import', Icon: WidthIcon },
  { path: 'settings', label: 'Settings', Icon: GearIcon },
];

/** The frame of all pages: a rail at the left, on a narrow screen a bar at the bottom, and the page itself. */
export function Shell() {
  const waitlistId = useWaitlistId();
  const waiting = useWaiting(waitlistId);
  useSearchKey(waitlistId);
  usePagesAhead();
  const links = [
    ...(waitlistId === undefined
      ? []
      : PAGES.map((page) => ({
          ...page,
          to: `/${waitlistId}/${page.path}`,
          waiting: page.path === 'people' ? waiting : NOTHING,
        }))),
    { label: 'Account', shortLabel: undefined, Icon: PersonIcon, to: '/account', waiting: NOTHING },
  ];
  const switcher = <WaitlistSwitcher waitlistId={waitlistId} />;
  return (
    <AppShell
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: true } }}
      header={{ height: { base: 56, sm: 0 } }}
      footer={{ height: { base: 64, sm: 0 } }}
      padding={{ base: 'md', sm: 'xl' }}
    >
      <a
        className={classes.skip}
        href="#page"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('page')?.focus();
        }}
      >
        Skip to content
      </a>
      {/* No landmark: a dialog of the library has a header too. */}
      <AppShell.Header hiddenFrom="sm" role="none">
        <Group component="nav" aria-label="Waitlists" h="100%" px="xs" justify="space-between" wrap="nowrap">
          <Box miw={0}>{switcher}</Box>
          <ColorSchemeMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" visibleFrom="sm" aria-label="Pages">
        <AppShell.Section mb="xs">{switcher}</AppShell.Section>
        {links.map(({ label, Icon, to, waiting }, index) => (
          <NavLink
            key={to}
            className={classes.rail}
            mt={index === links.length - 1 ? 'auto' : undefined}
            label={label}
            rightSection={<WaitingCounts {...waiting} />}
            leftSection={<Icon aria-hidden />}
            renderRoot={(props) => <Link to={to} activeOptions={{ includeSearch: false }} {...props} />}
          />
        ))}
        <ColorSchemeMenu />
      </AppShell.Navbar>
      <AppShell.Main id="page" tabIndex={-1}>
        <div className={classes.main}>
          <Outlet />
        </div>
      </AppShell.Main>
      <AppShell.Footer hiddenFrom="sm">
        <nav aria-label="Pages" className={classes.bar}>
          {links.map(({ label, shortLabel, Icon, to, waiting }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ includeSearch: false }}
              className={classes.barItem}
              aria-label={shortLabel && label}
            >
              <Icon aria-hidden />
              {shortLabel ?? label}
              <span className={classes.barCount}>
                {/* There is room for one. */}
                <WaitingCounts withheld={waiting.withheld} pending={0} />
              </span>
            </Link>
          ))}
        </nav>
      </AppShell.Footer>
    </AppShell>
  );
}

/** The waitlist of the address; on a page of the account, the one that was open before, or the first. */
function useWaitlistId(): number | undefined {
  const { waitlistId: parameter } = useParams({ strict: false });
  // An address with something else in its place leads to nothing.
  const waitlistId = Number.isSafeInteger(parameter) ? parameter : undefined;
  const [last, setLast] = useState(waitlistId);
  if (waitlistId !== undefined && waitlistId !== last) setLast(waitlistId);
  const { data: waitlists } = useQuery(waitlistsQuery());
  return waitlistId ?? last ?? waitlists?.[0]?.id;
}

/** The people of a page who wait for something else than their turn. */
interface Waiting {
  /** For the owner's decision about their referral. */
  readonly withheld: number;
  /** For their own click in a mail. */
  readonly pending: number;
}

const NOTHING: Waiting = { withheld: 0, pending: 0 };

/** Zeros until it is loaded. */
function useWaiting(waitlistId: number | undefined): Waiting {
  const waitlist = useQuery({ ...waitlistQuery(waitlistId ?? 0), enabled: waitlistId !== undefined && waitlistId > 0 });
  const { withheld_signups: withheld = 0, pending_signups: pending = 0 } = waitlist.data?.statistics ?? {};
  return { withheld, pending };
}

function WaitingCounts({ withheld, pending }: Waiting) {
  if (withheld === 0 && pending === 0) return null;
  return (
    <Group component="span" gap={4} wrap="nowrap">
      {pending > 0 && (
        <Badge size="sm" variant="default" component="span">
          {countBounded(pending)}
          <VisuallyHidden component="span"> not confirmed</VisuallyHidden>
        </Badge>
      )}
      {withheld > 0 && (
        <Badge size="sm" variant="filled" component="span">
          {countBounded(withheld)}
          <VisuallyHidden component="span">
            {' '}
            {withheld === 1 ? 'referral waits' : 'referrals wait'} for you
          </VisuallyHidden>
        </Badge>
      )}
    </Group>
  );
}

/** The key `/` leads to the search for people, from every page. */
function useSearchKey(waitlistId: number | undefined): void {
  const navigate = useNavigate();
  const focusSearch = () => {
    const search = document.querySelector<HTMLInputElement>('#page input[type="search"]');
    search?.focus();
    return search !== null;
  };
  useHotkeys([
    [
      '/',
      () => {
        if (focusSearch() || waitlistId === undefined) return;
        void navigate({ to: '/$waitlistId/people', params: { waitlistId } }).then(() =>
          requestAnimationFrame(focusSearch),
        );
      },
    ],
  ]);
}

/** Loads the code of all pages, so that they open at once, and without a connection too. */
function usePagesAhead(): void {
  const router = useRouter();
  useEffect(() => {
    // A page that is missing now is loaded when it is opened, and says so if it fails.
    for (const route of Object.values(router.routesById)) void router.loadRouteChunk(route)?.catch(() => undefined);
  }, [router]);
}
