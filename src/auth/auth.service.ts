import { Injectable } from '@nestjs/common';
import { AuditLog, type Sender } from '../platform/audit/audit-log.js';
import { emailKey } from '../platform/contract/email.js';
import { Problem } from '../platform/problems/problem.js';
import { type Member, MemberService } from '../account/member.service.js';
import { MemberLinkService } from '../account/member-link.service.js';
import { PasswordHasher } from '../account/password-hasher.js';
import { requirePassword } from '../account/password-strength.js';
import { statusOf } from '../account/member.entity.js';
import { AuthMetrics } from './auth.metrics.js';
import { clientName } from './client-name.js';
import { LoginAuditService } from './login-audit.service.js';
import { LoginStore } from './login.store.js';
import { LoginThrottle } from './login-throttle.js';
import { type TokenCaller, type TokenPair, TokenService } from './token.service.js';

/** The part of a request that a login is made from. */
export interface LoginRequest extends Sender {
  readonly headers: { readonly 'user-agent'?: string | undefined };
}

/** Logins of members by their passwords. */
@Injectable()
export class AuthService {
  constructor(
    private readonly members: MemberService,
    private readonly links: MemberLinkService,
    private readonly logins: LoginStore,
    private readonly tokens: TokenService,
    private readonly throttle: LoginThrottle,
    private readonly passwords: PasswordHasher,
    private readonly audit: AuditLog,
    private readonly loginAudit: LoginAuditService,
    private readonly metrics: AuthMetrics,
  ) {}

  /**
   * A new pair for a member's email and password.
   * @throws Problem `WRONG_CREDENTIALS` for any fault; `TOO_MANY_ATTEMPTS`, without a member too; `QUEUE_FULL`
   */
  async logIn(email: string, password: string, request: LoginRequest): Promise<TokenPair> {
    const member = await this.authenticate(emailKey(email) ?? '', password, request);
    if (!member) throw new Problem('WRONG_CREDENTIALS');
    const pair = await this.tokens.issue(member, clientName(request.headers['user-agent']));
    this.metrics.logins.inc({ outcome: 'success' });
    return pair;
  }

  /**
   * Sets another password, and ends all logins of the member but the caller's.
   * @throws Problem `WRONG_PASSWORD`; `INVALID_REQUEST` for a bad new password; `INVALID_TOKEN` if the caller's login
   * has ended; `TOO_MANY_ATTEMPTS` and `QUEUE_FULL` as in {@link logIn}
   */
  async changePassword(
    { accountId, member, login }: TokenCaller,
    currentPassword: string,
    newPassword: string,
    request: Sender,
  ): Promise<void> {
    if (!(await this.authenticate(member.emailKey, currentPassword, request))) throw wrongPassword();
    await requirePassword(newPassword, member.email, 'new_password');
    const passwordHash = await this.passwords.hash(newPassword);
    const origin = this.audit.originOf(request, member.id);
    const ending = this.links.end(member.id);
    const isChanged = await this.logins.changePassword(login, accountId, passwordHash, ending, origin);
    if (!isChanged) throw new Problem('INVALID_TOKEN');
  }

  /** The member with these credentials, or null. Counts failures. @throws Problem `TOO_MANY_ATTEMPTS`, `QUEUE_FULL` */
  private async authenticate(key: string, password: string, request: Sender): Promise<Member | null> {
    return this.throttle.inTurn(key, request.ip, () => this.judge(key, password, request));
  }

  private async judge(key: string, password: string, request: Sender): Promise<Member | null> {
    const retryAfterSeconds = await this.throttle.count(key, request.ip);
    if (retryAfterSeconds > 0) {
      this.metrics.logins.inc({ outcome: 'throttled' });
      this.loginAudit.note({ action: 'login_throttled', emailKey: key, ...this.audit.originOf(request, null) });
      throw new Problem('TOO_MANY_ATTEMPTS', { retryAfterSeconds });
    }
    const member = await this.findByPassword(key, password).catch(async (error: unknown) => {
      await this.throttle.giveBack(key, request.ip);
      throw error;
    });
    if (!member) {
      this.metrics.logins.inc({ outcome: 'failure' });
      this.loginAudit.note({ action: 'login_failed', emailKey: key, ...this.audit.originOf(request, null) });
      return null;
    }
    await this.throttle.forgetFailures(key, request.ip);
    return member;
  }

  /** The active member with this email and password, or null; both take the same time. */
  private async findByPassword(key: string, password: string): Promise<Member | null> {
    const found = await this.members.findByEmailKey(key);
    const isRight = await this.passwords.verify(found?.member.passwordHash, password);
    return found && isRight && !found.isAccountDisabled && statusOf(found.member) === 'active' ? found.member : null;
  }
}

function wrongPassword(): Problem {
  const message = 'is not the password of the account';
  return new Problem('WRONG_PASSWORD', { fields: [{ field: 'current_password', rule: 'match', message }] });
}
