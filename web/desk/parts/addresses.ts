import type { Read } from './normalize-on-blur';

/** What stands before a host in an address. */
const SCHEME = /^[a-z][\d+.a-z-]*:\/\//i;
const NOT_ASCII = /[^!-~]/;

/** The URL that was typed, with a missing https:// added. Empty text has no fault. */
export function readAddress(typed: string, { isHttpsOnly = false }: { readonly isHttpsOnly?: boolean } = {}): Read {
  const text = typed.trim();
  if (text === '') return { text, fault: null };
  const address = SCHEME.test(text) ? text : `https://${text.replace(/^\/+/, '')}`;
  // Chromium accepts a space in the host.
  const url = /\s/.test(text) || !URL.canParse(address) ? null : new URL(address);
  if (url === null) return { text, fault: 'Enter an address, such as https://example.com.' };
  if (isHttpsOnly && url.protocol !== 'https:') return { text, fault: 'Begin the address with https://.' };
  if (!/^https?:$/.test(url.protocol)) return { text, fault: 'Begin the address with https:// or http://.' };
  // The service accepts ASCII only, so this sends what a browser would request.
  return { text: NOT_ASCII.test(address) ? url.href : address, fault: null };
}

/** The origins of the URLs that were typed, one per line. The fault is that of the first line that has one. */
export function readOrigins(typed: string): Read {
  const lines = typed.split('\n').flatMap((line) => line.trim() || []);
  const read = lines.map((line) => readAddress(line));
  return {
    text: read.map(({ text, fault }) => (fault === null ? new URL(text).origin : text)).join('\n'),
    fault: read.find(({ fault }) => fault !== null)?.fault ?? null,
  };
}
