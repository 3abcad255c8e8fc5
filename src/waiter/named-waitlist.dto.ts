import { AnyText, Id } from '../platform/contract/fields.js';

export const API_KEY_EXAMPLE = '5f4dcc3b5aa765d61d8327deb882cf99a1b2c3d4';
export const API_KEY = {
  description: 'API key of the waitlist, here or in the header `api-key`. Required without `waitlist_id`.',
  maxLength: 64,
  optional: true,
} as const;
export const WAITLIST_ID = {
  description:
    'A waitlist of your account, in place of its `api_key`. If both are given, they must name the same waitlist.',
  optional: true,
  lenient: true,
} as const;

/** The fields that identify the waitlist. */
export class NamedWaitlistDto {
  @AnyText(API_KEY)
  api_key?: string;

  @Id(WAITLIST_ID)
  waitlist_id?: number;
}
