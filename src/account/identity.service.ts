import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { AuditLog, type Sender } from '../platform/audit/audit-log.js';
import type { AuditAction } from '../platform/audit/audit-record.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { emailKey } from '../platform/contract/email.js';
import { Database } from '../platform/database/database.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { known, type Query, type Session, together } from '../platform/database/session.js';
import type { AccountEntity } from './account.entity.js';
import { AccountStore } from './account.store.js';
import { type MemberEntity, newMember, type Role } from './member.entity.js';
import { MemberLinkStore } from './member-link.store.js';
import { type Member, MEMBERS_MAX } from './member.service.js';
import { type MemberAndAccount, MemberStore } from './member.store.js';
import { SsoRefusal } from './sso-refusal.js';

/** Somebody as the provider of single sign-on names them. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

export interface Visitor extends Identity {
  /** Verified. */
  readonly email: string;
  readonly emailKey: string;
  /** What the provider's groups give; null if none does, undefined where roles are set at the desk alone. */
  readonly role: Role | null | undefined;
}

export interface SignedIn {
  readonly member: Member;
  /** Whether the role stays although the provider gives another, because nobody else could do an owner's work. */
  readonly isKeptOwner: boolean;
}

/** Whose member a visitor is, or in which account they become one. */
type Place = MemberAndAccount | AccountEntity;

/** Which members the identities of single sign-on are. */
@Injectable()
export class IdentityService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly members: MemberStore,
    private readonly links: MemberLinkStore,
    private readonly audit: AuditLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * The member that a visitor is, with the role that the provider gives. The first time, an invitation or the account
   * of `OIDC_ACCOUNT` lets the visitor in. @throws SsoRefusal
   */
  async signIn(visitor: Visitor, request: Sender): Promise<SignedIn> {
    try {
      return await this.attempt(visitor, request);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // Two first sign-ins at once. The other one has made the member.
      return await this.attempt(visitor, request);
    }
  }

  /** Makes an identity that of a member, in place of an earlier one. @throws SsoRefusal if it is another member's */
  async link(
    { id, accountId }: Pick<Member, 'id' | 'accountId'>,
    { issuer, subject }: Identity,
    request: Sender,
  ): Promise<void> {
    const event = { ...this.audit.originOf(request, id), accountId, action: 'member_updated', uuids: [id] } as const;
    const update = this.members.update(id, { ssoIssuer: issuer, ssoSubject: subject });
    try {
      await this.database.pipelinedTransaction((transaction) =>
        transaction.commit([update, this.audit.record({ ...event, id: uuidV7() })]),
      );
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      const owner = await this.database.one(this.members.findByIdentity(issuer, subject));
      // A repeat after a lost answer to COMMIT is no conflict.
      if (owner?.member.id !== id) throw new SsoRefusal('SSO_REFUSED', 'the identity is that of another member');
    }
  }

  private async attempt(visitor: Visitor, request: Sender): Promise<SignedIn> {
    const { accountId } = placeOf(await this.database.one(this.find(visitor)));
    const newId = uuidV7();
    return this.database.pipelinedTransaction(async (transaction) => {
      await transaction.one(this.accounts.lock(accountId));
      // Statements of their own: those of the lock would find the members as they were before it waited.
      const { place, accountId: lockedId } = placeOf(await transaction.one(this.find(visitor)));
      if (lockedId !== accountId) throw new SsoRefusal('SSO_REFUSED', 'the member has changed meanwhile');
      const before = 'member' in place ? place.member : null;
      const { role, isKeptOwner } = await this.decideRole(transaction, visitor, before);
      if (!before && (await transaction.one(this.members.count(accountId))) >= MEMBERS_MAX)
        throw new SsoRefusal('TOO_MANY_MEMBERS', 'the account of OIDC_ACCOUNT is full');
      const now = new Date();
      const { issuer: ssoIssuer, subject: ssoSubject, email, emailKey: key } = visitor;
      const old = before ?? newMember({ id: newId, accountId, email, emailKey: key, role, createdAt: now });
      const member = { ...old, role, ssoIssuer, ssoSubject, joinedAt: old.joinedAt ?? now };
      const isFirstSignOn = before?.ssoSubject === null;
      const actions: AuditAction[] = [
        ...(old.joinedAt === null ? ['member_joined' as const] : isFirstSignOn ? ['member_updated' as const] : []),
        ...(role === old.role ? [] : ['member_role_changed' as const]),
      ];
      const { joinedAt } = member;
      const save = before
        ? this.members.update(member.id, { role, ssoIssuer, ssoSubject, joinedAt })
        : this.members.insert(member);
      const origin = { ...this.audit.originOf(request, member.id), accountId, uuids: [member.id] };
      await transaction.commit([
        ...(actions.length > 0 ? [save] : []),
        // Whoever signs in needs no invitation and no new password.
        this.links.end({ id: member.id }),
        ...actions.map((action) => this.audit.record({ ...origin, action })),
      ]);
      return { member, isKeptOwner };
    });
  }

  /** The member with this identity, that with this email, and the account that others join. */
  private find({ issuer, subject, emailKey: key }: Visitor): Query<Candidates> {
    const { account } = this.config.sso ?? {};
    return together([
      this.members.findByIdentity(issuer, subject),
      this.members.findByEmail(key),
      account === undefined ? known(null) : this.accounts.findByOwner(emailKey(account) ?? ''),
    ]);
  }

  /** @throws SsoRefusal `NO_ROLE` */
  private async decideRole(
    session: Session,
    { role: given }: Visitor,
    member: MemberEntity | null,
  ): Promise<{ readonly role: Role; readonly isKeptOwner: boolean }> {
    if (given === undefined) return { role: member?.role ?? 'viewer', isKeptOwner: false };
    if (member?.role === 'owner' && given !== 'owner' && !(await session.one(this.members.hasOtherOwner(member))))
      return { role: 'owner', isKeptOwner: true };
    if (given === null) throw new SsoRefusal('NO_ROLE', 'no group gives a role', member?.emailKey);
    return { role: given, isKeptOwner: false };
  }
}

type Candidates = readonly [
  byIdentity: MemberAndAccount | null,
  byEmail: MemberAndAccount | null,
  home: AccountEntity | null,
];

/** @throws SsoRefusal */
function placeOf([byIdentity, byEmail, home]: Candidates): { readonly place: Place; readonly accountId: number } {
  const place = byIdentity ?? firstPlaceOf(byEmail, home);
  const isMember = 'member' in place;
  const isDisabled = isMember ? place.member.disabledAt !== null || place.isAccountDisabled : place.disabledAt !== null;
  const key = isMember ? place.member.emailKey : null;
  if (isDisabled) throw new SsoRefusal('MEMBER_DISABLED', 'the member or the account is disabled', key);
  return { place, accountId: isMember ? place.member.accountId : place.id };
}

/** For somebody who has not been here. @throws SsoRefusal */
function firstPlaceOf(byEmail: MemberAndAccount | null, home: AccountEntity | null): Place {
  if (!byEmail) {
    if (home) return home;
    throw new SsoRefusal('NOT_INVITED', 'nobody was invited by this email');
  }
  const { ssoSubject, joinedAt, accountId, emailKey: key } = byEmail.member;
  if (ssoSubject !== null) throw new SsoRefusal('SSO_REFUSED', 'the member has another identity', key);
  if (joinedAt !== null && accountId !== home?.id)
    throw new SsoRefusal('NOT_INVITED', 'the member is active and has linked no identity', key);
  return byEmail;
}
