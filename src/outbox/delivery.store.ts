import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { Database } from '../platform/database/database.js';
import { chunksOf, placeholders, toSqlTime } from '../platform/database/dialect.js';
import { type Query, select, together, write } from '../platform/database/session.js';
import { Sweeper } from '../platform/database/sweeper.js';
import { type Row, Table } from '../platform/database/table.js';
import { DeliveryEntity } from './delivery.entity.js';
import { type EventName, WebhookEntity } from './webhook.entity.js';

/** Rows in one statement: a body can have 60 KB, and MariaDB takes statements of 16 MiB. */
const ROWS_MAX = 100;

/** Bodies hold contact data. A week covers the schedule of retries and a receiver's weekend. */
const BODY_KEPT_MS = 7 * 24 * 3_600_000;
const ROW_KEPT_MS = 30 * 24 * 3_600_000;
const SWEEP_CHUNK = 200;
/** What is not delivered by then fails, which bounds the backlog. */
const WITHOUT_BODY = `body = NULL, next_attempt_at = NULL, status = CASE status WHEN 'pending' THEN 'failed' ELSE status END`;

/** An active webhook; `events` is empty for all. */
export type Subscriber = Pick<WebhookEntity, 'id' | 'events'>;

/** An event, for the webhooks that want it. */
export interface NewEvent {
  readonly number: number;
  readonly event: EventName;
  readonly waiterUuid: string;
  readonly body: object;
  readonly at: Date;
}

/** Queries for the transactions whose work webhooks are told of. */
@Injectable()
export class DeliveryStore {
  private readonly deliveries: Table<DeliveryEntity>;

  constructor(
    private readonly database: Database,
    sweeper: Sweeper,
  ) {
    this.deliveries = database.table(DeliveryEntity);
    sweeper.add({
      table: 'delivery',
      id: 'id',
      time: 'expires_at',
      before: () => new Date(),
      chunk: SWEEP_CHUNK,
      sweep: (ids) => this.expire(ids as readonly string[]),
    });
  }

  /** The active webhooks of a waitlist. */
  subscribers(waitlistId: number): Query<Subscriber[]> {
    return select<Row, Subscriber[]>(
      'SELECT id, events FROM webhook WHERE waitlist_id = ? AND is_active = 1 ORDER BY id',
      [waitlistId],
      (rows) =>
        rows.map(({ id, events }) => ({
          id: id as number,
          events: JSON.parse(events as string) as readonly EventName[],
        })),
    );
  }

  /** Stores a delivery for each event and each webhook that wants it. */
  insert(waitlistId: number, subscribers: readonly Subscriber[], events: readonly NewEvent[]): Query<unknown> {
    const deliveries = events.flatMap(({ event, body, number, waiterUuid, at }) =>
      subscribers
        .filter((subscriber) => subscriber.events.length === 0 || subscriber.events.includes(event))
        .map(({ id }) => ({
          id: uuidV7(),
          webhookId: id,
          waitlistId,
          number,
          waiterUuid,
          event,
          body: JSON.stringify(body),
          status: 'pending' as const,
          attempts: 0,
          lastStatus: null,
          nextAttemptAt: at,
          createdAt: at,
          expiresAt: bodyExpiry(at),
        })),
    );
    return together(chunksOf(deliveries, ROWS_MAX).map((some) => this.deliveries.insert(some)));
  }

  /** Deletes what deliveries tell of erased people. Those that are pending fail. */
  scrub(waitlistId: number, uuids: readonly string[]): Query<unknown> {
    return together(
      chunksOf(uuids, ROWS_MAX).map((some) =>
        write(
          `UPDATE delivery ${this.database.dialect.byIndex('delivery_waiter')} SET ${WITHOUT_BODY}
           WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(some.length)})`,
          [waitlistId, ...some],
        ),
      ),
    );
  }

  /** Deletes the bodies of old deliveries, and those that have lost theirs before. */
  expire(ids: readonly string[]): Query<unknown> {
    const those = `id IN (${placeholders(ids.length)})`;
    const rowExpiry = toSqlTime(new Date(Date.now() + ROW_KEPT_MS - BODY_KEPT_MS));
    return together([
      write(`DELETE FROM delivery WHERE body IS NULL AND ${those}`, ids),
      write(`UPDATE delivery SET ${WITHOUT_BODY}, expires_at = ? WHERE ${those}`, [rowExpiry, ...ids]),
    ]);
  }
}

/** When the body of a delivery of this moment is deleted. */
export function bodyExpiry(at: Date): Date {
  return new Date(at.getTime() + BODY_KEPT_MS);
}
