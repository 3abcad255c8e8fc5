import type { Fault, Leader, PublicWaitlist, Status } from '../page/model.js';
import { type Catalog, ENGLISH, languageOf } from '../page/texts.js';

/** Where this script came from, which may be below a path. */
const SERVICE = new URL('.', (document.currentScript as HTMLScriptElement).src);
const TIMEOUT_MS = 15_000;
/** Without it, the form is English. */
const CATALOG_TIMEOUT_MS = 3_000;
const TOO_MANY_REQUESTS = 429;

/** An answer that is no success, as problem details. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly faults: readonly Fault[],
  ) {
    super(detail);
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status >= 500 || this.status === TOO_MANY_REQUESTS;
  }
}

/** @throws Refusal as the service answers; any other error if it cannot be reached */
async function call<Body>(path: string, body?: object): Promise<Body> {
  const response = await fetch(new URL(`api/v1/${path}`, SERVICE), {
    credentials: 'omit',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer: unknown = text === '' ? null : JSON.parse(text);
  if (response.ok) return answer as Body;
  const { error_code = '', detail = '', errors = [] } = answer as Partial<Problem>;
  throw new Refusal(response.status, error_code, detail, errors);
}

interface Problem {
  readonly error_code: string;
  readonly detail: string;
  readonly errors: readonly Fault[];
}

interface PublicView extends PublicWaitlist {
  /** The time by the service's clock, in ISO 8601. */
  readonly now: string;
}

export const getWaitlist = (id: string) => call<PublicView>(`waitlist/${encodeURIComponent(id)}`);

/** The texts in the waitlist's language: those that are loaded, or of a file beside this script. English in need. */
export async function getCatalog({ lang }: PublicWaitlist, loaded: Catalog): Promise<Catalog> {
  const language = languageOf(lang);
  if (language === loaded.language) return loaded;
  if (language === 'en') return ENGLISH;
  try {
    const response = await fetch(new URL(`widget/texts/${language}.json`, SERVICE), {
      credentials: 'omit',
      signal: AbortSignal.timeout(CATALOG_TIMEOUT_MS),
    });
    return response.ok ? { language, entries: (await response.json()) as Catalog['entries'] } : ENGLISH;
  } catch {
    return ENGLISH;
  }
}

/** The address of a person's private page. */
export const statusAddress = ({ id }: PublicWaitlist, { uuid }: Status) =>
  new URL(`waitlist/${id}/status/${uuid}`, SERVICE).href;

export const join = (signup: object) => call<Status>('signup', signup);

export const resendVerification = (waitlist_id: number, email: string) =>
  call('signup/resend_verification', { waitlist_id, email });

export const find = (contact: object) => call<Status>(`signup?${new URLSearchParams({ ...contact }).toString()}`);

export async function getLeaders({ id, uses_leaderboard }: PublicWaitlist): Promise<readonly Leader[]> {
  if (!uses_leaderboard) return [];
  const { leaderboard } = await call<{ readonly leaderboard: readonly Leader[] }>(`waitlist/${id}/leaderboard`);
  return leaderboard;
}

/** Counts a page view. Nothing depends on it. */
export function sendHeartbeat({ id }: PublicWaitlist, widgetType: string | null): void {
  const { URL: location, referrer } = document;
  void call('widget_heartbeats', { location, referrer, waitlist_id: id, widget_type: widgetType }).catch(
    () => undefined,
  );
}
