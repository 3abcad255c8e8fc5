import { randomBytes } from 'node:crypto';
import { customAlphabet } from 'nanoid';
import { TOKEN_ALPHABET } from '../queue/record/referral-link.js';

const API_KEY_BYTES = 20;
const API_KEY = new RegExp(`^[0-9a-f]{${2 * API_KEY_BYTES}}$`);
/** It contains a letter, which an id does not. */
export const PUBLIC_KEY_SCHEMA = {
  minLength: 6,
  maxLength: 12,
  pattern: '^[0-9]*[A-Z][0-9A-Z]*$',
  example: '4T7WX0QK',
} as const;
/** As of a public key, the letter tells it from an id. */
export const SLUG_SCHEMA = {
  minLength: 3,
  maxLength: 40,
  pattern: String.raw`^[a-z\d-]*[a-z][a-z\d-]*$`,
} as const;
const PUBLIC_KEY = formOf(PUBLIC_KEY_SCHEMA);
const SLUG = formOf(SLUG_SCHEMA);
const randomKey = customAlphabet(TOKEN_ALPHABET, 8);

export function newPublicKey(): string {
  const key = randomKey();
  return PUBLIC_KEY.test(key) ? key : newPublicKey();
}

export function isPublicKey(text: string): boolean {
  return PUBLIC_KEY.test(text);
}

export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

export function newApiKey(): string {
  return randomBytes(API_KEY_BYTES).toString('hex');
}

export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

function formOf({ minLength, maxLength, pattern }: { minLength: number; maxLength: number; pattern: string }): RegExp {
  return new RegExp(`(?=^.{${minLength},${maxLength}}$)${pattern}`);
}
