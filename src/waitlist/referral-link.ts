import { isToken } from '../platform/contract/formats.js';

/** The parameter that carries a referral token; existing clients cut the link after it, so it comes last. */
const PARAMETER = 'ref_id';
/** A link has one; a few more are looked at, for other parameters can look like it. */
const TOKENS_MAX = 4;

/** The page where people sign up, with a token as its last parameter: its own query kept, its fragment dropped. */
export function referralLink(urlLocation: string, token: string): string {
  const [page] = splitOnce(urlLocation, '#');
  const [path, query] = splitOnce(page, '?');
  const own = query.split('&').filter((part) => part !== '' && !part.startsWith(`${PARAMETER}=`));
  return `${path}?${own.map((part) => `${part}&`).join('')}${PARAMETER}=${token}`;
}

/**
 * What may be a token in the address of the page where someone signed up, likeliest first: `ref_id` in the query, then
 * in the fragment's query, then any other value. Any text will do; what holds no token gives an empty list.
 */
export function referrerTokens(link: string): string[] {
  const [page = '', fragment = ''] = splitOnce(link, '#');
  const [query, fragmentQuery] = [page, fragment].map((part) => new URLSearchParams(splitOnce(part, '?')[1]));
  const parameters = [...(query ?? []), ...(fragmentQuery ?? [])];
  const named = parameters.filter(([name]) => name === PARAMETER);
  const values = [...named, ...parameters].map(([, value]) => value);
  return [...new Set(values.filter((value) => isToken(value)))].slice(0, TOKENS_MAX);
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
