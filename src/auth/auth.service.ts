import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { AuditLog, type Sender } from '../platform/audit/audit-log.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { emailKey, invalidEmail } from '../platform/contract/email.js';
import { fitsPasswordRule, PASSWORD_RULE } from '../platform/contract/password-rule.js';
import { Problem } from '../platform/problems/problem.js';
import type { AccountEntity } from './account.entity.js';
import { AccountStore } from './account.store.js';
import { AuthMetrics } from './auth.metrics.js';
import { LoginAuditService } from './login-audit.service.js';
import { LoginThrottle } from './login-throttle.js';
import { PasswordHasher } from './password-hasher.js';
import { isEasilyGuessed, STRENGTH_RULE } from './password-strength.js';
import { type TokenCaller, type TokenPair, TokenService } from './token.service.js';

/** Service accounts and their logins. */
@Injectable()
export class AuthService {
  constructor(
    private readonly accounts: AccountStore,
    private readonly tokens: TokenService,
    private readonly throttle: LoginThrottle,
    private readonly passwords: PasswordHasher,
    private readonly audit: AuditLog,
    private readonly loginAudit: LoginAuditService,
    private readonly metrics: AuthMetrics,
  ) {}

  /**
   * A new pair for an account's email and password.
   * @throws Problem `WRONG_CREDENTIALS` for any fault; `TOO_MANY_ATTEMPTS`, without an account too; `QUEUE_FULL`
   */
  async logIn(email: string, password: string, request: Sender): Promise<TokenPair> {
    const account = await this.authenticate(emailKey(email) ?? '', password, request);
    if (!account) throw new Problem('WRONG_CREDENTIALS');
    const pair = await this.tokens.issue(account);
    this.metrics.logins.inc({ outcome: 'success' });
    return pair;
  }

  /**
   * Sets another password, and ends all logins of the account but the caller's.
   * @throws Problem `WRONG_PASSWORD`; `INVALID_REQUEST` for a bad new password; `INVALID_TOKEN` if the caller's login
   * has ended; `TOO_MANY_ATTEMPTS` and `QUEUE_FULL` as in {@link logIn}
   */
  async changePassword(
    { account: { id }, login }: TokenCaller,
    currentPassword: string,
    newPassword: string,
    request: Sender,
  ): Promise<void> {
    const { email, emailKey } = await this.accounts.getById(id);
    if (!(await this.authenticate(emailKey, currentPassword, request))) throw wrongPassword();
    await this.requirePassword(newPassword, email, 'new_password');
    const passwordHash = await this.passwords.hash(newPassword);
    const isChanged = await this.accounts.changePassword(login, passwordHash, this.audit.originOf(request));
    if (!isChanged) throw new Problem('INVALID_TOKEN');
  }

  /**
   * A random password is not checked: loading the word lists of the check takes a quarter of a first start.
   * @throws Problem `INVALID_REQUEST` for a bad email or password, `ACCOUNT_EXISTS`
   */
  async createAccount(email: string, password: string, { isRandom = false } = {}): Promise<AccountEntity> {
    const key = emailKey(email);
    if (key === null) throw Problem.invalid([{ ...invalidEmail(email), field: 'email' }]);
    if (!isRandom) await this.requirePassword(password, email);
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

  /** @throws Problem `INVALID_REQUEST` for a password that an account must not have */
  async requirePassword(password: string, email: string, field = 'password'): Promise<void> {
    if (!fitsPasswordRule(password)) throw Problem.invalid([{ field, rule: 'min_length', message: PASSWORD_RULE }]);
    if (!(await isEasilyGuessed(password, email))) return;
    throw Problem.invalid([{ field, rule: 'strength', message: STRENGTH_RULE }]);
  }

  /** Sets a password and ends all logins of the account. @throws Problem `ACCOUNT_NOT_FOUND`, `INVALID_REQUEST` */
  async setPassword(email: string, password: string): Promise<AccountEntity> {
    const account = await this.getAccount(email);
    await this.requirePassword(password, email);
    await this.accounts.change(account.id, 'password_set', { passwordHash: await this.passwords.hash(password) });
    return account;
  }

  /** Ends an account's access at once. @throws Problem `ACCOUNT_NOT_FOUND` */
  async disable(email: string): Promise<void> {
    const account = await this.getAccount(email);
    await this.accounts.change(account.id, 'account_disabled', { disabledAt: new Date() });
  }

  /** Lets a disabled account log in again. Logins that it had before stay ended. @throws Problem `ACCOUNT_NOT_FOUND` */
  async enable(email: string): Promise<void> {
    const account = await this.getAccount(email);
    await this.accounts.change(account.id, 'account_enabled', { disabledAt: null });
  }

  /** All accounts, oldest first. */
  async list(): Promise<AccountEntity[]> {
    return this.accounts.list();
  }

  async hasAccounts(): Promise<boolean> {
    return this.accounts.hasAny();
  }

  /** @throws Problem `ACCOUNT_NOT_FOUND` */
  async getAccount(email: string): Promise<AccountEntity> {
    const account = await this.accounts.findByEmailKey(emailKey(email) ?? '');
    if (!account) throw new Problem('ACCOUNT_NOT_FOUND');
    return account;
  }

  /** The account of these credentials, or null. Counts failures. @throws Problem `TOO_MANY_ATTEMPTS`, `QUEUE_FULL` */
  private async authenticate(key: string, password: string, request: Sender): Promise<AccountEntity | null> {
    return this.throttle.inTurn(key, request.ip, () => this.judge(key, password, request));
  }

  private async judge(key: string, password: string, request: Sender): Promise<AccountEntity | null> {
    const retryAfterSeconds = await this.throttle.count(key, request.ip);
    if (retryAfterSeconds > 0) {
      this.metrics.logins.inc({ outcome: 'throttled' });
      this.loginAudit.note({ action: 'login_throttled', emailKey: key, ...this.audit.originOf(request) });
      throw new Problem('TOO_MANY_ATTEMPTS', { retryAfterSeconds });
    }
    const account = await this.findByPassword(key, password).catch(async (error: unknown) => {
      await this.throttle.giveBack(key, request.ip);
      throw error;
    });
    if (!account) {
      this.metrics.logins.inc({ outcome: 'failure' });
      this.loginAudit.note({ action: 'login_failed', emailKey: key, ...this.audit.originOf(request) });
      return null;
    }
    await this.throttle.forgetFailures(key, request.ip);
    return account;
  }

  /** The active account with this email and password, or null; both take the same time. */
  private async findByPassword(key: string, password: string): Promise<AccountEntity | null> {
    const account = await this.accounts.findByEmailKey(key);
    const isRight = await this.passwords.verify(account?.passwordHash, password);
    return account && isRight && !account.disabledAt ? account : null;
  }
}

function wrongPassword(): Problem {
  const message = 'is not the password of the account';
  return new Problem('WRONG_PASSWORD', { fields: [{ field: 'current_password', rule: 'match', message }] });
}
