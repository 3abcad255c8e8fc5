import { Injectable } from '@nestjs/common';
import { MemberEntity } from '../account/member.entity.js';
import { Database } from '../platform/database/database.js';
import { type Query, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { TwoFactorEntity } from './two-factor.entity.js';

const LOCKED = ['id', 'accountId', 'emailKey', 'hasTwoFactor', 'tokenVersion'] as const;

/** A locked member, with the factor that holds or is being set up; null without one. */
export interface LockedMember extends Pick<MemberEntity, (typeof LOCKED)[number]> {
  readonly factor: TwoFactorEntity | null;
}

@Injectable()
export class TwoFactorStore {
  private readonly factors: Table<TwoFactorEntity>;
  private readonly members: Table<MemberEntity>;

  constructor(private readonly database: Database) {
    this.factors = database.table(TwoFactorEntity);
    this.members = database.table(MemberEntity);
  }

  /** Locks a member, so that two codes are judged one after the other. Null for one who was removed. */
  lock(memberId: string): Query<LockedMember | null> {
    const find = {
      sql: `SELECT ${this.members.selectOnly('m', LOCKED)}, ${this.factors.select('f')}
        FROM member m LEFT JOIN two_factor f ON f.member_id = m.id WHERE m.id = ?`,
      values: [memberId],
    };
    return {
      statements: this.database.dialect.lock('member', 'id', find),
      read: (answers) => {
        const [row] = answers.at(-1) as readonly Row[];
        if (!row) return null;
        const { id, accountId, emailKey, hasTwoFactor, tokenVersion } = this.members.read(row);
        return {
          id,
          accountId,
          emailKey,
          hasTwoFactor,
          tokenVersion,
          factor: row.member_id === null ? null : this.factors.read(row),
        };
      },
    };
  }

  insert(factor: TwoFactorEntity): Query<void> {
    return this.factors.insert([factor]);
  }

  update(memberId: string, change: Partial<TwoFactorEntity>): Query<void> {
    return this.factors.update({ memberId }, change);
  }

  delete(memberId: string): Query<void> {
    return write('DELETE FROM two_factor WHERE member_id = ?', [memberId]);
  }

  /** Sets whether a login by password of the member needs a code. */
  turn(memberId: string, hasTwoFactor: boolean): Query<void> {
    return this.members.update({ id: memberId }, { hasTwoFactor });
  }
}
