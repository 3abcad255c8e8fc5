import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { fromSqlTime, toSqlTime } from '../../platform/database/dialect.js';
import { type Query, select, write } from '../../platform/database/session.js';
import { nextRuns, type SavedPlan } from './release-plan.js';

export interface DueRelease {
  /** The next run; null if there is none. */
  readonly dueAt: Date | null;
  /** When `dueAt` was computed. */
  readonly seenAt: Date;
}

/** When the next run of each active plan is due. */
@Injectable()
export class ReleaseDueTable {
  constructor(private readonly database: Database) {}

  /** Stores the next run of a plan; without an active plan, deletes the row. Send it under the lock of the waitlist. */
  note(waitlistId: number, plan: SavedPlan | null, now: Date): Query<void> {
    if (!plan?.is_active) return write('DELETE FROM release_due WHERE waitlist_id = ?', [waitlistId]);
    const [next] = nextRuns(plan, now, 1);
    return write(
      `INSERT INTO release_due (waitlist_id, due_at, seen_at) VALUES (?, ?, ?)
       ${this.database.dialect.upsert(['waitlist_id'], ['due_at', 'seen_at'])}`,
      [waitlistId, next ? toSqlTime(next) : null, toSqlTime(now)],
    );
  }

  /** Null without an active plan. */
  find(waitlistId: number): Query<DueRelease | null> {
    return select<{ due_at: Date | string | null; seen_at: Date | string }, DueRelease | null>(
      'SELECT due_at, seen_at FROM release_due WHERE waitlist_id = ?',
      [waitlistId],
      ([row]) =>
        row ? { dueAt: row.due_at === null ? null : fromSqlTime(row.due_at), seenAt: fromSqlTime(row.seen_at) } : null,
    );
  }

  /** Whether the account is disabled, so that its members cannot pause a plan. */
  isDisabled(waitlistId: number): Query<boolean> {
    return select(
      `SELECT 1 FROM waitlist w JOIN account a ON a.id = w.account_id WHERE w.id = ? AND a.disabled_at IS NOT NULL`,
      [waitlistId],
      (rows) => rows.length > 0,
    );
  }

  /**
   * The waitlists whose runs may be due, at most `limit`. Also those whose row was stored in the future: the clock was
   * set back since then, so times before the stored one may come again.
   */
  findDue(now: Date, limit: number): Query<number[]> {
    return select<{ waitlist_id: number }, number[]>(
      'SELECT waitlist_id FROM release_due WHERE due_at <= ? OR seen_at > ? ORDER BY due_at LIMIT ?',
      [toSqlTime(now), toSqlTime(now), limit],
      (rows) => rows.map((row) => row.waitlist_id),
    );
  }
}
