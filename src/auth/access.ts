import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { ApiBearerAuth, ApiCookieAuth, ApiExtension, ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { MayCall } from '../platform/http/public.js';
import { SameOriginGuard } from '../platform/http/same-origin.js';
import { GUARD_PROBLEM_CODES } from '../platform/problems/api-problems.js';
import { Problem } from '../platform/problems/problem.js';
import type { KeyScope } from '../account/account-key.entity.js';
import { AccountKeyService } from '../account/account-key.service.js';
import { type Role, suffices } from '../account/member.entity.js';
import { ACCOUNT_KEY, accountKeyOf, type KeyRequest } from './account-key.strategy.js';
import type { Caller } from './caller.js';
import { TokenService } from './token.service.js';
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

/** The role that a member needs, and what an account key needs: nothing suffices where there is no scope. */
export interface Need {
  readonly role: Role;
  readonly scope: KeyScope | null;
  /** Whether keys that are limited to some waitlists are refused. */
  readonly isOfAccount?: boolean;
  /** Whether a member may call without a second factor that the account requires. */
  readonly isOpenWithoutTwoFactor?: boolean;
}

/** The {@link Need} of an operation. test/contract/roles.spec.ts lists all. */
export const NEED = 'need';

/** Passes members whose role is sufficient. @throws Problem `INSUFFICIENT_ROLE` */
export function requireRole({ member }: Pick<Caller, 'member'>, { role }: Need): void {
  if (!member || suffices(member.role, role)) return;
  throw new Problem('INSUFFICIENT_ROLE', { detail: `This operation needs the role ${role}; yours is ${member.role}.` });
}

/** Passes members who have a second factor where their account requires one. */
export function requireTwoFactor({ member }: Pick<Caller, 'member'>): void {
  if (member?.lacksTwoFactor) throw new Problem('TWO_FACTOR_REQUIRED');
}

/** Passes keys whose scope and waitlists are sufficient. */
function requireScope({ key, waitlistIds }: Caller, { scope, isOfAccount = false }: Need): void {
  if (!key) return;
  const isWideEnough = scope === 'read' || key.scope === scope;
  if (!isWideEnough || (isOfAccount && waitlistIds !== null)) throw new Problem('INSUFFICIENT_SCOPE');
}

/** Passes requests with a valid access token, or without one with an account key, that may call the operation. */
@Injectable()
export class MemberOrKeyGuard extends AuthGuard(['access', ACCOUNT_KEY]) {
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
    const need = Reflect.getMetadata(NEED, context.getHandler()) as Need;
    requireScope(caller as User & Caller, need);
    if (!need.isOpenWithoutTwoFactor) requireTwoFactor(caller as User & Caller);
    requireRole(caller as User & Caller, need);
    return caller;
  }
}

/**
 * Passes all requests. Without a valid token or account key, `request.user` is null, because pages send placeholders.
 * An expired token of ours is refused, so that its member logs in again.
 */
@Injectable()
class OptionalMemberOrKeyGuard extends MemberOrKeyGuard {
  override handleRequest<User = Caller | null>(error: Error | null, caller: User | false, infos: unknown): User {
    if (error) throw error;
    const isExpired = (info: unknown) => info instanceof Error && info.name === 'TokenExpiredError';
    if (!caller && [infos].flat().some(isExpired)) throw new Problem('INVALID_TOKEN');
    if (caller) requireTwoFactor(caller as User & Caller);
    return (caller || null) as User;
  }
}

function tokenProblem({ headers }: FastifyRequest) {
  return /^Bearer /i.test(headers.authorization ?? '') ? 'INVALID_TOKEN' : 'MISSING_TOKEN';
}

const ANY_MEMBER: Need = { role: 'viewer', scope: null };

/** What an operation needs, for its guard and for the contract. */
const Needs = (need: Need) =>
  applyDecorators(
    SetMetadata<string, Need>(NEED, need),
    ApiExtension('x-required-role', need.role),
    ...(need.scope === null ? [] : [ApiExtension('x-required-scope', need.scope)]),
  );

/** The guard of members refuses those who lack a second factor. */
const NeedsTwoFactor = () => ApiExtension(GUARD_PROBLEM_CODES, ['TWO_FACTOR_REQUIRED']);

/**
 * Only a member with a sufficient role or the bearer of an account key with a sufficient scope may call, and only past
 * these guards.
 */
export const MemberOrKey = (need: Need & { readonly scope: KeyScope }, ...guards: Type<CanActivate>[]) =>
  applyDecorators(
    Needs(need),
    ...(need.isOpenWithoutTwoFactor ? [] : [NeedsTwoFactor()]),
    MayCall('member', MemberOrKeyGuard, ...guards),
    ApiBearerAuth('access_token'),
    ApiSecurity(ACCOUNT_KEY),
  );

/** Only a member with a sufficient role may call. An account key is read, and refused. */
export const MemberOnly = (role: Role, more: Pick<Need, 'isOpenWithoutTwoFactor'> = {}) =>
  applyDecorators(
    Needs({ role, scope: null, ...more }),
    ...(more.isOpenWithoutTwoFactor ? [] : [NeedsTwoFactor()]),
    MayCall('member', MemberOrKeyGuard),
    ApiBearerAuth('access_token'),
  );

/** Anyone may call; the bearer of an access token or of an account key sees more. */
export const MemberOrPublic = () =>
  applyDecorators(
    NeedsTwoFactor(),
    MayCall('public', OptionalMemberOrKeyGuard),
    ApiSecurity({}),
    ApiBearerAuth('access_token'),
    ApiSecurity(ACCOUNT_KEY),
  );

/** Only the bearer of a refresh token may call, whatever the role. */
export const RefreshTokenOnly = () =>
  applyDecorators(Needs(ANY_MEMBER), MayCall('refresh', RefreshTokenGuard), ApiBearerAuth('refresh_token'));

/** Only a member may call, whatever the role. Account keys are not read: they open nothing below `/api/v1/auth`. */
export const LoginOnly = () =>
  applyDecorators(Needs(ANY_MEMBER), MayCall('member', LoginGuard), ApiBearerAuth('access_token'));

/** Only a page of this service may call, with the cookie of a live login. */
export const CookieOnly = () =>
  applyDecorators(Needs(ANY_MEMBER), MayCall('cookie', SameOriginGuard, CookieGuard), ApiCookieAuth('session_cookie'));

/** Any page of this service may call; a cookie names its login. */
export const CookieOrNone = () =>
  applyDecorators(
    MayCall('public', SameOriginGuard, OptionalCookieGuard),
    ApiSecurity({}),
    ApiCookieAuth('session_cookie'),
  );

/** Whom the request speaks for; null for an anonymous caller of a public operation. */
export const CurrentCaller = createParamDecorator(
  (_: unknown, context: ExecutionContext): Caller | null =>
    context.switchToHttp().getRequest<{ user?: Caller | null }>().user ?? null,
);
