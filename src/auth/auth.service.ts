import { Injectable } from '@nestjs/common';
import { AuditLog, type Sender } from '../platform/audit/audit-log.js';
import { emailKey } from '../platform/contract/email.js';
import { Problem } from '../platform/problems/problem.js';
import type { ProblemCode } from '../platform/problems/problem-catalog.js';
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
import { type NewSecret, TwoFactorService } from './two-factor.service.js';

/** The part of a request that a login is made from. */
export interface LoginRequest extends Sender {
  readonly headers: { readonly 'user-agent'?: string | undefined };
}

/** What counts as a failed login. */
const FAILURES: ReadonlySet<ProblemCode> = new Set(['WRONG_CREDENTIALS', 'WRONG_PASSWORD', 'WRONG_OTP']);

/** Logins of members by their passwords and second factors. */
@Injectable()
export class AuthService {
  constructor(
    private readonly members: MemberService,
    private readonly links: MemberLinkService,
    private readonly logins: LoginStore,
    private readonly tokens: TokenService,
    private readonly twoFactor: TwoFactorService,
    private readonly throttle: LoginThrottle,
    private readonly passwords: PasswordHasher,
    private readonly audit: AuditLog,
    private readonly loginAudit: LoginAuditService,
    private readonly metrics: AuthMetrics,
  ) {}

  /**
   * A new pair for a member's email and password, and a code of the second factor where the member has one.
   * @throws Problem `WRONG_CREDENTIALS` for any fault; `OTP_REQUIRED` for a right password alone where it does not
   * suffice; `TOO_MANY_ATTEMPTS`, without a member too; `QUEUE_FULL`; `SECRET_UNAVAILABLE`
   */
  async logIn(email: string, password: string, otp: string | undefined, request: LoginRequest): Promise<TokenPair> {
    const key = emailKey(email) ?? '';
    const member = await this.attempt(key, request, async () => {
      const found = await this.findByPassword(key, password);
      if (!found) throw new Problem('WRONG_CREDENTIALS');
      if (found.hasTwoFactor) await this.twoFactor.requireOtp(found.id, otp);
      return found;
    });
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
    caller: TokenCaller,
    currentPassword: string,
    newPassword: string,
    request: Sender,
  ): Promise<void> {
    const { accountId, member, login } = caller;
    await this.attempt(member.emailKey, request, () => this.requirePassword(caller, currentPassword));
    await requirePassword(newPassword, member.email, 'new_password');
    const passwordHash = await this.passwords.hash(newPassword);
    const origin = this.audit.originOf(request, member.id);
    const ending = this.links.end(member.id);
    const isChanged = await this.logins.changePassword(login, accountId, passwordHash, ending, origin);
    if (!isChanged) throw new Problem('INVALID_TOKEN');
  }

  /** As {@link TwoFactorService.begin}. @throws Problem `WRONG_PASSWORD`, `TOO_MANY_ATTEMPTS` */
  async beginTwoFactor(caller: TokenCaller, currentPassword: string, request: Sender): Promise<NewSecret> {
    return this.attempt(caller.member.emailKey, request, async () => {
      await this.requirePassword(caller, currentPassword);
      return this.twoFactor.begin(caller);
    });
  }

  /** As {@link TwoFactorService.confirm}. @throws Problem `TOO_MANY_ATTEMPTS` */
  async confirmTwoFactor(caller: TokenCaller, otp: string, request: Sender): Promise<readonly string[]> {
    return this.attempt(caller.member.emailKey, request, () => this.twoFactor.confirm(caller, otp, request));
  }

  /** As {@link TwoFactorService.replaceRecoveryCodes}. @throws Problem `TOO_MANY_ATTEMPTS` */
  async replaceRecoveryCodes(caller: TokenCaller, otp: string, request: Sender): Promise<readonly string[]> {
    return this.attempt(caller.member.emailKey, request, () => this.twoFactor.replaceRecoveryCodes(caller, otp));
  }

  /** As {@link TwoFactorService.disable}. @throws Problem `WRONG_PASSWORD`, `TOO_MANY_ATTEMPTS` */
  async disableTwoFactor(caller: TokenCaller, currentPassword: string, otp: string, request: Sender): Promise<void> {
    await this.attempt(caller.member.emailKey, request, async () => {
      await this.requirePassword(caller, currentPassword);
      await this.twoFactor.disable(caller, otp, request);
    });
  }

  /**
   * Judges what a caller claims to know, in turn. Counts a {@link FAILURES failure}; no other error counts.
   * @throws Problem `TOO_MANY_ATTEMPTS`, `QUEUE_FULL`, and what `judge` throws
   */
  private async attempt<Result>(key: string, request: Sender, judge: () => Promise<Result>): Promise<Result> {
    return this.throttle.inTurn(key, request.ip, async () => {
      const retryAfterSeconds = await this.throttle.count(key, request.ip);
      if (retryAfterSeconds > 0) {
        this.note('login_throttled', key, request);
        throw new Problem('TOO_MANY_ATTEMPTS', { retryAfterSeconds });
      }
      const result = await judge().catch(async (error: unknown) => {
        const code = error instanceof Problem ? error.code : undefined;
        if (code !== undefined && FAILURES.has(code)) this.note('login_failed', key, request);
        else await this.throttle.giveBack(key, request.ip);
        // The lock after wrong codes.
        if (code === 'TOO_MANY_ATTEMPTS') this.note('login_throttled', key, request);
        throw error;
      });
      await this.throttle.forgetFailures(key, request.ip);
      return result;
    });
  }

  private note(action: 'login_failed' | 'login_throttled', key: string, request: Sender): void {
    this.metrics.logins.inc({ outcome: action === 'login_failed' ? 'failure' : 'throttled' });
    this.loginAudit.note({ action, emailKey: key, ...this.audit.originOf(request, null) });
  }

  /** @throws Problem `WRONG_PASSWORD` */
  private async requirePassword({ member }: TokenCaller, password: string): Promise<void> {
    if (!(await this.findByPassword(member.emailKey, password))) throw wrongPassword();
  }

  /** The active member with this email and password, or null; both take the same time. */
  private async findByPassword(key: string, password: string): Promise<Member | null> {
    const found = await this.members.findByEmailKey(key);
    const isRight = await this.passwords.verify(found?.member.passwordHash, password);
    return found && isRight && !found.isAccountDisabled && statusOf(found.member) === 'active' ? found.member : null;
  }
}

function wrongPassword(): Problem {
  const message = 'is not your current password';
  return new Problem('WRONG_PASSWORD', { fields: [{ field: 'current_password', rule: 'match', message }] });
}
