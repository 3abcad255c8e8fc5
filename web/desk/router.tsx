import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  redirect,
} from '@tanstack/react-router';
import { basePath } from './environment';
import { HomePage } from './home.page';
import { PageSkeleton } from './parts/delayed';
import { NothingHere } from './parts/nothing-here';
import { PageFault } from './parts/page-fault';
import { Shell } from './shell';
import { SessionGate } from './sign-in/session-gate';
import { WaitlistGate } from './waitlist/waitlist-gate';

const root = createRootRoute({ component: SessionGate });
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
/** The first page: leads to a waitlist. */
const home = createRoute({ getParentRoute: () => shell, path: '/', component: HomePage });
/** The filters of the audit log. */
export interface AccountSearch {
  readonly waitlist?: number;
  readonly uuid?: string;
}
export const accountRoute = createRoute({
  getParentRoute: () => shell,
  path: 'account',
  validateSearch: ({ waitlist, uuid }: Record<string, unknown>): AccountSearch => ({
    ...(typeof waitlist === 'number' && { waitlist }),
    ...(typeof uuid === 'string' && { uuid }),
  }),
  component: lazyRouteComponent(() => import('./account/account.page'), 'AccountPage'),
});
export const waitlistRoute = createRoute({
  getParentRoute: () => shell,
  path: '$waitlistId',
  component: WaitlistGate,
  params: { parse: ({ waitlistId }) => ({ waitlistId: Number(waitlistId) }), stringify: ({ waitlistId }) => ({ waitlistId: String(waitlistId) }) }, // prettier-ignore
});
const index = createRoute({
  getParentRoute: () => waitlistRoute,
  path: '/',
  component: () => <Navigate from="/$waitlistId" to="/$waitlistId/overview" params replace />,
});
/** The days that the chart shows. */
export interface OverviewSearch {
  readonly days?: 7 | 30 | 90;
}
export const overviewRoute = createRoute({
  getParentRoute: () => waitlistRoute,
  path: 'overview',
  validateSearch: ({ days }: Record<string, unknown>): OverviewSearch => (days === 7 || days === 90 ? { days } : {}),
  component: lazyRouteComponent(() => import('./overview/overview.page'), 'OverviewPage'),
});
/** The filters of the table, which the address holds. */
export interface PeopleSearch {
  readonly search?: string;
  readonly status?: 'waiting' | 'offboarded';
  readonly order?: 'joined' | 'queue';
  /** A token: those whom this person referred; `true`: all that were referred. */
  readonly referral_token?: string;
}
/** A text that looks like JSON comes from the address as a number or a boolean. */
const isText = (value: unknown) => value !== '' && ['string', 'number', 'boolean'].includes(typeof value);
export const peopleRoute = createRoute({
  getParentRoute: () => waitlistRoute,
  path: 'people',
  validateSearch: ({ search, status, order, referral_token }: Record<string, unknown>): PeopleSearch => ({
    ...(isText(search) && { search: String(search) }),
    ...(status === 'offboarded' && { status }),
    ...(order === 'joined' && { order }),
    ...(isText(referral_token) && { referral_token: String(referral_token) }),
  }),
  component: lazyRouteComponent(() => import('./people/people.page'), 'PeoplePage'),
});
export const personRoute = createRoute({
  getParentRoute: () => peopleRoute,
  path: '$uuid',
  component: lazyRouteComponent(() => import('./people/person.panel'), 'PersonPanel'),
});
const transfer = createRoute({
  getParentRoute: () => waitlistRoute,
  path: 'transfer',
  component: lazyRouteComponent(() => import('./transfer/transfer.page'), 'TransferPage'),
});
const settings = createRoute({
  getParentRoute: () => waitlistRoute,
  path: 'settings',
  beforeLoad: ({ params, location }) => {
    if (/\/settings\/?$/.test(location.pathname)) redirect({ to: '/$waitlistId/settings/$tab', params: { ...params, tab: 'form' }, throw: true }); // prettier-ignore
  },
});
export const settingsRoute = createRoute({
  getParentRoute: () => settings,
  path: '$tab',
  component: lazyRouteComponent(() => import('./settings/settings.page'), 'SettingsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    shell.addChildren([
      home,
      accountRoute,
      waitlistRoute.addChildren([
        index,
        overviewRoute,
        peopleRoute.addChildren([personRoute]),
        transfer,
        settings.addChildren([settingsRoute]),
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
