import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { LeaveLinkEntity } from './leave-link.entity.js';

/** The links by which people leave. */
@Injectable()
export class LeaveLinkStore {
  private readonly links: Table<LeaveLinkEntity>;

  constructor(database: Database) {
    this.links = database.table(LeaveLinkEntity);
  }

  insert(link: LeaveLinkEntity): Query<void> {
    return this.links.insert([link]);
  }

  /** The link of the waitlist with this hash; null without one. */
  find(waitlistId: number, tokenHash: string): Query<LeaveLinkEntity | null> {
    return select<Row, LeaveLinkEntity | null>(
      `SELECT ${this.links.select('l')} FROM leave_link l WHERE l.token_hash = ? AND l.waitlist_id = ?`,
      [tokenHash, waitlistId],
      ([row]) => (row ? this.links.read(row) : null),
    );
  }

  /** One statement per record: given a list, MariaDB may scan the table and lock the links of other waitlists. */
  deleteOf(waitlistId: number, uuids: readonly string[]): Query<unknown> {
    return together(
      uuids.map((uuid) =>
        write('DELETE FROM leave_link WHERE waitlist_id = ? AND waiter_uuid = ?', [waitlistId, uuid]),
      ),
    );
  }
}
