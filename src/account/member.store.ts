import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import type { PageAfter } from '../platform/page.js';
import { IS_ACTIVE, MemberEntity } from './member.entity.js';

/** A member, and whether its account is disabled. */
export interface MemberAndAccount {
  readonly member: MemberEntity;
  readonly isAccountDisabled: boolean;
}

@Injectable()
export class MemberStore {
  private readonly members: Table<MemberEntity>;

  constructor(
    database: Database,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.members = database.table(MemberEntity);
  }

  /** A member of the account. */
  find(accountId: number, id: string): Query<MemberEntity | null> {
    return select<Row, MemberEntity | null>(
      `SELECT ${this.members.select('m')} FROM member m WHERE m.id = ? AND m.account_id = ?`,
      [id, accountId],
      ([row]) => (row ? this.members.read(row) : null),
    );
  }

  /** A member of any account. */
  findByEmail(emailKey: string): Query<MemberAndAccount | null> {
    return this.findOne('m.email_key = ?', [emailKey]);
  }

  /** A member of any account, by who it is at a provider of single sign-on. */
  findByIdentity(issuer: string, subject: string): Query<MemberAndAccount | null> {
    return this.findOne('m.sso_issuer = ? AND m.sso_subject = ?', [issuer, subject]);
  }

  /** At most `limit` members of the account, in the order of their ids. */
  list(accountId: number, { afterId, limit }: PageAfter<string>): Query<MemberEntity[]> {
    return select<Row, MemberEntity[]>(
      `SELECT ${this.members.select('m')} FROM member m WHERE m.account_id = ? AND m.id > ? ORDER BY m.id LIMIT ?`,
      [accountId, afterId ?? '', limit],
      (rows) => rows.map((row) => this.members.read(row)),
    );
  }

  count(accountId: number): Query<number> {
    return select<{ total: unknown }, number>(
      'SELECT COUNT(*) AS total FROM member WHERE account_id = ?',
      [accountId],
      ([row]) => Number(row?.total),
    );
  }

  /** Whether another member of the account is an active owner who can log in. */
  hasOtherOwner({ id, accountId }: Pick<MemberEntity, 'id' | 'accountId'>): Query<boolean> {
    const { passwordLogin, sso } = this.config;
    // As signInsOf finds a way.
    const ways = [...(passwordLogin ? ['m.password_hash IS NOT NULL'] : []), ...(sso ? ['m.sso_issuer = ?'] : [])];
    return select<object, boolean>(
      `SELECT m.id FROM member m
       WHERE m.account_id = ? AND m.id <> ? AND m.role = 'owner' AND ${IS_ACTIVE} AND (${ways.join(' OR ')}) LIMIT 1`,
      [accountId, id, ...(sso ? [sso.issuer] : [])],
      (rows) => rows.length > 0,
    );
  }

  insert(member: MemberEntity): Query<void> {
    return this.members.insert([member]);
  }

  update(id: string, change: Partial<MemberEntity>): Query<void> {
    return this.members.update({ id }, change);
  }

  /** Ends the logins of a member, or of all members of an account. */
  endLogins(of: { readonly id: string } | { readonly accountId: number }): Query<void> {
    const [column, value] = 'id' in of ? ['id', of.id] : ['account_id', of.accountId];
    return write(`UPDATE member SET token_version = token_version + 1 WHERE ${column} = ?`, [value]);
  }

  /** Also ends the logins of the member. */
  removeTwoFactor(id: string): Query<unknown> {
    return together([this.members.update({ id }, { hasTwoFactor: false }), this.endLogins({ id }), deleteFactor(id)]);
  }

  /** Also deletes the member's logins and second factor. */
  delete(id: string): Query<unknown> {
    return together([
      write('DELETE FROM member WHERE id = ?', [id]),
      write('DELETE FROM login WHERE member_id = ?', [id]),
      deleteFactor(id),
    ]);
  }

  private findOne(condition: string, values: readonly unknown[]): Query<MemberAndAccount | null> {
    return select<Row, MemberAndAccount | null>(
      `SELECT ${this.members.select('m')}, a.disabled_at AS account_disabled_at
       FROM member m JOIN account a ON a.id = m.account_id WHERE ${condition}`,
      values,
      ([row]) => (row ? { member: this.members.read(row), isAccountDisabled: row.account_disabled_at !== null } : null),
    );
  }
}

function deleteFactor(memberId: string): Query<void> {
  return write('DELETE FROM two_factor WHERE member_id = ?', [memberId]);
}
