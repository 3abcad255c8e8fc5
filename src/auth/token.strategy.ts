import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { type SecretOrKeyProvider, Strategy, type StrategyOptionsWithRequest } from 'passport-jwt';
import { isRepeated } from '../platform/http/headers.js';
import { Problem } from '../platform/problems/problem.js';
import { sessionCookieOf } from './session-cookie.js';
import {
  TOKEN_ALGORITHM,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_TYPES,
  type TokenCaller,
  type TokenClaims,
  type TokenService,
  type TokenUse,
} from './token.service.js';

/** A request with the {@link TokenService} of the application that received it; the guards set it. */
export type TokenRequest = FastifyRequest & { tokens: TokenService };

const CLOCK_TOLERANCE_SECONDS = 5;
/** In tokens of v0.2.0. */
const ACCOUNT_ID = /^[1-9]\d{0,15}$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
/** RFC 6750, 2.1. Anchored, because the library's own pattern takes quadratic time on a hostile header. */
const BEARER = /^Bearer +([\w\-.~+/]+=*)$/i;

/** Verifies tokens of one kind, which `tokenOf` finds in a request, and finds their login. */
function tokenStrategy(name: string, use: TokenUse, tokenOf: (request: FastifyRequest) => string | null) {
  @Injectable()
  class TokenStrategy extends PassportStrategy(Strategy, name) {
    constructor() {
      const options: StrategyOptionsWithRequest = {
        passReqToCallback: true,
        jwtFromRequest: tokenOf,
        secretOrKeyProvider: keyProvider(use),
        jsonWebTokenOptions: { clockTolerance: CLOCK_TOLERANCE_SECONDS },
        algorithms: [TOKEN_ALGORITHM],
        issuer: TOKEN_ISSUER,
        audience: TOKEN_AUDIENCE,
      };
      super(options);
    }

    async validate({ tokens }: TokenRequest, claims: TokenClaims): Promise<TokenCaller | null> {
      return claims.token_use === use && isComplete(claims) ? tokens.findCaller(claims) : null;
    }
  }
  return TokenStrategy;
}

@Injectable()
export class AccessTokenStrategy extends tokenStrategy('access', 'access', bearerToken) {}

@Injectable()
export class RefreshTokenStrategy extends tokenStrategy('refresh', 'refresh', bearerToken) {}

@Injectable()
export class CookieStrategy extends tokenStrategy('cookie', 'refresh', sessionCookieOf) {}

function bearerToken(request: FastifyRequest): string | null {
  if (isRepeated(request, 'authorization'))
    throw Problem.invalid([{ field: 'authorization', rule: 'unique', message: 'must be given once' }]);
  return BEARER.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

/** Each of our tokens has these claims; the libraries do not require them. */
function isComplete({ sub, sid, jti, exp }: Partial<Record<keyof TokenClaims, unknown>>): boolean {
  const isSubject = UUID.test(text(sub)) || ACCOUNT_ID.test(text(sub));
  return typeof exp === 'number' && isSubject && UUID.test(text(sid)) && UUID.test(text(jti));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Reads the header before the signature is verified, because it alone names the key to verify with. */
function keyProvider(use: TokenUse): SecretOrKeyProvider {
  return ({ tokens }: TokenRequest, token: string, done) => {
    const { typ, kid, crit } = readHeader(token);
    // `crit` names extensions that a verifier must understand; we know none (RFC 7515, 4.1.11).
    const isOurs = typ === TOKEN_TYPES[use] && crit === undefined && typeof kid === 'string';
    const key: KeyObject | undefined = isOurs ? tokens.keyOf(kid) : undefined;
    // Without a key, jsonwebtoken throws on an unsigned token; an error fails the request as an invalid token.
    if (!key) return done(new Error('unknown key'));
    // The types know no KeyObject; the library underneath takes one.
    done(null, key as unknown as Buffer);
  };
}

function readHeader(token: string): Record<string, unknown> {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.split('.', 1)[0] ?? '', 'base64url').toString('utf8'));
    return typeof header === 'object' && header !== null ? (header as Record<string, unknown>) : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
