import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { type Config, CONFIG } from '../config/config.js';
import { Database } from '../database/database.js';
import { chunksOf, placeholders } from '../database/dialect.js';
import { known, type Query, select, together, write } from '../database/session.js';
import { Sweeper } from '../database/sweeper.js';
import type { Row, Table } from '../database/table.js';
import { addressKey } from '../limits/address.js';
import { boundedQueue } from '../limits/bounded-queue.js';
import { Secrets } from '../secrets/secrets.js';
import { AuditEventEntity } from './audit-event.entity.js';

export const AUDIT_ACTIONS = [
  'account_created',
  'account_disabled',
  'account_enabled',
  'password_set',
  'password_changed',
  'login_failed',
  'login_throttled',
  'refresh_token_reused',
  'session_ended',
  'waitlist_created',
  'waitlist_updated',
  'waitlist_deleted',
  'api_key_replaced',
  'account_key_created',
  'account_key_revoked',
  'waiters_offboarded',
  'waiters_imported',
  'waiter_corrected',
  'credit_approved',
  'credit_refused',
  'waiters_erased',
  'waiter_left',
  'referrals_refused',
  'webhook_created',
  'webhook_updated',
  'webhook_deleted',
  'webhook_secret_replaced',
  'webhook_tested',
  'webhook_turned_off',
  'deliveries_replayed',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The people of one event: rows of one INSERT. */
export const SUBJECTS_MAX = 1_000;
/** Events whose people are read at once: up to 5,000 people, so that other requests are served between the reads. */
const EVENTS_PER_READ = 5;
/** Pages read at once, and pages that wait. */
const PAGES = { runsMax: 2, waitingMax: 64 };
/** Events of one offboarding name up to 1,000 people, so few events are deleted at once. */
const SWEEP_CHUNK = 10;
const DAY_MS = 86_400_000;

/** The origin of a request, as the audit log stores it. */
export interface Origin {
  readonly requestId: string | null;
  readonly addressHash: string | null;
}

/** The part of a request that identifies its sender. */
export interface Sender {
  readonly id: string;
  readonly ip: string;
}

/** The origin of work without a request: a command of the CLI, or the service itself. */
export const NO_REQUEST: Origin = { requestId: null, addressHash: null };

export interface AuditEvent extends Origin {
  /** UUID v7; generated if omitted. */
  readonly id?: string;
  readonly accountId: number;
  readonly action: AuditAction;
  readonly waitlistId?: number | null;
  /** The people that the event names, in order. */
  readonly uuids?: readonly string[];
}

/** A stored event. */
export interface RecordedEvent extends AuditEventEntity {
  readonly uuids: readonly string[];
}

export interface AuditPage {
  readonly events: readonly RecordedEvent[];
  /** The id after which the next page starts; null on the last page. */
  readonly nextAfterId: string | null;
}

export interface AuditFilter {
  readonly waitlistId?: number;
  readonly uuid?: string;
  /** Only events older than this one. */
  readonly afterId?: string;
  readonly limit: number;
}

/** The audit log. The event of a write is stored in the transaction of that write. */
@Injectable()
export class AuditLog {
  private readonly events: Table<AuditEventEntity>;
  private readonly enqueue = boundedQueue('list audit events', PAGES);

  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
    sweeper: Sweeper,
    @Inject(CONFIG) { auditDays }: Config,
  ) {
    this.events = database.table(AuditEventEntity);
    sweeper.add({
      table: 'audit_event',
      id: 'id',
      time: 'created_at',
      before: () => new Date(Date.now() - auditDays * DAY_MS),
      chunk: SWEEP_CHUNK,
      parts: { table: 'audit_subject', owner: 'event_id' },
    });
  }

  /** Where a request came from. Addresses of one IPv6 subscriber count as one. */
  originOf(request: Sender): Origin {
    return { requestId: request.id, addressHash: this.secrets.hash('audit-address', addressKey(request.ip)) };
  }

  record({ id = uuidV7(), accountId, action, waitlistId = null, uuids = [], requestId, addressHash }: AuditEvent) {
    const event = { id, accountId, action, waitlistId, requestId, addressHash, createdAt: new Date() };
    const subjects = uuids.map((uuid, position) => [id, position, uuid]);
    return together([
      this.events.insert([event]),
      ...chunksOf(subjects, SUBJECTS_MAX).map((some) =>
        write(
          `INSERT INTO audit_subject (event_id, position, uuid) VALUES ${some.map(() => '(?, ?, ?)').join(', ')}`,
          some.flat(),
        ),
      ),
    ]);
  }

  /** The commands among these that were carried out, each with the `uuids` of its event, in order. */
  findDone(commandIds: readonly string[]): Query<ReadonlyMap<string, readonly string[]>> {
    if (commandIds.length === 0) return known(new Map());
    return select<{ id: string; uuid: string | null }, ReadonlyMap<string, string[]>>(
      `SELECT e.id, s.uuid FROM audit_event e LEFT JOIN audit_subject s ON s.event_id = e.id
       WHERE e.id IN (${placeholders(commandIds.length)}) ORDER BY e.id, s.position`,
      commandIds,
      (rows) => {
        const done = new Map<string, string[]>();
        for (const { id, uuid } of rows) {
          const uuids = done.get(id) ?? [];
          if (uuid !== null) uuids.push(uuid);
          done.set(id, uuids);
        }
        return done;
      },
    );
  }

  /** A page of the events of one account, or of all, newest first. @throws Problem `QUEUE_FULL` */
  async list(accountId: number | null, filter: AuditFilter): Promise<AuditPage> {
    return this.enqueue(() => this.page(accountId, filter));
  }

  private async page(accountId: number | null, { waitlistId, uuid, afterId, limit }: AuditFilter): Promise<AuditPage> {
    const conditions = [
      ...(accountId === null ? [] : [{ sql: 'e.account_id = ?', value: accountId }]),
      ...(waitlistId === undefined ? [] : [{ sql: 'e.waitlist_id = ?', value: waitlistId }]),
      ...(afterId === undefined ? [] : [{ sql: 'e.id < ?', value: afterId }]),
      ...(uuid === undefined
        ? []
        : [{ sql: 'e.id IN (SELECT s.event_id FROM audit_subject s WHERE s.uuid = ?)', value: uuid }]),
    ];
    const found = await this.database.one(
      select<Row, AuditEventEntity[]>(
        `SELECT ${this.events.select('e')} FROM audit_event e WHERE ${['1 = 1', ...conditions.map(({ sql }) => sql)].join(' AND ')}
         ORDER BY e.id DESC LIMIT ?`,
        // One event beyond the page shows that there is a next page.
        [...conditions.map(({ value }) => value), limit + 1],
        (rows) => rows.map((row) => this.events.read(row)),
      ),
    );
    const events = found.slice(0, limit);
    const recorded: RecordedEvent[] = [];
    for (const some of chunksOf(events, EVENTS_PER_READ)) {
      const uuids = await this.database.one(this.findDone(some.map(({ id }) => id)));
      recorded.push(...some.map((event) => ({ ...event, uuids: uuids.get(event.id) ?? [] })));
    }
    return { events: recorded, nextAfterId: found.length > limit ? (events.at(-1)?.id ?? null) : null };
  }
}
