import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { placeholders, toSqlTime } from '../platform/database/dialect.js';
import { known, type Query, select } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { MemberMailEntity } from '../outbox/member-mail.entity.js';
import type { AddressedMember } from './mail-texts.js';

/** The mails to members that wait to be sent. */
@Injectable()
export class DueMemberMailStore {
  private readonly mails: Table<MemberMailEntity>;

  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
  ) {
    this.mails = database.table(MemberMailEntity);
  }

  /**
   * The ids of due mails, at most `limit`. Accounts take turns: a rush of one delays the others by a mail at most. The
   * bounds keep what waits so small that it is read whole. A mail under a secret that this process does not list waits
   * for one that does.
   */
  findDue(now: Date, limit: number): Query<string[]> {
    const { ids } = this.secrets;
    return select<{ id: string }, string[]>(
      `SELECT d.id FROM (
         SELECT m.id, m.next_attempt_at, ROW_NUMBER() OVER (PARTITION BY m.account_id ORDER BY m.next_attempt_at, m.id) AS turn
         FROM member_mail m
         WHERE m.status = 'pending' AND m.next_attempt_at <= ?
           AND SUBSTR(m.sealed_link, 1, INSTR(m.sealed_link, '.') - 1) IN (${placeholders(ids.length)})) d
       ORDER BY d.turn, d.next_attempt_at LIMIT ?`,
      [toSqlTime(now), ...ids, limit],
      (rows) => rows.map(({ id }) => id),
    );
  }

  /** Locks those of these mails that are still due. Whatever ends their links waits for the claim. */
  lockDue(ids: readonly string[], now: Date): Query<MemberMailEntity[]> {
    if (ids.length === 0) return known([]);
    return select<Row, MemberMailEntity[]>(
      `SELECT ${this.mails.select('m')} FROM member_mail m
       WHERE m.id IN (${placeholders(ids.length)}) AND m.status = 'pending' AND m.next_attempt_at <= ?
       ${this.database.dialect.skipLocked}`,
      [...ids, toSqlTime(now)],
      (rows) => rows.map((row) => this.mails.read(row)),
    );
  }

  /** The members of these mails, by the id of the mail. */
  findAddressed(ids: readonly string[]): Query<ReadonlyMap<string, AddressedMember>> {
    if (ids.length === 0) return known(new Map());
    type Found = { id: string; email: string; role: string; account_name: string | null };
    return select<Found, ReadonlyMap<string, AddressedMember>>(
      `SELECT m.id, b.email, b.role, a.name AS account_name
       FROM member_mail m JOIN member b ON b.id = m.member_id JOIN account a ON a.id = b.account_id
       WHERE m.id IN (${placeholders(ids.length)})`,
      ids,
      (rows) =>
        new Map(rows.map(({ id, email, role, account_name: accountName }) => [id, { email, role, accountName }])),
    );
  }

  change(id: string, change: Partial<MemberMailEntity>): Query<void> {
    return this.mails.update({ id }, change);
  }

  /** Stores the result of an attempt, unless the mail was dropped or claimed again meanwhile. */
  settle({ id, attempts }: MemberMailEntity, change: Partial<MemberMailEntity>): Query<void> {
    return this.mails.update({ id, attempts, status: 'pending' }, change);
  }
}
