import { Injectable } from '@nestjs/common';
import type { DeliveryEntity } from '../outbox/delivery.entity.js';
import { WebhookEntity } from '../outbox/webhook.entity.js';
import { Database } from '../platform/database/database.js';
import { chunksOf, fromSqlTime, placeholders, toSqlTime } from '../platform/database/dialect.js';
import { known, mapped, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import type { Receiver } from './receiver-health.js';
import type { NextState } from './retry-schedule.js';
import type { Outcome } from './webhook.sender.js';

/** Due deliveries that one claim reads. */
export const CANDIDATES_MAX = 100;
/** The backlog is counted up to this number: each scrape takes some 5 ms for it. */
export const COUNTED_MAX = 10_000;

/** Webhooks in one statement: SQLite takes 32,766 parameters. */
const IDS_MAX = 500;

/** A webhook with pending deliveries. */
export interface PendingWebhook {
  readonly id: number;
  readonly nextAttemptAt: Date;
}

/** A delivery that is due. */
export interface Candidate extends Pick<
  DeliveryEntity,
  'id' | 'waiterUuid' | 'number' | 'event' | 'attempts' | 'createdAt'
> {
  /**
   * The earliest pending delivery to this webhook about the same record: this one, unless it must wait. Null for a
   * test, or if this one was committed while the statement ran.
   */
  readonly first: { readonly number: number; readonly nextAttemptAt: Date } | null;
}

/** A delivery that only this process may send until `leasedUntil`. */
export interface Claimed extends Candidate {
  readonly waitlistId: number;
  readonly webhookId: number;
  readonly leasedUntil: Date;
  readonly body: string;
}

/**
 * The deliveries, shared by all dispatchers. `next_attempt_at` of a pending one is its schedule. A claim sets it to the
 * end of a lease, so it is due again if the process dies. A result counts only while it is unchanged.
 */
@Injectable()
export class DueDeliveryStore {
  private readonly webhooks: Table<WebhookEntity>;

  constructor(private readonly database: Database) {
    this.webhooks = database.table(WebhookEntity);
  }

  /**
   * The active webhooks with pending deliveries, each with the time of the next attempt. Reads one index entry for
   * each, however long the backlog: MySQL uses the order of an index that ORDER BY names in full.
   */
  findPending(): Query<PendingWebhook[]> {
    return select<{ id: number; next_attempt_at: Date | string | null }, PendingWebhook[]>(
      `SELECT h.id, (
         SELECT d.next_attempt_at FROM delivery d ${this.byDue} WHERE d.webhook_id = h.id AND d.status = 'pending'
         ORDER BY d.webhook_id, d.status, d.next_attempt_at LIMIT 1
       ) AS next_attempt_at FROM webhook h WHERE h.is_active = 1`,
      [],
      (rows) =>
        rows.flatMap(({ id, next_attempt_at: at }) => (at === null ? [] : [{ id, nextAttemptAt: fromSqlTime(at) }])),
    );
  }

  /** Those of the webhooks that are on, with their accounts. */
  findReceivers(ids: readonly number[]): Query<Receiver[]> {
    const found = chunksOf(ids, IDS_MAX).map((some) =>
      select<Receiver, readonly Receiver[]>(
        `SELECT h.id, l.account_id AS accountId FROM webhook h ${this.database.dialect.byId()} JOIN waitlist l ON l.id = h.waitlist_id
         WHERE h.id IN (${placeholders(some.length)}) AND h.is_active = 1`,
        some,
        (rows) => rows,
      ),
    );
    return mapped(together(found), (receivers) => receivers.flat());
  }

  /** Null for a webhook that is off or deleted. */
  findActive(id: number): Query<WebhookEntity | null> {
    return select<Row, WebhookEntity | null>(
      `SELECT ${this.webhooks.select('h')} FROM webhook h WHERE h.id = ? AND h.is_active = 1`,
      [id],
      ([row]) => (row ? this.webhooks.read(row) : null),
    );
  }

  /** Locks due deliveries that no other process looks at, the longest due first. */
  lockDue(webhookId: number, now: Date): Query<Candidate[]> {
    const first = (column: string) =>
      `(SELECT p.${column} FROM delivery p ${this.database.dialect.byIndex('delivery_waiter')}
        WHERE p.waitlist_id = d.waitlist_id AND p.waiter_uuid = d.waiter_uuid AND p.webhook_id = d.webhook_id
          AND p.status = 'pending'
        ORDER BY p.waitlist_id, p.waiter_uuid, p.webhook_id, p.status, p.number LIMIT 1)`;
    type Found = Pick<Candidate, 'id' | 'number' | 'event' | 'attempts'> & {
      waiter_uuid: string | null;
      created_at: Date | string;
      first_number: number | null;
      first_attempt_at: Date | string;
    };
    return select<Found, Candidate[]>(
      `SELECT d.id, d.waiter_uuid, d.number, d.event, d.attempts, d.created_at,
         ${first('number')} AS first_number, ${first('next_attempt_at')} AS first_attempt_at
       FROM delivery d ${this.byDue} WHERE d.webhook_id = ? AND d.status = 'pending' AND d.next_attempt_at <= ?
       ORDER BY d.next_attempt_at, d.number LIMIT ? ${this.database.dialect.skipLocked}`,
      [webhookId, toSqlTime(now), CANDIDATES_MAX],
      (rows) =>
        rows.map(({ waiter_uuid: waiterUuid, created_at, first_number: first, first_attempt_at: at, ...delivery }) => ({
          ...delivery,
          waiterUuid,
          createdAt: fromSqlTime(created_at),
          first: first === null ? null : { number: first, nextAttemptAt: fromSqlTime(at) },
        })),
    );
  }

  /** Sets the next attempt of deliveries. */
  putOff(ids: readonly string[], until: Date): Query<unknown> {
    if (ids.length === 0) return known(undefined);
    return write(`UPDATE delivery SET next_attempt_at = ? WHERE id IN (${placeholders(ids.length)})`, [
      toSqlTime(until),
      ...ids,
    ]);
  }

  /** The bodies of deliveries, by id. */
  readBodies(ids: readonly string[]): Query<ReadonlyMap<string, string>> {
    if (ids.length === 0) return known(new Map());
    return select<{ id: string; body: string }, ReadonlyMap<string, string>>(
      `SELECT d.id, p.body FROM delivery d JOIN payload p ON p.id = d.payload_id
       WHERE d.id IN (${placeholders(ids.length)})`,
      ids,
      (rows) => new Map(rows.map(({ id, body }) => [id, body])),
    );
  }

  /** Stores the end of an attempt, unless the delivery was replayed, scrubbed or claimed again meanwhile. */
  settle({ id, leasedUntil }: Claimed, next: NextState, { status, failure }: Outcome): Query<void> {
    return write(
      `UPDATE delivery SET status = ?, attempts = attempts + 1, last_status = ?, last_failure = ?, next_attempt_at = ?
       WHERE id = ? AND next_attempt_at = ?`,
      [
        next.status,
        status,
        failure,
        next.status === 'pending' ? toSqlTime(next.nextAttemptAt) : null,
        id,
        toSqlTime(leasedUntil),
      ],
    );
  }

  /** Gives back a delivery whose attempt was not carried out. */
  release({ id, leasedUntil }: Claimed, now: Date): Query<void> {
    return write('UPDATE delivery SET next_attempt_at = ? WHERE id = ? AND next_attempt_at = ?', [
      toSqlTime(now),
      id,
      toSqlTime(leasedUntil),
    ]);
  }

  /** Makes the next delivery about the same record due, if it was put off. */
  releaseNext({ waitlistId, webhookId, waiterUuid, number }: Claimed, now: Date): Query<void> {
    const next = {
      sql: `SELECT p.id FROM delivery p ${this.database.dialect.byIndex('delivery_waiter')}
         WHERE p.waitlist_id = ? AND p.waiter_uuid = ? AND p.webhook_id = ? AND p.status = 'pending' AND p.number > ?
         ORDER BY p.number LIMIT 1`,
      values: [waitlistId, waiterUuid, webhookId, number],
    };
    const { sql, values } = this.database.dialect.updateFound('delivery', next, 'next_attempt_at', toSqlTime(now));
    return write(`${sql} AND next_attempt_at > ?`, [...values, toSqlTime(now)]);
  }

  /** Notes since when a webhook has failed; null after a success. */
  setFailing(id: number, since: Date | null): Query<void> {
    return write(
      `UPDATE webhook SET failing_since = ? WHERE id = ? AND failing_since IS ${since === null ? 'NOT NULL' : 'NULL'}`,
      [since && toSqlTime(since), id],
    );
  }

  /** The pending deliveries of active webhooks, up to a bound. */
  countPending(): Query<number> {
    return select<{ amount: unknown }, number>(
      `SELECT COUNT(*) AS amount FROM (
         SELECT d.id FROM webhook h JOIN delivery d ${this.byDue} ON d.webhook_id = h.id AND d.status = 'pending'
         WHERE h.is_active = 1 LIMIT ?) p`,
      [COUNTED_MAX],
      ([row]) => Number(row?.amount),
    );
  }

  private get byDue(): string {
    return this.database.dialect.byIndex('delivery_due');
  }
}
