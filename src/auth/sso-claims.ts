import { type Role, suffices } from '../account/member.entity.js';
import type { Config } from '../platform/config/config.js';

export type SsoSettings = NonNullable<Config['sso']>;
export type Claims = Readonly<Record<string, unknown>>;

/** Whether the claims lack what a sign-in reads, so that userinfo is asked too. */
export function isIncomplete(claims: Claims, { roles }: SsoSettings): boolean {
  return claims.email === undefined || (roles !== null && claimOf(claims, roles.claim) === undefined);
}

/** Those of the ID token, completed by those of userinfo. What is said of an email belongs to it. */
export function mergedClaims(idToken: Claims, userinfo: Claims): Claims {
  const { email, email_verified } = idToken.email === undefined ? userinfo : idToken;
  return { ...userinfo, ...idToken, email, email_verified };
}

/** The email, if the provider has verified it. */
export function verifiedEmail({ email, email_verified }: Claims, { trustsEmail }: SsoSettings): string | null {
  // Some providers send a text.
  const isVerified = email_verified === undefined ? trustsEmail : [true, 'true'].includes(email_verified as string);
  return typeof email === 'string' && isVerified ? email.trim() : null;
}

/** The highest role that a group gives; null if none does, undefined where roles are set at the desk alone. */
export function roleOf(claims: Claims, { roles }: SsoSettings): Role | null | undefined {
  if (!roles) return undefined;
  const groups = [claimOf(claims, roles.claim)].flat();
  return roles.rules
    .filter(({ group }) => group === '*' || groups.includes(group))
    .map(({ role }) => role)
    .reduce<Role | null>((highest, role) => (highest !== null && suffices(highest, role) ? highest : role), null);
}

/** The claim with this name or, where no claim has it, the value at this path: `realm_access.roles`. */
function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split('.').reduce<unknown>((value, part) => {
    const isObject = typeof value === 'object' && value !== null;
    return isObject && Object.hasOwn(value, part) ? (value as Claims)[part] : undefined;
  }, claims);
}
