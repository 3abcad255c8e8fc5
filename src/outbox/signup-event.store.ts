import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { chunksOf, fromSqlTime, placeholders } from '../platform/database/dialect.js';
import { known, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import type { Contender } from '../platform/limits/turns.js';
import { SignupEventEntity } from './signup-event.entity.js';

/** Rows in one statement: questions make some long. */
const ROWS_MAX = 100;

/** A waitlist that has signups without deliveries, and the time of the first. */
export interface WaitingWaitlist extends Contender {
  readonly since: Date;
}

/** The new signups that have no deliveries yet. */
@Injectable()
export class SignupEventStore {
  private readonly events: Table<SignupEventEntity>;

  constructor(private readonly database: Database) {
    this.events = database.table(SignupEventEntity);
  }

  /** Stores the events of new records, in the transaction that stores the records. */
  insert(events: readonly SignupEventEntity[]): Query<unknown> {
    return together(chunksOf(events, ROWS_MAX).map((some) => this.events.insert(some)));
  }

  /** Waitlists with events here, each with the time of the first. Reads one event per waitlist with webhooks. */
  findWaitlists(): Query<WaitingWaitlist[]> {
    return select<Contender & { since: Date | string | null }, WaitingWaitlist[]>(
      `SELECT h.waitlist_id AS id, l.account_id AS accountId, (
         SELECT e.created_at FROM signup_event e ${this.database.dialect.byPrimaryKey()} WHERE e.waitlist_id = h.waitlist_id
         ORDER BY e.waitlist_id, e.waiter_uuid LIMIT 1
       ) AS since FROM (SELECT DISTINCT waitlist_id FROM webhook) h JOIN waitlist l ON l.id = h.waitlist_id`,
      [],
      (rows) => rows.flatMap(({ since, ...row }) => (since === null ? [] : [{ ...row, since: fromSqlTime(since) }])),
    );
  }

  /** How many deliveries to active webhooks the events will get, counted up to `max`. */
  countDeliveries(max: number): Query<number> {
    return select<{ amount: unknown }, number>(
      `SELECT COUNT(*) AS amount FROM (
         SELECT h.id FROM webhook h JOIN signup_event e ${this.database.dialect.byPrimaryKey()} ON e.waitlist_id = h.waitlist_id
         WHERE h.is_active = 1 AND (h.events = '[]' OR h.events LIKE ?) LIMIT ?) s`,
      ['%"new_signup"%', max],
      ([row]) => Number(row?.amount),
    );
  }

  /** Locks the first events of a waitlist that nobody has locked. UUIDs of version 7 sort by time, almost. */
  lockFirst(waitlistId: number, limit: number): Query<SignupEventEntity[]> {
    const { dialect } = this.database;
    return select<Row, SignupEventEntity[]>(
      `SELECT ${this.events.select('e')} FROM signup_event e ${dialect.byPrimaryKey()}
       WHERE e.waitlist_id = ? ORDER BY e.waitlist_id, e.waiter_uuid LIMIT ? ${dialect.skipLocked}`,
      [waitlistId, limit],
      (rows) => rows.map((row) => this.events.read(row)),
    );
  }

  /** Locks the events of these records. Waits for a transaction that has locked one, and leaves out what it deleted. */
  lockByUuids(waitlistId: number, uuids: readonly string[]): Query<SignupEventEntity[]> {
    if (uuids.length === 0) return known([]);
    const { dialect } = this.database;
    return select<Row, SignupEventEntity[]>(
      `SELECT ${this.events.select('e')} FROM signup_event e ${dialect.byPrimaryKey()}
       WHERE e.waitlist_id = ? AND e.waiter_uuid IN (${placeholders(uuids.length)}) ${dialect.forUpdate}`,
      [waitlistId, ...uuids],
      (rows) => rows.map((row) => this.events.read(row)),
    );
  }

  /** Deletes events that this transaction has locked. */
  delete(waitlistId: number, uuids: readonly string[]): Query<unknown> {
    return together(
      chunksOf(uuids, ROWS_MAX).map((some) =>
        write(
          `${this.database.dialect.deleteByPrimaryKey('signup_event')}
           WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(some.length)})`,
          [waitlistId, ...some],
        ),
      ),
    );
  }
}
