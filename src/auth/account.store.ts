import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { AccountEntity } from './account.entity.js';

@Injectable()
export class AccountStore {
  constructor(private readonly database: Database) {}

  async findById(id: number): Promise<AccountEntity | null> {
    return this.database.read((manager) => manager.findOneBy(AccountEntity, { id }));
  }

  async findByEmailKey(emailKey: string): Promise<AccountEntity | null> {
    return this.database.read((manager) => manager.findOneBy(AccountEntity, { emailKey }));
  }

  async isEmpty(): Promise<boolean> {
    return this.database.read(async (manager) => !(await manager.existsBy(AccountEntity, {})));
  }

  /** A repeat after a lost answer to the commit finds, by its UUID, the account that it made. */
  async insert(account: Omit<AccountEntity, 'id'>): Promise<AccountEntity> {
    return this.database.transaction(async (manager) => {
      const { uuid } = account;
      if (!(await manager.existsBy(AccountEntity, { uuid }))) await manager.insert(AccountEntity, { ...account });
      return manager.findOneByOrFail(AccountEntity, { uuid });
    });
  }

  async setPassword(id: number, passwordHash: string): Promise<void> {
    await this.database.transaction(async (manager) => {
      await manager.update(AccountEntity, { id }, { passwordHash });
      await manager.increment(AccountEntity, { id }, 'tokenVersion', 1);
    });
  }

  async disable(id: number, at: Date): Promise<void> {
    await this.database.transaction(async (manager) => {
      await manager.update(AccountEntity, { id }, { disabledAt: at });
      await manager.increment(AccountEntity, { id }, 'tokenVersion', 1);
    });
  }
}
