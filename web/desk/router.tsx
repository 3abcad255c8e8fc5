import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { basePath } from './environment';
import { SessionGate } from './sign-in/session-gate';
import { Shell } from './shell';
import { HomePage } from './home.page';

const root = createRootRoute({ component: SessionGate });
/** The first page: leads to a waitlist. */
const home = createRoute({ getParentRoute: () => root, path: '/', component: HomePage });
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
const account = createRoute({
  getParentRoute: () => shell,
  path: 'account',
  component: lazyRouteComponent(() => import('./account/account.page'), 'AccountPage'),
});
export const waitlistRoute = createRoute({
  getParentRoute: () => shell,
  path: '$waitlistId',
  params: { parse: ({ waitlistId }) => ({ waitlistId: Number(waitlistId) }), stringify: ({ waitlistId }) => ({ waitlistId: String(waitlistId) }) }, // prettier-ignore
});
const overview = createRoute({
  getParentRoute: () => waitlistRoute,
  path: 'overview',
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
    home,
    shell.addChildren([
      account,
      waitlistRoute.addChildren([
        overview,
        peopleRoute.addChildren([personRoute]),
        transfer,
        settings.addChildren([settingsRoute]),
      ]),
    ]),
  ]),
  basepath: `${basePath}/desk`,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
