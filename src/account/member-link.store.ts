import { Injectable } from '@nestjs/common';
import { MemberMailStore } from '../outbox/member-mail.store.js';
import { Database } from '../platform/database/database.js';
import { fromSqlTime, toSqlTime } from '../platform/database/dialect.js';
import { type Query, select, together, write } from '../platform/database/session.js';
import { Sweeper } from '../platform/database/sweeper.js';
import type { Row, Table } from '../platform/database/table.js';
import { MemberEntity } from './member.entity.js';
import { MemberLinkEntity, type MemberLinkKind } from './member-link.entity.js';

/** Rows deleted in one transaction. */
const SWEEP_CHUNK = 1_000;

/** A link that works, and its member. */
export interface LiveLink {
  readonly member: MemberEntity;
  readonly accountName: string | null;
  readonly expiresAt: Date;
}

/** The links by which members set a password. */
@Injectable()
export class MemberLinkStore {
  private readonly links: Table<MemberLinkEntity>;
  private readonly members: Table<MemberEntity>;

  constructor(
    database: Database,
    private readonly mails: MemberMailStore,
    sweeper: Sweeper,
  ) {
    this.links = database.table(MemberLinkEntity);
    this.members = database.table(MemberEntity);
    sweeper.add({
      table: 'member_link',
      id: 'token_hash',
      time: 'expires_at',
      before: () => new Date(),
      chunk: SWEEP_CHUNK,
    });
  }

  insert(link: MemberLinkEntity): Query<void> {
    return this.links.insert([link]);
  }

  /** Null if it is unknown, used, ended or expired, or its account is disabled. */
  findLive(kind: MemberLinkKind, tokenHash: string, now: Date): Query<LiveLink | null> {
    return select<Row, LiveLink | null>(
      `SELECT ${this.members.select('m')}, a.name AS account_name, l.expires_at
       FROM member_link l JOIN member m ON m.id = l.member_id JOIN account a ON a.id = m.account_id
       WHERE l.token_hash = ? AND l.kind = ? AND l.expires_at > ? AND a.disabled_at IS NULL`,
      [tokenHash, kind, toSqlTime(now)],
      ([row]) =>
        row
          ? {
              member: this.members.read(row),
              accountName: row.account_name as string | null,
              expiresAt: fromSqlTime(row.expires_at as Date | string),
            }
          : null,
    );
  }

  /** Ends the links of a member, or of all members of an account, also those that wait to be mailed. */
  end(of: { readonly id: string } | { readonly accountId: number }): Query<unknown> {
    const deletion =
      'id' in of
        ? write('DELETE FROM member_link WHERE member_id = ?', [of.id])
        : write('DELETE FROM member_link WHERE member_id IN (SELECT m.id FROM member m WHERE m.account_id = ?)', [
            of.accountId,
          ]);
    return together([deletion, this.mails.drop(of)]);
  }
}
