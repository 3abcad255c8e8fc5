import { createHash, randomBytes } from 'node:crypto';

const ACCOUNT_KEY = /^[\da-f]{64}$/;
const TOKEN_BYTES = 32;

/** The secret of a link: 43 characters that a URL can hold. The database keeps its {@link hashKey}. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether a text has the form of an account key. A waitlist's API key and pages' placeholders have other lengths. */
export function isAccountKey(text: unknown): text is string {
  return typeof text === 'string' && ACCOUNT_KEY.test(text);
}

/** SHA-256 in hexadecimal, as the database keeps keys: a key is random, so it needs no slow hash. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
