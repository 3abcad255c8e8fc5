import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import passport from 'passport';
import type { Session } from '../platform/database/session.js';
import { isRepeated } from '../platform/http/headers.js';
import { Problem } from '../platform/problems/problem.js';
import type { AccountEntity } from './account.entity.js';
import { invalidToken, type TokenClaims } from './token.service.js';
import { AccessTokenStrategy, RefreshTokenStrategy } from './token.strategy.js';

/** Whom a request speaks for, once its token was verified. */
export interface Caller {
  readonly account: AccountEntity;
  readonly claims: TokenClaims;
}

type Request = FastifyRequest & { user?: Caller | null };
type Middleware = (request: Request, reply: FastifyReply, next: (error: unknown) => void) => void;

/** What a strategy found: whose token it is, or why it is none. */
interface Verdict {
  readonly claims: TokenClaims | null;
  readonly isExpired: boolean;
}

/** Asks a strategy who is calling. */
abstract class TokenGuard implements CanActivate {
  // Of its own: the registry that Passport exports is one for the process, where two services would share strategies.
  private readonly passport = new passport.Passport();

  constructor(private readonly strategy: AccessTokenStrategy | RefreshTokenStrategy) {
    this.passport.use(strategy);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (isRepeated(request, 'authorization'))
      throw Problem.invalid([{ field: 'authorization', message: 'must be given once' }]);
    const { claims, isExpired } = await this.judge(request, http.getResponse());
    request.user = this.admit(claims && (await this.findCaller(claims, request)), isExpired, request);
    return true;
  }

  /** Whom the request then speaks for. @throws Problem `unauthenticated` where it may not pass */
  protected admit(caller: Caller | null, _isExpired: boolean, { headers }: Request): Caller | null {
    if (caller) return caller;
    if (!/^Bearer /i.test(headers.authorization ?? '')) {
      throw new Problem('MISSING_TOKEN');
    }
    throw invalidToken();
  }

  /**
   * What else is to be known of the owner, in the round trip that reads the account. It may turn out that the account does not
   * stand: what is read is told to nobody before the request has passed.
   */
  protected readBeside?(session: Session, accountId: number, request: Request): Promise<void>;

  private async findCaller(claims: TokenClaims, request: Request): Promise<Caller | null> {
    const account = await this.strategy.tokens.findActiveAccount(claims, (session) =>
      this.readBeside?.(session, Number(claims.sub), request),
    );
    return account && { account, claims };
  }

  private async judge(request: Request, reply: FastifyReply): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const told = (error: unknown, claims?: TokenClaims | false | null, info?: unknown) => {
        if (error instanceof Error) reject(error);
        else resolve({ claims: claims || null, isExpired: info instanceof Error && info.name === 'TokenExpiredError' });
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
  protected override admit(caller: Caller | null, isExpired: boolean): Caller | null {
    if (isExpired) throw invalidToken();
    return caller;
  }
}
