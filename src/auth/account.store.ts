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

  async insert(account: Omit<AccountEntity, 'id'>): Promise<AccountEntity> {
    return this.database.transaction((manager) => manager.save(manager.create(AccountEntity, account)));
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
