import { Injectable } from '@nestjs/common';
import { IS_ACTIVE } from '../account/member.entity.js';
import { Database } from '../platform/database/database.js';
import { fromSqlTime, placeholders, toSqlTime } from '../platform/database/dialect.js';
import { known, mapped, type Query, select, together, write } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import type { Contender } from '../platform/limits/turns.js';
import { MAIL_KINDS, MailEntity } from '../outbox/mail.entity.js';
import { WelcomeMailStore } from '../outbox/welcome-mail.store.js';
import { LARGE } from '../queue/record/waiter.js';
import { WaiterEntity } from '../queue/record/waiter.entity.js';
import { type Mails, NO_MAILS } from '../queue/settings/mail-words.js';
import { WaitlistMailTable } from '../queue/settings/waitlist-mail.table.js';
import { type WholeWaitlist, WaitlistTable } from '../queue/settings/waitlist.table.js';
import type { Tried } from './mail-bounds.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Pending mails that the metrics count: a scrape must stay cheap however many there are. */
export const COUNTED_MAX = 100_000;
/** Waitlists with mails of one kind that a claim reads. The next claim goes on after them. */
const WAITLISTS_MAX = 500;

export type Recipient = Pick<
  WaiterEntity,
  'uuid' | 'email' | 'emailKey' | 'verified' | 'firstName' | 'status' | 'removedReason' | 'referralToken'
>;

/** An active member of an account that is not disabled. */
export interface ActiveMember {
  readonly email: string;
  readonly isOwner: boolean;
}

/** A waitlist with the owner's words of its mails. */
export interface MailingWaitlist extends WholeWaitlist {
  readonly mails: Mails;
}

/** The kinds of which mails are due, each with the seconds since the first became due. `member`: a link to a member. */
export type DueKinds = ReadonlyMap<DueKind, number>;
export type DueKind = MailEntity['kind'] | 'member';

/** Waitlists with due mails, and the id from which to look for further ones: 0 if there are none. */
export interface Waiting {
  readonly waitlists: readonly Contender[];
  readonly nextFrom: number;
}

