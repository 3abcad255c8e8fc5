import { Inject, Injectable } from '@nestjs/common';
import { AuditLog } from '../platform/audit/audit-log.js';
import type { AuditAction } from '../platform/audit/audit-record.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { emailKey } from '../platform/contract/email.js';
import { Database } from '../platform/database/database.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { known, type Query, type Session, together } from '../platform/database/session.js';
import type { AccountWrite } from '../platform/idempotency/account-write.js';
import { AccountWriteService, type WriteRecord } from '../platform/idempotency/account-write.service.js';
import { type PageAfter, pageOf } from '../platform/page.js';
import { Problem } from '../platform/problems/problem.js';
import { AccountStore } from './account.store.js';
import { type MemberEntity, type Role, type SignIn, signInsOf, statusOf } from './member.entity.js';
import { MemberLinkStore } from './member-link.store.js';
import { type MemberAndAccount, MemberStore } from './member.store.js';
import { PasswordHasher } from './password-hasher.js';
import { requirePassword } from './password-strength.js';

/** Members of one account. */
export const MEMBERS_MAX = 1_000;

export type Member = Readonly<MemberEntity>;

/** What is undefined stays as it is. */
export interface MemberChanges {
  readonly role?: Role | undefined;
  readonly name?: string | null | undefined;
  readonly isActive?: boolean | undefined;
}

/** A change of a member. */
export interface MemberChange {
  /** The member after it; null if it is removed. */
  readonly changed: Member | null;
  /** Each leaves an event. Without any, nothing is stored. */
  readonly actions: readonly AuditAction[];
  readonly query: Query<unknown>;
  readonly answer?: Answer;
}

/** What the answer to a repeat needs. */
type Answer = Pick<WriteRecord, 'wholeAnswer' | 'isSecret'>;

export interface MemberPage {
  readonly members: readonly Member[];
  /** Where the next page starts; null on the last one. */
  readonly nextAfterId: string | null;
}

