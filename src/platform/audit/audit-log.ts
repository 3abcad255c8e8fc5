import { Inject, Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { type Config, CONFIG } from '../config/config.js';
import { Database } from '../database/database.js';
import { chunksOf, placeholders } from '../database/dialect.js';
import { known, mapped, type Query, select, together, write } from '../database/session.js';
import { Sweeper } from '../database/sweeper.js';
import type { Row, Table } from '../database/table.js';
import { pageOf } from '../page.js';
import { type Reach, within } from '../reach.js';
import { addressKey } from '../limits/address.js';
import { boundedQueue } from '../limits/bounded-queue.js';
import { Secrets } from '../secrets/secrets.js';
import { AuditEventEntity } from './audit-event.entity.js';
import { type AuditAction, auditRecord, type RecordedEvent } from './audit-record.js';

/** The people of one event: rows of one INSERT. */
export const SUBJECTS_MAX = 1_000;
/** Events whose people are read at once: up to 5,000 people, so that other requests are served between the reads. */
const EVENTS_PER_READ = 5;
/** Pages read at once, and pages that wait. */
const PAGES = { runsMax: 2, waitingMax: 64 };
/** Events of one offboarding name up to 1,000 people, so few events are deleted at once. */
const SWEEP_CHUNK = 10;
const DAY_MS = 86_400_000;

/** Events that may still turn out to be committed; retries end after some seconds. */
const UNCONFIRMED_MAX = 1_000;

/** Who sent a request and from where, as the audit log stores it. */
export interface Origin {
  /** Null unless a member did. */
  readonly memberId: string | null;
  readonly requestId: string | null;
  readonly addressHash: string | null;
}

/** The part of a request that identifies its sender. */
export interface Sender {
  readonly id: string;
  readonly ip: string;
}

/** The origin of work without a request: a command of the CLI, or the service itself. */
export const NO_REQUEST: Origin = { memberId: null, requestId: null, addressHash: null };

export interface AuditEvent extends Origin {
  /** UUID v7; generated if omitted. */
  readonly id?: string;
  readonly accountId: number;
  readonly action: AuditAction;
  readonly waitlistId?: number | null;
  /** The people or members that the event names, in order. */
  readonly uuids?: readonly string[];
}

export interface AuditPage {
  readonly events: readonly RecordedEvent[];
  /** The id after which the next page starts; null on the last page. */
  readonly nextAfterId: string | null;
}

export interface AuditFilter {
  readonly waitlistId?: number;
  readonly uuid?: string;
  readonly memberId?: string;
  /** Only events older than this one. */
  readonly afterId?: string;
  readonly limit: number;
}

/**
 * The audit log. The event of a write is stored in the transaction of that write, and printed after its commit if
 * `AUDIT_LOG` says so.
 */
@Injectable()
export class AuditLog {
  private readonly events: Table<AuditEventEntity>;
  private readonly enqueue = boundedQueue('list audit events', PAGES);
  private readonly isPrinted: boolean;
  /** Events to print, by id, the oldest first. If the answer to COMMIT was lost, the retry finds one of them done. */
  private readonly unconfirmed = new Map<string, RecordedEvent>();

  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
    sweeper: Sweeper,
    @Inject(CONFIG) { auditDays, auditLog }: Config,
  ) {
    this.isPrinted = auditLog === 'stdout';
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
  originOf(request: Sender, memberId: string | null): Origin {
    return { memberId, requestId: request.id, addressHash: this.secrets.hash('audit-address', addressKey(request.ip)) };
  }

  /** Stores an event. Send it in the transaction of the work. */
  record({ id = uuidV7(), waitlistId = null, uuids = [], ...given }: AuditEvent): Query<unknown> {
    const event = { ...given, id, waitlistId, createdAt: new Date() };
    const subjects = uuids.map((uuid, position) => [id, position, uuid]);
    const stored = together([
      this.events.insert([event]),
      ...chunksOf(subjects, SUBJECTS_MAX).map((some) =>
        write(
          `INSERT INTO audit_subject (event_id, position, uuid) VALUES ${some.map(() => '(?, ?, ?)').join(', ')}`,
          some.flat(),
        ),
      ),
    ]);
    return this.isPrinted ? this.printed(stored, { ...event, uuids }) : stored;
  }

  /** The commands among these that were carried out, each with the `uuids` of its event, in order. */
  findDone(commandIds: readonly string[]): Query<ReadonlyMap<string, readonly string[]>> {
    if (commandIds.length === 0) return known(new Map());
    return select<{ id: string; uuid: string | null; account_uuid: string }, ReadonlyMap<string, string[]>>(
      `SELECT e.id, s.uuid, a.uuid AS account_uuid FROM audit_event e JOIN account a ON a.id = e.account_id
       LEFT JOIN audit_subject s ON s.event_id = e.id
       WHERE e.id IN (${placeholders(commandIds.length)}) ORDER BY e.id, s.position`,
      commandIds,
      (rows) => {
        const done = new Map<string, string[]>();
        for (const { id, uuid, account_uuid: accountUuid } of rows) {
          this.print(id, accountUuid);
          const uuids = done.get(id) ?? [];
          if (uuid !== null) uuids.push(uuid);
          done.set(id, uuids);
        }
        return done;
      },
    );
  }

  /** A page of the events within a reach, or of all accounts, newest first. @throws Problem `QUEUE_FULL` */
  async list(reach: Reach | null, filter: AuditFilter): Promise<AuditPage> {
    return this.enqueue(() => this.page(reach, filter));
  }

  /** The query of an event that is printed after the commit. */
  private printed(stored: Query<unknown>, event: RecordedEvent): Query<unknown> {
    this.unconfirmed.set(event.id, event);
    for (const id of this.unconfirmed.keys()) {
      if (this.unconfirmed.size <= UNCONFIRMED_MAX) break;
      this.unconfirmed.delete(id);
    }
    const account = select<{ uuid: string }, string>(
      'SELECT uuid FROM account WHERE id = ?',
      [event.accountId],
      ([row]) => row?.uuid ?? '',
    );
    let accountUuid = '';
    const query = mapped(together([stored, account]), ([, uuid]) => void (accountUuid = uuid));
    return { ...query, afterCommit: () => this.print(event.id, accountUuid) };
  }

  /** Prints an event of this process once. */
  private print(id: string, accountUuid: string): void {
    const event = this.unconfirmed.get(id);
    if (!event) return;
    this.unconfirmed.delete(id);
    process.stdout.write(`${JSON.stringify({ type: 'audit', ...auditRecord(event, accountUuid) })}\n`);
  }

  private async page(
    reach: Reach | null,
    { waitlistId, uuid, memberId, afterId, limit }: AuditFilter,
  ): Promise<AuditPage> {
    const owned = reach && within(reach, { account: 'e.account_id', waitlist: 'e.waitlist_id' });
    const conditions: { readonly sql: string; readonly values: readonly unknown[] }[] = [
      ...(owned ? [owned] : []),
      ...(waitlistId === undefined ? [] : [{ sql: 'e.waitlist_id = ?', values: [waitlistId] }]),
      ...(memberId === undefined ? [] : [{ sql: 'e.member_id = ?', values: [memberId] }]),
      ...(afterId === undefined ? [] : [{ sql: 'e.id < ?', values: [afterId] }]),
      ...(uuid === undefined
        ? []
        : [{ sql: 'e.id IN (SELECT s.event_id FROM audit_subject s WHERE s.uuid = ?)', values: [uuid] }]),
    ];
    const found = await this.database.one(
      select<Row, AuditEventEntity[]>(
        `SELECT ${this.events.select('e')} FROM audit_event e WHERE ${['1 = 1', ...conditions.map(({ sql }) => sql)].join(' AND ')}
         ORDER BY e.id DESC LIMIT ?`,
        [...conditions.flatMap(({ values }) => values), limit + 1],
        (rows) => rows.map((row) => this.events.read(row)),
      ),
    );
    const { items: events, nextAfterId } = pageOf(found, limit);
    const recorded: RecordedEvent[] = [];
    for (const some of chunksOf(events, EVENTS_PER_READ)) {
      const uuids = await this.database.one(this.findDone(some.map(({ id }) => id)));
      recorded.push(...some.map((event) => ({ ...event, uuids: uuids.get(event.id) ?? [] })));
    }
    return { events: recorded, nextAfterId };
  }
}
