import { Inject, Injectable } from '@nestjs/common';
import { MoreThan } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { Database } from '../platform/database/database.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { placeholders, toSqlTime } from '../platform/database/dialect.js';
import { Sweeper } from '../platform/database/sweeper.js';
import { mapped, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import type { AccountEntity } from '../account/account.entity.js';
import { MemberEntity } from '../account/member.entity.js';
import { AuditLog, type Origin } from '../platform/audit/audit-log.js';
import type { CallingMember } from './caller.js';
import { type Config, CONFIG } from '../platform/config/config.js';
import { LoginEntity } from './login.entity.js';

/** A login that has not ended, its member, and their account. */
export interface LiveLogin {
  readonly account: Pick<AccountEntity, 'id' | 'uuid'>;
  readonly member: CallingMember & Pick<MemberEntity, 'email' | 'emailKey'>;
  readonly login: LoginEntity;
}

/** Expired logins deleted in one transaction. */
const SWEEP_CHUNK = 1_000;

@Injectable()
export class LoginStore {
  private readonly logins: Table<LoginEntity>;
  private readonly members: Table<MemberEntity>;
  /** Of a login `l`, with the present time as its value. */
  private readonly isLive: string;
  /** Whether those made by password remain to be deleted. */
  private hasPasswordLogins: boolean;

  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
    sweeper: Sweeper,
    @Inject(CONFIG) { passwordLogin }: Config,
  ) {
    this.logins = database.table(LoginEntity);
    this.members = database.table(MemberEntity);
    this.isLive = `l.revoked_at IS NULL AND l.expires_at > ?${passwordLogin ? '' : " AND l.method = 'sso'"}`;
    this.hasPasswordLogins = !passwordLogin;
    sweeper.add({ table: 'login', id: 'id', time: 'expires_at', before: () => new Date(), chunk: SWEEP_CHUNK });
    sweeper.addWork((isStopped) => this.deletePasswordLogins(isStopped));
  }

  /** Stores a new login, once: a retry after a lost answer to COMMIT finds its row. */
  async insert(login: LoginEntity): Promise<void> {
    const note = this.members.update({ id: login.memberId }, { lastLoginAt: login.createdAt });
    try {
      await this.database.pipelinedTransaction((transaction) =>
        transaction.commit([this.logins.insert([login]), note]),
      );
    } catch (error) {
      // Its id is random.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /**
   * Null if the login was revoked or has expired, or its member was removed, was disabled or got a new password since,
   * or their account was disabled.
   */
  findLive(id: string, now: Date): Query<LiveLogin | null> {
    return select<Row, LiveLogin | null>(
      `SELECT ${this.logins.select('l')}, m.account_id, m.email, m.email_key, m.role,
         m.has_two_factor, a.uuid AS account_uuid, a.require_two_factor
       FROM login l JOIN member m ON m.id = l.member_id AND m.token_version = l.token_version
       JOIN account a ON a.id = m.account_id
       WHERE l.id = ? AND m.disabled_at IS NULL AND a.disabled_at IS NULL AND ${this.isLive}`,
      [id, toSqlTime(now)],
      ([row]) => {
        if (!row) return null;
        const login = this.logins.read(row);
        const { email, emailKey, role, hasTwoFactor } = this.members.read(row);
        const account = { id: Number(row.account_id), uuid: String(row.account_uuid) };
        // A sign-in at the provider has the factors that the provider asks for.
        const lacksTwoFactor = login.method === 'password' && Boolean(row.require_two_factor) && !hasTwoFactor;
        return { account, member: { id: login.memberId, email, emailKey, role, lacksTwoFactor }, login };
      },
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
      `SELECT ${this.logins.select('l')} FROM login l WHERE l.id = ? AND ${this.isLive}
       ${this.database.dialect.forUpdate}`,
      [id, at],
      ([row]) => (row ? this.logins.read(row) : null),
    );
    return mapped(together([use, find]), ([, login]) => login);
  }

  /** The live logins of a member that were used since `usedSince`, the last used first. */
  listLive(memberId: string, now: Date, usedSince: Date, limit: number): Query<LoginEntity[]> {
    return select<Row, LoginEntity[]>(
      `SELECT ${this.logins.select('l')}
       FROM login l JOIN member m ON m.id = l.member_id AND m.token_version = l.token_version
       WHERE l.member_id = ? AND l.last_used_at > ? AND ${this.isLive} ORDER BY l.last_used_at DESC, l.id DESC LIMIT ?`,
      [memberId, toSqlTime(usedSince), toSqlTime(now), limit],
      (rows) => rows.map((row) => this.logins.read(row)),
    );
  }

  /** Revokes a login of the member. Returns whether it was live until then. */
  end(id: string, memberId: string, now: Date): Query<boolean> {
    const at = toSqlTime(now);
    const values = [id, memberId, at];
    const end = write(
      `UPDATE login SET revoked_at = ? WHERE id = ? AND member_id = ? AND revoked_at IS NULL AND expires_at > ?
       AND token_version = (SELECT m.token_version FROM member m WHERE m.id = login.member_id)`,
      [at, ...values],
    );
    const find = select<object, boolean>(
      'SELECT id FROM login WHERE id = ? AND member_id = ? AND revoked_at = ?',
      values,
      (rows) => rows.length > 0,
    );
    return mapped(together([end, find]), ([, isEnded]) => isEnded);
  }

  revoke(id: string, now: Date): Query<void> {
    return write('UPDATE login SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', [toSqlTime(now), id]);
  }

  /** Ends all logins of the member but `kept`. Lock the member before, and check that its version is that of `kept`. */
  endOthers({ id, memberId, tokenVersion }: LoginEntity): Query<unknown> {
    const next = { tokenVersion: tokenVersion + 1 };
    return together([this.members.update({ id: memberId }, next), this.logins.update({ id }, next)]);
  }

  /**
   * Sets the member's password and ends all logins but `kept`. Returns false and changes nothing if that one has ended.
   * `ending` ends what else a changed password ends.
   */
  async changePassword(
    kept: LoginEntity,
    accountId: number,
    passwordHash: string,
    ending: Query<unknown>,
    origin: Origin,
  ): Promise<boolean> {
    const { memberId, tokenVersion } = kept;
    const event = { id: uuidV7(), accountId, action: 'password_changed', ...origin } as const;
    return this.database.transaction(async (manager, session) => {
      // A repeat after a lost answer to COMMIT finds the event of the first run.
      if ((await session.one(this.audit.findDone([event.id]))).size > 0) return true;
      const next = tokenVersion + 1;
      // The version also guards against a change or a disabled member since the password was verified.
      const changes = { passwordHash, tokenVersion: next };
      const { affected } = await manager.update(MemberEntity, { id: memberId, tokenVersion }, changes);
      if (affected !== 1) return false;
      await manager.update(LoginEntity, { id: kept.id }, { tokenVersion: next });
      await session.all([ending, this.audit.record(event)]);
      return true;
    });
  }

  /** Lets the login's browser link an identity with a token that has this hash. An earlier token ends. */
  allowLink(id: string, hash: string, expiresAt: Date): Query<void> {
    return this.logins.update({ id }, { linkHash: hash, linkExpiresAt: expiresAt });
  }

  /** Whether the token with this hash was good until now. */
  async takeLink(id: string, hash: string, now: Date): Promise<boolean> {
    return this.database.transaction(async (manager) => {
      const unused = { id, linkHash: hash, linkExpiresAt: MoreThan(now) };
      const { affected } = await manager.update(LoginEntity, unused, { linkHash: null, linkExpiresAt: null });
      return affected === 1;
    });
  }

  /** Once passwords are off, logins that were made by one end for good, so that none returns with the passwords. */
  private async deletePasswordLogins(isStopped: () => boolean): Promise<void> {
    let afterId = '';
    while (this.hasPasswordLogins && !isStopped()) {
      const ids = await this.database.one(
        select<{ id: string }, string[]>(
          "SELECT id FROM login WHERE id > ? AND method = 'password' ORDER BY id LIMIT ?",
          [afterId, SWEEP_CHUNK],
          (rows) => rows.map(({ id }) => id),
        ),
      );
      if (ids.length > 0) {
        const deletion = write(`DELETE FROM login WHERE id IN (${placeholders(ids.length)})`, ids);
        await this.database.pipelinedTransaction((transaction) => transaction.commit([deletion]));
      }
      this.hasPasswordLogins = ids.length === SWEEP_CHUNK;
      afterId = ids.at(-1) ?? afterId;
    }
  }
}
