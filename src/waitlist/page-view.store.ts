import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { placeholders } from '../platform/database/dialect.js';
import { type Query, select, write } from '../platform/database/session.js';

/** A number of views of a waitlist's pages. */
export interface PageViews {
  readonly waitlistId: number;
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

  /** Adds to the views of a day, such as `2026-11-22`. */
  add(day: string, added: readonly PageViews[]): Query<void> {
    return write(
      `INSERT INTO page_view (waitlist_id, day, views) VALUES ${added.map(() => '(?, ?, ?)').join(', ')}
       ${this.database.dialect.upsertSum(['waitlist_id', 'day'], 'views')}`,
      added.flatMap(({ waitlistId, views }) => [waitlistId, day, views]),
    );
  }
}
