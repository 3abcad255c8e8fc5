import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { accountSearchOf } from './account/search';
import { basePath } from './environment';
import { HomePage } from './home.page';
import { overviewSearchOf } from './overview/search';
import { PageSkeleton } from './parts/delayed';
import { NothingHere } from './parts/nothing-here';
import { PageFault } from './parts/page-fault';
import { peopleSearchOf } from './people/search';
import { otherTab } from './settings/tabs';
import { ConnectionNotice } from './parts/connection-notice';
import { Shell } from './shell';
import { SessionGate } from './sign-in/session-gate';
import { errorSearchOf } from './parts/error-search';
import { SignInRoute } from './sign-in/sign-in.route';
import { WaitlistGate } from './waitlist/waitlist-gate';

const root = createRootRoute({
  component: () => (
    <>
      <ConnectionNotice />
      <Outlet />
    </>
  ),
});
/** Where a sign-in at the provider that failed leads to. */
const signIn = createRoute({
  getParentRoute: () => root,
  path: 'sign-in',
  validateSearch: errorSearchOf,
  component: SignInRoute,
});
const forgotten = createRoute({
  getParentRoute: () => root,
  path: 'forgotten',
  component: lazyRouteComponent(() => import('./sign-in/forgotten.page'), 'ForgottenPage'),
});
const reset = createRoute({
  getParentRoute: () => root,
  path: 'reset',
  component: lazyRouteComponent(() => import('./sign-in/reset.page'), 'ResetPage'),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: 'invitation',
  component: lazyRouteComponent(() => import('./sign-in/invitation.page'), 'InvitationPage'),
});
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: () => (
    <SessionGate>
      <Shell />
    </SessionGate>
  ),
});
/** The first page: leads to a waitlist. */
const home = createRoute({ getParentRoute: () => shell, path: '/', component: HomePage });
const account = createRoute({
  getParentRoute: () => shell,
  path: 'account',
  validateSearch: accountSearchOf,
  component: lazyRouteComponent(() => import('./account/account.page'), 'AccountPage'),
});
const profile = createRoute({
  getParentRoute: () => shell,
  path: 'profile',
  validateSearch: errorSearchOf,
  component: lazyRouteComponent(() => import('./profile/profile.page'), 'ProfilePage'),
});
const team = createRoute({
  getParentRoute: () => shell,
  path: 'team',
  component: lazyRouteComponent(() => import('./team/team.page'), 'TeamPage'),
});
const waitlist = createRoute({
  getParentRoute: () => shell,
  path: '$waitlistId',
  component: WaitlistGate,
  params: {
    parse: ({ waitlistId }) => ({ waitlistId: Number(waitlistId) }),
    stringify: ({ waitlistId }) => ({ waitlistId: String(waitlistId) }),
  },
});
const index = createRoute({
  getParentRoute: () => waitlist,
  path: '/',
  component: () => <Navigate from="/$waitlistId" to="/$waitlistId/overview" params replace />,
});
const overview = createRoute({
  getParentRoute: () => waitlist,
  path: 'overview',
  validateSearch: overviewSearchOf,
  component: lazyRouteComponent(() => import('./overview/overview.page'), 'OverviewPage'),
});
const people = createRoute({
  getParentRoute: () => waitlist,
  path: 'people',
  validateSearch: peopleSearchOf,
  component: lazyRouteComponent(() => import('./people/people.page'), 'PeoplePage'),
});
const person = createRoute({
  getParentRoute: () => people,
  path: '$uuid',
  component: lazyRouteComponent(() => import('./people/person.panel'), 'PersonPanel'),
});
const transfer = createRoute({
  getParentRoute: () => waitlist,
  path: 'transfer',
  component: lazyRouteComponent(() => import('./transfer/transfer.page'), 'TransferPage'),
});
const settings = createRoute({
  getParentRoute: () => waitlist,
  path: 'settings',
  beforeLoad: ({ params, location }) => {
    if (!/\/settings\/?$/.test(location.pathname)) return;
    redirect({ to: '/$waitlistId/settings/$tab', params: { ...params, tab: 'form' }, throw: true });
  },
});
const settingsTab = createRoute({
  getParentRoute: () => settings,
  path: '$tab',
  beforeLoad: ({ params }) => {
    const tab = otherTab(params.tab);
    if (tab !== null) redirect({ to: '/$waitlistId/settings/$tab', params: { ...params, tab }, throw: true });
  },
  component: lazyRouteComponent(() => import('./settings/settings.page'), 'SettingsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    forgotten,
    reset,
    invitation,
    shell.addChildren([
      home,
      account,
      profile,
      team,
      waitlist.addChildren([
        index,
        overview,
        people.addChildren([person]),
        transfer,
        settings.addChildren([settingsTab]),
      ]),
    ]),
  ]),
  basepath: `${basePath}/desk`,
  defaultNotFoundComponent: () => <NothingHere />,
  defaultErrorComponent: PageFault,
  defaultPendingComponent: PageSkeleton,
  defaultPendingMs: 0,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
