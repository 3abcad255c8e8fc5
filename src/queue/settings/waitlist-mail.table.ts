import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { placeholders } from '../../platform/database/dialect.js';
import { known, mapped, type Query, select, together, write } from '../../platform/database/session.js';
import type { Row, Table } from '../../platform/database/table.js';
import { type Mails, NO_MAILS, WORDED_MAILS } from './mail-words.js';
import { WaitlistMailEntity } from './waitlist-mail.entity.js';

/** The owners' words of mails. They are long, and no signup reads them: so they are not in the row of the waitlist. */
@Injectable()
export class WaitlistMailTable {
  private readonly mails: Table<WaitlistMailEntity>;

  constructor(database: Database) {
    this.mails = database.table(WaitlistMailEntity);
  }

  find(waitlistId: number): Query<Mails> {
    return mapped(this.findAll([waitlistId]), (byId) => byId.get(waitlistId) ?? NO_MAILS);
  }

  /** By the id of the waitlist, without those that have no words of the owner. */
  findAll(waitlistIds: readonly number[]): Query<ReadonlyMap<number, Mails>> {
    if (waitlistIds.length === 0) return known(new Map());
    return select<Row, ReadonlyMap<number, Mails>>(
      `SELECT ${this.mails.select('m')} FROM waitlist_mail m
       WHERE m.waitlist_id IN (${placeholders(waitlistIds.length)})`,
      waitlistIds,
      (rows) => {
        const byId = new Map<number, Mails>();
        for (const { waitlistId, kind, subject, text } of rows.map((row) => this.mails.read(row)))
          byId.set(waitlistId, { ...(byId.get(waitlistId) ?? NO_MAILS), [kind]: { subject, text } });
        return byId;
      },
    );
  }

  /** Send it under the lock of the waitlist. */
  replace(waitlistId: number, mails: Mails): Query<unknown> {
    const rows = WORDED_MAILS.map((kind) => ({ waitlistId, kind, ...mails[kind] })).filter(
      ({ subject, text }) => subject !== null || text !== null,
    );
    return together([
      write('DELETE FROM waitlist_mail WHERE waitlist_id = ?', [waitlistId]),
      rows.length > 0 ? this.mails.insert(rows) : known(undefined),
    ]);
  }
}
