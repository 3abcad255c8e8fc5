import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { ApiBearerAuth, ApiSecurity } from '@nestjs/swagger';
import { WHO_MAY_CALL, type WhoMayCall } from '../platform/http/public.js';
import { Problem } from '../platform/problems/problem.js';
import { type Caller, TokenService, type TokenUse } from './token.service.js';
import type { TokenRequest } from './token.strategy.js';

/** Passes requests with a valid token of one kind, and sets `request.user` to its {@link Caller}. */
function tokenGuard(use: TokenUse) {
  @Injectable()
  class TokenGuard extends AuthGuard(use) {
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
      if (caller) return caller;
      const { authorization = '' } = this.getRequest(context).headers;
      throw new Problem(/^Bearer /i.test(authorization) ? 'INVALID_TOKEN' : 'MISSING_TOKEN');
    }
  }
  return TokenGuard;
}

@Injectable()
export class AccessTokenGuard extends tokenGuard('access') {}

/** Passes requests with a valid refresh token, used or not. */
@Injectable()
class RefreshTokenGuard extends tokenGuard('refresh') {}

/**
 * Passes all requests; `request.user` is null without a valid access token. Pages send placeholders in the header, so an
 * unknown token counts as none. An expired one of ours is refused, so that its owner logs in again.
 */
@Injectable()
class OptionalAccessTokenGuard extends AccessTokenGuard {
  override handleRequest<User = Caller | null>(error: Error | null, caller: User | false, info: unknown): User {
    if (error) throw error;
    if (info instanceof Error && info.name === 'TokenExpiredError') throw new Problem('INVALID_TOKEN');
    return (caller || null) as User;
  }
}

/** Only the bearer of an access token may call, and only past these guards. */
export const OwnerOnly = (...guards: Type<CanActivate>[]) =>
  applyDecorators(
    SetMetadata<string, WhoMayCall>(WHO_MAY_CALL, 'owner'),
    UseGuards(AccessTokenGuard, ...guards),
    ApiBearerAuth('access_token'),
  );

/** Anyone may call; the bearer of an access token sees more. */
export const OwnerOrPublic = () =>
  applyDecorators(
    SetMetadata<string, WhoMayCall>(WHO_MAY_CALL, 'public'),
    UseGuards(OptionalAccessTokenGuard),
    ApiSecurity({}),
    ApiBearerAuth('access_token'),
  );

/** Only the bearer of a refresh token may call. */
export const RefreshTokenOnly = () =>
  applyDecorators(
    SetMetadata<string, WhoMayCall>(WHO_MAY_CALL, 'refresh'),
    UseGuards(RefreshTokenGuard),
    ApiBearerAuth('refresh_token'),
  );

/** The owner that the request speaks for; null for an anonymous caller of a public operation. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller | null =>
    context.switchToHttp().getRequest<{ user?: Caller | null }>().user ?? null,
);
