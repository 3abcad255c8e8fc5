import { ValidateIf } from 'class-validator';
import { type FieldOptions, IdOrKey } from '../platform/contract/fields.js';
import { InQueryOrBody } from '../platform/http/body-and-query.js';
import { isApiKey, isPublicKey } from './waitlist-keys.js';

/** How a public operation names its waitlist: by its id, its public key or, in old scripts, its API key. */
export interface WaitlistName {
  readonly waitlist_id?: number | string | null;
  /** Not read if `waitlist_id` is given. */
  readonly api_key?: number | string | null;
}

/** For descriptions of `waitlist_id`. */
export const OTHER_NAMES =
  'Also accepted: the id as text, its public key, and either of them as `api_key` in place of `waitlist_id`.';

interface NameOptions extends FieldOptions {
  /** Another field that can name the waitlist: with it, this one may be omitted. */
  readonly orIn?: keyof WaitlistName;
  /** A field that takes precedence: if it is given, this one is not read. */
  readonly unlessIn?: keyof WaitlistName;
}

/** A field of {@link WaitlistName}: a key, or an id as a number or a string of digits. */
export function WaitlistNameField({ orIn, unlessIn, ...options }: NameOptions): PropertyDecorator {
  const isGiven = (value: unknown) => value !== undefined && value !== null;
  const isRead = (dto: Readonly<Record<string, unknown>>, value: unknown) =>
    (!orIn || isGiven(value) || !isGiven(dto[orIn])) && (!unlessIn || !isGiven(dto[unlessIn]));
  const field = IdOrKey({
    isKey: (text) => isPublicKey(text) || isApiKey(text),
    message: 'must be the id or the public key of a waitlist',
    ...options,
  });
  return (target, property) => {
    field(target, property);
    InQueryOrBody()(target, property);
    ValidateIf(isRead)(target, property);
  };
}
