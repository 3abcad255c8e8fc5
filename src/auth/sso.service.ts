import { Inject, Injectable } from '@nestjs/common';
import { AccountService } from '../account/account.service.js';
import { type Identity, IdentityService } from '../account/identity.service.js';
import { type SsoError, SsoRefusal } from '../account/sso-refusal.js';
import { AuditLog, type Sender } from '../platform/audit/audit-log.js';
import { BackgroundTasks } from '../platform/background-task.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { emailKey } from '../platform/contract/email.js';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey, newToken } from '../platform/secrets/random-key.js';
import { AuthMetrics } from './auth.metrics.js';
import type { LoginRequest } from './auth.service.js';
import { clientName } from './client-name.js';
import { LoginAuditService } from './login-audit.service.js';
import { LoginStore } from './login.store.js';
import { roleOf, type SsoSettings, verifiedEmail } from './sso-claims.js';
import { type PendingSignIn, SSO_PATH, SSO_SECONDS } from './sso-cookie.js';
import { SsoProvider } from './sso-provider.js';
import { type TokenCaller, type TokenPair, TokenService } from './token.service.js';

/** The id of a login and a secret. */
const LINK = /^([\da-f-]{36})\.[\w-]{43}$/;
/** As the specification bounds it: ASCII. Databases ignore spaces at the end. */
const SUBJECT = /^(?! )[ -~]{1,255}(?<! )$/;

/** What the browser is sent to, and what it keeps. */
export interface SsoStep {
  readonly location: string;
  /** Undefined leaves what the browser has, null ends it. */
  readonly pending?: PendingSignIn | null;
  readonly login?: TokenPair;
}

/** Logins of members by single sign-on, and the linking of their identities. */
@Injectable()
export class SsoService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly provider: SsoProvider,
    private readonly identities: IdentityService,
    private readonly accounts: AccountService,
    private readonly tokens: TokenService,
    private readonly logins: LoginStore,
    private readonly database: Database,
    private readonly audit: AuditLog,
    private readonly loginAudit: LoginAuditService,
    private readonly metrics: AuthMetrics,
    private readonly tasks: BackgroundTasks,
  ) {}

  /** To the provider, or back to the desk with an error. @throws Problem `NOT_FOUND` without single sign-on */
  async start(link: string | undefined, allowedLink: string | null, request: Sender): Promise<SsoStep> {
    const settings = this.settings();
    return this.orError(link === undefined ? 'desk/sign-in' : 'desk/profile', request, undefined, async () => {
      if (link !== undefined && link !== allowedLink)
        throw new SsoRefusal('SSO_REFUSED', 'the link is that of another browser, or too old');
      const linksLogin = link === undefined ? null : await this.takeLink(link);
      const { url, checks } = await this.provider.begin(settings);
      return { location: url, pending: { ...checks, linksLogin } };
    });
  }

  /**
   * A login, or a linked identity, by the query with which the browser came back from the provider; else back to the
   * desk with an error. @throws Problem `NOT_FOUND` without single sign-on
   */
  async finish(query: string, pending: PendingSignIn | null, request: LoginRequest): Promise<SsoStep> {
    const settings = this.settings();
    const isOurs = pending !== null && new URLSearchParams(query).get('state') === pending.state;
    const page = pending?.linksLogin ? 'desk/profile' : 'desk/sign-in';
    // The answer to an earlier sign-in leaves the later one as it is.
    return this.orError(page, request, pending === null || isOurs ? null : undefined, async () => {
      if (!isOurs) throw new SsoRefusal('SSO_REFUSED', 'the browser did not ask for this answer, or too long ago');
      const claims = await this.provider.finish(settings, query, pending);
      const subject = String(claims.sub);
      if (!SUBJECT.test(subject)) throw new SsoRefusal('SSO_REFUSED', 'the subject is not ASCII, or too long');
      const identity = { issuer: settings.issuer, subject };
      if (pending.linksLogin !== null) return this.link(pending.linksLogin, identity, request);
      const email = verifiedEmail(claims, settings) ?? '';
      const key = emailKey(email);
      if (key === null) throw new SsoRefusal('EMAIL_NOT_VERIFIED', 'the provider gives no verified email');
      const visitor = { ...identity, email, emailKey: key, role: roleOf(claims, settings) };
      const { member, isKeptOwner } = await this.identities.signIn(visitor, request);
      if (isKeptOwner)
        this.tasks.log.warn({ member: member.id }, 'the last owner stays owner, although the groups give another role');
      const login = await this.tokens.issue(member, clientName(request.headers['user-agent']), 'sso');
      this.metrics.logins.inc({ outcome: 'success' });
      return { location: this.pageOf('desk'), pending: null, login };
    });
  }

  /** An address that links an identity to the caller, once, within ten minutes. @throws Problem `NOT_FOUND` */
  async startLink({ login }: TokenCaller): Promise<{ readonly url: string; readonly link: string }> {
    this.settings();
    const link = `${login.id}.${newToken()}`;
    const until = new Date(Date.now() + SSO_SECONDS * 1000);
    const allow = this.logins.allowLink(login.id, hashKey(link), until);
    await this.database.pipelinedTransaction((transaction) => transaction.commit([allow]));
    return { url: `${this.config.publicBaseUrl}/${SSO_PATH}?link=${link}`, link };
  }

  /** Whether `OIDC_ACCOUNT` is set and no active owner has that email, so that only invited people get in. */
  async isAccountMissing(): Promise<boolean> {
    const { account } = this.config.sso ?? {};
    if (account === undefined) return false;
    try {
      await this.accounts.getByOwner(account);
      return false;
    } catch (error) {
      if (error instanceof Problem && error.code === 'ACCOUNT_NOT_FOUND') return true;
      throw error;
    }
  }

  private settings(): SsoSettings {
    if (!this.config.sso) throw new Problem('NOT_FOUND');
    return this.config.sso;
  }

  /** The login that made the link. @throws SsoRefusal */
  private async takeLink(token: string): Promise<string> {
    const [, id] = LINK.exec(token) ?? [];
    if (id !== undefined && (await this.logins.takeLink(id, hashKey(token), new Date()))) return id;
    throw new SsoRefusal('SSO_REFUSED', 'the link was used, or has expired');
  }

  private async link(loginId: string, identity: Identity, request: Sender): Promise<SsoStep> {
    const live = await this.database.one(this.logins.findLive(loginId, new Date()));
    if (!live) throw new SsoRefusal('SSO_REFUSED', 'the login that links the identity has ended');
    await this.identities.link({ id: live.member.id, accountId: live.account.id }, identity, request);
    return { location: this.pageOf('desk/profile'), pending: null };
  }

  /** The step, or that to a page of the desk with the reason why there is none. */
  private async orError(
    page: string,
    request: Sender,
    pending: null | undefined,
    step: () => Promise<SsoStep>,
  ): Promise<SsoStep> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof SsoRefusal)) throw error;
      const { code, reason, emailKey: key } = error;
      this.metrics.logins.inc({ outcome: 'failure' });
      this.tasks.log.warn({ code, reason }, 'a single sign-on failed');
      if (key !== null)
        this.loginAudit.note({ action: 'login_failed', emailKey: key, ...this.audit.originOf(request, null) });
      return { location: this.pageOf(page, code), ...(pending === null && { pending }) };
    }
  }

  private pageOf(page: string, error?: SsoError): string {
    return `${this.config.basePath}/${page}${error === undefined ? '' : `?error=${error}`}`;
  }
}
