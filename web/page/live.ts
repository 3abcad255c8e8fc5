import { morph } from './morph.js';
import { enableSharing } from './share.js';

/** The least time between two loads of the page. An event only announces what a load then shows. */
const LOAD_MS = 10_000;
/** After a load that failed, twice as long each time, up to this. */
const LOAD_MS_MAX = 300_000;
/** All pages of a waitlist learn of a change at once, so they spread their loads over this time. */
const SPREAD_MS = 1_000;
/** The least time between two announcements of the place to screen readers. */
const SPOKEN_MS = 60_000;
/** The wait before a refused stream is opened again; at random, up to twice as long. */
const REFUSED_MS = 60_000;

type Timer = ReturnType<typeof setTimeout>;

/**
 * Lets the private page follow its place while somebody sees it. Without events it stays as it is. Call it before other
 * scripts change the page.
 */
export function followPlace(page: Document): void {
  const main = page.querySelector('main');
  const line = main?.querySelector<HTMLElement>('.waitlist-live');
  const address = line?.dataset.events;
  if (!main || !line || address === undefined) return;
  let sent: Element = main.cloneNode(true) as Element;
  let events: EventSource | null = null;
  let latest = line.dataset.place;
  let failures = 0;
  let loadedAt = -Infinity;
  let spokenAt = -Infinity;
  let loading: Timer | undefined;
  let speaking: Timer | undefined;
  let reopening: Timer | undefined;

  function open(): void {
    close();
    if (page.hidden || !line!.isConnected) return;
    events = new EventSource(address!);
    events.addEventListener('place', ({ data }: MessageEvent<string>) => {
      latest = data;
      plan();
    });
    // The person is no longer on the waitlist.
    events.addEventListener('end', () => location.reload());
    events.addEventListener('error', () => {
      // The browser repeats a lost connection, but not a refused one.
      if (events?.readyState === EventSource.CLOSED) reopening = setTimeout(open, REFUSED_MS * (1 + Math.random()));
    });
  }

  function close(): void {
    events?.close();
    clearTimeout(reopening);
    clearTimeout(loading);
    loading = undefined;
  }

  function plan(): void {
    if (loading !== undefined || isShown(latest, line!.dataset.place)) return;
    const pauseMs = Math.min(LOAD_MS * 2 ** failures, LOAD_MS_MAX);
    const dueMs = Math.max(loadedAt + pauseMs - performance.now(), 0);
    loading = setTimeout(() => void load().finally(plan), dueMs + Math.random() * SPREAD_MS);
  }

  async function load(): Promise<void> {
    loadedAt = performance.now();
    const asked = latest;
    const response = await fetch(location.href).catch(() => null);
    loading = undefined;
    if (response?.status === 404) return location.reload();
    failures = response?.ok ? 0 : failures + 1;
    if (!response?.ok) return;
    show(new DOMParser().parseFromString(await response.text(), 'text/html'));
    // The page is newer than the event, or another load would show nothing new.
    if (latest === asked) latest = line!.dataset.place;
  }

  function show(next: Document): void {
    const fresh = next.querySelector('main');
    if (!fresh) return;
    const focused = page.activeElement;
    const sharing = main!.querySelector('.waitlist-sharing');
    const [status, heading] = [statusOf(line!.dataset.place), headingOf(main!)];
    morph(main!, sent, fresh);
    sent = fresh;
    page.title = next.title;
    const { lang, dir } = next.documentElement;
    Object.assign(page.documentElement, { lang, dir });
    if (main!.querySelector('.waitlist-sharing') !== sharing) enableSharing(page);
    if (focused !== page.activeElement) {
      main!.tabIndex = -1;
      main!.focus();
    }
    if (!line!.isConnected) close();
    if (headingOf(main!) !== heading) speak(headingOf(main!), statusOf(line!.dataset.place) !== status);
  }

  function speak(text: string, isUrgent: boolean): void {
    clearTimeout(speaking);
    const dueMs = isUrgent ? 0 : spokenAt + SPOKEN_MS - performance.now();
    speaking = setTimeout(
      () => {
        spokenAt = performance.now();
        line!.textContent = text;
      },
      Math.max(dueMs, 0),
    );
  }

  page.addEventListener('visibilitychange', open);
  open();
}

/** Until the email is confirmed, the page shows no number, which every signup changes. */
function isShown(place: string | undefined, shown: string | undefined): boolean {
  return place === shown || [place, shown].every((each) => statusOf(each) === 'pending');
}

function statusOf(place = '{}'): unknown {
  return (JSON.parse(place) as { readonly status?: unknown }).status;
}

function headingOf(main: Element): string {
  return main.querySelector('h1')?.textContent ?? '';
}
