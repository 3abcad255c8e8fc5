import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import type { MemberMailKind } from '../outbox/member-mail.entity.js';
import { LINK_MS, MemberMailStore } from '../outbox/member-mail.store.js';
import { OutboxSignal } from '../outbox/outbox.signal.js';
import { AuditLog, type Origin, type Sender } from '../platform/audit/audit-log.js';
import type { AuditAction } from '../platform/audit/audit-record.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { emailKey, invalidEmail } from '../platform/contract/email.js';
import { Database } from '../platform/database/database.js';
import { known, type Query, type Session, together } from '../platform/database/session.js';
import { type AccountWrite, operatorWrite } from '../platform/idempotency/account-write.js';
import { AccountWriteService } from '../platform/idempotency/account-write.service.js';
import { Problem } from '../platform/problems/problem.js';
import { hashKey, newToken } from '../platform/secrets/random-key.js';
import { newMember, statusOf } from './member.entity.js';
import type { MemberLinkKind } from './member-link.entity.js';
import { type LiveLink, MemberLinkStore } from './member-link.store.js';
import { type Member, type MemberChange, MemberService } from './member.service.js';
import { MemberStore } from './member.store.js';
import { PasswordHasher } from './password-hasher.js';
import { requirePassword } from './password-strength.js';

export type Invitee = Pick<Member, 'email' | 'role' | 'name'>;

/** An invited member, with the link that cannot be shown again. */
export interface Invited {
  readonly member: Member;
  readonly invitationUrl: string;
  readonly isMailed: boolean;
}

export interface StartedReset {
  /** Null where the service sends mail: then the member alone gets the link. */
  readonly resetUrl: string | null;
  readonly isMailed: boolean;
}

export interface Acceptance {
  readonly password: string;
  /** Undefined keeps the name that the owner gave. */
  readonly name: string | null | undefined;
}

export type Invitation = LiveLink;

/** What the transaction of an invitation stores. */
type Stored = Omit<MemberChange, 'changed'>;

