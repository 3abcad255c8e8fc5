import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { type SecretOrKeyProvider, Strategy } from 'passport-jwt';
import {
  TOKEN_ALGORITHM,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  TOKEN_TYPES,
  type TokenClaims,
  TokenService,
  type TokenUse,
} from './token.service.js';

const CLOCK_TOLERANCE_SECONDS = 5;
const ACCOUNT_ID = /^[1-9]\d{0,15}$/;
const TOKEN_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
/** RFC 6750, 2.1. Anchored, for the library's own pattern takes time by the square of what a stranger sends. */
const BEARER = /^Bearer +([\w\-.~+/]+=*)$/i;

/** A Passport strategy that accepts one kind of token and refuses the other; whether its account stands is the guard's to ask. */
function tokenStrategy(use: TokenUse) {
  @Injectable()
  class TokenStrategy extends PassportStrategy(Strategy, use) {
    override readonly name = use;

    constructor(readonly tokens: TokenService) {
      const secretOrKeyProvider: SecretOrKeyProvider = (_request, token: string, done) =>
        // The types know no KeyObject; the library underneath takes one.
        done(null, keyFor(use, token, tokens) as unknown as Buffer);
      super({
        jwtFromRequest: ({ headers }: FastifyRequest) => BEARER.exec(headers.authorization ?? '')?.[1] ?? null,
        secretOrKeyProvider,
        jsonWebTokenOptions: { clockTolerance: CLOCK_TOLERANCE_SECONDS },
        algorithms: [TOKEN_ALGORITHM],
        issuer: TOKEN_ISSUER,
        audience: TOKEN_AUDIENCE,
      });
    }

    validate(claims: TokenClaims): TokenClaims | null {
      return claims.token_use === use && isWhole(claims) ? claims : null;
    }
  }
  return TokenStrategy;
}

/** What the libraries do not ask for, and each token of ours has. */
function isWhole({ sub, jti, exp }: Partial<Record<keyof TokenClaims, unknown>>): boolean {
  return typeof exp === 'number' && ACCOUNT_ID.test(text(sub)) && TOKEN_ID.test(text(jti));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Only the header says which key to try, so it is read before the signature is known to be right. */
function keyFor(use: TokenUse, token: string, tokens: TokenService): KeyObject | undefined {
  const header = readHeader(token);
  // A `crit` header asks for extensions that must be understood; none is (RFC 7515, 4.1.11).
  if (header.typ !== TOKEN_TYPES[use] || 'crit' in header || typeof header.kid !== 'string') return undefined;
  return tokens.keyOf(header.kid);
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

@Injectable()
export class AccessTokenStrategy extends tokenStrategy('access') {}

@Injectable()
export class RefreshTokenStrategy extends tokenStrategy('refresh') {}
