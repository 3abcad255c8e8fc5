/** What stands before a host in an address. */
const SCHEME = /^[a-z][\d+.a-z-]*:\/\//i;
const NOT_ASCII = /[^!-~]/;

/** The URL that was typed, with a missing https:// added, or the error to show. Empty text has neither. */
export function readAddress(
  typed: string,
  { isHttpsOnly = false }: { readonly isHttpsOnly?: boolean } = {},
): { readonly address: string; readonly fault: string | null } {
  const text = typed.trim();
  if (text === '') return { address: '', fault: null };
  const address = SCHEME.test(text) ? text : `https://${text.replace(/^\/+/, '')}`;
  // Chromium accepts a space in the host.
  const url = /\s/.test(text) || !URL.canParse(address) ? null : new URL(address);
  if (url === null) return { address: text, fault: 'Enter an address, such as https://example.com.' };
  if (isHttpsOnly && url.protocol !== 'https:') return { address: text, fault: 'Begin the address with https://.' };
  if (!/^https?:$/.test(url.protocol)) return { address: text, fault: 'Begin the address with https:// or http://.' };
  // The service accepts ASCII only, so this sends what a browser would request.
  return { address: NOT_ASCII.test(address) ? url.href : address, fault: null };
}
