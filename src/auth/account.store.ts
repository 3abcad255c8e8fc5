import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { AccountEntity } from './account.entity.js';

@Injectable()
export class AccountStore {
  constructor(private readonly database: Database) {}

  async findByEmailKey(emailKey: string): Promise<AccountEntity | null> {
    return this.database.read((manager) => manager.findOneBy(AccountEntity, { emailKey }));
  }

  async list(): Promise<AccountEntity[]> {
    return this.database.read((manager) => manager.find(AccountEntity, { order: { id: 'ASC' } }));
  }

  async hasAny(): Promise<boolean> {
    return this.database.read((manager) => manager.existsBy(AccountEntity, {}));
  }

  /** A repeat after a lost answer to COMMIT finds the account of the first run by its UUID. */
  async insert(account: Omit<AccountEntity, 'id'>): Promise<AccountEntity> {
    return this.database.transaction(async (manager) => {
      const { uuid } = account;
      if (!(await manager.existsBy(AccountEntity, { uuid }))) await manager.insert(AccountEntity, { ...account });
      return manager.findOneByOrFail(AccountEntity, { uuid });
    });
  }

  /** Changes an account and ends all its logins. */
  async change(id: number, change: Partial<Pick<AccountEntity, 'passwordHash' | 'disabledAt'>>): Promise<void> {
    const tokenVersion = () => 'token_version + 1';
    await this.database.transaction((manager) => manager.update(AccountEntity, { id }, { ...change, tokenVersion }));
  }
}
