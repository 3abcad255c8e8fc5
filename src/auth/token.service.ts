import { createHash, createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { type Config, CONFIG, LOGIN_LIFETIME_SECONDS } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/problems/problem.js';
import type { AccountEntity } from './account.entity.js';
import { AccountStore } from './account.store.js';
import type { RefreshTokenEntity } from './refresh-token.entity.js';
import { RefreshTokenStore } from './refresh-token.store.js';

export const TOKEN_ALGORITHM = 'HS256';
export const TOKEN_ISSUER = 'waitlist-service';
export const TOKEN_AUDIENCE = 'waitlist-service/owner';

/** For so long after its use, a refresh token gives the same pair again, in case the answer was lost. */
const RETRY_GRACE_MS = 10_000;

export type TokenUse = 'access' | 'refresh';

/** The `typ` header of each kind (RFC 9068 for access tokens), so that neither is accepted in place of the other. */
export const TOKEN_TYPES: Record<TokenUse, string> = { access: 'at+jwt', refresh: 'rt+jwt' };

export interface TokenClaims {
  readonly sub: string;
  readonly jti: string;
  readonly exp: number;
  readonly token_use: TokenUse;
  readonly token_version: number;
}

/** The account that a request speaks for, once its token was verified. */
export interface Caller {
  readonly account: AccountEntity;
  readonly claims: TokenClaims;
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Issues and renews token pairs: signed JWTs, of which the refresh token is used once (RFC 9700, 4.14). */
@Injectable()
export class TokenService {
  /** By key id; the first signs. Key objects, because each verification would make one anew from a string. */
  private readonly keys: ReadonlyMap<string, KeyObject>;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly jwt: JwtService,
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly refreshTokens: RefreshTokenStore,
  ) {
    this.keys = new Map(config.jwtSecrets.map((secret) => [keyId(secret), createSecretKey(secret, 'utf8')]));
  }

  async issue(account: AccountEntity): Promise<TokenPair> {
    const now = new Date();
    const token = this.nextToken(account.id, randomUUID(), now, after(now, LOGIN_LIFETIME_SECONDS));
    await this.refreshTokens.insert(token);
    await this.refreshTokens.deleteExpired(now);
    return this.pairOf(account, token);
  }

  /**
   * The next pair of a login, for a verified refresh token. A retry within the grace period, while the successor is unused,
   * gets the same pair; any other second use revokes the whole family.
   * @throws Problem `INVALID_TOKEN`
   */
  async renew(claims: TokenClaims): Promise<TokenPair> {
    const now = new Date();
    const known = await this.refreshTokens.findById(claims.jti);
    if (!known || known.familyExpiresAt <= now) throw new Problem('INVALID_TOKEN');
    const proposal = this.nextToken(known.accountId, known.familyId, now, known.familyExpiresAt);
    const { token, successor } = await this.refreshTokens.use(claims.jti, proposal);
    const usedAgo = token?.usedAt ? now.getTime() - token.usedAt.getTime() : Infinity;
    const isRetry = successor !== null && successor.usedAt === null && usedAgo <= RETRY_GRACE_MS;
    if (!token || token.revokedAt || !isRetry) {
      await this.refreshTokens.revokeFamily(known.familyId, now);
      throw new Problem('INVALID_TOKEN');
    }
    const caller = await this.findCaller(claims);
    if (!caller) throw new Problem('INVALID_TOKEN');
    return this.pairOf(caller.account, successor);
  }

  /** The account of a verified token; null when it was disabled or its tokens were ended. */
  async findCaller(claims: TokenClaims): Promise<Caller | null> {
    const account = await this.database.one(this.accounts.findById(Number(claims.sub)));
    return account && !account.disabledAt && account.tokenVersion === claims.token_version ? { account, claims } : null;
  }

  /** The key with this id, undefined if there is none. */
  keyOf(id: string): KeyObject | undefined {
    return this.keys.get(id);
  }

  private nextToken(accountId: number, familyId: string, now: Date, familyExpiresAt: Date): RefreshTokenEntity {
    return {
      id: randomUUID(),
      familyId,
      accountId,
      issuedAt: now,
      expiresAt: earlier(after(now, this.config.refreshTokenTtlSeconds), familyExpiresAt),
      familyExpiresAt,
      usedAt: null,
      successorId: null,
      revokedAt: null,
    };
  }

  private pairOf(account: AccountEntity, token: RefreshTokenEntity): TokenPair {
    const accessExpiresAt = after(token.issuedAt, this.config.accessTokenTtlSeconds);
    return {
      accessToken: this.sign('access', account, token, earlier(accessExpiresAt, token.familyExpiresAt)),
      refreshToken: this.sign('refresh', account, token, token.expiresAt),
    };
  }

  private sign(use: TokenUse, account: AccountEntity, token: RefreshTokenEntity, expiresAt: Date): string {
    const [secret] = this.config.jwtSecrets as [string];
    const issuedAt = seconds(token.issuedAt);
    return this.jwt.sign(
      {
        iss: TOKEN_ISSUER,
        aud: TOKEN_AUDIENCE,
        sub: String(account.id),
        jti: token.id,
        iat: issuedAt,
        nbf: issuedAt,
        exp: seconds(expiresAt),
        token_use: use,
        token_version: account.tokenVersion,
      },
      {
        secret,
        algorithm: TOKEN_ALGORITHM,
        header: { alg: TOKEN_ALGORITHM, typ: TOKEN_TYPES[use], kid: keyId(secret) },
      },
    );
  }
}

function keyId(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url').slice(0, 8);
}

function after(moment: Date, durationSeconds: number): Date {
  return new Date(moment.getTime() + durationSeconds * 1000);
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

function seconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}
