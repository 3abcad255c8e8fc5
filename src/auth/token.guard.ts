import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import passport, { type Strategy } from 'passport';
import { isRepeated } from '../platform/http/repeated-header.js';
import { Problem } from '../platform/problem.js';
import { invalidToken } from './token.service.js';
import { AccessTokenStrategy, type Caller, RefreshTokenStrategy } from './token.strategy.js';

type Request = FastifyRequest & { user?: Caller | null };
type Middleware = (request: Request, reply: FastifyReply, next: (error: unknown) => void) => void;

/** What a strategy found: a caller, or why there is none. */
interface Verdict {
  readonly caller: Caller | null;
  readonly isExpired: boolean;
}

/** Asks a strategy who is calling. */
abstract class TokenGuard implements CanActivate {
  // Of its own: the registry that Passport exports is one for the process, where two services would share strategies.
  private readonly passport = new passport.Passport();

  constructor(private readonly strategy: Strategy & { readonly name: string }) {
    this.passport.use(strategy);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (isRepeated(request, 'authorization'))
      throw Problem.invalid([{ field: 'authorization', message: 'must be given once' }]);
    request.user = this.admit(await this.judge(request, http.getResponse()), request);
    return true;
  }

  /** Whom the request then speaks for. @throws Problem `unauthenticated` where it may not pass */
  protected admit({ caller }: Verdict, { headers }: Request): Caller | null {
    if (caller) return caller;
    if (!/^Bearer /i.test(headers.authorization ?? '')) {
      throw new Problem(
        'unauthenticated',
        'MISSING_TOKEN',
        'This operation needs a token, sent as `Authorization: Bearer <token>`.',
      );
    }
    throw invalidToken();
  }

  private async judge(request: Request, reply: FastifyReply): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const told = (error: unknown, caller?: Caller | false | null, info?: unknown) => {
        if (error instanceof Error) reject(error);
        else resolve({ caller: caller || null, isExpired: info instanceof Error && info.name === 'TokenExpiredError' });
      };
      const ask = this.passport.authenticate(this.strategy.name, { session: false }, told) as Middleware;
      ask(request, reply, reject);
    });
  }
}

/** Lets a request pass that carries a valid access token. */
@Injectable()
export class AccessTokenGuard extends TokenGuard {
  constructor(strategy: AccessTokenStrategy) {
    super(strategy);
  }
}

/** Lets a request pass that carries a valid refresh token, used or not. */
@Injectable()
export class RefreshTokenGuard extends TokenGuard {
  constructor(strategy: RefreshTokenStrategy) {
    super(strategy);
  }
}

/**
 * Lets everyone pass, and knows the owner who carries a valid access token. Pages send placeholders in the header, so
 * what is no token of ours counts as none; one of ours that has expired is refused, so that its owner logs in again.
 */
@Injectable()
export class OptionalAccessTokenGuard extends AccessTokenGuard {
  protected override admit({ caller, isExpired }: Verdict): Caller | null {
    if (isExpired) throw invalidToken();
    return caller;
  }
}
