import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { fromSqlTime, placeholders } from '../../platform/database/dialect.js';
import { mapped, type Query, select, together, write } from '../../platform/database/session.js';
import { OFFER_STATES } from '../offers/offer.js';
import type { StoredWaiter } from '../record/waiter.js';
import { CREDIT_CODES, STATUS_CODES } from '../record/waiter.entity.js';
import type { Standing } from '../record/waiter.store.js';

/** A record as `verify` and `rebuild` read it: stored values, whatever they are. */
export interface AuditedFacts
  extends
    Standing,
    Pick<StoredWaiter, 'seq' | 'importedReferrals' | 'spotsAdvanced' | 'referredByToken' | 'removedPriority'> {
  /** The codes of `status` and `credit`. */
  readonly status: number;
  readonly credit: number;
  readonly referred: number;
  /** The days of `created_at` and `removed_at` in UTC. */
  readonly joinedDay: string;
  readonly offboardedDay: string | null;
  /** The code of `removed_reason`. */
  readonly removedReason: number | null;
  /** Records and tombstones that name this one as their referrer, and whose referral is credited. */
  readonly referrals: number;
}

const NUMBERS = ['seq', 'imported_referrals', 'credited_referrals', 'spots_advanced', 'rank_key', 'removed_priority'];

/** How many referrals of a token are credited. */
export interface CreditedReferrals {
  readonly token: string;
  readonly count: number;
}

/** A record that waits for its verification. */
export type PendingRecord = Pick<StoredWaiter, 'seq' | 'uuid' | 'createdAt'>;

/** The tombstone of an erased record as `verify` and `rebuild` read it. */
export interface AuditedTombstone {
  readonly id: number;
  readonly seq: number;
  /** The day of `erased_at` in UTC. */
  readonly erasedDay: string;
  /** Whether a record has its id, its `seq` or its token. */
  readonly isRecord: boolean;
}

/** The tables with a `seq`, which no two of their rows share. */
export const NUMBERED = ['waiter', 'erased_waiter'] as const;

/** A time is stored as text that begins with its day, or becomes such text. */
function dayInSql(time: string): string {
  return `SUBSTR(${time}, 1, 10)`;
}

/** Reads, repairs and deletes all records of a waitlist. Every statement names its waitlist. */
@Injectable()
export class MaintenanceStore {
  constructor(private readonly database: Database) {}

  /**
   * Records in join order after a `seq`, or from the first. Numbers are read as text, because node:sqlite throws on an
   * integer beyond 2^53, which only foreign SQL stores and `verify` must name. `referrals` has the credited referrals
   * by token: counting them per record would take twice as long as all the rest.
   */
  findFacts(
    waitlistId: number,
    referrals: ReadonlyMap<string, number>,
    after: number | null,
    limit: number,
  ): Query<AuditedFacts[]> {
    return select<Readonly<Record<string, number | string | null>>, AuditedFacts[]>(
      `SELECT w.id, ${NUMBERS.map((column) => `CAST(w.${column} AS CHAR) AS ${column}`).join(', ')}, w.status, w.credit, w.referred, w.removed_reason,
         w.referral_token, w.referred_by_token, ${dayInSql('w.created_at')} AS joined_day, ${dayInSql('w.removed_at')} AS offboarded_day
       FROM waiter w ${this.database.dialect.byIndex('waiter_seq')}
       WHERE w.waitlist_id = ? ${after === null ? '' : 'AND w.seq > ?'} ORDER BY w.seq LIMIT ?`,
      [waitlistId, ...(after === null ? [] : [after]), limit],
      (rows) =>
        rows.map((row) => ({
          id: row.id as number,
          seq: Number(row.seq),
          importedReferrals: Number(row.imported_referrals),
          creditedReferrals: Number(row.credited_referrals),
          spotsAdvanced: Number(row.spots_advanced),
          rankKey: Number(row.rank_key),
          status: row.status as number,
          credit: row.credit as number,
          referred: row.referred as number,
          referredByToken: row.referred_by_token as string | null,
          removedPriority: row.removed_priority === null ? null : Number(row.removed_priority),
          joinedDay: row.joined_day as string,
          offboardedDay: row.offboarded_day as string | null,
          removedReason: row.removed_reason as number | null,
          referrals: referrals.get(row.referral_token as string) ?? 0,
        })),
    );
  }

  /** The ids of records whose status and offers contradict each other: who is offered has one open offer. */
  findUnsoundOffers(waitlistId: number): Query<number[]> {
    const open = `o.state = ${OFFER_STATES.indexOf('open')}`;
    const isOwn = 'o.waitlist_id = w.waitlist_id AND o.waiter_uuid = w.uuid';
    return select<{ id: number }, number[]>(
      `SELECT w.id FROM waiter w LEFT JOIN offer o ON ${isOwn} AND ${open}
       WHERE w.waitlist_id = ? AND w.status = ${STATUS_CODES.offered} GROUP BY w.id HAVING COUNT(o.id) <> 1
       UNION ALL
       SELECT w.id FROM offer o JOIN waiter w ON ${isOwn}
       WHERE o.waitlist_id = ? AND ${open} AND w.status <> ${STATUS_CODES.offered}`,
      [waitlistId, waitlistId],
      (rows) => rows.map(({ id }) => id),
    );
  }

