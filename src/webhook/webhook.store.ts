import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { IS_ACTIVE } from '../account/member.entity.js';
import { DeliveryEntity } from '../outbox/delivery.entity.js';
import { PayloadEntity } from '../outbox/payload.entity.js';
import { WebhookEntity } from '../outbox/webhook.entity.js';
import { Database } from '../platform/database/database.js';
import { placeholders, toSqlTime } from '../platform/database/dialect.js';
import { mapped, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { type Reach, within } from '../platform/reach.js';
import type { ReplaySelection, WebhookRef } from './webhook.js';

/** Webhooks and their deliveries, as their account sees them. */
@Injectable()
export class WebhookStore {
  private readonly webhooks: Table<WebhookEntity>;
  private readonly deliveries: Table<DeliveryEntity>;
  private readonly payloads: Table<PayloadEntity>;

  constructor(private readonly database: Database) {
    this.webhooks = database.table(WebhookEntity);
    this.deliveries = database.table(DeliveryEntity);
    this.payloads = database.table(PayloadEntity);
  }

  /** The webhooks of a waitlist within the reach, oldest first; null without such a waitlist. */
  listOwned(reach: Reach, waitlistId: number): Query<WebhookEntity[] | null> {
    const owned = within(reach, { account: 'w.account_id', waitlist: 'w.id' });
    return select<Row, WebhookEntity[] | null>(
      `SELECT w.id AS owned_id, ${this.webhooks.select('h')}
       FROM waitlist w LEFT JOIN webhook h ON h.waitlist_id = w.id WHERE w.id = ? AND ${owned.sql} ORDER BY h.id`,
      [waitlistId, ...owned.values],
      (rows) => (rows.length === 0 ? null : rows.filter(({ id }) => id !== null).map((row) => this.webhooks.read(row))),
    );
  }

  /** The same, after locking the waitlist, so that two creations cannot exceed the maximum together. */
  lockOwned(reach: Reach, waitlistId: number): Query<WebhookEntity[] | null> {
    const find = { sql: 'SELECT id FROM waitlist WHERE id = ?', values: [waitlistId] };
    const lock = { statements: this.database.dialect.lock('waitlist', 'id', find), read: () => undefined };
    // A second statement: the one that waited for the lock would return the webhooks as they were before the wait.
    return mapped(together([lock, this.listOwned(reach, waitlistId)]), ([, webhooks]) => webhooks);
  }

  /** The account that owns the webhook; null without it. */
  findAccount(id: number): Query<{ readonly accountId: number; readonly waitlistId: number } | null> {
    return select<{ account_id: number; waitlist_id: number }, { accountId: number; waitlistId: number } | null>(
      'SELECT w.account_id, h.waitlist_id FROM webhook h JOIN waitlist w ON w.id = h.waitlist_id WHERE h.id = ?',
      [id],
      ([row]) => (row ? { accountId: row.account_id, waitlistId: row.waitlist_id } : null),
    );
  }

  /** The ids of the active owners of an account. */
  findOwners(accountId: number): Query<string[]> {
    return select<{ id: string }, string[]>(
      `SELECT m.id FROM member m WHERE m.account_id = ? AND m.role = 'owner' AND ${IS_ACTIVE} ORDER BY m.id`,
      [accountId],
      (rows) => rows.map(({ id }) => id),
    );
  }

  insert(webhook: Omit<WebhookEntity, 'id'>): Query<void> {
    return this.webhooks.insert([webhook]);
  }

  update({ id }: WebhookRef, changes: Partial<WebhookEntity>): Query<void> {
    return this.webhooks.update({ id }, changes);
  }

  /** The current secret becomes the old one. */
  replaceSecret({ id }: WebhookRef, sealedSecret: string, oldSecretUntil: Date): Query<void> {
    return write(
      'UPDATE webhook SET sealed_old_secret = sealed_secret, old_secret_until = ?, sealed_secret = ? WHERE id = ?',
      [toSqlTime(oldSecretUntil), sealedSecret, id],
    );
  }

  /** Returns whether the webhook was on. */
  async turnOff(manager: EntityManager, id: number): Promise<boolean> {
    const { affected } = await manager.update(WebhookEntity, { id, isActive: true }, { isActive: false });
    return affected === 1;
  }

  /**
   * Its deliveries stay until they expire, but no statement finds them. After a waitlist's last webhook, nobody wants
   * the deliveries of its signups.
   */
  delete({ id, waitlistId }: WebhookRef): Query<unknown> {
    return together([
      write('DELETE FROM webhook WHERE id = ?', [id]),
      write(
        `${this.database.dialect.deleteByPrimaryKey('signup_event')}
         WHERE waitlist_id = ? AND NOT EXISTS (SELECT 1 FROM webhook h WHERE h.waitlist_id = ?)`,
        [waitlistId, waitlistId],
      ),
    ]);
  }

  insertDelivery(delivery: DeliveryEntity, payload: PayloadEntity): Query<unknown> {
    return together([this.payloads.insert([payload]), this.deliveries.insert([delivery])]);
  }

  /** At most `limit` deliveries, newest first. */
  listDeliveries(id: number, afterId: string | null, limit: number): Query<DeliveryEntity[]> {
    return select<Row, DeliveryEntity[]>(
      `SELECT ${this.deliveries.select('d')} FROM delivery d
       WHERE d.webhook_id = ? ${afterId === null ? '' : 'AND d.id < ?'} ORDER BY d.id DESC LIMIT ?`,
      [id, ...(afterId === null ? [] : [afterId]), limit],
      (rows) => rows.map((row) => this.deliveries.read(row)),
    );
  }

  /** The ids of at most `limit` deliveries after `afterId` that still have their payload, in order. */
  findReplayable(id: number, selection: ReplaySelection, afterId: string, limit: number): Query<string[]> {
    const [condition, values] =
      'ids' in selection
        ? [`d.id IN (${placeholders(selection.ids.length)})`, selection.ids]
        : ['d.id >= ?', [firstIdSince(selection.since)]];
    return select<{ id: string }, string[]>(
      `SELECT d.id FROM delivery d WHERE d.webhook_id = ? AND ${condition} AND d.id > ? AND d.payload_id IS NOT NULL
       ORDER BY d.id LIMIT ?`,
      [id, ...values, afterId, limit],
      (rows) => rows.map((row) => row.id),
    );
  }

  /** Makes deliveries due, whatever their status. The result of an attempt under way no longer counts. */
  replay(ids: readonly string[], now: Date): Query<unknown> {
    if (ids.length === 0) return together([]);
    return write(
      `UPDATE delivery SET status = 'pending', next_attempt_at = ? WHERE id IN (${placeholders(ids.length)}) AND payload_id IS NOT NULL`,
      [toSqlTime(now), ...ids],
    );
  }
}

/** UUIDs of version 7 begin with the milliseconds since 1970. */
function firstIdSince(moment: Date): string {
  const hex = moment.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
