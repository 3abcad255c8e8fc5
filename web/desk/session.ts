import { basePath } from './environment';
import { Problem } from './problem';

const SESSION = `${basePath}/api/v1/auth/session`;

type SessionState = 'unknown' | 'signed-in' | 'signed-out';
type Listener = () => void;

/** Kept in memory only, so that no script of another page and no later user of the browser finds it. */
let accessToken: string | null = null;
let state: SessionState = 'unknown';
const listeners = new Set<Listener>();
let refreshing: Promise<void> | null = null;

function become(next: SessionState, token: string | null): void {
  accessToken = token;
  state = next;
  for (const listener of listeners) listener();
}

export function sessionState(): SessionState {
  return state;
}

/** For `useSyncExternalStore`. */
export function onSessionChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function requestToken(path: string, body?: object): Promise<void> {
  const response = await fetch(`${SESSION}${path}`, {
    method: 'POST',
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw await Problem.of(response);
  const { access_token } = (await response.json()) as { access_token: string };
  become('signed-in', access_token);
}

/** @throws Problem as the service answers */
export async function signIn(email: string, password: string): Promise<void> {
  await requestToken('', { email, password });
}

/** Ends the login, also if the service cannot be reached: then its cookie ends with its time. */
export async function signOut(): Promise<void> {
  try {
    await fetch(SESSION, { method: 'DELETE' });
  } finally {
    become('signed-out', null);
  }
}

/** Gets a new access token by the cookie. Concurrent calls share one request, because a refresh token works once. */
export async function refresh(): Promise<void> {
  refreshing ??= requestToken('/refresh')
    .catch((error: unknown) => {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
      become('signed-out', null);
    })
    .finally(() => {
      refreshing = null;
    });
  return refreshing;
}

/** Resolves when somebody is signed in again. */
function signedIn(): Promise<void> {
  return new Promise((resolve) => {
    const stop = onSessionChange(() => {
      if (state !== 'signed-in') return;
      stop();
      resolve();
    });
  });
}

/** A new access token, which lasts its whole time: for a request that is too large to be sent again. */
export async function freshToken(): Promise<string> {
  await refresh();
  if (accessToken === null) await signedIn();
  return accessToken ?? '';
}

function withToken(request: Request): Request {
  const authorized = new Request(request);
  if (accessToken !== null) authorized.headers.set('authorization', `Bearer ${accessToken}`);
  return authorized;
}

/**
 * `fetch` with the access token. When the token has expired, it refreshes it and sends the request again. When the login has
 * ended, the request waits for the next sign-in, so that no input is lost.
 */
export async function authorizedFetch(request: Request): Promise<Response> {
  if (accessToken === null && state === 'unknown') await refresh();
  for (;;) {
    if (sessionState() === 'signed-out') await signedIn();
    const used = accessToken;
    const response = await fetch(withToken(request.clone()));
    if (response.status !== 401) return response;
    // Another request may have refreshed it meanwhile.
    if (used === accessToken) await refresh();
  }
}
