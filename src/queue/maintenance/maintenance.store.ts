import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { type Query, select, write } from '../../platform/database/session.js';
import type { StoredWaiter } from '../waiter.js';
import type { Standing } from '../waiter.store.js';

/** A record as `verify` and `rebuild` read it: stored values, whatever they are. */
export interface AuditedFacts
  extends Standing, Pick<StoredWaiter, 'seq' | 'spotsAdvanced' | 'referredByToken' | 'removedPriority'> {
  readonly active: number;
  readonly referred: number;
  /** Whether `removed_at` is set. */
  readonly isDated: boolean;
  /** Records that name this one as their referrer. */
  readonly referrals: number;
}

/** Reads, repairs and deletes all records of a waitlist. Every statement names its waitlist. */
@Injectable()
export class MaintenanceStore {
  constructor(private readonly database: Database) {}

  /**
   * Records in join order after a `seq`, or from the first. Numbers are read as text, because node:sqlite throws on an
   * integer beyond 2^53, which only foreign SQL stores and which `verify` must name.
   */
  findFacts(waitlistId: number, after: number | null, limit: number): Query<AuditedFacts[]> {
    const { dialect } = this.database;
    const numbers = ['seq', 'amount_referred', 'credited_referrals', 'spots_advanced', 'rank_key', 'removed_priority'];
    return select<Readonly<Record<string, number | string | null>>, AuditedFacts[]>(
      `SELECT w.id, ${numbers.map((column) => `CAST(w.${column} AS CHAR) AS ${column}`).join(', ')}, w.active, w.referred,
         w.referred_by_token, w.removed_at IS NOT NULL AS is_dated, (
           SELECT COUNT(*) FROM waiter r ${dialect.byIndex('waiter_referrer')}
           WHERE r.waitlist_id = w.waitlist_id AND r.referred_by_token = w.referral_token
         ) AS referrals
       FROM waiter w ${dialect.byIndex('waiter_seq')}
       WHERE w.waitlist_id = ? ${after === null ? '' : 'AND w.seq > ?'} ORDER BY w.seq LIMIT ?`,
      [waitlistId, ...(after === null ? [] : [after]), limit],
      (rows) =>
        rows.map((row) => ({
          id: row.id as number,
          seq: Number(row.seq),
          amountReferred: Number(row.amount_referred),
          creditedReferrals: Number(row.credited_referrals),
          spotsAdvanced: Number(row.spots_advanced),
          rankKey: Number(row.rank_key),
          active: row.active as number,
          referred: row.referred as number,
          referredByToken: row.referred_by_token as string | null,
          removedPriority: row.removed_priority === null ? null : Number(row.removed_priority),
          isDated: row.is_dated === 1,
          referrals: Number(row.referrals),
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

  /** The first `seq`, and the one after the last; equal if there is no record. */
  findSpan(waitlistId: number): Query<{ readonly first: number; readonly end: number }> {
    return select<{ first: string | null; last: string | null }, { first: number; end: number }>(
      'SELECT CAST(MIN(seq) AS CHAR) AS first, CAST(MAX(seq) AS CHAR) AS last FROM waiter WHERE waitlist_id = ?',
      [waitlistId],
      ([row]) => ({ first: Number(row?.first ?? 0), end: Number(row?.last ?? -1) + 1 }),
    );
  }

  deleteFrom(table: string, waitlistId: number): Query<void> {
    return write(`DELETE FROM ${table} WHERE waitlist_id = ?`, [waitlistId]);
  }

  deleteRange(waitlistId: number, fromSeq: number, toSeq: number): Query<void> {
    return write('DELETE FROM waiter WHERE waitlist_id = ? AND seq >= ? AND seq < ?', [waitlistId, fromSeq, toSeq]);
  }
}
