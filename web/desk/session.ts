import { fetchOrNotice } from './connection';
import { basePath } from './environment';
import { Problem } from './problem';
import { createStore } from './store';

const SESSION = `${basePath}/api/v1/auth/session`;

type SessionState = 'unknown' | 'signed-in' | 'signed-out';

export const session = createStore<SessionState>('unknown');

/**
 * Kept in memory only, so that no script of another page and no later user of the browser finds it. The token of an
 * ended login is kept until the next sign-in, to detect another member.
 */
let accessToken: string | null = null;
let refreshing: Promise<void> | null = null;
/** Marks that this browser may have a login. Without it, no token is requested, which would fail. Not a secret. */
const HAS_LOGIN = `${basePath}/desk/has-login`;

/** Tells the desks in other tabs of a sign-in and a sign-out. */
const otherTabs = new BroadcastChannel(`${basePath}/desk`);

function become(next: SessionState, token: string | null): void {
  const isSignIn = next === 'signed-in' && session.get() !== next;
  accessToken = token ?? accessToken;
  rememberLogin(next === 'signed-in');
  session.set(next);
  if (isSignIn) otherTabs.postMessage('signed in');
}

function rememberLogin(hasLogin: boolean): void {
  try {
    if (hasLogin) localStorage.setItem(HAS_LOGIN, 'true');
    else localStorage.removeItem(HAS_LOGIN);
  } catch {
    // A browser that stores nothing is asked anew: see `mayHaveLogin`.
  }
}

/** For a sign-in that goes on elsewhere, and ends with a cookie: the next page looks for it. */
export function expectLogin(): void {
  rememberLogin(true);
}

/** Whether this browser may have a login. */
export function mayHaveLogin(): boolean {
  try {
    return localStorage.getItem(HAS_LOGIN) !== null;
  } catch {
    return true;
  }
}

/** The member that a token names. Only the service checks that the token is genuine. */
function memberOf(token: string): unknown {
  const claims = token.split('.')[1] ?? '';
  const { sub } = JSON.parse(atob(claims.replaceAll('-', '+').replaceAll('_', '/'))) as { sub: unknown };
  return sub;
}

async function requestToken(path: string, body?: object): Promise<void> {
  const response = await fetchOrNotice(`${SESSION}${path}`, {
    method: 'POST',
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw await Problem.of(response);
  const { access_token } = (await response.json()) as { access_token: string };
  if (accessToken !== null && memberOf(access_token) !== memberOf(accessToken)) {
    // Another member must neither see what this page has loaded nor send what waits for a login: nothing follows.
    location.reload();
    await new Promise(() => undefined);
  }
  become('signed-in', access_token);
}

/** @throws Problem as the service answers: `OTP_REQUIRED` where the member has a second factor, and `otp` is missing */
export async function signIn(credentials: {
  readonly email: string;
  readonly password: string;
  readonly otp?: string;
}): Promise<void> {
  await requestToken('', credentials);
}

/**
 * Ends the login, and leaves a page that holds nothing of it.
 * @throws TypeError without a connection: then the login goes on
 */
export async function signOut(): Promise<void> {
  const response = await fetchOrNotice(SESSION, { method: 'DELETE' });
  if (!response.ok) throw await Problem.of(response);
  otherTabs.postMessage('signed out');
  rememberLogin(false);
  leave();
}

function leave(): void {
  location.assign(`${basePath}/desk`);
}
otherTabs.addEventListener('message', ({ data }) => {
  if (data === 'signed out') leave();
  // Without a connection, the reader signs in here too.
  else if (session.get() === 'signed-out') refresh().catch(() => undefined);
});

/** For a page that has just opened: goes on with the login of this browser, if it has one. */
export async function resume(hasLogin: boolean): Promise<void> {
  if (hasLogin) return refresh();
  become('signed-out', null);
}

/** Gets a new access token by the cookie. Concurrent calls share one request. */
export async function refresh(): Promise<void> {
  refreshing ??= oneTabAtATime(() => requestToken('/refresh'))
    .catch((error: unknown) => {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
      become('signed-out', null);
    })
    .finally(() => {
      refreshing = null;
    });
  return refreshing;
}

/** A refresh token works once, and the tabs share its cookie. Browsers have locks over https and on localhost only. */
async function oneTabAtATime(work: () => Promise<void>): Promise<void> {
  const locks = (navigator as Partial<Navigator>).locks;
  return locks ? locks.request(`${basePath}/desk/refresh`, work) : work();
}

/** Resolves when somebody is signed in again. */
function signedIn(): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.subscribe(() => {
      if (session.get() !== 'signed-in') return;
      stop();
      resolve();
    });
  });
}

/** A new access token, which lasts its whole time: for a request that is too large to be sent again. */
export async function freshToken(): Promise<string> {
  await refresh();
  if (session.get() === 'signed-out') await signedIn();
  return accessToken ?? '';
}

function withToken(request: Request): Request {
  const authorized = new Request(request);
  if (accessToken !== null) authorized.headers.set('authorization', `Bearer ${accessToken}`);
  return authorized;
}

/**
 * `fetch` with the access token. When the token has expired, it refreshes it and sends the request again. When the
 * login has ended, the request waits for the next sign-in, so that no input is lost.
 */
export async function authorizedFetch(request: Request): Promise<Response> {
  if (session.get() === 'unknown') await refresh();
  for (let isFresh = false; ;) {
    if (session.get() === 'signed-out') await signedIn();
    const used = accessToken;
    const response = await fetchOrNotice(withToken(request.clone()));
    if (response.status !== 401 || isFresh) return response;
    // Another request may have refreshed it meanwhile.
    if (used === accessToken) await refresh();
    isFresh = session.get() === 'signed-in' && used !== accessToken;
  }
}
