import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { type Query, select } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { AccountEntity } from './account.entity.js';

@Injectable()
export class AccountStore {
  private readonly accounts: Table<AccountEntity>;

  constructor(private readonly database: Database) {
    this.accounts = database.table(AccountEntity);
  }

  findById(id: number): Query<AccountEntity | null> {
    return select<Row, AccountEntity | null>(
      `SELECT ${this.accounts.select('a')} FROM account a WHERE a.id = ?`,
      [id],
      ([row]) => (row ? this.accounts.read(row) : null),
    );
  }

  async findByEmailKey(emailKey: string): Promise<AccountEntity | null> {
    return this.database.read((manager) => manager.findOneBy(AccountEntity, { emailKey }));
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

  /** Changes an account and ends all its tokens. */
  async change(id: number, change: Partial<Pick<AccountEntity, 'passwordHash' | 'disabledAt'>>): Promise<void> {
    const tokenVersion = () => 'token_version + 1';
    await this.database.transaction((manager) => manager.update(AccountEntity, { id }, { ...change, tokenVersion }));
  }
}
