import { AppShell, Badge, Box, Group, NavLink, VisuallyHidden } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { DashboardIcon, GearIcon, LockClosedIcon, PersonIcon, StackIcon, WidthIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, Outlet, useLocation, useNavigate, useParams, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { AccountMenu } from './account-menu';
import { useNeedsSecondFactor } from './needs-second-factor';
import { ColorSchemeMenu } from './parts/color-scheme-menu';
import { PageSkeleton } from './parts/delayed';
import { countBounded } from './parts/format';
import { PageProblem } from './parts/page-fault';
import { ownMemberQuery, waitlistQuery, waitlistsQuery } from './queries';
import { type Role, useMay } from './roles';
import classes from './shell.module.css';
import { WaitlistSwitcher } from './waitlist/waitlist-switcher';

/** `shortLabel` fits into the bar of a phone. The label begins with it, so that voice control finds it. */
const PAGES: readonly { path: string; label: string; shortLabel?: string; Icon: typeof GearIcon; needed?: Role }[] = [
  { path: 'overview', label: 'Overview', Icon: DashboardIcon },
  { path: 'people', label: 'People', Icon: StackIcon },
  { path: 'transfer', label: 'Import and export', shortLabel: 'Import', Icon: WidthIcon, needed: 'editor' },
  { path: 'settings', label: 'Settings', Icon: GearIcon },
];

const OWNER_PAGES = [
  { label: 'Team', Icon: PersonIcon, to: '/team' },
  { label: 'Account', Icon: LockClosedIcon, to: '/account' },
];

/** The frame of all pages: a rail at the left, on a narrow screen a bar at the bottom, and the page itself. */
export function Shell() {
  const waitlistId = useWaitlistId();
  const isLimited = useNeedsSecondFactor();
  const waiting = useWaiting(waitlistId);
  const [isEditor, isOwner] = [useMay('editor'), useMay('owner')];
  useSearchKey(waitlistId);
  usePagesAhead();
  const pages =
    waitlistId === undefined || isLimited
      ? []
      : PAGES.filter(({ needed }) => needed === undefined || isEditor).map((page) => ({
          ...page,
          to: `/${waitlistId}/${page.path}`,
          waiting: page.path === 'people' ? waiting : NOTHING,
        }));
  const accountPages = isOwner && !isLimited ? OWNER_PAGES.map((page) => ({ ...page, waiting: NOTHING })) : [];
  const switcher = !isLimited && <WaitlistSwitcher waitlistId={waitlistId} />;
  return (
    <AppShell
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: true } }}
      header={{ height: { base: 56, sm: 0 } }}
      footer={{ height: { base: pages.length > 0 ? 64 : 0, sm: 0 } }}
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
          <Group gap={4} wrap="nowrap">
            <AccountMenu isLimited={isLimited} />
            <ColorSchemeMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" visibleFrom="sm" aria-label="Pages">
        <AppShell.Section mb="xs">{switcher}</AppShell.Section>
        {[...pages, ...accountPages].map(({ label, Icon, to, waiting }, index) => (
          <NavLink
            key={to}
            className={classes.rail}
            mt={index === pages.length ? 'auto' : undefined}
            label={label}
            rightSection={<WaitingCounts {...waiting} />}
            leftSection={<Icon aria-hidden />}
            renderRoot={(props) => <Link to={to} activeOptions={{ includeSearch: false }} {...props} />}
          />
        ))}
        <Group gap={4} wrap="nowrap" mt={accountPages.length > 0 ? 'xs' : 'auto'}>
          <AccountMenu isLimited={isLimited} />
          <ColorSchemeMenu />
        </Group>
      </AppShell.Navbar>
      <AppShell.Main id="page" tabIndex={-1}>
        <div className={classes.main}>
          <Page isLimited={isLimited} />
        </div>
      </AppShell.Main>
      <AppShell.Footer hiddenFrom="sm" display={pages.length > 0 ? undefined : 'none'}>
        <nav aria-label="Pages" className={classes.bar}>
          {pages.map(({ label, shortLabel, Icon, to, waiting }) => (
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

/** The page of the address, once it is known what the member may do. */
function Page({ isLimited }: { isLimited: boolean }) {
  const me = useQuery(ownMemberQuery());
  const { pathname } = useLocation();
  if (me.isError && !me.data) return <PageProblem error={me.error} onRetry={() => void me.refetch()} />;
  if (!me.data) return <PageSkeleton />;
  if (isLimited && !/\/profile\/?$/.test(pathname)) return <Navigate to="/profile" replace />;
  return <Outlet />;
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
