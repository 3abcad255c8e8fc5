import {
  applyDecorators,
  createParamDecorator,
  type ExecutionContext,
  SetMetadata,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { ApiBearerAuth, ApiSecurity } from '@nestjs/swagger';
import { WHO_MAY_CALL, type WhoMayCall } from '../platform/http/public.js';
import { AccessTokenGuard, type Caller, OptionalAccessTokenGuard, RefreshTokenGuard } from './token.guard.js';

/** Only the bearer of an access token may call; a guard of its own asks for more than that. */
export const OwnerOnly = (guard: Type<AccessTokenGuard> = AccessTokenGuard) =>
  applyDecorators(
    SetMetadata<string, WhoMayCall>(WHO_MAY_CALL, 'owner'),
    UseGuards(guard),
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

/** Whom the request speaks for; null where an operation is public and nobody is known. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller | null =>
    context.switchToHttp().getRequest<{ user?: Caller | null }>().user ?? null,
);
