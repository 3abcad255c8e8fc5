import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { type Query, select } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { LeaveLinkEntity } from './leave-link.entity.js';

/** The links by which people leave. */
@Injectable()
export class LeaveLinkStore {
  private readonly links: Table<LeaveLinkEntity>;

  constructor(
    database: Database,
    private readonly secrets: Secrets,
  ) {
    this.links = database.table(LeaveLinkEntity);
  }

  insert({ emailKey, ...link }: Omit<LeaveLinkEntity, 'emailHash'> & { readonly emailKey: string }): Query<void> {
    return this.links.insert([{ ...link, emailHash: this.hashOf(emailKey) }]);
  }

  /** The link of the waitlist with this hash; null without one. */
  find(waitlistId: number, tokenHash: string): Query<LeaveLinkEntity | null> {
    return select<Row, LeaveLinkEntity | null>(
      `SELECT ${this.links.select('l')} FROM leave_link l WHERE l.token_hash = ? AND l.waitlist_id = ?`,
      [tokenHash, waitlistId],
      ([row]) => (row ? this.links.read(row) : null),
    );
  }

  /** Whether the link was mailed to this email. */
  wasSentTo({ emailHash }: LeaveLinkEntity, emailKey: string | null): boolean {
    return emailKey !== null && emailHash === this.hashOf(emailKey);
  }

  private hashOf(emailKey: string): string {
    return this.secrets.hash('leave-link', emailKey);
  }
}
