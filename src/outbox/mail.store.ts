import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { Database } from '../platform/database/database.js';
import { chunksOf, placeholders, toSqlTime } from '../platform/database/dialect.js';
import { known, mapped, type Query, select, together, write } from '../platform/database/session.js';
import type { Table } from '../platform/database/table.js';
import { Secrets } from '../platform/secrets/secrets.js';
import { mailBoundKey } from '../fraud/mailbox.js';
import { MailEntity, type WordedMail } from './mail.entity.js';

/** Rows in one statement: SQLite takes 32,766 parameters. */
const ROWS_MAX = 500;

/** Mails that strangers can cause, to one mailbox over all waitlists. Without a bound, they could flood a mailbox. */
export const MAILBOX_HOUR_MAX = 5;
export const MAILBOX_DAY_MAX = 10;
/** Such mails that one network causes: enough for an office, too few to reach a list of addresses. */
export const NETWORK_HOUR_MAX = 300;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The kinds that go to the person of a record. */
const PERSONAL_MAILS = [
  'verification',
  'signup',
  'leave',
  'offer',
  'offer_reminder',
  'your_turn',
  'welcome',
] as const satisfies readonly MailEntity['kind'][];
type PersonalMail = (typeof PERSONAL_MAILS)[number];
/** Those that ask for a click. */
export const CLICK_MAILS: readonly PersonalMail[] = ['verification', 'signup'];
/** Those of an open offer. */
export const OFFER_MAILS: readonly PersonalMail[] = ['offer', 'offer_reminder'];

/** A mail to send to the person of a record. */
export interface NewMail {
  readonly kind: PersonalMail;
  readonly waiterUuid: string;
  /** The normal form of the record's email. */
  readonly emailKey: string;
  /** Keyed hash of the network that sent the request for the mail; null if no bound counts it. */
  readonly network: string | null;
  /** Whether a stranger may have caused it, so that the bounds count it. */
  readonly isBounded: boolean;
  readonly at: Date;
}

/** Which mails would be dropped, or go out twice. */
export interface Mailed {
  /** The uuids of records: a mail waits for its first attempt, or the mailbox has got as many as it may. */
  readonly records: ReadonlySet<string>;
  /** The networks that have caused as many mails as they may. */
  readonly networks: ReadonlySet<string>;
}

