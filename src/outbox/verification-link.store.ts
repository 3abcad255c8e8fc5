import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { chunksOf, placeholders, toSqlTime } from '../platform/database/dialect.js';
import { known, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { VerificationLinkEntity } from './verification-link.entity.js';

/** Values in one statement: SQLite takes 32,766 parameters. */
const ROWS_MAX = 500;

/** The links of verification mails. */
@Injectable()
export class VerificationLinkStore {
  private readonly links: Table<VerificationLinkEntity>;

  constructor(private readonly database: Database) {
    this.links = database.table(VerificationLinkEntity);
  }

  insert(link: VerificationLinkEntity): Query<void> {
    return this.links.insert([link]);
  }

  /** Those of the links that the waitlist has. */
  find(waitlistId: number, tokenHashes: readonly string[]): Query<VerificationLinkEntity[]> {
    if (tokenHashes.length === 0) return known([]);
    return select<Row, VerificationLinkEntity[]>(
      `SELECT ${this.links.select('l')} FROM verification_link l
       WHERE l.waitlist_id = ? AND l.token_hash IN (${placeholders(tokenHashes.length)})`,
      [waitlistId, ...tokenHashes],
      (rows) => rows.map((row) => this.links.read(row)),
    );
  }

  /** Marks a link as used, and deletes the other links of its person. */
  use({ waitlistId, tokenHash, waiterUuid }: VerificationLinkEntity, at: Date): Query<unknown> {
    return together([
      write('UPDATE verification_link SET used_at = ? WHERE token_hash = ?', [toSqlTime(at), tokenHash]),
      write(`${this.deleteByPerson} WHERE waitlist_id = ? AND waiter_uuid = ? AND token_hash <> ?`, [
        waitlistId,
        waiterUuid,
        tokenHash,
      ]),
    ]);
  }

  /** Deletes the links of people who were erased, or have another email now. */
  end(waitlistId: number, uuids: readonly string[]): Query<unknown> {
    return together(
      chunksOf(uuids, ROWS_MAX).map((some) =>
        write(`${this.deleteByPerson} WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(some.length)})`, [
          waitlistId,
          ...some,
        ]),
      ),
    );
  }

  private get deleteByPerson(): string {
    return this.database.dialect.deleteByIndex('verification_link', 'verification_link_waiter');
  }
}
