import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { fromSqlTime, placeholders, toSqlTime } from '../platform/database/dialect.js';
import { known, mapped, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { MailEntity } from '../outbox/mail.entity.js';
import { LARGE } from '../queue/waiter.js';
import { WaiterEntity } from '../queue/waiter.entity.js';
import { type WholeWaitlist, WaitlistTable } from '../queue/waitlist.table.js';
import type { Tried } from './bounds.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Pending mails that the metrics count: a scrape must stay cheap however many there are. */
export const COUNTED_MAX = 100_000;
/** In the order in which they are sent. People wait for a verification; a large offboarding causes many mails at once. */
const KINDS = ['verification', 'webhook_disabled', 'your_turn'] as const satisfies readonly MailEntity['kind'][];

export type Recipient = Pick<WaiterEntity, 'uuid' | 'email' | 'emailKey' | 'verified'>;

/** The owner of a webhook, and its address. */
export interface WebhookOwner {
  readonly webhookId: number;
  readonly url: string;
  readonly email: string;
}

/** The mails that wait to be sent. */
@Injectable()
export class DueMailStore {
  private readonly mails: Table<MailEntity>;
  private readonly waiters: Table<WaiterEntity>;

  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistTable,
  ) {
    this.mails = database.table(MailEntity);
    this.waiters = database.table(WaiterEntity);
  }

  hasDue(now: Date): Query<boolean> {
    return select<Row, boolean>(
      `SELECT 1 FROM mail ${this.database.dialect.byIndex('mail_due')}
       WHERE status = 'pending' AND kind IN (${placeholders(KINDS.length)}) AND next_attempt_at <= ? LIMIT 1`,
      [...KINDS, toSqlTime(now)],
      (rows) => rows.length > 0,
    );
  }

  /**
   * Makes the claims of all processes run one after the other, so that the bounds are exact. It writes a row: a cluster with
   * several writing nodes detects conflicting writes, not conflicting locks.
   */
  takeTurn(): Query<void> {
    return write(
      `INSERT INTO mail_turn (id, revision) VALUES (1, 1) ${this.database.dialect.upsertSum(['id'], ['revision'])}`,
    );
  }

  /**
   * Locks the mails to send first: of each kind, those that have been due longest. An erasure, which drops mails, waits for the
   * claim.
   */
  findDue(now: Date, limit: number): Query<MailEntity[]> {
    const found = KINDS.map((kind) =>
      select<Row, MailEntity[]>(
        `SELECT ${this.mails.select('m')} FROM mail m ${this.database.dialect.byIndex('mail_due')}
         WHERE m.status = 'pending' AND m.kind = ? AND m.next_attempt_at <= ?
         ORDER BY m.next_attempt_at LIMIT ? ${this.database.dialect.skipLocked}`,
        [kind, toSqlTime(now), limit],
        (rows) => rows.map((row) => this.mails.read(row)),
      ),
    );
    return mapped(together(found), (mails) => mails.flat().slice(0, limit));
  }

  /** The records with these uuids, by uuid. */
  findRecipients(uuids: readonly string[]): Query<ReadonlyMap<string, Recipient>> {
    if (uuids.length === 0) return known(new Map());
    return select<Row, ReadonlyMap<string, Recipient>>(
      `SELECT ${this.waiters.select('w', LARGE)} FROM waiter w WHERE w.uuid IN (${placeholders(uuids.length)})`,
      uuids,
      (rows) => new Map(rows.map((row) => this.waiters.read(row)).map((waiter) => [waiter.uuid, waiter])),
    );
  }

  /** By id. */
  findWaitlists(ids: readonly number[]): Query<ReadonlyMap<number, WholeWaitlist>> {
    return select<Row, ReadonlyMap<number, WholeWaitlist>>(
      `SELECT ${this.waitlists.select('l')} FROM waitlist l WHERE l.id IN (${placeholders(ids.length)})`,
      ids,
      (rows) => new Map(rows.map((row) => this.waitlists.read(row)).map((waitlist) => [waitlist.id, waitlist])),
    );
  }

  /** By the id of the webhook. */
  findWebhookOwners(webhookIds: readonly number[]): Query<ReadonlyMap<number, WebhookOwner>> {
    if (webhookIds.length === 0) return known(new Map());
    return select<WebhookOwner, ReadonlyMap<number, WebhookOwner>>(
      `SELECT h.id AS webhookId, h.url, a.email FROM webhook h
       JOIN waitlist l ON l.id = h.waitlist_id JOIN account a ON a.id = l.account_id
       WHERE h.id IN (${placeholders(webhookIds.length)})`,
      webhookIds,
      (rows) => new Map(rows.map((row) => [row.webhookId, row])),
    );
  }

  /** How many mails with these hashes were first tried in the last hour and day, by hash. */
  countTried(
    column: 'mailbox_hash' | 'network_hash',
    hashes: readonly string[],
    now: Date,
  ): Query<ReadonlyMap<string, Tried>> {
    if (hashes.length === 0) return known(new Map());
    const [hour, day] = [HOUR_MS, DAY_MS].map((ms) => toSqlTime(new Date(now.getTime() - ms)));
    return select<Record<'hash' | 'hour' | 'day', string | number>, ReadonlyMap<string, Tried>>(
      `SELECT ${column} AS hash, SUM(CASE WHEN attempted_at > ? THEN 1 ELSE 0 END) AS hour, COUNT(*) AS day FROM mail
       WHERE ${column} IN (${placeholders(hashes.length)}) AND attempted_at > ? GROUP BY ${column}`,
      [hour, ...hashes, day],
      // MySQL's sums are decimal texts.
      (rows) => new Map(rows.map((row) => [String(row.hash), { hour: Number(row.hour), day: Number(row.day) }])),
    );
  }

  change(id: string, change: Partial<MailEntity>): Query<void> {
    return this.mails.update({ id }, change);
  }

  /** Drops the other pending verification mails to the same person: the link of this one is as good. */
  dropOthers({ id, waitlistId, waiterUuid }: MailEntity): Query<void> {
    return write(
      `UPDATE mail ${this.database.dialect.byIndex('mail_waiter')} SET status = 'dropped', next_attempt_at = NULL
       WHERE waitlist_id = ? AND waiter_uuid = ? AND kind = 'verification' AND status = 'pending' AND id <> ?`,
      [waitlistId, waiterUuid, id],
    );
  }

  /** Stores the result of an attempt, unless the mail was dropped or claimed again meanwhile. */
  settle({ id, attempts }: MailEntity, change: Partial<MailEntity>): Query<void> {
    return this.mails.update({ id, attempts, status: 'pending' }, change);
  }

  /** At most {@link COUNTED_MAX}. */
  countPending(): Query<number> {
    return select<{ count: number }, number>(
      `SELECT COUNT(*) AS count FROM (SELECT 1 FROM mail WHERE status = 'pending' LIMIT ?) AS counted`,
      [COUNTED_MAX],
      ([row]) => Number(row?.count ?? 0),
    );
  }

  /** Seconds since the oldest due mail became due; 0 if none is due. */
  measureDelay(now: Date): Query<number> {
    const delays = KINDS.map((kind) =>
      select<{ due: Date | string | null }, number>(
        `SELECT MIN(next_attempt_at) AS due FROM mail WHERE status = 'pending' AND kind = ?`,
        [kind],
        ([row]) => (row?.due ? (now.getTime() - fromSqlTime(row.due).getTime()) / 1000 : 0),
      ),
    );
    return mapped(together(delays), (seconds) => Math.max(0, ...seconds));
  }

  /** How many waitlists send mails. */
  countSenders(): Query<number> {
    return select<{ count: number }, number>(
      `SELECT COUNT(*) AS count FROM waitlist WHERE verification <> 'off' OR mail_on_offboarding = 1`,
      [],
      ([row]) => Number(row?.count ?? 0),
    );
  }
}
