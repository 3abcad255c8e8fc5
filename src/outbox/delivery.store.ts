import { createHash } from 'node:crypto';
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
/** Characters of payloads in one statement. A payload can have 60,000, and each can take four bytes of a packet. */
const PAYLOAD_TEXT_MAX = 600_000;

/**
 * An attempt under way ends within 10 s, and the erasure's transaction within 4 s. Sent earlier, `erased_signup` could
 * overtake the attempt.
 */
const AFTER_ATTEMPTS_MS = 15_000;
/** Payloads hold contact data. A week covers the schedule of retries and a receiver's weekend. */
const PAYLOAD_KEPT_MS = 7 * 24 * 3_600_000;
const ROW_KEPT_MS = 30 * 24 * 3_600_000;
const SWEEP_CHUNK = 200;
/** Detaches a delivery's payload. A pending delivery fails then, so the backlog is never older than a week. */
const DROP_PAYLOAD = `payload_id = NULL, next_attempt_at = NULL, status = CASE status WHEN 'pending' THEN 'failed' ELSE status END`;

/** An active webhook. No `events` means all. */
export type Subscriber = Pick<WebhookEntity, 'id' | 'events'>;

/** The ids of the webhooks that want an event. */
export function webhookIdsFor(subscribers: readonly Subscriber[], event: EventName): number[] {
  return subscribers.filter(({ events }) => events.length === 0 || events.includes(event)).map(({ id }) => id);
}

/** An event to store for the webhooks that want it. */
export interface NewEvent {
  readonly number: number;
  readonly event: EventName;
  readonly waiterUuid: string;
  readonly body: object;
  readonly at: Date;
  readonly webhookIds: readonly number[];
}

/** Stores deliveries and payloads, with the event or later (queue/record/signup-deliveries.ts). */
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
  findSubscribers(waitlistId: number): Query<Subscriber[]> {
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

  /** Stores the payload of each event that a webhook wants, and a delivery for each of its `webhookIds`. */
  insert(waitlistId: number, events: readonly NewEvent[]): Query<unknown> {
    const payloads: PayloadEntity[] = [];
    const deliveries: DeliveryEntity[] = [];
    for (const { event, body, number, waiterUuid, at, webhookIds } of events) {
      if (webhookIds.length === 0) continue;
      const payload = newPayload({ waitlistId, waiterUuid, body, at });
      payloads.push(payload);
      const nextAttemptAt = event === 'erased_signup' ? new Date(at.getTime() + AFTER_ATTEMPTS_MS) : at;
      for (const webhookId of webhookIds)
        deliveries.push(
          newDelivery(payload, {
            id: deliveryId(waitlistId, number, webhookId, at),
            webhookId,
            number,
            event,
            createdAt: at,
            nextAttemptAt,
          }),
        );
    }
    const longest = Math.max(1, ...payloads.map(({ body }) => body.length));
    const payloadsMax = Math.min(ROWS_MAX, Math.ceil(PAYLOAD_TEXT_MAX / longest));
    return together([
      ...chunksOf(payloads, payloadsMax).map((some) => this.payloads.insert(some)),
      ...chunksOf(deliveries, ROWS_MAX).map((some) => this.deliveries.insert(some)),
    ]);
  }

  /**
   * Empties the payloads about erased people, and fails their pending deliveries. The sweeper deletes the payloads: for
   * a DELETE of many, MySQL takes no index while the table is small.
   */
  scrub(waitlistId: number, uuids: readonly string[]): Query<unknown> {
    const now = toSqlTime(new Date());
    return together(
      chunksOf(uuids, ROWS_MAX).flatMap((some) => [
        write(
          `UPDATE delivery ${this.database.dialect.byIndex('delivery_waiter')} SET ${DROP_PAYLOAD}
           WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(some.length)})`,
          [waitlistId, ...some],
        ),
        write(
          `UPDATE payload ${this.database.dialect.byIndex('payload_waiter')} SET body = '{}', expires_at = ?
           WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(some.length)})`,
          [now, waitlistId, ...some],
        ),
      ]),
    );
  }

  /** Deliveries expire twice: first they lose their payload and get a later expiry, then the row is deleted. */
  expire(ids: readonly string[]): Query<unknown> {
    const condition = `id IN (${placeholders(ids.length)})`;
    const rowExpiry = toSqlTime(new Date(Date.now() + ROW_KEPT_MS - PAYLOAD_KEPT_MS));
    return together([
      write(`DELETE FROM delivery WHERE payload_id IS NULL AND ${condition}`, ids),
      write(`UPDATE delivery SET ${DROP_PAYLOAD}, expires_at = ? WHERE ${condition}`, [rowExpiry, ...ids]),
    ]);
  }
}

interface NewPayload extends Pick<PayloadEntity, 'waitlistId' | 'waiterUuid'> {
  readonly body: object;
  readonly at: Date;
}

/** The payload of an event of the moment `at`. */
export function newPayload({ waitlistId, waiterUuid, body, at }: NewPayload): PayloadEntity {
  const expiresAt = new Date(at.getTime() + PAYLOAD_KEPT_MS);
  return { id: uuidV7(), waitlistId, waiterUuid, body: JSON.stringify(body), expiresAt };
}

/**
 * Depends on event and webhook only: a receiver recognizes it even if a failover lost the delivery, but not the event.
 * Ids are in the order of the events.
 */
function deliveryId(waitlistId: number, number: number, webhookId: number, at: Date): string {
  const random = createHash('sha256').update(`${waitlistId}/${number}/${webhookId}`).digest().subarray(0, 16);
  return uuidV7({ msecs: at.getTime(), seq: number % 2 ** 31, random });
}

type NewDelivery = Pick<DeliveryEntity, 'id' | 'webhookId' | 'number' | 'event' | 'createdAt' | 'nextAttemptAt'>;

/** A pending delivery of a payload to a webhook. */
export function newDelivery(payload: PayloadEntity, delivery: NewDelivery): DeliveryEntity {
  const { id: payloadId, waitlistId, waiterUuid, expiresAt } = payload;
  const { id, webhookId, number, event, createdAt, nextAttemptAt } = delivery;
  return {
    id,
    webhookId,
    waitlistId,
    number,
    waiterUuid,
    event,
    payloadId,
    status: 'pending',
    attempts: 0,
    lastStatus: null,
    lastFailure: null,
    nextAttemptAt,
    createdAt,
    expiresAt,
  };
}
