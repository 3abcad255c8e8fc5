import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { chunksOf, placeholders } from '../../platform/database/dialect.js';
import { type Query, select, together, write } from '../../platform/database/session.js';
import { DAY_FIELDS, type DayCounts } from './day-counts.js';

const KEY = ['waitlist_id', 'day'];
const COLUMNS = [...KEY, ...DAY_FIELDS];
/** Rows in one statement: SQLite takes 32,766 parameters. */
const ROWS_MAX = 1_000;

type DayRow = Readonly<Record<keyof DayCounts, string>>;

/** The rows of `day-counts.ts`. They change only under the lock of their queue. */
@Injectable()
export class DayStore {
  constructor(private readonly database: Database) {}

  /** Adds to the counters of days. */
  add(waitlistId: number, changes: readonly DayCounts[]): Query<unknown> {
    const row = `(${placeholders(COLUMNS.length)})`;
    return together(
      chunksOf(changes, ROWS_MAX).map((some) =>
        write(
          `INSERT INTO waitlist_day (${COLUMNS.join(', ')}) VALUES ${some.map(() => row).join(', ')}
           ${this.database.dialect.upsertSum(KEY, DAY_FIELDS)}`,
          some.flatMap(({ day, ...counts }) => [waitlistId, day, ...DAY_FIELDS.map((field) => counts[field])]),
        ),
      ),
    );
  }

  /** The counters of the days from `from` to `to`, both included; days without a row are left out. */
  find(waitlistId: number, { from, to }: { readonly from: string; readonly to: string }): Query<DayCounts[]> {
    return this.findWhere('waitlist_id = ? AND day >= ? AND day <= ?', [waitlistId, from, to]);
  }

  findAll(waitlistId: number): Query<DayCounts[]> {
    return this.findWhere('waitlist_id = ?', [waitlistId]);
  }

  deleteAll(waitlistId: number): Query<void> {
    return write('DELETE FROM waitlist_day WHERE waitlist_id = ?', [waitlistId]);
  }

  private findWhere(condition: string, values: readonly unknown[]): Query<DayCounts[]> {
    return select<DayRow, DayCounts[]>(
      // As text, because node:sqlite throws on an integer beyond 2^53, which only foreign SQL stores.
      `SELECT day, ${DAY_FIELDS.map((field) => `CAST(${field} AS CHAR) AS ${field}`).join(', ')}
       FROM waitlist_day WHERE ${condition} ORDER BY day`,
      values,
      (rows) =>
        rows.map(
          ({ day, ...counts }) =>
            ({ day, ...Object.fromEntries(DAY_FIELDS.map((field) => [field, Number(counts[field])])) }) as DayCounts,
        ),
    );
  }
}
