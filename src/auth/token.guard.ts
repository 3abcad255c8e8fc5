import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { Problem } from '../platform/problem.js';
import { invalidToken } from './token.service.js';
import type { Caller } from './token.strategy.js';

interface Request {
  readonly headers: { readonly authorization?: string };
}

/** Lets a request pass that carries a valid access token. */
@Injectable()
export class AccessTokenGuard extends AuthGuard('access') {
  override handleRequest<User = Caller>(
    error: unknown,
    caller: User | false,
    _info: unknown,
    context: ExecutionContext,
  ): User {
    return callerOrThrow(error, caller, context);
  }
}

/** Lets a request pass that carries a valid refresh token, used or not. */
@Injectable()
export class RefreshTokenGuard extends AuthGuard('refresh') {
  override handleRequest<User = Caller>(
    error: unknown,
    caller: User | false,
    _info: unknown,
    context: ExecutionContext,
  ): User {
    return callerOrThrow(error, caller, context);
  }
}

/**
 * Lets everyone pass, and knows the owner who carries a valid access token. Pages send placeholders in the header, so
 * what is no token of ours counts as none; one of ours that has expired is refused, so that its owner logs in again.
 */
@Injectable()
export class OptionalAccessTokenGuard extends AuthGuard('access') {
  override handleRequest<User = Caller | null>(error: unknown, caller: User | false, info: unknown): User {
    if (error instanceof Error) throw error;
    if (info instanceof Error && info.name === 'TokenExpiredError') throw invalidToken();
    return (caller || null) as User;
  }
}

function callerOrThrow<User>(error: unknown, caller: User | false, context: ExecutionContext): User {
  if (error instanceof Error) throw error;
  if (caller) return caller;
  const { authorization } = context.switchToHttp().getRequest<Request>().headers;
  if (!/^Bearer /i.test(authorization ?? '')) {
    throw new Problem(
      'unauthenticated',
      'MISSING_TOKEN',
      'This operation needs a token, sent as `Authorization: Bearer <token>`.',
    );
  }
  throw invalidToken();
}
