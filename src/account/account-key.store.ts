import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../platform/database/database.js';
import { placeholders, toSqlTime } from '../platform/database/dialect.js';
import { type Query, select, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import type { AccountEntity } from './account.entity.js';
import { AccountKeyEntity } from './account-key.entity.js';

/** A key that is valid, and its account. */
export interface LiveKey {
  readonly account: Pick<AccountEntity, 'id' | 'uuid'>;
  readonly key: AccountKeyEntity;
}

@Injectable()
export class AccountKeyStore {
  private readonly keys: Table<AccountKeyEntity>;

  constructor(private readonly database: Database) {
    this.keys = database.table(AccountKeyEntity);
  }

  /** Null for an unknown, revoked or expired key, and for one of a disabled account. */
  findLive(by: { readonly keyHash: string } | { readonly id: number }, now: Date): Query<LiveKey | null> {
    const [column, value] = 'id' in by ? ['id', by.id] : ['key_hash', by.keyHash];
    return select<Row, LiveKey | null>(
      `SELECT ${this.keys.select('k')}, a.uuid AS account_uuid
       FROM account_key k JOIN account a ON a.id = k.account_id
       WHERE k.${column} = ? AND a.disabled_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`,
      [value, toSqlTime(now)],
      ([row]) => {
        if (!row) return null;
        const key = this.keys.read(row);
        return { account: { id: key.accountId, uuid: String(row.account_uuid) }, key };
      },
    );
  }

  /** The keys of an account, oldest first, expired ones included. */
  async list(accountId: number): Promise<AccountKeyEntity[]> {
    return this.database.read((manager) =>
      manager.find(AccountKeyEntity, { where: { accountId }, order: { id: 'ASC' } }),
    );
  }

  count(accountId: number): Query<number> {
    return select<{ total: unknown }, number>(
      'SELECT COUNT(*) AS total FROM account_key WHERE account_id = ?',
      [accountId],
      ([row]) => Number(row?.total),
    );
  }

  /** How many of these waitlists the account has. */
  countWaitlists(accountId: number, ids: readonly number[]): Query<number> {
    return select<{ total: unknown }, number>(
      `SELECT COUNT(*) AS total FROM waitlist WHERE account_id = ? AND id IN (${placeholders(ids.length)})`,
      [accountId, ...ids],
      ([row]) => Number(row?.total),
    );
  }

  insert(key: Omit<AccountKeyEntity, 'id'>): Query<void> {
    return this.keys.insert([key]);
  }

  async findByHash(manager: EntityManager, keyHash: string): Promise<AccountKeyEntity> {
    return manager.findOneByOrFail(AccountKeyEntity, { keyHash });
  }

  /** Sets the waitlists that a key opens. */
  limit(id: number, waitlistIds: readonly number[]): Query<void> {
    return this.keys.update({ id }, { waitlistIds });
  }

  deleteAll(accountId: number): Query<void> {
    return write('DELETE FROM account_key WHERE account_id = ?', [accountId]);
  }

  /** The keys of an account that open some waitlists only. */
  listLimited(accountId: number): Query<AccountKeyEntity[]> {
    return select<Row, AccountKeyEntity[]>(
      `SELECT ${this.keys.select('k')} FROM account_key k WHERE k.account_id = ? AND k.waitlist_ids IS NOT NULL`,
      [accountId],
      (rows) => rows.map((row) => this.keys.read(row)),
    );
  }

  /** Returns whether the account has this key. */
  async delete(manager: EntityManager, accountId: number, id: number): Promise<boolean> {
    const { affected } = await manager.delete(AccountKeyEntity, { id, accountId });
    return affected === 1;
  }

  /** Sets the time of the last use, unless another replica has stored one that is later than `before`. */
  noteUse(id: number, at: Date, before: Date): Query<void> {
    return write(
      'UPDATE account_key SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at <= ?)',
      [toSqlTime(at), id, toSqlTime(before)],
    );
  }
}
