import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { Database } from '../platform/database/database.js';
import { chunksOf, placeholders, toSqlTime } from '../platform/database/dialect.js';
import { type Query, select, together, write } from '../platform/database/session.js';
import { Sweeper } from '../platform/database/sweeper.js';
import { type Row, Table } from '../platform/database/table.js';
import { DeliveryEntity } from './delivery.entity.js';
import { PayloadEntity } from './payload.entity.js';
import { type EventName, WebhookEntity } from './webhook.entity.js';

/** Rows in one statement. */
const ROWS_MAX = 100;
/** Payloads in one statement. Each can have 60 KB, and the driver's escaping blocks the process while it writes one. */
const PAYLOADS_MAX = 10;

/**
 * An attempt that an erasure finds under way goes on for 10 s at most, and the erasure's own transaction takes 4 s at most.
 * Sent earlier, `erased_signup` could overtake it.
 */
const AFTER_ATTEMPTS_MS = 15_000;
/** Payloads hold contact data. A week covers the schedule of retries and a receiver's weekend. */
const PAYLOAD_KEPT_MS = 7 * 24 * 3_600_000;
const ROW_KEPT_MS = 30 * 24 * 3_600_000;
const SWEEP_CHUNK = 200;
/** What is not delivered by then fails, which bounds the backlog. */
const WITHOUT_PAYLOAD = `payload_id = NULL, next_attempt_at = NULL, status = CASE status WHEN 'pending' THEN 'failed' ELSE status END`;

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
  private readonly payloads: Table<PayloadEntity>;

  constructor(
    private readonly database: Database,
    sweeper: Sweeper,
  ) {
    this.deliveries = database.table(DeliveryEntity);
    this.payloads = database.table(PayloadEntity);
    sweeper.add({
      table: 'delivery',
      id: 'id',
      time: 'expires_at',
      before: () => new Date(),
      chunk: SWEEP_CHUNK,
      sweep: (ids) => this.expire(ids as readonly string[]),
    });
    // After their deliveries, which fail then.
    sweeper.add({ table: 'payload', id: 'id', time: 'expires_at', before: () => new Date(), chunk: SWEEP_CHUNK });
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

  /** Stores the payload of each event that a webhook wants, and a delivery for each such webhook. */
  insert(waitlistId: number, subscribers: readonly Subscriber[], events: readonly NewEvent[]): Query<unknown> {
    const payloads: PayloadEntity[] = [];
    const deliveries: DeliveryEntity[] = [];
    for (const { event, body, number, waiterUuid, at } of events) {
      const wanting = subscribers.filter(({ events: wanted }) => wanted.length === 0 || wanted.includes(event));
      if (wanting.length === 0) continue;
      const shown = { waitlistId, waiterUuid, expiresAt: payloadExpiry(at) };
      const payloadId = uuidV7();
      payloads.push({ ...shown, id: payloadId, body: JSON.stringify(body) });
      for (const { id: webhookId } of wanting)
        deliveries.push({
          ...shown,
          id: uuidV7(),
          webhookId,
          number,
          event,
          payloadId,
          status: 'pending',
          attempts: 0,
          lastStatus: null,
          nextAttemptAt: event === 'erased_signup' ? new Date(at.getTime() + AFTER_ATTEMPTS_MS) : at,
          createdAt: at,
        });
    }
    return together([
      ...chunksOf(payloads, PAYLOADS_MAX).map((some) => this.payloads.insert(some)),
      ...chunksOf(deliveries, ROWS_MAX).map((some) => this.deliveries.insert(some)),
    ]);
  }

  /** Deletes what deliveries tell of erased people. Those that are pending fail. */
  scrub(waitlistId: number, uuids: readonly string[]): Query<unknown> {
    return together(
      chunksOf(uuids, ROWS_MAX).flatMap((some) => [
        write(
          `UPDATE delivery ${this.database.dialect.byIndex('delivery_waiter')} SET ${WITHOUT_PAYLOAD}
           WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(some.length)})`,
          [waitlistId, ...some],
        ),
        write(`DELETE FROM payload WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(some.length)})`, [
          waitlistId,
          ...some,
        ]),
      ]),
    );
  }

  /** Takes their payloads from old deliveries, and deletes those that have lost theirs before. */
  expire(ids: readonly string[]): Query<unknown> {
    const those = `id IN (${placeholders(ids.length)})`;
    const rowExpiry = toSqlTime(new Date(Date.now() + ROW_KEPT_MS - PAYLOAD_KEPT_MS));
    return together([
      write(`DELETE FROM delivery WHERE payload_id IS NULL AND ${those}`, ids),
      write(`UPDATE delivery SET ${WITHOUT_PAYLOAD}, expires_at = ? WHERE ${those}`, [rowExpiry, ...ids]),
    ]);
  }
}

/** When the payload of an event of this moment is deleted. */
export function payloadExpiry(at: Date): Date {
  return new Date(at.getTime() + PAYLOAD_KEPT_MS);
}
