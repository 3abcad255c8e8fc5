import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { placeholders, toSqlTime } from '../platform/database/dialect.js';
import { known, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { VerificationLinkEntity } from './verification-link.entity.js';

/** The links of verification mails. */
@Injectable()
export class VerificationLinkStore {
  private readonly links: Table<VerificationLinkEntity>;

  constructor(database: Database) {
    this.links = database.table(VerificationLinkEntity);
  }

  insert(link: VerificationLinkEntity): Query<void> {
    return this.links.insert([link]);
  }

  /** The links of the waitlist with these hashes. */
  find(waitlistId: number, tokenHashes: readonly string[]): Query<VerificationLinkEntity[]> {
    if (tokenHashes.length === 0) return known([]);
    return select<Row, VerificationLinkEntity[]>(
      `SELECT ${this.links.select('l')} FROM verification_link l
       WHERE l.waitlist_id = ? AND l.token_hash IN (${placeholders(tokenHashes.length)})`,
      [waitlistId, ...tokenHashes],
      (rows) => rows.map((row) => this.links.read(row)),
    );
  }

  /** Marks a link as used, and deletes the other links of its record. */
  use({ waitlistId, tokenHash, waiterUuid }: VerificationLinkEntity, at: Date): Query<unknown> {
    return together([
      write('UPDATE verification_link SET used_at = ? WHERE token_hash = ?', [toSqlTime(at), tokenHash]),
      write('DELETE FROM verification_link WHERE waitlist_id = ? AND waiter_uuid = ? AND token_hash <> ?', [
        waitlistId,
        waiterUuid,
        tokenHash,
      ]),
    ]);
  }

  /** One statement per record: given a list, MariaDB may scan the table and lock the links of other waitlists. */
  deleteOf(waitlistId: number, uuids: readonly string[]): Query<unknown> {
    return together(
      uuids.map((uuid) =>
        write('DELETE FROM verification_link WHERE waitlist_id = ? AND waiter_uuid = ?', [waitlistId, uuid]),
      ),
    );
  }
}
