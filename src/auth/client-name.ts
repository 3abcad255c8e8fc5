import Bowser from 'bowser';

/** Browsers name themselves within this; the rest of a hostile header is not searched. */
const SEARCHED_LENGTH_MAX = 512;
/** Without them, the library's last guess is the first word of the header, whatever a client put there. */
const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/** The browser and the system of a `User-Agent`, as "Firefox on macOS"; null if it names neither. */
export function clientName(userAgent: string | undefined): string | null {
  const searched = (userAgent ?? '').slice(0, SEARCHED_LENGTH_MAX);
  // The library refuses an empty text.
  if (searched === '') return null;
  const { browser, os } = Bowser.parse(searched);
  const known = [
    ...(BROWSERS.has(browser.name ?? '') ? [browser.name] : []),
    ...(SYSTEMS.has(os.name ?? '') ? [os.name] : []),
  ];
  return known.length > 0 ? known.join(' on ') : null;
}
