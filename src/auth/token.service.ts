import { createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { v7 as uuidV7 } from 'uuid';
import { AuditLog, type Sender } from '../platform/audit/audit-log.js';
import { type Config, CONFIG, LOGIN_LIFETIME_SECONDS } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/problems/problem.js';
import { secretId } from '../platform/secrets/secrets.js';
import type { MemberEntity, SignIn } from '../account/member.entity.js';
import { allOf } from '../platform/reach.js';
import { AuthMetrics } from './auth.metrics.js';
import type { Caller } from './caller.js';
import type { LoginEntity } from './login.entity.js';
import { type LiveLogin, LoginStore } from './login.store.js';

export const TOKEN_ALGORITHM = 'HS256';
export const TOKEN_ISSUER = 'waitlist-service';
export const TOKEN_AUDIENCE = 'waitlist-service/owner';

/** A used refresh token gives the same pair again for this long, in case the answer was lost. */
const RETRY_GRACE_MS = 60_000;

/** Logins in the list of a member; it has no pages. */
export const SESSIONS_MAX = 100;

export type TokenUse = 'access' | 'refresh';

/** The `typ` header of each kind (RFC 9068 for access tokens), so that neither is accepted in place of the other. */
export const TOKEN_TYPES: Record<TokenUse, string> = { access: 'at+jwt', refresh: 'rt+jwt' };

export interface TokenClaims {
  /** The id of the member. In tokens of v0.2.0 that of the account, as a number. */
  readonly sub: string;
  /** The id of the login. */
  readonly sid: string;
  readonly jti: string;
  readonly exp: number;
  readonly token_use: TokenUse;
}

/** The member and the login of a verified token. */
export interface TokenCaller extends Caller {
  readonly member: LiveLogin['member'];
  readonly login: LoginEntity;
  readonly claims: TokenClaims;
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly refreshExpiresAt: Date;
}

/** Issues and renews token pairs: signed JWTs, of which the refresh token is used once (RFC 9700, 4.14). */
@Injectable()
export class TokenService {
  /** By key id. Key objects, because each verification would derive one from a string. */
  private readonly keys: ReadonlyMap<string, KeyObject>;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly jwt: JwtService,
    private readonly database: Database,
    private readonly logins: LoginStore,
    private readonly audit: AuditLog,
    private readonly metrics: AuthMetrics,
  ) {
    this.keys = new Map(config.jwtSecrets.map((secret) => [secretId(secret), createSecretKey(secret, 'utf8')]));
  }

  /** The first pair of a new login. `client` is the name of its browser and system, null where unknown. */
  async issue(
    { id: memberId, tokenVersion }: Pick<MemberEntity, 'id' | 'tokenVersion'>,
    client: string | null,
    method: SignIn = 'password',
  ): Promise<TokenPair> {
    const now = new Date();
    const login: LoginEntity = {
      id: uuidV7(),
      memberId,
      tokenVersion,
      method,
      linkHash: null,
      linkExpiresAt: null,
      currentJti: randomUUID(),
      previousJti: null,
      client,
      createdAt: now,
      lastUsedAt: now,
      revokedAt: null,
      expiresAt: after(now, LOGIN_LIFETIME_SECONDS),
    };
    await this.logins.insert(login);
    return this.pairOf(login);
  }

  /**
   * The next pair of a login, for the bearer of a verified refresh token. A retry with the token that was used last
   * gets the same pair within the grace period; any other reuse ends the login. @throws Problem `refusal`
   */
  async renew(
    { accountId, member, claims: { sid, jti } }: TokenCaller,
    request: Sender,
    refusal: 'INVALID_TOKEN' | 'NO_SESSION',
  ): Promise<TokenPair> {
    const now = new Date();
    const nextJti = randomUUID();
    const origin = this.audit.originOf(request, member.id);
    const event = { accountId, action: 'refresh_token_reused', ...origin } as const;
    // One transaction: on a cluster's node that lags behind, a used token looks stolen. The revocation then conflicts
    // with the rotation that the node does not know yet, and the retry decides again.
    const { login, isReused } = await this.database.pipelinedTransaction(async (transaction) => {
      const login = await transaction.one(this.logins.rotate(sid, jti, nextJti, now));
      const usedAgoMs = login?.previousJti === jti ? now.getTime() - login.lastUsedAt.getTime() : Infinity;
      const isReused = login !== null && usedAgoMs > RETRY_GRACE_MS;
      if (isReused) await transaction.commit([this.logins.revoke(sid, now), this.audit.record(event)]);
      return { login, isReused };
    });
    if (isReused) this.metrics.refreshReuses.inc();
    if (!login || isReused) throw new Problem(refusal);
    return this.pairOf(login);
  }

  /** The live logins of a member, the last used first, at most {@link SESSIONS_MAX}. */
  async list(memberId: string): Promise<readonly LoginEntity[]> {
    const { accessTokenTtlSeconds, refreshTokenTtlSeconds } = this.config;
    const now = new Date();
    // Older tokens have expired.
    const usedSince = after(now, -Math.max(accessTokenTtlSeconds, refreshTokenTtlSeconds));
    return this.database.one(this.logins.listLive(memberId, now, usedSince, SESSIONS_MAX));
  }

  /** Ends the login of a browser, if it has a live one. */
  async logOut(caller: TokenCaller | null, request: Sender): Promise<void> {
    if (caller) await this.endLive(caller, caller.login.id, request);
  }

  /** Ends a live login with all its tokens at once. @throws Problem `SESSION_NOT_FOUND`, also for another member's */
  async end(caller: TokenCaller, id: string, request: Sender): Promise<void> {
    if (!(await this.endLive(caller, id, request))) throw new Problem('SESSION_NOT_FOUND');
  }

  /** The caller that a verified token belongs to; null if its login has ended. */
  async findCaller(claims: TokenClaims): Promise<TokenCaller | null> {
    const live = await this.database.one(this.logins.findLive(claims.sid, new Date()));
    if (!live) return null;
    const { account, member, login } = live;
    if (![member.id, String(account.id)].includes(claims.sub)) return null;
    return { ...allOf(account.id), accountUuid: account.uuid, member, key: null, login, claims };
  }

  /** The key with this id, undefined if there is none. */
  keyOf(id: string): KeyObject | undefined {
    return this.keys.get(id);
  }

  /** Whether the login was live until now. */
  private async endLive({ accountId, member }: TokenCaller, id: string, request: Sender): Promise<boolean> {
    const now = new Date();
    const origin = this.audit.originOf(request, member.id);
    const event = { id: uuidV7(), accountId, action: 'session_ended', ...origin } as const;
    return this.database.pipelinedTransaction(async (transaction) => {
      // A repeat after a lost answer to COMMIT finds the event of the first run.
      const [done, isEnded] = await transaction.all([
        this.audit.findDone([event.id]),
        this.logins.end(id, member.id, now),
      ]);
      if (isEnded && done.size === 0) await transaction.commit([this.audit.record(event)]);
      return isEnded;
    });
  }

  private pairOf(login: LoginEntity): TokenPair {
    const { accessTokenTtlSeconds, refreshTokenTtlSeconds } = this.config;
    return {
      accessToken: this.sign('access', login, accessTokenTtlSeconds),
      refreshToken: this.sign('refresh', login, refreshTokenTtlSeconds),
      refreshExpiresAt: endOf(login, refreshTokenTtlSeconds),
    };
  }

  private sign(use: TokenUse, login: LoginEntity, ttlSeconds: number): string {
    const [secret] = this.config.jwtSecrets as [string];
    return this.jwt.sign(
      // Without `nbf`: a replica whose clock is behind would refuse a fresh token.
      {
        iss: TOKEN_ISSUER,
        aud: TOKEN_AUDIENCE,
        sub: login.memberId,
        sid: login.id,
        jti: login.currentJti,
        iat: seconds(login.lastUsedAt),
        exp: seconds(endOf(login, ttlSeconds)),
        token_use: use,
      },
      {
        secret,
        algorithm: TOKEN_ALGORITHM,
        header: { alg: TOKEN_ALGORITHM, typ: TOKEN_TYPES[use], kid: secretId(secret) },
      },
    );
  }
}

/** When the current tokens of a login expire that live for `ttlSeconds`: never after the login. */
function endOf({ lastUsedAt, expiresAt }: LoginEntity, ttlSeconds: number): Date {
  const end = after(lastUsedAt, ttlSeconds);
  return end < expiresAt ? end : expiresAt;
}

function after(moment: Date, durationSeconds: number): Date {
  return new Date(moment.getTime() + durationSeconds * 1000);
}

function seconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}
