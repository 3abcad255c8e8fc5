import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { chunksOf, fromSqlTime, placeholders } from '../platform/database/dialect.js';
import { known, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { UnsentSignupEntity } from './unsent-signup.entity.js';

/** Rows in one statement. */
const ROWS_MAX = 500;

/** A waitlist that has signups without deliveries, and the time of the first. */
export interface WaitingWaitlist {
  readonly id: number;
  readonly since: Date;
}

/** The new signups whose deliveries are not made yet. */
@Injectable()
export class UnsentSignupStore {
  private readonly signups: Table<UnsentSignupEntity>;

  constructor(private readonly database: Database) {
    this.signups = database.table(UnsentSignupEntity);
  }

  /** Stores signups, in the transaction that makes the records. */
  insert(signups: readonly UnsentSignupEntity[]): Query<unknown> {
    return together(chunksOf(signups, ROWS_MAX).map((some) => this.signups.insert(some)));
  }

  /** The waitlists with active webhooks that have some, each with the time of the first. */
  findWaitlists(): Query<WaitingWaitlist[]> {
    return select<{ id: number; since: Date | string | null }, WaitingWaitlist[]>(
      `SELECT h.waitlist_id AS id, (
         SELECT u.created_at FROM unsent_signup u ${this.database.dialect.byKey} WHERE u.waitlist_id = h.waitlist_id
         ORDER BY u.waitlist_id, u.waiter_uuid LIMIT 1
       ) AS since FROM webhook h WHERE h.is_active = 1 GROUP BY h.waitlist_id`,
      [],
      (rows) => rows.flatMap(({ id, since }) => (since === null ? [] : [{ id, since: fromSqlTime(since) }])),
    );
  }

  /** How many deliveries they will have at most, counted up to a bound. */
  countDeliveries(max: number): Query<number> {
    return select<{ amount: unknown }, number>(
      `SELECT COUNT(*) AS amount FROM (
         SELECT h.id FROM webhook h JOIN unsent_signup u ${this.database.dialect.byKey} ON u.waitlist_id = h.waitlist_id
         WHERE h.is_active = 1 LIMIT ?) s`,
      [max],
      ([row]) => Number(row?.amount),
    );
  }

  /** Locks the first ones of a waitlist, except those that another transaction has locked. */
  lockFirst(waitlistId: number, limit: number): Query<UnsentSignupEntity[]> {
    const { dialect } = this.database;
    return select<Row, UnsentSignupEntity[]>(
      `SELECT ${this.signups.select('u')} FROM unsent_signup u ${dialect.byKey}
       WHERE u.waitlist_id = ? ORDER BY u.waitlist_id, u.waiter_uuid LIMIT ? ${dialect.skipLocked}`,
      [waitlistId, limit],
      (rows) => rows.map((row) => this.signups.read(row)),
    );
  }

  /** Locks those of the records with these uuids, and waits for other transactions that have locked them. */
  lockThose(waitlistId: number, uuids: readonly string[]): Query<UnsentSignupEntity[]> {
    if (uuids.length === 0) return known([]);
    return select<Row, UnsentSignupEntity[]>(
      `SELECT ${this.signups.select('u')} FROM unsent_signup u ${this.database.dialect.byKey}
       WHERE u.waitlist_id = ? AND u.waiter_uuid IN (${placeholders(uuids.length)}) ${this.database.dialect.forUpdate}`,
      [waitlistId, ...uuids],
      (rows) => rows.map((row) => this.signups.read(row)),
    );
  }

  /** Deletes signups that this transaction has locked. */
  delete(waitlistId: number, signups: readonly UnsentSignupEntity[]): Query<unknown> {
    const uuids = signups.map(({ waiterUuid }) => waiterUuid);
    return together(
      chunksOf(uuids, ROWS_MAX).map((some) =>
        write(
          `DELETE ${this.database.dialect.fromByKey('unsent_signup')}
           WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(some.length)})`,
          [waitlistId, ...some],
        ),
      ),
    );
  }
}
