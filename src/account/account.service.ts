import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { AuditLog, NO_REQUEST } from '../platform/audit/audit-log.js';
import type { AuditAction } from '../platform/audit/audit-record.js';
import { emailKey, invalidEmail } from '../platform/contract/email.js';
import { Database } from '../platform/database/database.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { type Query, together } from '../platform/database/session.js';
import { type AccountWrite, operatorWrite } from '../platform/idempotency/account-write.js';
import { AccountWriteService } from '../platform/idempotency/account-write.service.js';
import { Problem } from '../platform/problems/problem.js';
import type { AccountEntity } from './account.entity.js';
import { AccountKeyStore } from './account-key.store.js';
import { AccountStore, type OwnedAccount } from './account.store.js';
import { type MemberEntity, newMember } from './member.entity.js';
import { MemberLinkStore } from './member-link.store.js';
import { MemberStore } from './member.store.js';
import { PasswordHasher } from './password-hasher.js';
import { requirePassword } from './password-strength.js';

export type Account = Readonly<AccountEntity>;
export type { OwnedAccount };

/** What is undefined stays as it is. */
export type AccountChanges = Partial<Pick<Account, 'name' | 'requireTwoFactor'>>;

/** The ids of an account and of the owner that it begins with, who without a password is invited. */
export interface NewAccount extends Pick<MemberEntity, 'email' | 'emailKey' | 'passwordHash'> {
  readonly uuid: string;
  readonly ownerId: string;
}

/** A new account and the owner that it begins with. */
export interface CreatedAccount {
  readonly account: Account;
  readonly owner: Readonly<MemberEntity>;
}

@Injectable()
export class AccountService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly members: MemberStore,
    private readonly links: MemberLinkStore,
    private readonly keys: AccountKeyStore,
    private readonly passwords: PasswordHasher,
    private readonly writes: AccountWriteService,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Creates an account with its first member, an owner: without a password as invited, to sign in by single sign-on. A
   * random password is not checked: loading the word lists of the check takes a quarter of a first start.
   * @throws Problem `INVALID_REQUEST` for a bad email or password, `ACCOUNT_EXISTS`
   */
  async create(email: string, password: string | null, { isRandom = false } = {}): Promise<CreatedAccount> {
    const key = emailKey(email);
    if (key === null) throw Problem.invalid([{ ...invalidEmail(email), field: 'email' }]);
    if (password !== null && !isRandom) await requirePassword(password, email);
    const passwordHash = password === null ? null : await this.passwords.hash(password);
    return this.insert({ uuid: uuidV7(), ownerId: uuidV7(), email: email.trim(), emailKey: key, passwordHash });
  }

  /** A repeat after a lost answer to COMMIT finds the account of the first run by its UUID. */
  async insert({ uuid, ownerId, email, emailKey: key, passwordHash }: NewAccount): Promise<CreatedAccount> {
    const now = new Date();
    const row = { uuid, name: null, requireTwoFactor: false, disabledAt: null, createdAt: now, revision: 0 };
    const ownerOf = ({ id: accountId }: Account): MemberEntity => ({
      ...newMember({ id: ownerId, accountId, email, emailKey: key, role: 'owner', createdAt: now }),
      passwordHash,
      joinedAt: passwordHash === null ? null : now,
    });
    try {
      return await this.database.pipelinedTransaction(async (transaction) => {
        const known = await transaction.one(this.accounts.findByUuid(uuid));
        if (known) return { account: known, owner: ownerOf(known) };
        const [, account] = await transaction.all([this.accounts.insert(row), this.accounts.findByUuid(uuid)]);
        const owner = ownerOf(account!);
        const event = { ...NO_REQUEST, accountId: account!.id, action: 'account_created' } as const;
        await transaction.commit([this.members.insert(owner), this.audit.record(event)]);
        return { account: account!, owner };
      });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      throw new Problem('ACCOUNT_EXISTS');
    }
  }

  /** @throws Problem `INVALID_REQUEST` for a password that a member must not have */
  async requirePassword(password: string, email: string): Promise<void> {
    await requirePassword(password, email);
  }

  async get(id: number): Promise<Account> {
    return (await this.database.one(this.accounts.find(id))) ?? throwNotFound();
  }

  /** The account of an active owner. @throws Problem `ACCOUNT_NOT_FOUND` */
  async getByOwner(email: string): Promise<Account> {
    return (await this.database.one(this.accounts.findByOwner(emailKey(email) ?? ''))) ?? throwNotFound();
  }

  /** All accounts, oldest first. */
  async list(): Promise<OwnedAccount[]> {
    return this.database.one(this.accounts.listAll());
  }

  async hasAny(): Promise<boolean> {
    return this.database.read((manager) => this.accounts.hasAny(manager));
  }

  async update(changes: AccountChanges, write: AccountWrite): Promise<Account> {
    const { accountId } = write;
    const isChange = Object.values<unknown>(changes).some((value) => value !== undefined);
    const work = async () => {
      if (isChange) await this.change(write, 'account_updated', this.accounts.update(accountId, changes));
    };
    await this.writes.once(write, work, () => undefined);
    return this.get(accountId);
  }

  /** Ends the access of all members and keys at once, those of keys for good. @throws Problem `ACCOUNT_NOT_FOUND` */
  async disable(email: string): Promise<void> {
    const { id } = await this.getByOwner(email);
    const disable = this.accounts.update(id, { disabledAt: new Date() });
    const ends = [
      this.members.endLogins({ accountId: id }),
      this.links.end({ accountId: id }),
      this.keys.deleteAll(id),
    ];
    await this.change(operatorWrite(id), 'account_disabled', together([disable, ...ends]));
  }

  /** Lets the members log in again. Logins and links of before stay ended. @throws Problem `ACCOUNT_NOT_FOUND` */
  async enable(email: string): Promise<void> {
    const { id } = await this.getByOwner(email);
    await this.change(operatorWrite(id), 'account_enabled', this.accounts.update(id, { disabledAt: null }));
  }

  /** Does nothing in a retry after the answer to COMMIT was lost. */
  private async change(write: AccountWrite, action: AuditAction, query: Query<unknown>): Promise<void> {
    await this.database.pipelinedTransaction(async (transaction) => {
      if (!(await this.writes.isNew(transaction, write))) return;
      await transaction.one(this.accounts.lock(write.accountId));
      await transaction.commit([query, this.writes.record(write, { action, waitlistId: null })]);
    });
  }
}

function throwNotFound(): never {
  throw new Problem('ACCOUNT_NOT_FOUND');
}
