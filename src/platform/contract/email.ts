import { domainToASCII } from 'node:url';
import type { FieldFault } from '../problems/problem.js';

/** In code points, which expressions with the flag `u` count. */
const LENGTH = /^.{1,254}$/su;
/** Its length is that of RFC 5321, 4.5.3.1.1. */
const LOCAL = /^[^\s@<>()[\],;:\\"\p{Cc}\p{Cs}]{1,64}$/u;
/** Without `/`, `?` and `%`: the URL parser behind `domainToASCII` would drop or decode what follows them. */
const TYPED_DOMAIN = /^[A-Za-z0-9.\-\P{ASCII}]+$/u;
/** The last label is not a number, which would make it an IP address. */
const DOMAIN = /^(?=.{1,253}$)(?!.*\.\d+$)(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))+$/;
/**
 * Characters that nobody sees, so two addresses could look the same, or one show in another order. Default ignorable
 * are zero-width characters, the soft hyphen, variation selectors and most controls of direction; `Cf` adds the other
 * format characters. U+2800 is a blank symbol. UAX 31 keeps all of them out of identifiers.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/u;

/**
 * The normal form by which addresses match: trimmed, Unicode NFC, lower case, domain in IDNA ASCII. Dots and plus tags
 * stay. Null if the text is not an address; lengths are those of RFC 5321.
 */
export function emailKey(typed: string): string | null {
  if (INVISIBLE.test(typed)) return null;
  const text = typed.trim().normalize('NFC');
  const at = text.lastIndexOf('@');
  const local = lowerCase(text.slice(0, Math.max(at, 0)));
  const typedDomain = text.slice(at + 1);
  const domain = TYPED_DOMAIN.test(typedDomain) ? domainToASCII(typedDomain) : '';
  return LENGTH.test(text) && LOCAL.test(local) && DOMAIN.test(domain) ? `${local}@${domain}` : null;
}

/** Why a text without a normal form is not an address. */
export function invalidEmail(typed: string): FieldFault {
  return INVISIBLE.test(typed)
    ? { field: '', rule: 'characters', message: 'must not contain invisible characters' }
    : { field: '', rule: 'format', message: 'must be an email address' };
}

/** The beginning of the normal form of all addresses that begin with this text. Ignores case, as {@link emailKey}. */
export function emailKeyPrefix(typed: string): string {
  // IDNA turns whole labels into ASCII, so a domain beyond ASCII is found only once its last such label is complete.
  return emailKey(typed) ?? lowerCase(typed.trim().normalize('NFC'));
}

function lowerCase(text: string): string {
  return text.toLowerCase().normalize('NFC');
}
