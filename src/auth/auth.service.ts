import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { emailKey } from '../platform/contract/email.js';
import { fitsPasswordRule, PASSWORD_RULE } from '../platform/contract/password-rule.js';
import { Problem } from '../platform/problems/problem.js';
import type { AccountEntity } from './account.entity.js';
import { AccountStore } from './account.store.js';
import { LoginThrottle } from './login-throttle.js';
import { BLOCKLIST_RULE, isEasilyGuessed } from './password-blocklist.js';
import { PasswordHasher } from './password-hasher.js';
import { type TokenClaims, type TokenPair, TokenService } from './token.service.js';

/** Service accounts and the tokens they get. */
@Injectable()
export class AuthService {
  constructor(
    private readonly accounts: AccountStore,
    private readonly tokens: TokenService,
    private readonly throttle: LoginThrottle,
    private readonly passwords: PasswordHasher,
  ) {}

  /**
   * A new pair for an account's email and password.
   * @throws Problem `unauthenticated`, the same for a wrong email and a wrong password; `throttled` after many failures;
   * `unavailable` when too many log in at once
   */
  async logIn(email: string, password: string, address: string): Promise<TokenPair> {
    const key = emailKey(email) ?? '';
    const account = await this.throttle.attempt(key, address, (isKnownAddress) =>
      this.findByPassword(key, password, isKnownAddress),
    );
    if (!account) throw new Problem('WRONG_CREDENTIALS');
    return this.tokens.issue(account);
  }

  /** @throws Problem `unauthenticated` for a token that was used before (but see the retry grace), revoked or expired */
  async renew(claims: TokenClaims): Promise<TokenPair> {
    return this.tokens.renew(claims);
  }

  /** @throws Problem `invalid` for a bad email or password, `conflict` for a taken email */
  async createAccount(email: string, password: string): Promise<AccountEntity> {
    const key = emailKey(email);
    if (key === null) throw Problem.invalid([{ field: 'email', message: 'must be an email address' }]);
    await requirePassword(password, email);
    try {
      return await this.accounts.insert({
        uuid: uuidV7(),
        email: email.trim(),
        emailKey: key,
        passwordHash: await this.passwords.hash(password),
        tokenVersion: 0,
        disabledAt: null,
        createdAt: new Date(),
      });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      throw new Problem('ACCOUNT_EXISTS');
    }
  }

  /** Sets a password and ends all tokens of the account. @throws Problem `not_found`, `invalid` */
  async setPassword(email: string, password: string): Promise<void> {
    const account = await this.getAccount(email);
    await requirePassword(password, email);
    await this.accounts.setPassword(account.id, await this.passwords.hash(password));
  }

  /** Ends an account's access at once. @throws Problem `not_found` */
  async disable(email: string): Promise<void> {
    const account = await this.getAccount(email);
    await this.accounts.disable(account.id, new Date());
  }

  async hasAccounts(): Promise<boolean> {
    return !(await this.accounts.isEmpty());
  }

  /** @throws Problem `not_found` */
  async getAccount(email: string): Promise<AccountEntity> {
    const account = await this.accounts.findByEmailKey(emailKey(email) ?? '');
    if (!account) throw new Problem('ACCOUNT_NOT_FOUND');
    return account;
  }

  /** The account that may log in with these, or null; it takes as long either way. */
  private async findByPassword(key: string, password: string, isKnownAddress: boolean): Promise<AccountEntity | null> {
    const account = await this.accounts.findByEmailKey(key);
    const isRight = await this.passwords.verify(account?.passwordHash, password, isKnownAddress);
    return account && isRight && !account.disabledAt ? account : null;
  }
}

async function requirePassword(password: string, email: string): Promise<void> {
  const fits = fitsPasswordRule(password);
  if (fits && !(await isEasilyGuessed(password, email))) return;
  throw Problem.invalid([{ field: 'password', message: fits ? BLOCKLIST_RULE : PASSWORD_RULE }]);
}
