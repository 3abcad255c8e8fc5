import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../platform/database/database.js';
import { mapped, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { AccountEntity } from './account.entity.js';
import { IS_ACTIVE } from './member.entity.js';

/** An account, with the email of its longest-standing active owner; null without one. */
export interface OwnedAccount extends AccountEntity {
  readonly ownerEmail: string | null;
}

@Injectable()
export class AccountStore {
  private readonly accounts: Table<AccountEntity>;

  constructor(database: Database) {
    this.accounts = database.table(AccountEntity);
  }

  find(id: number): Query<AccountEntity | null> {
    return this.findOne('a.id = ?', [id]);
  }

  findByUuid(uuid: string): Query<AccountEntity | null> {
    return this.findOne('a.uuid = ?', [uuid]);
  }

  /** The account that has an active owner with this email, whether it is disabled or not. */
  findByOwner(emailKey: string): Query<AccountEntity | null> {
    return this.findOne(
      `a.id = (SELECT m.account_id FROM member m WHERE m.email_key = ? AND m.role = 'owner' AND ${IS_ACTIVE})`,
      [emailKey],
    );
  }

  /** All accounts, oldest first. */
  listAll(): Query<OwnedAccount[]> {
    return select<Row, OwnedAccount[]>(
      `SELECT ${this.accounts.select('a')}, o.email AS owner_email
       FROM account a LEFT JOIN member o ON o.id =
         (SELECT MIN(m.id) FROM member m WHERE m.account_id = a.id AND m.role = 'owner' AND ${IS_ACTIVE})
       ORDER BY a.id`,
      [],
      (rows) => rows.map((row) => ({ ...this.accounts.read(row), ownerEmail: row.owner_email as string | null })),
    );
  }

  async hasAny(manager: EntityManager): Promise<boolean> {
    return manager.existsBy(AccountEntity, {});
  }

  /**
   * Locks the account, so that changes of its members and keys run one after the other. It writes the row: a cluster
   * with several writing nodes detects conflicting writes, not conflicting locks.
   */
  lock(id: number): Query<AccountEntity> {
    const touch = write('UPDATE account SET revision = revision + 1 WHERE id = ?', [id]);
    return mapped(together([touch, this.find(id)]), ([, account]) => account as AccountEntity);
  }

  insert(account: Omit<AccountEntity, 'id'>): Query<void> {
    return this.accounts.insert([account]);
  }

  update(id: number, change: Partial<AccountEntity>): Query<void> {
    return this.accounts.update({ id }, change);
  }

  private findOne(condition: string, values: readonly unknown[]): Query<AccountEntity | null> {
    return select<Row, AccountEntity | null>(
      `SELECT ${this.accounts.select('a')} FROM account a WHERE ${condition}`,
      values,
      ([row]) => (row ? this.accounts.read(row) : null),
    );
  }
}