/** The mails that wait to be sent. */
@Injectable()
export class DueMailStore {
  private readonly mails: Table<MailEntity>;
  private readonly waiters: Table<WaiterEntity>;

  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistTable,
    private readonly words: WaitlistMailTable,
    private readonly welcomes: WelcomeMailStore,
  ) {
    this.mails = database.table(MailEntity);
    this.waiters = database.table(WaiterEntity);
  }

  findDue(now: Date): Query<DueKinds> {
    const firsts = MAIL_KINDS.map(
      (kind) =>
        `SELECT '${kind}' AS kind, MIN(next_attempt_at) AS due FROM mail WHERE status = 'pending' AND kind = '${kind}'`,
    );
    const toMember = `SELECT 'member' AS kind, MIN(next_attempt_at) AS due FROM member_mail WHERE status = 'pending'`;
    return select<{ kind: DueKind; due: Date | string | null }, DueKinds>(
      [...firsts, toMember].join(' UNION ALL '),
      [],
      (rows) => {
        const seconds = rows.flatMap(({ kind, due }) =>
          due === null ? [] : [[kind, (now.getTime() - fromSqlTime(due).getTime()) / 1000] as const],
        );
        return new Map(seconds.filter(([, since]) => since >= 0));
      },
    );
  }

  /**
   * Makes the claims of all processes run one by one, so that the bounds are exact. It writes a row: a cluster with
   * several writing nodes detects conflicting writes, not conflicting locks.
   */
  lockClaims(): Query<void> {
    return write(
      `INSERT INTO mail_turn (id, revision) VALUES (1, 1) ${this.database.dialect.upsertSum(['id'], ['revision'])}`,
    );
  }

  /**
   * Of {@link WAITLISTS_MAX} waitlists with mails of a kind, from the id `from` on: those that have due ones. It reads
   * as many entries of the index as there are waitlists, however many mails wait. MySQL and MariaDB skip through the
   * groups; SQLite would read them whole, so it searches for each next one.
   */
  findWaiting(kind: MailEntity['kind'], from: number, now: Date): Query<Waiting> {
    const { isEmbedded } = this.database.dialect;
    const mails = `FROM mail m ${this.database.dialect.byIndex('mail_waitlist')}
      WHERE m.status = 'pending' AND m.kind = '${kind}' AND m.waitlist_id`;
    const waiting = isEmbedded
      ? `WITH RECURSIVE step (id) AS (
           SELECT MIN(m.waitlist_id) ${mails} >= ?
           UNION ALL SELECT (SELECT MIN(m.waitlist_id) ${mails} > s.id) FROM step s WHERE s.id IS NOT NULL LIMIT ?)
         SELECT id, (SELECT MIN(m.next_attempt_at) ${mails} = step.id) AS due FROM step WHERE id IS NOT NULL`
      : `SELECT m.waitlist_id AS id, MIN(m.next_attempt_at) AS due ${mails} >= ?
         GROUP BY m.status, m.kind, m.waitlist_id ORDER BY m.status, m.kind, m.waitlist_id LIMIT ?`;
    return select<{ id: number; account_id: number | null; due: Date | string }, Waiting>(
      `SELECT w.id, l.account_id, w.due FROM (${waiting}) w LEFT JOIN waitlist l ON l.id = w.id`,
      [from, WAITLISTS_MAX],
      (rows) => ({
        waitlists: rows
          .filter(({ due }) => fromSqlTime(due) <= now)
          // Mails of a deleted waitlist have no account any more. A claim drops them.
          .map(({ id, account_id: accountId }) => ({ id, accountId: accountId ?? 0 })),
        nextFrom: rows.length < WAITLISTS_MAX ? 0 : Math.max(...rows.map(({ id }) => id)) + 1,
      }),
    );
  }

  /** Locks mails of a waitlist that have been due longest. An erasure, which drops mails, waits for the claim. */
  lockDue(kind: MailEntity['kind'], waitlistId: number, now: Date, limit: number): Query<MailEntity[]> {
    return select<Row, MailEntity[]>(
      `SELECT ${this.mails.select('m')} FROM mail m ${this.database.dialect.byIndex('mail_waitlist')}
       WHERE m.status = 'pending' AND m.kind = ? AND m.waitlist_id = ? AND m.next_attempt_at <= ?
       ORDER BY m.next_attempt_at LIMIT ? ${this.database.dialect.skipLocked}`,
      [kind, waitlistId, toSqlTime(now), limit],
      (rows) => rows.map((row) => this.mails.read(row)),
    );
  }

  /** The records with these uuids, by uuid. */
  findRecipients(uuids: readonly string[]): Query<ReadonlyMap<string, Recipient>> {
    if (uuids.length === 0) return known(new Map());
    return select<Row, ReadonlyMap<string, Recipient>>(
      `SELECT ${this.waiters.select('w', LARGE)} FROM waiter w WHERE w.uuid IN (${placeholders(uuids.length)})`,
      uuids,
      (rows) => new Map(rows.map((row) => this.waiters.read(row)).map((waiter) => [waiter.uuid, waiter])),
    );
  }

  /** By id, with the owner's words. */
  findWaitlists(ids: readonly number[]): Query<ReadonlyMap<number, MailingWaitlist>> {
    const found = select<Row, readonly WholeWaitlist[]>(
      `SELECT ${this.waitlists.select('l')} FROM waitlist l WHERE l.id IN (${placeholders(ids.length)})`,
      ids,
      (rows) => rows.map((row) => this.waitlists.read(row)),
    );
    return mapped(
      together([found, this.words.findAll(ids)]),
      ([waitlists, words]) =>
        new Map(waitlists.map((waitlist) => [waitlist.id, { ...waitlist, mails: words.get(waitlist.id) ?? NO_MAILS }])),
    );
  }

  /** The active ones of these members, by their ids. */
  findMembers(ids: readonly string[]): Query<ReadonlyMap<string, ActiveMember>> {
    if (ids.length === 0) return known(new Map());
    return select<{ id: string; email: string; role: string }, ReadonlyMap<string, ActiveMember>>(
      `SELECT m.id, m.email, m.role FROM member m JOIN account a ON a.id = m.account_id
       WHERE m.id IN (${placeholders(ids.length)}) AND ${IS_ACTIVE} AND a.disabled_at IS NULL`,
      ids,
      (rows) => new Map(rows.map(({ id, email, role }) => [id, { email, isOwner: role === 'owner' }])),
    );
  }

  /** The addresses of these webhooks, by their ids. */
  findWebhooks(ids: readonly number[]): Query<ReadonlyMap<number, string>> {
    if (ids.length === 0) return known(new Map());
    return select<{ id: number; url: string }, ReadonlyMap<number, string>>(
      `SELECT h.id, h.url FROM webhook h WHERE h.id IN (${placeholders(ids.length)})`,
      ids,
      (rows) => new Map(rows.map(({ id, url }) => [id, url])),
    );
  }

  /** How many mails with these hashes were first tried in the last hour and day, by hash. */
  countTried(
    column: 'mailbox_hash' | 'network_hash',
    hashes: readonly string[],
    now: Date,
  ): Query<ReadonlyMap<string, Tried>> {
    if (hashes.length === 0) return known(new Map());
    const [hour, day] = [HOUR_MS, DAY_MS].map((ms) => toSqlTime(new Date(now.getTime() - ms)));
    return select<Record<'hash' | 'hour' | 'day', string | number>, ReadonlyMap<string, Tried>>(
      `SELECT ${column} AS hash, SUM(CASE WHEN attempted_at > ? THEN 1 ELSE 0 END) AS hour, COUNT(*) AS day FROM mail
       WHERE ${column} IN (${placeholders(hashes.length)}) AND attempted_at > ? GROUP BY ${column}`,
      [hour, ...hashes, day],
      // MySQL's sums are decimal texts.
      (rows) => new Map(rows.map((row) => [String(row.hash), { hour: Number(row.hour), day: Number(row.day) }])),
    );
  }

  change(id: string, change: Partial<MailEntity>): Query<void> {
    return this.mails.update({ id }, change);
  }

  /** Drops the other pending mails of this kind to the same person; for an offer, a due reminder too. */
  dropOthers({ id, kind, waitlistId, waiterUuid }: MailEntity, now: Date): Query<void> {
    const reminder = kind === 'offer' ? `OR kind = 'offer_reminder' AND next_attempt_at <= ?` : '';
    return write(
      `UPDATE mail ${this.database.dialect.byIndex('mail_waiter')} SET status = 'dropped', next_attempt_at = NULL
       WHERE waitlist_id = ? AND waiter_uuid = ? AND status = 'pending' AND id <> ? AND (kind = ? ${reminder})`,
      [waitlistId, waiterUuid, id, kind, ...(kind === 'offer' ? [toSqlTime(now)] : [])],
    );
  }

  /** Stores the result of an attempt, unless the mail was dropped or claimed again meanwhile. */
  settle({ id, attempts }: MailEntity, change: Partial<MailEntity>): Query<void> {
    return this.mails.update({ id, attempts, status: 'pending' }, change);
  }

  /**
   * With those to members, and the welcomes that are no mails yet, but without reminders that are not due; at most
   * {@link COUNTED_MAX}.
   */
  countPending(now: Date): Query<number> {
    const pendingOf = (table: 'mail' | 'member_mail', condition = '1 = 1', values: readonly string[] = []) =>
      select<{ count: number }, number>(
        `SELECT COUNT(*) AS count FROM (SELECT 1 FROM ${table} WHERE status = 'pending' AND ${condition} LIMIT ?) AS counted`,
        [...values, COUNTED_MAX],
        ([row]) => Number(row?.count ?? 0),
      );
    const prompt = MAIL_KINDS.filter((kind) => kind !== 'offer_reminder');
    const counts = together([
      pendingOf('mail', `kind IN (${placeholders(prompt.length)})`, prompt),
      pendingOf('mail', `kind = 'offer_reminder' AND next_attempt_at <= ?`, [toSqlTime(now)]),
      pendingOf('member_mail'),
      this.welcomes.count(COUNTED_MAX),
    ]);
    return mapped(counts, (all) =>
      Math.min(
        all.reduce((sum, count) => sum + count),
        COUNTED_MAX,
      ),
    );
  }

  /** Seconds since the oldest due mail, or a welcome that is none yet, became due; 0 if none is due. */
  measureDelay(now: Date): Query<number> {
    return mapped(together([this.findDue(now), this.welcomes.findWaitlists()]), ([due, waiting]) => {
      const seconds = waiting.map(({ since }) => (now.getTime() - since.getTime()) / 1000);
      return Math.max(0, ...due.values(), ...seconds);
    });
  }

  /** How many waitlists send mails. */
  countSenders(): Query<number> {
    return select<{ count: number }, number>(
      `SELECT COUNT(*) AS count FROM waitlist WHERE verification <> 'off' OR mail_on_offboarding = 1 OR mail_on_signup = 1`,
      [],
      ([row]) => Number(row?.count ?? 0),
    );
  }
}