/** Invitations and links that set a new password. Each works once; a newer one of the member ends it. */
@Injectable()
export class MemberLinkService {
  constructor(
    private readonly database: Database,
    private readonly members: MemberService,
    private readonly rows: MemberStore,
    private readonly links: MemberLinkStore,
    private readonly mails: MemberMailStore,
    private readonly passwords: PasswordHasher,
    private readonly writes: AccountWriteService,
    private readonly audit: AuditLog,
    private readonly signal: OutboxSignal,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Adds a member who joins by a link.
   * @throws Problem `INVALID_REQUEST` for a bad email, `EMAIL_TAKEN`, `TOO_MANY_MEMBERS`
   */
  async invite(invitee: Invitee, write: AccountWrite, { isMailOn = this.isMailOn } = {}): Promise<Invited> {
    const member = invitedMember(invitee, write);
    return this.sendInvitation(write, isMailOn, (send) =>
      this.members.insert(member, write, (transaction) => send(member, transaction)),
    );
  }

  /** Gives an invited member a new link. @throws Problem `MEMBER_NOT_FOUND`, `MEMBER_ACTIVE` */
  async inviteAgain(id: string, write: AccountWrite): Promise<Invited> {
    return this.sendInvitation(write, this.isMailOn, (send) =>
      this.members.change(id, write, async (member, transaction) => {
        if (statusOf(member) !== 'invited') throw new Problem('MEMBER_ACTIVE');
        return { changed: member, ...(await send(member, transaction)) };
      }),
    );
  }

  /**
   * Gives an active member a link that sets a new password: by mail, or through the caller where there is no mail.
   * @throws Problem `MEMBER_NOT_FOUND`, `MEMBER_NOT_ACTIVE`
   */
  async startReset(id: string, write: AccountWrite): Promise<StartedReset> {
    const token = newToken();
    const resetUrl = this.isMailOn ? null : this.urlOf('password_reset', token);
    let started: StartedReset = { resetUrl, isMailed: false };
    const work = async () => {
      await this.members.change(id, write, async (member, transaction) => {
        if (statusOf(member) !== 'active') throw new Problem('MEMBER_NOT_ACTIVE');
        const isMailed = this.isMailOn && (await this.mayMail(transaction, 'password_reset', member));
        started = { resetUrl, isMailed };
        // A link that reaches nobody must not end one that has.
        const isSent = isMailed || resetUrl !== null;
        const query = isSent ? this.issue('password_reset', member, token, isMailed) : known(undefined);
        const answer = { wholeAnswer: started, isSecret: resetUrl !== null };
        return { changed: member, actions: ['password_reset_started'], query, answer };
      });
      if (started.isMailed) this.signal.wakeForMails();
      return started;
    };
    return this.writes.once(write, work, ({ wholeAnswer }) => wholeAnswer as StartedReset);
  }

  /** Mails an active member who has a password a link that sets another; does nothing for any other email. */
  async startForgotten(key: string, origin: Origin): Promise<void> {
    const found = await this.members.findByEmailKey(key);
    if (!found || found.isAccountDisabled || !hasLostPassword(found.member)) return;
    const { id, accountId } = found.member;
    const write = { ...operatorWrite(accountId), ...origin, memberId: id };
    const token = newToken();
    await this.members.change(id, write, async (member, transaction) => {
      const isSent = hasLostPassword(member) && (await this.mayMail(transaction, 'forgotten_password', member));
      if (!isSent) return { changed: member, actions: [], query: known(undefined) };
      const query = this.issue('forgotten_password', member, token, true);
      return { changed: member, actions: ['password_reset_started'], query };
    });
    this.signal.wakeForMails();
  }

  /** @throws Problem `LINK_NOT_FOUND` */
  async getInvitation(token: string): Promise<Invitation> {
    return this.get('invitation', token);
  }

  /** @throws Problem `INVALID_REQUEST` for a bad password, which leaves the link as it is; `LINK_NOT_FOUND` */
  async accept(token: string, { password, name }: Acceptance, request: Sender): Promise<void> {
    const { member } = await this.get('invitation', token);
    const passwordHash = await this.hash(password, member, 'password');
    await this.use('invitation', token, member, request, 'member_joined', (invited) => ({
      ...invited,
      passwordHash,
      name: name === undefined ? invited.name : name,
      joinedAt: new Date(),
    }));
  }

  /** Ends all logins of the member. @throws Problem as {@link accept} */
  async reset(token: string, newPassword: string, request: Sender): Promise<void> {
    const { member } = await this.get('password_reset', token);
    const passwordHash = await this.hash(newPassword, member, 'new_password');
    const change = (before: Member) => ({ ...before, passwordHash });
    await this.use('password_reset', token, member, request, 'password_reset', change);
  }

  /** Ends the links of a member, in the transaction of what makes them needless. */
  end(memberId: string): Query<unknown> {
    return this.links.end({ id: memberId });
  }

  private get isMailOn(): boolean {
    return this.config.mail !== null;
  }

  /** `store` stores what `send` returns, in its transaction. */
  private async sendInvitation(
    write: AccountWrite,
    isMailOn: boolean,
    store: (send: (member: Member, transaction: Session) => Promise<Stored>) => Promise<void>,
  ): Promise<Invited> {
    const token = newToken();
    const invitationUrl = this.urlOf('invitation', token);
    // A retry after a lost answer to COMMIT keeps what the first run has set.
    let invited: Invited | undefined;
    const send = async (member: Member, transaction: Session): Promise<Stored> => {
      const isMailed = isMailOn && (await this.mayMail(transaction, 'invitation', member));
      invited = { member, invitationUrl, isMailed };
      const query = this.issue('invitation', member, token, isMailed);
      return { actions: ['member_invited'], query, answer: { wholeAnswer: invited, isSecret: true } };
    };
    const work = async () => {
      await store(send);
      if (invited!.isMailed) this.signal.wakeForMails();
      return invited!;
    };
    return this.writes.once(write, work, ({ wholeAnswer }) => {
      const { member, ...link } = wholeAnswer as Invited;
      return { ...link, member: { ...member, createdAt: new Date(member.createdAt) } };
    });
  }

  private async mayMail(transaction: Session, kind: MemberMailKind, member: Member): Promise<boolean> {
    return transaction.one(this.mails.isAllowed(kind, member, new Date()));
  }

  /** Ends the earlier links of the member. */
  private issue(kind: MemberMailKind, member: Member, token: string, isMailed: boolean): Query<unknown> {
    const now = new Date();
    const expiresAt = new Date(now.getTime() + LINK_MS[kind]);
    const link = { tokenHash: hashKey(token), memberId: member.id, kind: linkKindOf(kind), expiresAt };
    const mail = isMailed ? this.mails.insert(kind, member, this.urlOf(kind, token), now) : known(undefined);
    return together([this.end(member.id), this.links.insert(link), mail]);
  }

  private async get(kind: MemberLinkKind, token: string): Promise<LiveLink> {
    return (await this.database.one(this.links.findLive(kind, hashKey(token), new Date()))) ?? throwNotFound();
  }

  private async hash(password: string, { email }: Member, field: string): Promise<string> {
    await requirePassword(password, email, field);
    return this.passwords.hash(password);
  }

  /** Changes the member by a link, which ends with all others and all logins of the member. */
  private async use(
    kind: MemberLinkKind,
    token: string,
    { id, accountId }: Member,
    request: Sender,
    action: AuditAction,
    change: (member: Member) => Member,
  ): Promise<void> {
    const write = { ...operatorWrite(accountId), ...this.audit.originOf(request, id) };
    try {
      await this.members.change(id, write, async (member, transaction) => {
        // Meanwhile it may have been used or ended.
        if (!(await transaction.one(this.links.findLive(kind, hashKey(token), new Date())))) throwNotFound();
        const changed = change(member);
        const { passwordHash, name, joinedAt } = changed;
        const update = this.rows.update(id, { passwordHash, name, joinedAt });
        return { changed, actions: [action], query: together([update, this.rows.endLogins({ id }), this.end(id)]) };
      });
    } catch (error) {
      if (error instanceof Problem && error.code === 'MEMBER_NOT_FOUND') throwNotFound();
      throw error;
    }
  }

  /** The token follows `#`, which no browser sends, so that no log has it. */
  private urlOf(kind: MemberMailKind, token: string): string {
    return `${this.config.publicBaseUrl}/desk/${kind === 'invitation' ? 'invitation' : 'reset'}#${token}`;
  }
}

/** @throws Problem `INVALID_REQUEST` for a bad email */
function invitedMember({ email, role, name }: Invitee, { accountId }: AccountWrite): Member {
  const key = emailKey(email);
  if (key === null) throw Problem.invalid([{ ...invalidEmail(email), field: 'email' }]);
  const given = { id: uuidV7(), accountId, email: email.trim(), emailKey: key, role, createdAt: new Date() };
  return { ...newMember(given), name };
}

function linkKindOf(kind: MemberMailKind): MemberLinkKind {
  return kind === 'invitation' ? 'invitation' : 'password_reset';
}

/** Only such a member can have forgotten a password. */
function hasLostPassword(member: Member): boolean {
  return statusOf(member) === 'active' && member.passwordHash !== null;
}

function throwNotFound(): never {
  throw new Problem('LINK_NOT_FOUND');
}
