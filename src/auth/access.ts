import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type Type,
} from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { ApiBearerAuth, ApiCookieAuth, ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { MayCall } from '../platform/http/public.js';
import { SameOriginGuard } from '../platform/http/same-origin.js';
import { Problem } from '../platform/problems/problem.js';
import { AccountKeyService } from './account-key.service.js';
import { ACCOUNT_KEY, accountKeyOf, type KeyRequest } from './account-key.strategy.js';
import { type Caller, TokenService } from './token.service.js';
import type { TokenRequest } from './token.strategy.js';

/** Passes requests with a valid token for one strategy, and sets `request.user` to its caller. */
function tokenGuard(strategy: 'access' | 'refresh' | 'cookie') {
  @Injectable()
  class TokenGuard extends AuthGuard(strategy) {
    constructor(private readonly tokens: TokenService) {
      super();
    }

    /** Passport registers strategies for the whole process, so the request carries the keys of its own service. */
    override getRequest(context: ExecutionContext): TokenRequest {
      return Object.assign(context.switchToHttp().getRequest<TokenRequest>(), { tokens: this.tokens });
    }

    override handleRequest<User = Caller | null>(
      error: Error | null,
      caller: User | false,
      _info: unknown,
      context: ExecutionContext,
    ): User {
      if (error) throw error;
      return (caller || this.withoutCaller(this.getRequest(context))) as User;
    }

    protected withoutCaller(request: FastifyRequest): null {
      throw new Problem(tokenProblem(request));
    }
  }
  return TokenGuard;
}

/** Passes a refresh token that was used before too. */
@Injectable()
class RefreshTokenGuard extends tokenGuard('refresh') {}

/** Reads no account key. */
@Injectable()
class LoginGuard extends tokenGuard('access') {}

/** As {@link RefreshTokenGuard}, with the token in a cookie. */
@Injectable()
class CookieGuard extends tokenGuard('cookie') {
  protected override withoutCaller(): null {
    throw new Problem('NO_SESSION');
  }
}

/** Passes all requests. */
@Injectable()
class OptionalCookieGuard extends tokenGuard('cookie') {
  protected override withoutCaller(): null {
    return null;
  }
}

/** Passes requests with a valid access token, or without one with an account key whose scope allows the operation. */
@Injectable()
export class OwnerGuard extends AuthGuard(['access', ACCOUNT_KEY]) {
  constructor(
    private readonly tokens: TokenService,
    private readonly accountKeys: AccountKeyService,
  ) {
    super();
  }

  /** As in {@link tokenGuard}. */
  override getRequest(context: ExecutionContext): TokenRequest & KeyRequest {
    const services = { tokens: this.tokens, accountKeys: this.accountKeys };
    return Object.assign(context.switchToHttp().getRequest<TokenRequest & KeyRequest>(), services);
  }

  override handleRequest<User = Caller | null>(
    error: Error | null,
    caller: User | false,
    _info: unknown,
    context: ExecutionContext,
  ): User {
    if (error) throw error;
    const request = this.getRequest(context);
    if (!caller)
      throw new Problem(accountKeyOf(request.headers) === null ? tokenProblem(request) : 'INVALID_ACCOUNT_KEY');
    if (!this.isAllowed(caller as User & Caller, request)) throw new Problem('INSUFFICIENT_SCOPE');
    return caller;
  }

  protected isAllowed({ keyScope }: Caller, { method }: FastifyRequest): boolean {
    return keyScope !== 'read' || method === 'GET';
  }
}

/** Passes requests with a valid access token. */
@Injectable()
class AccessTokenGuard extends OwnerGuard {
  protected override isAllowed({ keyScope }: Caller): boolean {
    return keyScope === null;
  }
}

/**
 * Passes all requests. Without a valid token or account key, `request.user` is null, because pages send placeholders.
 * An expired token of ours is refused, so that its owner logs in again.
 */
@Injectable()
class OptionalOwnerGuard extends OwnerGuard {
  override handleRequest<User = Caller | null>(error: Error | null, caller: User | false, infos: unknown): User {
    if (error) throw error;
    const isExpired = (info: unknown) => info instanceof Error && info.name === 'TokenExpiredError';
    if (!caller && [infos].flat().some(isExpired)) throw new Problem('INVALID_TOKEN');
    return (caller || null) as User;
  }
}

function tokenProblem({ headers }: FastifyRequest) {
  return /^Bearer /i.test(headers.authorization ?? '') ? 'INVALID_TOKEN' : 'MISSING_TOKEN';
}

/**
 * Only the bearer of an access token or of an account key may call, and only past these guards. An account key with the
 * scope `read` may only read.
 */
export const OwnerOnly = (...guards: Type<CanActivate>[]) =>
  applyDecorators(MayCall('owner', OwnerGuard, ...guards), ApiBearerAuth('access_token'), ApiSecurity(ACCOUNT_KEY));

/** Only the bearer of an access token may call. */
export const TokenOnly = () => applyDecorators(MayCall('owner', AccessTokenGuard), ApiBearerAuth('access_token'));

/** Anyone may call; the bearer of an access token or of an account key sees more. */
export const OwnerOrPublic = () =>
  applyDecorators(
    MayCall('public', OptionalOwnerGuard),
    ApiSecurity({}),
    ApiBearerAuth('access_token'),
    ApiSecurity(ACCOUNT_KEY),
  );

/** Only the bearer of a refresh token may call. */
export const RefreshTokenOnly = () =>
  applyDecorators(MayCall('refresh', RefreshTokenGuard), ApiBearerAuth('refresh_token'));

/** Only the bearer of an access token may call. Account keys are not read: they open nothing below `/api/v1/auth`. */
export const LoginOnly = () => applyDecorators(MayCall('owner', LoginGuard), ApiBearerAuth('access_token'));

/** Only a page of this service may call, with the cookie of a live login. */
export const CookieOnly = () =>
  applyDecorators(MayCall('cookie', SameOriginGuard, CookieGuard), ApiCookieAuth('session_cookie'));

/** Any page of this service may call; a cookie names its login. */
export const CookieOrNone = () =>
  applyDecorators(
    MayCall('public', SameOriginGuard, OptionalCookieGuard),
    ApiSecurity({}),
    ApiCookieAuth('session_cookie'),
  );

/** The owner that the request speaks for; null for an anonymous caller of a public operation. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller | null =>
    context.switchToHttp().getRequest<{ user?: Caller | null }>().user ?? null,
);