/** The members of accounts. */
@Injectable()
export class MemberService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly members: MemberStore,
    private readonly links: MemberLinkStore,
    private readonly passwords: PasswordHasher,
    private readonly writes: AccountWriteService,
    private readonly audit: AuditLog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** A page of an account's members, oldest first. */
  async list(accountId: number, { afterId, limit }: PageAfter<string>): Promise<MemberPage> {
    const found = await this.database.one(this.members.list(accountId, { afterId, limit: limit + 1 }));
    const { items: members, nextAfterId } = pageOf(found, limit);
    return { members, nextAfterId };
  }

  /** @throws Problem `MEMBER_NOT_FOUND`, also for another account's member */
  async get(accountId: number, id: string): Promise<Member> {
    return (await this.database.one(this.members.find(accountId, id))) ?? throwNotFound();
  }

  /** The ways in which a member can log in. */
  signInsOf(member: Member): SignIn[] {
    return signInsOf(member, this.config);
  }

  /** A member of any account, by the normal form of an email. */
  async findByEmailKey(key: string): Promise<MemberAndAccount | null> {
    return this.database.one(this.members.findByEmail(key));
  }

  /** A member of any account. @throws Problem `MEMBER_NOT_FOUND` */
  async getByEmail(email: string): Promise<Member> {
    return (await this.findByEmailKey(emailKey(email) ?? ''))?.member ?? throwNotFound();
  }

  /**
   * Inserts a new member under the lock of the account, with what `decide` adds in the same transaction. Does nothing
   * in a retry after the answer to COMMIT was lost.
   * @throws Problem `EMAIL_TAKEN`, `TOO_MANY_MEMBERS`
   */
  async insert(
    member: Member,
    write: AccountWrite,
    decide: (transaction: Session) => Promise<Omit<MemberChange, 'changed'>>,
  ): Promise<void> {
    try {
      await this.database.pipelinedTransaction(async (transaction) => {
        if (!(await this.writes.isNew(transaction, write))) return;
        await transaction.one(this.accounts.lock(write.accountId));
        // A statement of its own: that of the lock would count the members as they were before it waited.
        if ((await transaction.one(this.members.count(write.accountId))) >= MEMBERS_MAX)
          throw new Problem('TOO_MANY_MEMBERS');
        const { query, actions, answer } = await decide(transaction);
        await transaction.commit([
          this.members.insert(member),
          query,
          this.recordAll(write, actions, member.id, answer),
        ]);
      });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // An attempt whose answer was lost may have added this very member.
      if ((await this.findByEmailKey(member.emailKey))?.member.id !== member.id) throw new Problem('EMAIL_TAKEN');
    }
  }

  /** @throws Problem `MEMBER_NOT_FOUND`, `LAST_OWNER` */
  async update(id: string, { role, name, isActive }: MemberChanges, write: AccountWrite): Promise<Member> {
    await this.writes.once<unknown>(
      write,
      () =>
        this.change(id, write, (member) => {
          const isDisabled = isActive === undefined ? member.disabledAt !== null : !isActive;
          const changed: Member = {
            ...member,
            role: role ?? member.role,
            name: name === undefined ? member.name : name,
            disabledAt: isDisabled ? (member.disabledAt ?? new Date()) : null,
          };
          const isEnabledOrDisabled = isDisabled !== (member.disabledAt !== null);
          const actions: AuditAction[] = [
            ...(changed.name === member.name ? [] : (['member_updated'] as const)),
            ...(changed.role === member.role ? [] : (['member_role_changed'] as const)),
            ...(isEnabledOrDisabled ? [isDisabled ? ('member_disabled' as const) : ('member_enabled' as const)] : []),
          ];
          const { role: newRole, name: newName, disabledAt } = changed;
          const update = this.members.update(id, { role: newRole, name: newName, disabledAt });
          // Those of before stay ended when the member is enabled again.
          const ends = together([this.members.endLogins({ id }), this.links.end({ id })]);
          const end = isEnabledOrDisabled && isDisabled ? ends : known(undefined);
          return { changed, actions, query: together([update, end]) };
        }),
      () => undefined,
    );
    return this.get(write.accountId, id);
  }

  /** Ends the member's logins and frees the email. @throws Problem `MEMBER_NOT_FOUND`, `LAST_OWNER` */
  async remove(id: string, write: AccountWrite): Promise<void> {
    await this.writes.once(
      write,
      () =>
        this.change(id, write, () => ({
          changed: null,
          actions: ['member_removed'],
          query: together([this.members.delete(id), this.links.end({ id })]),
        })),
      () => undefined,
    );
  }

  /**
   * Sets a password and ends all logins of the member. Somebody invited joins by it, where it opens anything: an only
   * owner whom no link reaches has no other way in. @throws Problem `MEMBER_NOT_FOUND`, `INVALID_REQUEST`
   */
  async setPassword({ id, email }: Member, password: string, write: AccountWrite): Promise<void> {
    await requirePassword(password, email);
    const passwordHash = await this.passwords.hash(password);
    await this.change(id, write, (member) => {
      // Where it opens nothing, single sign-on goes on to know the member by the invitation.
      const joins = member.joinedAt === null && this.config.passwordLogin;
      const joinedAt = joins ? new Date() : member.joinedAt;
      return {
        changed: { ...member, passwordHash, joinedAt },
        actions: ['password_set', ...(joins ? ['member_joined' as const] : [])],
        query: together([
          this.members.update(id, { passwordHash, joinedAt }),
          this.members.endLogins({ id }),
          this.links.end({ id }),
        ]),
      };
    });
  }

  /**
   * Takes the second factor from a member who has lost it, and ends the logins. Without one, nothing changes.
   * @throws Problem `MEMBER_NOT_FOUND`; `OWN_TWO_FACTOR` for the caller's own
   */
  async resetTwoFactor(id: string, write: AccountWrite): Promise<void> {
    if (id === write.memberId) throw new Problem('OWN_TWO_FACTOR');
    await this.writes.once(
      write,
      () =>
        this.change(id, write, (member) => ({
          changed: { ...member, hasTwoFactor: false },
          actions: member.hasTwoFactor ? ['two_factor_removed'] : [],
          query: this.members.removeTwoFactor(id),
        })),
      () => undefined,
    );
  }

  /**
   * Changes a member under the lock of its account, with an event for each action. Does nothing in a retry after the
   * answer to COMMIT was lost.
   * @throws Problem `MEMBER_NOT_FOUND`, `LAST_OWNER`
   */
  async change(
    id: string,
    write: AccountWrite,
    decide: (member: Member, transaction: Session) => MemberChange | Promise<MemberChange>,
  ): Promise<void> {
    await this.database.pipelinedTransaction(async (transaction) => {
      if (!(await this.writes.isNew(transaction, write))) return;
      await transaction.one(this.accounts.lock(write.accountId));
      const member = (await transaction.one(this.members.find(write.accountId, id))) ?? throwNotFound();
      const { changed, actions, query, answer } = await decide(member, transaction);
      await this.requireOwner(transaction, member, changed);
      if (actions.length > 0) await transaction.commit([query, this.recordAll(write, actions, id, answer)]);
    });
  }

  /** @throws Problem `LAST_OWNER` if the change takes from the account the last owner who can log in */
  private async requireOwner(session: Session, before: Member, after: Member | null): Promise<void> {
    if (!this.isAbleOwner(before) || (after && this.isAbleOwner(after))) return;
    if (!(await session.one(this.members.hasOtherOwner(before)))) throw new Problem('LAST_OWNER');
  }

  /** As {@link MemberStore.hasOtherOwner} finds one. */
  private isAbleOwner(member: Member): boolean {
    return member.role === 'owner' && statusOf(member) === 'active' && this.signInsOf(member).length > 0;
  }

  /** The event that {@link AccountWriteService} stores, and further ones for further actions. */
  private recordAll(
    write: AccountWrite,
    [first, ...more]: readonly AuditAction[],
    id: string,
    answer: Answer = {},
  ): Query<unknown> {
    const { accountId, memberId, requestId, addressHash } = write;
    if (first === undefined) return known(undefined);
    return together([
      this.writes.record(write, { action: first, waitlistId: null, uuids: [id], ...answer }),
      ...more.map((action) => this.audit.record({ accountId, memberId, requestId, addressHash, action, uuids: [id] })),
    ]);
  }
}

function throwNotFound(): never {
  throw new Problem('MEMBER_NOT_FOUND');
}
