import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { placeholders } from '../platform/database/dialect.js';
import { type Query, select, write } from '../platform/database/session.js';
import type { Span } from '../queue/read/queue.statistics.js';

/** A number of views of a waitlist's pages on a day in UTC, such as `2026-11-22`. */
export interface PageViews {
  readonly waitlistId: number;
  readonly day: string;
  readonly views: number;
}

@Injectable()
export class PageViewStore {
  constructor(private readonly database: Database) {}

  /** Those of the waitlists that exist and are public. */
  findPublic(waitlistIds: readonly number[]): Query<Set<number>> {
    return select<{ id: number }, Set<number>>(
      `SELECT id FROM waitlist WHERE id IN (${placeholders(waitlistIds.length)}) AND is_public = 1`,
      waitlistIds,
      (rows) => new Set(rows.map(({ id }) => id)),
    );
  }

  /** The views of the days from `from` to `to`, both included, by day; days without views are left out. */
  find(waitlistId: number, { from, to }: Span): Query<ReadonlyMap<string, number>> {
    return select<{ day: string; views: number }, ReadonlyMap<string, number>>(
      'SELECT day, views FROM page_view WHERE waitlist_id = ? AND day >= ? AND day <= ?',
      [waitlistId, from, to],
      (rows) => new Map(rows.map(({ day, views }) => [day, views])),
    );
  }

  add(added: readonly PageViews[]): Query<void> {
    return write(
      `INSERT INTO page_view (waitlist_id, day, views) VALUES ${added.map(() => '(?, ?, ?)').join(', ')}
       ${this.database.dialect.upsertSum(['waitlist_id', 'day'], ['views'])}`,
      added.flatMap(({ waitlistId, day, views }) => [waitlistId, day, views]),
    );
  }
}
