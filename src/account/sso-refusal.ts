/** Why nobody is signed in, as the desk gets it. */
export const SSO_ERRORS = [
  'SSO_UNAVAILABLE',
  'SSO_REFUSED',
  'EMAIL_NOT_VERIFIED',
  'NOT_INVITED',
  'NO_ROLE',
  'MEMBER_DISABLED',
  'TOO_MANY_MEMBERS',
] as const;
export type SsoError = (typeof SSO_ERRORS)[number];

/** A single sign-on that ends without a login. */
export class SsoRefusal extends Error {
  override readonly name = 'SsoRefusal';

  constructor(
    readonly code: SsoError,
    /** For the operator; it names no person. */
    readonly reason: string,
    /** The member whom it concerns, if one is known. */
    readonly emailKey: string | null = null,
  ) {
    super(`${code}: ${reason}`);
  }
}
