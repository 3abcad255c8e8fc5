import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { toSqlTime } from '../platform/database/dialect.js';
import { Sweeper } from '../platform/database/sweeper.js';
import { mapped, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import type { AccountEntity } from './account.entity.js';
import { LoginEntity } from './login.entity.js';

/** A login that has not ended, and its account. */
export interface LiveLogin {
  readonly account: Pick<AccountEntity, 'id' | 'uuid'>;
  readonly login: LoginEntity;
}

/** Expired logins deleted in one transaction. */
const SWEEP_CHUNK = 1_000;
const IS_LIVE = 'l.revoked_at IS NULL AND l.expires_at > ?';

@Injectable()
export class LoginStore {
  private readonly logins: Table<LoginEntity>;

  constructor(
    private readonly database: Database,
    sweeper: Sweeper,
  ) {
    this.logins = database.table(LoginEntity);
    sweeper.add({ table: 'login', id: 'id', time: 'expires_at', before: () => new Date(), chunk: SWEEP_CHUNK });
  }

  /** Stores a new login, once: a retry after a lost answer to COMMIT finds its row. */
  async insert(login: LoginEntity): Promise<void> {
    try {
      await this.database.pipelinedTransaction((transaction) => transaction.commit([this.logins.insert([login])]));
    } catch (error) {
      // Its id is random.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** Null if the login was revoked or has expired, or its account was disabled or got a new password since. */
  findLive(id: string, accountId: number, now: Date): Query<LiveLogin | null> {
    return select<Row, LiveLogin | null>(
      `SELECT ${this.logins.select('l')}, a.uuid AS account_uuid
       FROM login l JOIN account a ON a.id = l.account_id AND a.token_version = l.token_version
       WHERE l.id = ? AND l.account_id = ? AND a.disabled_at IS NULL AND ${IS_LIVE}`,
      [id, accountId, toSqlTime(now)],
      ([row]) =>
        row ? { account: { id: accountId, uuid: String(row.account_uuid) }, login: this.logins.read(row) } : null,
    );
  }

  /**
   * Lets exactly one caller use the refresh token `jti` of a live login, and makes its `nextJti` the current one.
   * Returns the row after that to every caller; null if the login has ended.
   */
  rotate(id: string, jti: string, nextJti: string, now: Date): Query<LoginEntity | null> {
    const at = toSqlTime(now);
    const use = write(
      // MySQL assigns from left to right.
      `UPDATE login SET previous_jti = current_jti, current_jti = ?, last_used_at = ?
       WHERE id = ? AND current_jti = ? AND revoked_at IS NULL AND expires_at > ?`,
      [nextJti, at, id, jti, at],
    );
    const find = select<Row, LoginEntity | null>(
      // The lock keeps the row as it is until the caller has decided.
      `SELECT ${this.logins.select('l')} FROM login l WHERE l.id = ? AND ${IS_LIVE}
       ${this.database.dialect.forUpdate}`,
      [id, at],
      ([row]) => (row ? this.logins.read(row) : null),
    );
    return mapped(together([use, find]), ([, login]) => login);
  }

  /** The live logins of an account that were used since `usedSince`, the last used first. */
  listLive(accountId: number, now: Date, usedSince: Date, limit: number): Query<LoginEntity[]> {
    return select<Row, LoginEntity[]>(
      `SELECT ${this.logins.select('l')}
       FROM login l JOIN account a ON a.id = l.account_id AND a.token_version = l.token_version
       WHERE l.account_id = ? AND l.last_used_at > ? AND ${IS_LIVE} ORDER BY l.last_used_at DESC, l.id DESC LIMIT ?`,
      [accountId, toSqlTime(usedSince), toSqlTime(now), limit],
      (rows) => rows.map((row) => this.logins.read(row)),
    );
  }

  /** Revokes a login of the account. Returns whether it was live until then. */
  end(id: string, accountId: number, now: Date): Query<boolean> {
    const at = toSqlTime(now);
    const values = [id, accountId, at];
    const end = write(
      `UPDATE login SET revoked_at = ? WHERE id = ? AND account_id = ? AND revoked_at IS NULL AND expires_at > ?
       AND token_version = (SELECT a.token_version FROM account a WHERE a.id = login.account_id)`,
      [at, ...values],
    );
    const find = select<object, boolean>(
      'SELECT id FROM login WHERE id = ? AND account_id = ? AND revoked_at = ?',
      values,
      (rows) => rows.length > 0,
    );
    return mapped(together([end, find]), ([, isEnded]) => isEnded);
  }

  revoke(id: string, now: Date): Query<void> {
    return write('UPDATE login SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', [toSqlTime(now), id]);
  }
}
