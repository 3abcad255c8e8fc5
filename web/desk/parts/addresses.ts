/** What stands before a host in an address. */
const SCHEME = /^[a-z][\d+.a-z-]*:\/\//i;
const NOT_ASCII = /[^!-~]/;

/** The address that somebody means, or a sentence about why it is none. Nothing is no address, and no fault. */
export function readAddress(
  typed: string,
  { isHttpsOnly = false }: { readonly isHttpsOnly?: boolean } = {},
): { readonly address: string; readonly fault: string | null } {
  const text = typed.trim();
  if (text === '') return { address: '', fault: null };
  const address = SCHEME.test(text) ? text : `https://${text.replace(/^\/+/, '')}`;
  // Chromium takes a space in a host's name.
  const url = /\s/.test(text) || !URL.canParse(address) ? null : new URL(address);
  if (url === null) return { address: text, fault: 'Enter an address, such as https://example.com.' };
  if (isHttpsOnly && url.protocol !== 'https:') return { address: text, fault: 'Begin the address with https://.' };
  if (!/^https?:$/.test(url.protocol)) return { address: text, fault: 'Begin the address with https:// or http://.' };
  // As a browser would send it: the service takes ASCII alone.
  return { address: NOT_ASCII.test(address) ? url.href : address, fault: null };
}
