import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { chunksOf, fromSqlTime } from '../platform/database/dialect.js';
import { type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import type { Contender } from '../platform/limits/turns.js';
import { WelcomeMailEntity } from './welcome-mail.entity.js';

/** Rows in one statement: SQLite takes 32,766 parameters. */
const ROWS_MAX = 500;

/** A waitlist with welcomes that are no mails yet, and the time of the first. */
export interface WelcomingWaitlist extends Contender {
  readonly since: Date;
}

/** The welcomes that are no mails yet. */
@Injectable()
export class WelcomeMailStore {
  private readonly welcomes: Table<WelcomeMailEntity>;

  constructor(private readonly database: Database) {
    this.welcomes = database.table(WelcomeMailEntity);
  }

  /** In the transaction that puts the records into the queue. */
  insert(welcomes: readonly WelcomeMailEntity[]): Query<unknown> {
    return together(chunksOf(welcomes, ROWS_MAX).map((some) => this.welcomes.insert(some)));
  }

  /** Waitlists with rows here. It searches the key for each next one, however many rows there are. */
  findWaitlists(): Query<WelcomingWaitlist[]> {
    const first = (condition: string, column: 'waitlist_id' | 'created_at') =>
      `(SELECT m.${column} FROM welcome_mail m ${this.database.dialect.byPrimaryKey()}
        WHERE m.waitlist_id ${condition} ORDER BY m.waitlist_id, m.waiter_uuid LIMIT 1)`;
    return select<{ id: number; account_id: number | null; since: Date | string | null }, WelcomingWaitlist[]>(
      `WITH RECURSIVE step (id) AS (
         SELECT ${first('> 0', 'waitlist_id')}
         UNION ALL SELECT ${first('> s.id', 'waitlist_id')} FROM step s WHERE s.id IS NOT NULL)
       SELECT step.id, l.account_id, ${first('= step.id', 'created_at')} AS since
       FROM step LEFT JOIN waitlist l ON l.id = step.id WHERE step.id IS NOT NULL`,
      [],
      (rows) =>
        rows.flatMap(({ id, account_id: accountId, since }) =>
          since === null ? [] : [{ id, accountId: accountId ?? 0, since: fromSqlTime(since) }],
        ),
    );
  }

  /** Locks the first rows of a waitlist that nobody has locked. */
  lockFirst(waitlistId: number, limit: number): Query<WelcomeMailEntity[]> {
    const { dialect } = this.database;
    return select<Row, WelcomeMailEntity[]>(
      `SELECT ${this.welcomes.select('m')} FROM welcome_mail m ${dialect.byPrimaryKey()}
       WHERE m.waitlist_id = ? ORDER BY m.waitlist_id, m.waiter_uuid LIMIT ? ${dialect.skipLocked}`,
      [waitlistId, limit],
      (rows) => rows.map((row) => this.welcomes.read(row)),
    );
  }

  /** One statement per row: given a list, MySQL may scan the table and wait for rows that signups are inserting. */
  delete(welcomes: readonly WelcomeMailEntity[]): Query<unknown> {
    return together(
      welcomes.map(({ waitlistId, waiterUuid }) =>
        write('DELETE FROM welcome_mail WHERE waitlist_id = ? AND waiter_uuid = ?', [waitlistId, waiterUuid]),
      ),
    );
  }

  /** At most `max`. */
  count(max: number): Query<number> {
    return select<{ count: unknown }, number>(
      'SELECT COUNT(*) AS count FROM (SELECT 1 FROM welcome_mail LIMIT ?) AS counted',
      [max],
      ([row]) => Number(row?.count),
    );
  }
}