/** Stores mails, in the transactions that cause them. */
@Injectable()
export class MailStore {
  private readonly mails: Table<MailEntity>;

  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
  ) {
    this.mails = database.table(MailEntity);
  }

  insert(waitlistId: number, mails: readonly NewMail[]): Query<unknown> {
    const rows = mails.map(({ waiterUuid, kind, emailKey, network, isBounded, at }) => ({
      ...newMail(waitlistId, kind, at),
      waiterUuid,
      mailboxHash: isBounded ? this.hashOf(emailKey) : null,
      networkHash: isBounded ? network : null,
    }));
    return together(chunksOf(rows, ROWS_MAX).map((some) => this.mails.insert(some)));
  }

  /** Which of these records and networks can have no further mail of a bounded kind now. */
  findMailed(
    waitlistId: number,
    records: readonly Pick<NewMail, 'waiterUuid' | 'emailKey'>[],
    networks: readonly string[],
    now: Date,
    kinds: readonly PersonalMail[] = CLICK_MAILS,
  ): Query<Mailed> {
    const { dialect } = this.database;
    const uuids = records.map(({ waiterUuid }) => waiterUuid);
    const hashes = records.map(({ emailKey }) => this.hashOf(emailKey));
    if (records.length === 0) return known({ records: new Set(), networks: new Set() });
    const waiting = select<{ waiter_uuid: string }, string[]>(
      `SELECT DISTINCT waiter_uuid FROM mail ${dialect.byIndex('mail_waiter')}
       WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(uuids.length)}) AND kind IN (${placeholders(kinds.length)})
         AND status = 'pending' AND attempted_at IS NULL`,
      [waitlistId, ...uuids, ...kinds],
      (rows) => rows.map(({ waiter_uuid }) => waiter_uuid),
    );
    const [hour, day] = [before(now, HOUR_MS), before(now, DAY_MS)];
    const full = select<{ hash: string }, ReadonlySet<string>>(
      `SELECT mailbox_hash AS hash FROM mail ${dialect.byIndex('mail_mailbox')}
       WHERE mailbox_hash IN (${placeholders(hashes.length)}) AND attempted_at > ? GROUP BY mailbox_hash
       HAVING COUNT(*) >= ${MAILBOX_DAY_MAX} OR SUM(CASE WHEN attempted_at > ? THEN 1 ELSE 0 END) >= ${MAILBOX_HOUR_MAX}`,
      [...hashes, day, hour],
      (rows) => new Set(rows.map(({ hash }) => hash)),
    );
    return mapped(
      together([waiting, full, this.findFull(networks, hour)]),
      ([waitingUuids, fullHashes, fullNetworks]) => ({
        records: new Set([...waitingUuids, ...uuids.filter((_, index) => fullHashes.has(hashes[index] as string))]),
        networks: fullNetworks,
      }),
    );
  }

  /** The networks that have caused {@link NETWORK_HOUR_MAX} mails since then. */
  private findFull(networks: readonly string[], since: string): Query<ReadonlySet<string>> {
    if (networks.length === 0) return known(new Set());
    return select<{ hash: string }, ReadonlySet<string>>(
      `SELECT network_hash AS hash FROM mail ${this.database.dialect.byIndex('mail_network')}
       WHERE network_hash IN (${placeholders(networks.length)}) AND attempted_at > ? GROUP BY network_hash
       HAVING COUNT(*) >= ${NETWORK_HOUR_MAX}`,
      [...networks, since],
      (rows) => new Set(rows.map(({ hash }) => hash)),
    );
  }

  /** The uuids for which a mail was created at `since` or later, sent or not. */
  findMailedSince(waitlistId: number, uuids: readonly string[], since: Date): Query<ReadonlySet<string>> {
    return select<{ waiter_uuid: string }, ReadonlySet<string>>(
      `SELECT DISTINCT waiter_uuid FROM mail
       WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(uuids.length)}) AND created_at >= ?`,
      [waitlistId, ...uuids, toSqlTime(since)],
      (rows) => new Set(rows.map((row) => row.waiter_uuid)),
    );
  }

  /** Tells members that a webhook was turned off. */
  insertWebhookDisabled(waitlistId: number, webhookId: number, memberIds: readonly string[], at: Date): Query<unknown> {
    const rows = memberIds.map((memberId) => ({ ...newMail(waitlistId, 'webhook_disabled', at), webhookId, memberId }));
    return together(chunksOf(rows, ROWS_MAX).map((some) => this.mails.insert(some)));
  }

  /** Shows a member a kind of mail. */
  insertTest(waitlistId: number, memberId: string, tested: WordedMail, at: Date): Query<unknown> {
    return this.mails.insert([{ ...newMail(waitlistId, 'test', at), memberId, tested }]);
  }

  /**
   * Drops the pending mails of these kinds. Call it before the deletion of their links: it waits for a claim, which may
   * still insert a link.
   */
  drop(waitlistId: number, uuids: readonly string[], kinds: readonly PersonalMail[] = PERSONAL_MAILS): Query<unknown> {
    return together(
      chunksOf(uuids, ROWS_MAX).map((some) =>
        write(
          `UPDATE mail ${this.database.dialect.byIndex('mail_waiter')} SET status = 'dropped', next_attempt_at = NULL
           WHERE waitlist_id = ? AND status = 'pending' AND waiter_uuid IN (${placeholders(some.length)})
             AND kind IN (${placeholders(kinds.length)})`,
          [waitlistId, ...some, ...kinds],
        ),
      ),
    );
  }

  /** The keyed hash by which the bounds count the mails to a mailbox. */
  private hashOf(emailKey: string): string {
    return this.secrets.hash('mailbox', mailBoundKey(emailKey));
  }
}

/** In the form of a stored time. */
function before(now: Date, ms: number): string {
  return toSqlTime(new Date(now.getTime() - ms));
}

function newMail(waitlistId: number, kind: MailEntity['kind'], at: Date): MailEntity {
  return {
    id: uuidV7(),
    waitlistId,
    waiterUuid: null,
    memberId: null,
    webhookId: null,
    kind,
    tested: null,
    mailboxHash: null,
    networkHash: null,
    status: 'pending',
    attempts: 0,
    nextAttemptAt: at,
    attemptedAt: null,
    createdAt: at,
  };
}