  /** The credited referrals of records or tombstones by the referrer's token, after a token. Reads an index alone. */
  findReferrals(table: (typeof NUMBERED)[number], waitlistId: number, after: string, limit: number) {
    return select<{ token: string; count: number }, CreditedReferrals[]>(
      `SELECT referred_by_token AS token, COUNT(*) AS count FROM ${table} ${this.database.dialect.byIndex(`${table}_referrer`)}
       WHERE waitlist_id = ? AND referred_by_token > ? AND credit = ${CREDIT_CODES.credited}
       GROUP BY referred_by_token ORDER BY referred_by_token LIMIT ?`,
      [waitlistId, after, limit],
      (rows) => rows.map(({ token, count }) => ({ token, count: Number(count) })),
    );
  }

  /** Tombstones in join order after a `seq`, or from the first. */
  findTombstones(waitlistId: number, after: number | null, limit: number): Query<AuditedTombstone[]> {
    const record = (condition: string) => `EXISTS (SELECT 1 FROM waiter w WHERE ${condition})`;
    return select<{ id: number; seq: string; erased_day: string; is_record: number }, AuditedTombstone[]>(
      `SELECT e.id, CAST(e.seq AS CHAR) AS seq, ${dayInSql('e.erased_at')} AS erased_day, (
           ${record('w.id = e.id')} OR ${record('w.waitlist_id = e.waitlist_id AND w.seq = e.seq')}
           OR ${record('w.waitlist_id = e.waitlist_id AND w.referral_token = e.referral_token')}
         ) AS is_record
       FROM erased_waiter e ${this.database.dialect.byIndex('erased_waiter_seq')}
       WHERE e.waitlist_id = ? ${after === null ? '' : 'AND e.seq > ?'} ORDER BY e.seq LIMIT ?`,
      [waitlistId, ...(after === null ? [] : [after]), limit],
      (rows) =>
        rows.map((row) => ({
          id: row.id,
          seq: Number(row.seq),
          erasedDay: row.erased_day,
          isRecord: row.is_record === 1,
        })),
    );
  }

  /** Derives `referred` anew. */
  markReferred(waitlistId: number): Query<void> {
    return write(
      `UPDATE waiter SET referred = (referred_by_token IS NOT NULL)
       WHERE waitlist_id = ? AND referred <> (referred_by_token IS NOT NULL)`,
      [waitlistId],
    );
  }

  /** The first `seq` of records and tombstones, and the one after the last; equal if there is none. */
  findSpan(waitlistId: number): Query<{ readonly first: number; readonly end: number }> {
    const spans = NUMBERED.map((table) =>
      select<{ first: string | null; last: string | null }, number[]>(
        `SELECT CAST(MIN(seq) AS CHAR) AS first, CAST(MAX(seq) AS CHAR) AS last FROM ${table} WHERE waitlist_id = ?`,
        [waitlistId],
        ([row]) => [row?.first ?? [], row?.last ?? []].flat().map(Number),
      ),
    );
    return mapped(together(spans), (found) => {
      const ends = found.flat();
      return ends.length === 0 ? { first: 0, end: 0 } : { first: Math.min(...ends), end: Math.max(...ends) + 1 };
    });
  }

  /** The waitlists that have pending records. */
  listWithPending(): Query<number[]> {
    return select<{ id: number }, number[]>(
      `SELECT l.id FROM waitlist l WHERE l.next_pending > 0 AND EXISTS (
         SELECT 1 FROM waiter w ${this.database.dialect.byIndex('waiter_joined')}
         WHERE w.waitlist_id = l.id AND w.status = ${STATUS_CODES.pending}
       ) ORDER BY l.id`,
      [],
      (rows) => rows.map(({ id }) => id),
    );
  }

  /** Pending records below a `seq`, the oldest first. */
  findPending(waitlistId: number, below: number, limit: number): Query<PendingRecord[]> {
    return select<{ seq: number; uuid: string; created_at: Date | string }, PendingRecord[]>(
      `SELECT seq, uuid, created_at FROM waiter ${this.database.dialect.byIndex('waiter_joined')}
       WHERE waitlist_id = ? AND status = ${STATUS_CODES.pending} AND seq < ? ORDER BY seq DESC LIMIT ?`,
      [waitlistId, below, limit],
      (rows) => rows.map(({ seq, uuid, created_at }) => ({ seq, uuid, createdAt: fromSqlTime(created_at) })),
    );
  }

  /** Deletes those of the records that are still pending. */
  deletePending(waitlistId: number, uuids: readonly string[]): Query<void> {
    return write(
      `DELETE FROM waiter WHERE waitlist_id = ? AND status = ${STATUS_CODES.pending} AND uuid IN (${placeholders(uuids.length)})`,
      [waitlistId, ...uuids],
    );
  }

  hasRows(table: string, waitlistId: number): Query<boolean> {
    return select(`SELECT 1 FROM ${table} WHERE waitlist_id = ? LIMIT 1`, [waitlistId], (rows) => rows.length > 0);
  }

  /** Deletes at most `limit` rows. SQLite has no LIMIT here; MariaDB reads the whole table for a subquery. */
  deleteSome(table: string, waitlistId: number, limit: number): Query<void> {
    return write(
      this.database.dialect.isEmbedded
        ? `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE waitlist_id = ? LIMIT ?)`
        : `DELETE FROM ${table} WHERE waitlist_id = ? LIMIT ?`,
      [waitlistId, limit],
    );
  }

  deleteFrom(table: string, waitlistId: number): Query<void> {
    return write(`DELETE FROM ${table} WHERE waitlist_id = ?`, [waitlistId]);
  }

  /** Deletes the records and tombstones below a `seq`. */
  deleteBefore(waitlistId: number, seq: number): Query<unknown> {
    return together(
      NUMBERED.map((table) => write(`DELETE FROM ${table} WHERE waitlist_id = ? AND seq < ?`, [waitlistId, seq])),
    );
  }
}
