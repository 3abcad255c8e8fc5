import { customAlphabet } from 'nanoid';

/** Crockford's base 32: no I, L, O, U. */
export const TOKEN_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TOKEN_LENGTH = 12;
/** Wider than the tokens that this service generates: an import keeps those of another product. */
export const TOKEN_SCHEMA = {
  type: String,
  pattern: '^[0-9A-Za-z_-]{6,32}$',
  maxLength: 32,
  example: '7ZZ0K3M9QXVB',
} as const;
const TOKEN = new RegExp(TOKEN_SCHEMA.pattern);

/** 60 random bits. */
export const newReferralToken = customAlphabet(TOKEN_ALPHABET, TOKEN_LENGTH);

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** The parameter that carries a referral token. It comes last, because existing clients cut the link after it. */
const PARAMETER = 'ref_id';
/** A link has one token, but other values can look like one. One statement looks up those of a batch of signups. */
const NAMED_MAX = 4;
const OTHERS_MAX = 16;

/** The parts of a waitlist that say where people sign up. */
export interface SignupPage {
  /** The owner's page, if there is one. */
  readonly urlLocation: string | null;
  readonly hostedPage: string;
}

/** The address where people sign up. */
export function signupPage({ urlLocation, hostedPage }: SignupPage): string {
  return urlLocation ?? hostedPage;
}

/** The signup page with a token as its last parameter. The page keeps its query and loses its fragment. */
export function referralLink(urlLocation: string, token: string): string {
  const [page] = splitOnce(urlLocation, '#');
  const [path, query] = splitOnce(page, '?');
  const own = query.split('&').filter((part) => part !== '' && !part.startsWith(`${PARAMETER}=`));
  return `${path}?${own.map((part) => `${part}&`).join('')}${PARAMETER}=${token}`;
}

/**
 * The values that may be a token in the address of a signup page, likeliest first: `ref_id` in the query, then in the
 * fragment's query, then the last of the other values. Text of any form is accepted.
 */
export function referrerTokens(link: string): string[] {
  const [page = '', fragment = ''] = splitOnce(link, '#');
  const [query, fragmentQuery] = [page, fragment].map((part) => new URLSearchParams(splitOnce(part, '?')[1]));
  const parameters = [...(query ?? []), ...(fragmentQuery ?? [])];
  const named = parameters.filter(([name]) => name === PARAMETER);
  const others = parameters.filter(([name]) => name !== PARAMETER).slice(-OTHERS_MAX);
  return [...new Set([...tokensOf(named).slice(0, NAMED_MAX), ...tokensOf(others)])];
}

/** The token that a link of {@link referralLink} carries in its query; null without one. */
export function referralTokenOf(link: string): string | null {
  const token = new URLSearchParams(splitOnce(link, '?')[1]).get(PARAMETER);
  return token !== null && isToken(token) ? token : null;
}

function tokensOf(parameters: readonly (readonly [name: string, value: string])[]): string[] {
  return [...new Set(parameters.map(([, value]) => value))].filter((value) => isToken(value));
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
