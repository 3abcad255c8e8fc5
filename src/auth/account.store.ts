import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { fromSqlTime } from '../platform/database/dialect.js';
import type { Session } from '../platform/database/session.js';
import { AccountEntity } from './account.entity.js';

@Injectable()
export class AccountStore {
  constructor(private readonly database: Database) {}

  async findById(session: Session, id: number): Promise<AccountEntity | null> {
    // Plain SQL, because every request of an owner runs it: see WaitlistStore.
    const [row]: Record<string, number | string | Date | null>[] = await session.query(
      `SELECT id, uuid, email, email_key, password_hash, token_version, disabled_at, created_at FROM account WHERE id = ?`,
      [id],
    );
    if (!row) return null;
    return {
      id: row.id as number,
      uuid: row.uuid as string,
      email: row.email as string,
      emailKey: row.email_key as string,
      passwordHash: row.password_hash as string,
      tokenVersion: row.token_version as number,
      disabledAt: row.disabled_at === null ? null : fromSqlTime(row.disabled_at as Date | string),
      createdAt: fromSqlTime(row.created_at as Date | string),
    };
  }

  async findByEmailKey(emailKey: string): Promise<AccountEntity | null> {
    return this.database.read((manager) => manager.findOneBy(AccountEntity, { emailKey }));
  }

  async isEmpty(): Promise<boolean> {
    return this.database.read(async (manager) => !(await manager.existsBy(AccountEntity, {})));
  }

  /** A repeat after a lost answer to COMMIT finds the account of the first run by its UUID. */
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
