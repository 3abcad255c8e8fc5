import { createHash, createSecretKey, type KeyObject, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { type Config, LOGIN_LIFETIME_SECONDS } from '../platform/config/config.js';
import { CONFIG } from '../platform/config/config.module.js';
import { Database } from '../platform/database/database.js';
import type { Session } from '../platform/database/session.js';
import { Problem } from '../platform/problems/problem.js';
import type { AccountEntity } from './account.entity.js';
import { AccountStore } from './account.store.js';
import type { RefreshTokenEntity } from './refresh-token.entity.js';
import { RefreshTokenStore } from './refresh-token.store.js';

export const TOKEN_ALGORITHM = 'HS256';
export const TOKEN_ISSUER = 'waitlist-service';
export const TOKEN_AUDIENCE = 'waitlist-service/owner';

/** A client whose answer was lost may ask again for so long, and gets the same pair. */
const RETRY_GRACE_MS = 10_000;

export type TokenUse = 'access' | 'refresh';

export interface TokenClaims {
  readonly sub: string;
  readonly jti: string;
  readonly exp: number;
  readonly token_use: TokenUse;
  readonly token_version: number;
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Issues and renews token pairs: signed JWTs, whose refresh half is used once (RFC 9700, 4.14). */
@Injectable()
export class TokenService {
  /** By key id; the first signs. As keys, for of a text each verification would make one anew. */
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
   * The next pair of a family, for a refresh token that was verified. A retry within ten seconds, while the successor is
   * unused, gets the same pair; any other second use revokes the family.
   * @throws Problem `unauthenticated`
   */
  async renew(claims: TokenClaims): Promise<TokenPair> {
    const now = new Date();
    const known = await this.refreshTokens.findById(claims.jti);
    if (!known || known.familyExpiresAt <= now) throw invalidToken();
    const proposal = this.nextToken(known.accountId, known.familyId, now, known.familyExpiresAt);
    const { token, successor } = await this.refreshTokens.use(claims.jti, proposal);
    const usedAgo = token?.usedAt ? now.getTime() - token.usedAt.getTime() : Infinity;
    const isRetry = successor !== null && successor.usedAt === null && usedAgo <= RETRY_GRACE_MS;
    if (!token || token.revokedAt || !isRetry) {
      await this.refreshTokens.revokeFamily(known.familyId, now);
      throw invalidToken();
    }
    const account = await this.findActiveAccount(claims);
    if (!account) throw invalidToken();
    return this.pairOf(account, successor);
  }

  /**
   * The account that a verified token stands for, or null where it was disabled or its tokens were ended. `readBeside`
   * shares its round trip, whichever it is.
   */
  async findActiveAccount(
    { sub, token_version }: TokenClaims,
    readBeside?: (session: Session) => Promise<void> | undefined,
  ): Promise<AccountEntity | null> {
    const [account] = await this.database.readTogether((session) =>
      Promise.all([this.accounts.findById(session, Number(sub)), readBeside?.(session)]),
    );
    return account && !account.disabledAt && account.tokenVersion === token_version ? account : null;
  }

  /** The key of a key id, or undefined for an unknown one. */
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

/** The `typ` header of each kind (RFC 9068 for the first), so that neither passes for the other. */
export const TOKEN_TYPES: Record<TokenUse, string> = { access: 'at+jwt', refresh: 'rt+jwt' };

export function invalidToken(): Problem {
  return new Problem('INVALID_TOKEN');
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
