import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Config, CONFIG } from '../platform/config/config.js';
import { cookieAttributes, cookieOf } from './cookies.js';
import type { TokenPair } from './token.service.js';

export const SESSION_PATH = 'api/v1/auth/session';
const SESSION_COOKIE = 'waitlist_session';

/** The cookie with the refresh token of a browser's login. Only operations below {@link SESSION_PATH} get it. */
@Injectable()
export class SessionCookie {
  private readonly attributes: string;

  constructor(@Inject(CONFIG) config: Config) {
    this.attributes = cookieAttributes(config, SESSION_PATH, 'Strict');
  }

  set(reply: FastifyReply, { refreshToken, refreshExpiresAt }: TokenPair): void {
    this.send(reply, refreshToken, Math.ceil((refreshExpiresAt.getTime() - Date.now()) / 1000));
  }

  clear(reply: FastifyReply): void {
    this.send(reply, '', 0);
  }

  private send(reply: FastifyReply, value: string, maxAgeSeconds: number): void {
    void reply.header('Set-Cookie', `${SESSION_COOKIE}=${value}; Max-Age=${maxAgeSeconds}; ${this.attributes}`);
  }
}

/** The refresh token in the cookie. */
export function sessionCookieOf(request: FastifyRequest): string | null {
  return cookieOf(request, SESSION_COOKIE);
}
