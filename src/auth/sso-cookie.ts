import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { cookieAttributes, cookieOf } from './cookies.js';
import type { Checks } from './sso-provider.js';

export const SSO_PATH = 'api/v1/auth/sso';
const SSO_COOKIE = 'waitlist_sso';
/** How long somebody may take at the provider. */
export const SSO_SECONDS = 600;
/** What a cookie is for: nothing else that is sealed under the same secret may pass for it. */
type Use = 'sso' | 'sso-link';

/** A sign-in between its two steps. */
export interface PendingSignIn extends Checks {
  /** The login whose member links an identity; null to sign in. */
  readonly linksLogin: string | null;
}

interface Sealed {
  readonly use: string;
  readonly untilMs: number;
}

/**
 * The sealed cookie of a browser that is at the provider; a later sign-in takes the place of an earlier one. Lax: the
 * browser comes back from another site.
 */
@Injectable()
export class SsoCookie {
  private readonly attributes: string;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly secrets: Secrets,
  ) {
    this.attributes = cookieAttributes(config, SSO_PATH, 'Lax');
  }

  set(reply: FastifyReply, pending: PendingSignIn): void {
    this.seal(reply, 'sso', pending);
  }

  /** Binds a link to the browser that asked for it: in another one, it would take the identity of somebody else. */
  setLink(reply: FastifyReply, link: string): void {
    this.seal(reply, 'sso-link', { link });
  }

  clear(reply: FastifyReply): void {
    this.send(reply, '', 0);
  }

  /** Null without one of ours, and after ten minutes. */
  read(request: FastifyRequest): PendingSignIn | null {
    return this.open<PendingSignIn>(request, 'sso');
  }

  /** The link that the browser may follow. */
  readLink(request: FastifyRequest): string | null {
    return this.open<{ readonly link: string }>(request, 'sso-link')?.link ?? null;
  }

  private seal(reply: FastifyReply, use: Use, content: object): void {
    const sealed = { ...content, use, untilMs: Date.now() + SSO_SECONDS * 1000 };
    this.send(reply, this.secrets.seal(JSON.stringify(sealed)), SSO_SECONDS);
  }

  private open<Content>(request: FastifyRequest, expected: Use): Content | null {
    const text = this.unseal(cookieOf(request, SSO_COOKIE) ?? '');
    if (text === null) return null;
    const { use, untilMs, ...content } = JSON.parse(text) as Sealed & Content;
    return use === expected && untilMs > Date.now() ? (content as Content) : null;
  }

  private unseal(sealed: string): string | null {
    try {
      return this.secrets.open(sealed);
    } catch {
      // Node.js has no code for a text that was changed.
      return null;
    }
  }

  private send(reply: FastifyReply, value: string, maxAgeSeconds: number): void {
    void reply.header('Set-Cookie', `${SSO_COOKIE}=${value}; Max-Age=${maxAgeSeconds}; ${this.attributes}`);
  }
}
