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
const { minLength, maxLength, pattern } = PUBLIC_KEY_SCHEMA;
const PUBLIC_KEY = new RegExp(`(?=^.{${minLength},${maxLength}}$)${pattern}`);
const randomKey = customAlphabet(TOKEN_ALPHABET, 8);

export function newPublicKey(): string {
  const key = randomKey();
  return PUBLIC_KEY.test(key) ? key : newPublicKey();
}

export function isPublicKey(text: string): boolean {
  return PUBLIC_KEY.test(text);
}

export function newApiKey(): string {
  return randomBytes(API_KEY_BYTES).toString('hex');
}

export function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}
