import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { type AuditAction, AuditLog, NO_REQUEST, type Origin } from '../platform/audit/audit-log.js';
import { Database } from '../platform/database/database.js';
import { AccountEntity } from './account.entity.js';
import { AccountKeyEntity } from './account-key.entity.js';
import { LoginEntity } from './login.entity.js';

@Injectable()
export class AccountStore {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  async findByEmailKey(emailKey: string): Promise<AccountEntity | null> {
    return this.database.read((manager) => manager.findOneBy(AccountEntity, { emailKey }));
  }

  async getById(id: number): Promise<AccountEntity> {
    return this.database.read((manager) => manager.findOneByOrFail(AccountEntity, { id }));
  }

  async list(): Promise<AccountEntity[]> {
    return this.database.read((manager) => manager.find(AccountEntity, { order: { id: 'ASC' } }));
  }

  async hasAny(): Promise<boolean> {
    return this.database.read((manager) => manager.existsBy(AccountEntity, {}));
  }

  /** A repeat after a lost answer to COMMIT finds the account of the first run by its UUID. */
  async insert(account: Omit<AccountEntity, 'id'>): Promise<AccountEntity> {
    return this.database.transaction(async (manager, session) => {
      const { uuid } = account;
      const known = await manager.findOneBy(AccountEntity, { uuid });
      if (known) return known;
      await manager.insert(AccountEntity, { ...account });
      const inserted = await manager.findOneByOrFail(AccountEntity, { uuid });
      await session.one(this.audit.record({ accountId: inserted.id, action: 'account_created', ...NO_REQUEST }));
      return inserted;
    });
  }

  /** Sets the password and ends all logins but `kept`. Returns false and changes nothing if that one has ended. */
  async changePassword(kept: LoginEntity, passwordHash: string, origin: Origin): Promise<boolean> {
    const { accountId, tokenVersion } = kept;
    const event = { id: uuidV7(), accountId, action: 'password_changed', ...origin } as const;
    return this.database.transaction(async (manager, session) => {
      // A repeat after a lost answer to COMMIT finds the event of the first run.
      if ((await session.one(this.audit.findDone([event.id]))).size > 0) return true;
      const next = tokenVersion + 1;
      // The version also guards against a change or a disabled account since the password was verified.
      const changes = { passwordHash, tokenVersion: next };
      const { affected } = await manager.update(AccountEntity, { id: accountId, tokenVersion }, changes);
      if (affected !== 1) return false;
      await manager.update(LoginEntity, { id: kept.id }, { tokenVersion: next });
      await session.one(this.audit.record(event));
      return true;
    });
  }

  /** Changes an account and ends all its logins; if it is disabled, its keys too. */
  async change(
    id: number,
    action: AuditAction,
    change: Partial<Pick<AccountEntity, 'passwordHash' | 'disabledAt'>>,
  ): Promise<void> {
    const event = { id: uuidV7(), accountId: id, action, ...NO_REQUEST };
    const tokenVersion = () => 'token_version + 1';
    await this.database.transaction(async (manager, session) => {
      // A repeat after a lost answer to COMMIT finds the event of the first run.
      if ((await session.one(this.audit.findDone([event.id]))).size > 0) return;
      await manager.update(AccountEntity, { id }, { ...change, tokenVersion });
      if (change.disabledAt) await manager.delete(AccountKeyEntity, { accountId: id });
      await session.one(this.audit.record(event));
    });
  }
}
