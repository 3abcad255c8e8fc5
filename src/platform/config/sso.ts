import type { z } from 'zod';

/** As many characters as the database keeps of an issuer. */
const ISSUER_LENGTH_MAX = 255;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
/** In the path of Entra ID's issuers of all organizations, whose administrators are strangers. */
const MANY_TENANTS = /\/(common|organizations)(\/|$)/i;
/** As in account/member.entity.ts. */
const ROLES = ['owner', 'editor', 'viewer'] as const;

/** A group at the provider and the role that it gives; the group `*` has everybody. */
export interface RoleRule {
  readonly group: string;
  readonly role: (typeof ROLES)[number];
}

/** The issuer in its normal form. */
export function parseIssuer(value: string, context: z.RefinementCtx): string {
  const fault = faultOfIssuer(value);
  if (fault === null) return new URL(value).href;
  context.addIssue(fault);
  return value;
}

function faultOfIssuer(value: string): string | null {
  const url = URL.canParse(value) ? new URL(value) : null;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!url || !isSafe || url.username || url.password || /[?#]/.test(value))
    return 'must be an https URL without user, query and fragment, or an http URL of this machine (localhost)';
  if (url.href.includes('/.well-known/')) return 'must be the issuer: the URL before /.well-known/openid-configuration';
  if (MANY_TENANTS.test(url.pathname))
    return 'must be the issuer of one tenant: with common or organizations in its path, strangers could sign in';
  return url.href.length > ISSUER_LENGTH_MAX ? `must have at most ${ISSUER_LENGTH_MAX} characters` : null;
}

/** `launch:editor,*:viewer`, split at the last colon. */
export function parseRoles(value: string, context: z.RefinementCtx): readonly RoleRule[] {
  return value.split(',').flatMap((item) => {
    if (item.trim() === '') return [];
    const [, group, name] = /^(.+):(.+)$/.exec(item.trim()) ?? [];
    const role = ROLES.find((known) => known === name);
    if (group !== undefined && role) return { group, role };
    context.addIssue('must be a comma-separated list such as admins:owner,launch:editor,*:viewer');
    return [];
  });
}
