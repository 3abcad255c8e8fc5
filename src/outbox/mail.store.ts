import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { Database } from '../platform/database/database.js';
import { chunksOf, placeholders } from '../platform/database/dialect.js';
import { type Query, together, write } from '../platform/database/session.js';
import type { Table } from '../platform/database/table.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { MailEntity } from './mail.entity.js';

/** Rows in one statement: SQLite takes 32,766 parameters. */
const ROWS_MAX = 500;

/** A mail to send to the person of a record. */
export interface NewMail extends Pick<MailEntity, 'waiterUuid' | 'kind'> {
  /** The normal form of the record's email. */
  readonly emailKey: string;
  /** A keyed hash of the network that caused it; null if no bound counts it. */
  readonly network: string | null;
  readonly at: Date;
}

/** Queries for the transactions that cause mails. */
@Injectable()
export class MailStore {
  private readonly mails: Table<MailEntity>;

  constructor(
    database: Database,
    private readonly secrets: Secrets,
  ) {
    this.mails = database.table(MailEntity);
  }

  insert(waitlistId: number, mails: readonly NewMail[]): Query<unknown> {
    const rows = mails.map(({ waiterUuid, kind, emailKey, network, at }) => ({
      id: uuidV7(),
      waitlistId,
      waiterUuid,
      kind,
      mailboxHash: this.secrets.hash('mailbox', emailKey),
      networkHash: network,
      status: 'pending' as const,
      attempts: 0,
      nextAttemptAt: at,
      createdAt: at,
      sentAt: null,
    }));
    return together(chunksOf(rows, ROWS_MAX).map((some) => this.mails.insert(some)));
  }

  /** Drops the mails to erased people that are not sent yet. */
  drop(waitlistId: number, uuids: readonly string[]): Query<unknown> {
    return together(
      chunksOf(uuids, ROWS_MAX).map((some) =>
        write(
          `UPDATE mail SET status = 'dropped', next_attempt_at = NULL
           WHERE waitlist_id = ? AND status = 'pending' AND waiter_uuid IN (${placeholders(some.length)})`,
          [waitlistId, ...some],
        ),
      ),
    );
  }
}
