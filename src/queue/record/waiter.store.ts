import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { chunksOf, placeholders, toSqlTime } from '../../platform/database/dialect.js';
import { known, mapped, type Query, select, together, write } from '../../platform/database/session.js';
import type { Row, Table } from '../../platform/database/table.js';
import { type Reach, within } from '../../platform/reach.js';
import { beforeInSql } from '../order/bucket.store.js';
import type { Corrected } from './corrected-columns.js';
import { leafOf, QUEUE_AXIS } from '../order/counters.js';
import { ErasedWaiterEntity } from './erased-waiter.entity.js';
import { RANK_BASE } from '../order/rank-key.js';
import { type ContactKeys, type Credit, LARGE, type Status, type StoredWaiter, type Waiter } from './waiter.js';
import { CREDIT_CODES, CREDITS, REMOVED_REASONS, STATUS_CODES, STATUSES, WaiterEntity } from './waiter.entity.js';

/** Records in one UPDATE: its CASE is searched for each, and SQLite takes 32,766 parameters. */
const UPDATES_MAX = 500;

/** The tables that hold referred records. */
const REFERRED_TABLES = ['waiter', 'erased_waiter'];
/** The credits that a refusal changes. */
const REFUSABLE = [CREDIT_CODES.credited, CREDIT_CODES.awaiting_verification, CREDIT_CODES.withheld];

/**
 * A position is the records before a bucket and those counted within it. An import can put a whole waitlist into one
 * bucket, so a statement for many records counts in no bucket that has more than this.
 */
const COUNTED_MAX = 1_000;
/** Instead of a position in a bucket that has more: `CrowdedPositions` counts it. */
export const CROWDED = -1;

type Without = typeof LARGE | readonly [];

/** Where a record stands in the order of the queue. */
export type Rank = Pick<StoredWaiter, 'rankKey' | 'seq'>;

/** The columns that referrals change. */
export type Standing = Pick<StoredWaiter, 'id' | 'creditedReferrals' | 'rankKey'>;

/** The columns to set in one record. */
export interface Correction {
  readonly id: number;
  readonly columns: Corrected &
    Partial<
      StatusColumns & Pick<StoredWaiter, 'spotsAdvanced' | 'rankKey' | 'seq' | 'joinedPriority' | 'verified' | 'credit'>
    >;
}

/** The record that has an email or a phone. */
export type TakenContact = Pick<StoredWaiter, 'emailKey' | 'phoneKey' | 'uuid' | 'verified' | 'status' | 'credit'>;

/** A record and its folded mailbox. */
export interface MailboxHolder {
  readonly uuid: string;
  readonly mailbox: string;
}

/** The columns that go with a status of a record that joined the queue. */
export type StatusColumns = Pick<
  StoredWaiter,
  'status' | 'removedAt' | 'removedPriority' | 'removedReason' | 'offerExpiresAt'
>;

/** Records that get the same status, each with its own columns, by id. */
export interface StatusChange extends Pick<StatusColumns, 'status' | 'removedReason'> {
  readonly records: ReadonlyMap<number, StatusColumns>;
}

/** The buckets of a record are missing, so its position is unknown; a wrong one must not be shown. */
export class MissingBucketError extends Error {
  constructor(id: number, waitlistId: number) {
    super(`Record ${id} has no bucket: run \`npm run cli -- rebuild ${waitlistId}\``);
  }
}

/**
 * Finds and changes records. Every statement names its waitlist (sharding key, and boundary of owners), or the account.
 */
@Injectable()
export class WaiterStore {
  private readonly waiters: Table<WaiterEntity>;
  private readonly tombstones: Table<ErasedWaiterEntity>;

  constructor(private readonly database: Database) {
    this.waiters = database.table(WaiterEntity);
    this.tombstones = database.table(ErasedWaiterEntity);
  }

  /** Each record that one of the keys matches. Its position may be {@link CROWDED}. */
  findByContacts(waitlistId: number, contacts: readonly ContactKeys[]): Query<Waiter[]> {
    return this.byContacts(contacts, (column, keys, hint) => this.findWhere(waitlistId, `w.${column}`, keys, hint));
  }

  /** The records with these uuids. Positions may be {@link CROWDED}. */
  findByUuids(waitlistId: number, uuids: readonly string[], without: Without = []): Query<Waiter[]> {
    return this.findWhere(waitlistId, 'w.uuid', uuids, this.database.dialect.byIndex('waiter_uuid'), without);
  }

  /** The records with these uuids, without their positions. */
  findStored(waitlistId: number, uuids: readonly string[], without: Without = []): Query<StoredWaiter[]> {
    return this.findStoredWhere(waitlistId, 'w.uuid', uuids, this.database.dialect.byIndex('waiter_uuid'), without);
  }

  /** The ranks of the active records in buckets of the queue. */
  findRanks(waitlistId: number, leaves: readonly number[]): Query<readonly Rank[]> {
    if (leaves.length === 0) return known([]);
    return select<Rank, readonly Rank[]>(
      `SELECT rank_key AS rankKey, seq FROM waiter ${this.database.dialect.byIndex('waiter_order')}
       WHERE waitlist_id = ? AND status = ${STATUS_CODES.waiting} AND rank_bucket IN (${placeholders(leaves.length)})`,
      [waitlistId, ...leaves],
      (rows) => rows,
    );
  }

  /** The records that links name, without `metadata` and `answers`. Positions may be {@link CROWDED}. */
  findByLinks(waitlistId: number, tokenHashes: readonly string[]): Query<Waiter[]> {
    if (tokenHashes.length === 0) return known([]);
    return select<Row, Waiter[]>(
      `SELECT ${this.waiters.select('w', LARGE)}, ${this.prioritySql()} AS priority
       FROM verification_link l JOIN waiter w ${this.database.dialect.byIndex('waiter_uuid')} ON w.uuid = l.waiter_uuid
       WHERE w.waitlist_id = ? AND l.token_hash IN (${placeholders(tokenHashes.length)})`,
      [waitlistId, ...tokenHashes],
      (rows) => rows.map((row) => Object.assign(this.waiters.read(row), { priority: priorityOf(row) })),
    );
  }

  /** The records that codes of offers name, without `metadata` and `answers`. */
  findByOfferCodes(waitlistId: number, codeHashes: readonly string[]): Query<Waiter[]> {
    if (codeHashes.length === 0) return known([]);
    const { dialect } = this.database;
    return select<Row, Waiter[]>(
      `SELECT ${this.waiters.select('w', LARGE)}, ${this.prioritySql()} AS priority
       FROM offer o ${dialect.byIndex('offer_code')}
       JOIN waiter w ${dialect.byIndex('waiter_uuid')} ON w.uuid = o.waiter_uuid
       WHERE w.waitlist_id = ? AND o.waitlist_id = w.waitlist_id AND o.code_hash IN (${placeholders(codeHashes.length)})`,
      [waitlistId, ...codeHashes],
      (rows) => rows.map((row) => Object.assign(this.waiters.read(row), { priority: priorityOf(row) })),
    );
  }

  /**
   * How many active records of a rank key have a `seq` between two others, at most `max`, from the highest down; and
   * the lowest of them.
   */
  countStep(
    waitlistId: number,
    rankKey: number,
    below: number,
    above: number,
    max: number,
  ): Query<{ readonly count: number; readonly last: number }> {
    return select<{ amount: number; last: number }, { readonly count: number; readonly last: number }>(
      `SELECT COUNT(*) AS amount, MIN(seq) AS last FROM (
         SELECT seq FROM waiter ${this.database.dialect.byIndex('waiter_order')}
         WHERE waitlist_id = ? AND status = ${STATUS_CODES.waiting} AND rank_bucket = ? AND rank_key = ? AND seq < ? AND seq > ?
         ORDER BY seq DESC LIMIT ?
       ) step`,
      [waitlistId, leafOf(QUEUE_AXIS, rankKey), rankKey, below, above, max],
      ([row]) => ({ count: Number(row?.amount), last: Number(row?.last) }),
    );
  }

  /** The waitlist within the reach that has the record with this uuid; null if none has. */
  findWaitlistId(reach: Reach, uuid: string): Query<number | null> {
    const owned = within(reach, { account: 'l.account_id', waitlist: 'l.id' });
    return select<{ id: number }, number | null>(
      `SELECT l.id FROM waiter w ${this.database.dialect.byIndex('waiter_uuid')} JOIN waitlist l ON l.id = w.waitlist_id
       WHERE w.uuid = ? AND ${owned.sql}`,
      [uuid, ...owned.values],
      ([row]) => row?.id ?? null,
    );
  }

  /** The records with these ids, without `metadata` and `answers`. Positions may be {@link CROWDED}. */
  findByIds(waitlistId: number, ids: readonly number[]): Query<Waiter[]> {
    return this.findWhere(waitlistId, 'w.id', ids, this.database.dialect.byId(), LARGE);
  }

  /** The first `count` records of the queue, in its order, without `metadata` and `answers`. */
  findFirst(waitlistId: number, count: number): Query<Waiter[]> {
    if (count === 0) return known([]);
    return select<Row, Waiter[]>(
      `SELECT ${this.waiters.select('w', LARGE)} FROM waiter w ${this.database.dialect.byIndex('waiter_order')}
       WHERE w.waitlist_id = ? AND w.status = ${STATUS_CODES.waiting} ORDER BY w.rank_bucket, w.rank_key, w.seq DESC LIMIT ?`,
      [waitlistId, count],
      (rows) => rows.map((row, priority) => Object.assign(this.waiters.read(row), { priority })),
    );
  }

  /** The records that one of these keys matches. */
  findTaken(waitlistId: number, contacts: readonly ContactKeys[]): Query<TakenContact[]> {
    return this.byContacts(contacts, (column, keys, hint) =>
      select<
        Pick<StoredWaiter, 'emailKey' | 'phoneKey' | 'uuid'> & Record<'verified' | 'status' | 'credit', number>,
        TakenContact[]
      >(
        `SELECT email_key AS emailKey, phone_key AS phoneKey, uuid, verified, status, credit FROM waiter ${hint}
         WHERE waitlist_id = ? AND ${column} IN (${placeholders(keys.length)})`,
        [waitlistId, ...keys],
        (rows) =>
          rows.map(({ verified, status, credit, ...record }) => ({
            ...record,
            verified: verified === 1,
            status: STATUSES[status] as Status,
            credit: CREDITS[credit] as Credit,
          })),
      ),
    );
  }

  /** The records that one of these keys matches, without `metadata` and `answers`. */
  findKnown(waitlistId: number, contacts: readonly ContactKeys[]): Query<StoredWaiter[]> {
    return this.byContacts(contacts, (column, keys, hint) =>
      this.findStoredWhere(waitlistId, `w.${column}`, keys, hint, LARGE),
    );
  }

  /** The records that have one of these tokens, without `metadata` and `answers`. */
  findReferrers(waitlistId: number, tokens: readonly string[]): Query<StoredWaiter[]> {
    const hint = this.database.dialect.byIndex('waiter_token');
    return this.findStoredWhere(waitlistId, 'w.referral_token', tokens, hint, LARGE);
  }

  /** The records that referred these, by their tokens, without `metadata` and `answers`. */
  findReferrersOf(
    waitlistId: number,
    waiters: readonly Pick<StoredWaiter, 'referredByToken'>[],
  ): Query<ReadonlyMap<string, StoredWaiter>> {
    const tokens = new Set(waiters.flatMap(({ referredByToken }) => referredByToken ?? []));
    return mapped(
      this.findReferrers(waitlistId, [...tokens]),
      (referrers) => new Map(referrers.map((referrer) => [referrer.referralToken, referrer])),
    );
  }

  /** The records that have one of these folded mailboxes. */
  findMailboxes(waitlistId: number, mailboxes: readonly string[]): Query<MailboxHolder[]> {
    if (mailboxes.length === 0) return known([]);
    const { dialect } = this.database;
    const find = (column: string, index: string) =>
      select<MailboxHolder, readonly MailboxHolder[]>(
        `SELECT uuid, ${column} AS mailbox FROM waiter ${dialect.byIndex(index)}
         WHERE waitlist_id = ? AND ${column} IN (${placeholders(mailboxes.length)})`,
        [waitlistId, ...mailboxes],
        (rows) => rows,
      );
    return mapped(together([find('email_key', 'waiter_email'), find('mailbox_key', 'waiter_mailbox')]), (found) =>
      found.flat(),
    );
  }

  /** The smallest `seq` of active and offboarded records; 0 if there are none. */
  findFirstSeq(waitlistId: number): Query<number> {
    return select<{ first: number | null }, number>(
      `SELECT MIN(seq) AS first FROM waiter ${this.database.dialect.byIndex('waiter_seq')} WHERE waitlist_id = ? AND seq >= 0`,
      [waitlistId],
      ([row]) => row?.first ?? 0,
    );
  }

  /** Those of the tokens that records have. */
  findTokens(waitlistId: number, tokens: readonly string[]): Query<ReadonlySet<string>> {
    if (tokens.length === 0) return known(new Set());
    return select<{ referral_token: string }, ReadonlySet<string>>(
      `SELECT referral_token FROM waiter ${this.database.dialect.byIndex('waiter_token')}
       WHERE waitlist_id = ? AND referral_token IN (${placeholders(tokens.length)})`,
      [waitlistId, ...tokens],
      (rows) => new Set(rows.map(({ referral_token }) => referral_token)),
    );
  }

  /** Stores new records; the database generates their ids. */
  insert(waiters: readonly Omit<StoredWaiter, 'id'>[]): Query<void> {
    return waiters.length === 0 ? known(undefined) : this.waiters.insert(waiters);
  }

  /** Stores the counts and rank keys that referrals changed. */
  updateStandings(waitlistId: number, standings: readonly Standing[]): Query<unknown> {
    return together(
      chunksOf(standings, UPDATES_MAX).map((some) => {
        const cases = some.map(() => 'WHEN ? THEN ?').join(' ');
        return write(
          `UPDATE waiter ${this.database.dialect.byId()} SET credited_referrals = CASE id ${cases} END, rank_key = CASE id ${cases} END
           WHERE waitlist_id = ? AND id IN (${placeholders(some.length)})`,
          [
            ...some.flatMap(({ id, creditedReferrals }) => [id, creditedReferrals]),
            ...some.flatMap((standing) => [standing.id, standing.rankKey]),
            waitlistId,
            ...some.map(({ id }) => id),
          ],
        );
      }),
    );
  }

  /** Gives records another status. */
  changeStatus(waitlistId: number, { status, removedReason, records }: StatusChange): Query<unknown> {
    const reason = removedReason === null ? null : REMOVED_REASONS.indexOf(removedReason);
    const time = (moment: Date | null) => moment && toSqlTime(moment);
    return together(
      chunksOf([...records], UPDATES_MAX).map((some) => {
        const cases = some.map(() => 'WHEN ? THEN ?').join(' ');
        return write(
          `UPDATE waiter ${this.database.dialect.byId()} SET status = ?, removed_reason = ?, removed_at = CASE id ${cases} END,
             removed_priority = CASE id ${cases} END, offer_expires_at = CASE id ${cases} END
           WHERE waitlist_id = ? AND id IN (${placeholders(some.length)})`,
          [
            STATUS_CODES[status],
            reason,
            ...some.flatMap(([id, { removedAt }]) => [id, time(removedAt)]),
            ...some.flatMap(([id, { removedPriority }]) => [id, removedPriority]),
            ...some.flatMap(([id, { offerExpiresAt }]) => [id, time(offerExpiresAt)]),
            waitlistId,
            ...some.map(([id]) => id),
          ],
        );
      }),
    );
  }

  /** Changes columns of records, in this order. Neighbors that change the credit alone share a statement. */
  correct(waitlistId: number, corrections: readonly Correction[]): Query<unknown> {
    const queries: Query<unknown>[] = [];
    const credits = new Map<number, Credit>();
    const endRun = () => {
      queries.push(this.setCredits(waitlistId, credits));
      credits.clear();
    };
    for (const { id, columns } of corrections) {
      const { credit, ...others } = columns;
      if (credit !== undefined && Object.keys(others).length === 0) credits.set(id, credit);
      else {
        endRun();
        queries.push(this.waiters.update({ id, waitlistId }, columns));
      }
    }
    endRun();
    return together(queries);
  }

  /** Deletes records and leaves their tombstones; a pending one leaves none, because it was never in the queue. */
  erase(records: readonly StoredWaiter[], erasedAt: Date): Query<unknown> {
    const tombstones = records.filter(({ status }) => status !== 'pending').map((record) => ({ ...record, erasedAt }));
    return together([
      ...chunksOf(tombstones, UPDATES_MAX).map((some) => this.tombstones.insert(some)),
      ...chunksOf(records, UPDATES_MAX).map((some) =>
        // By id: an expired offer of the same transaction may have given the record another `seq`, stored only later.
        write(
          `${this.database.dialect.deleteByPrimaryKey('waiter')} WHERE id IN (${placeholders(some.length)})`,
          some.map(({ id }) => id),
        ),
      ),
    ]);
  }

  /** How many records and tombstones {@link refuseReferrals} will change. */
  countRefusable(waitlistId: number, token: string): Query<number> {
    const counts = REFERRED_TABLES.map((table) =>
      select<{ total: number }, number>(
        `SELECT COUNT(*) AS total FROM ${table} ${this.database.dialect.byIndex(`${table}_referrer`)}
         WHERE waitlist_id = ? AND referred_by_token = ? AND credit IN (${REFUSABLE.join(', ')})`,
        [waitlistId, token],
        ([row]) => Number(row?.total),
      ),
    );
    return mapped(together(counts), (totals) => totals.reduce((sum, total) => sum + total, 0));
  }

  /** Refuses the credit of all referrals by the record that has this token, and of those that it was imported with. */
  refuseReferrals(waitlistId: number, token: string): Query<unknown> {
    return together([
      ...REFERRED_TABLES.map((table) =>
        write(
          `UPDATE ${table} ${this.database.dialect.byIndex(`${table}_referrer`)} SET credit = ${CREDIT_CODES.refused}
           WHERE waitlist_id = ? AND referred_by_token = ? AND credit IN (${REFUSABLE.join(', ')})`,
          [waitlistId, token],
        ),
      ),
      write('UPDATE waiter SET imported_referrals = 0 WHERE waitlist_id = ? AND referral_token = ?', [
        waitlistId,
        token,
      ]),
    ]);
  }

  /** Derives the rank key of each record with credit anew. */
  rekey(waitlistId: number, spotsPerReferral: number): Query<void> {
    const key = keySql(spotsPerReferral);
    return write(
      // All values of `status`, because the index has it before the credit.
      `UPDATE waiter ${this.database.dialect.byIndex('waiter_credited')} SET rank_key = ${key.sql}
       WHERE waitlist_id = ? AND status IN (${Object.values(STATUS_CODES).join(', ')}) AND credited_referrals > 0`,
      [...key.values, waitlistId],
    );
  }

  /** How many active records `rekey` will give another rank key. */
  countCredited(waitlistId: number): Query<number> {
    return select<{ total: number }, number>(
      `SELECT COUNT(*) AS total FROM waiter ${this.database.dialect.byIndex('waiter_credited')}
       WHERE waitlist_id = ? AND status = ${STATUS_CODES.waiting} AND credited_referrals > 0`,
      [waitlistId],
      ([row]) => Number(row?.total),
    );
  }

  /** How many active records `rekey` will move from each bucket of the queue's index to each, or leave in it. */
  countMoves(waitlistId: number, spotsPerReferral: number) {
    const key = keySql(spotsPerReferral);
    return select(
      `SELECT rank_bucket AS from_bucket, (${key.sql}) >> ${QUEUE_AXIS.widthBits[0]} AS to_bucket, referred, COUNT(*) AS total
       FROM waiter ${this.database.dialect.byIndex('waiter_credited')}
       WHERE waitlist_id = ? AND status = ${STATUS_CODES.waiting} AND credited_referrals > 0 GROUP BY from_bucket, to_bucket, referred`,
      [...key.values, waitlistId],
      (rows: readonly Record<'from_bucket' | 'to_bucket' | 'referred' | 'total', number>[]) =>
        rows.map((row) => ({
          from: row.from_bucket,
          to: Number(row.to_bucket),
          referred: row.referred === 1,
          amount: Number(row.total),
        })),
    );
  }

  private setCredits(waitlistId: number, credits: ReadonlyMap<number, Credit>): Query<unknown> {
    return together(
      chunksOf([...credits], UPDATES_MAX).map((some) =>
        write(
          `UPDATE waiter ${this.database.dialect.byId()} SET credit = CASE id ${some.map(() => 'WHEN ? THEN ?').join(' ')} END
           WHERE waitlist_id = ? AND id IN (${placeholders(some.length)})`,
          [...some.flatMap(([id, credit]) => [id, CREDIT_CODES[credit]]), waitlistId, ...some.map(([id]) => id)],
        ),
      ),
    );
  }

  /** Searches by the emails and by the phones, each in its own index. */
  private byContacts<Found>(
    contacts: readonly ContactKeys[],
    find: (column: string, keys: readonly string[], hint: string) => Query<readonly Found[]>,
  ): Query<Found[]> {
    const { dialect } = this.database;
    const emailKeys = contacts.flatMap(({ emailKey }) => emailKey ?? []);
    const phoneKeys = contacts.flatMap(({ phoneKey }) => phoneKey ?? []);
    const both = together([
      emailKeys.length > 0 ? find('email_key', emailKeys, dialect.byIndex('waiter_email')) : known([]),
      phoneKeys.length > 0 ? find('phone_key', phoneKeys, dialect.byIndex('waiter_phone')) : known([]),
    ]);
    return mapped(both, (found) => found.flat());
  }

  private findWhere(
    waitlistId: number,
    column: string,
    values: readonly (string | number)[],
    hint: string,
    without: Without = [],
  ): Query<Waiter[]> {
    if (values.length === 0) return known([]);
    return select<Row, Waiter[]>(
      `SELECT ${this.waiters.select('w', without)}, ${this.prioritySql()} AS priority FROM waiter w ${hint}
       WHERE w.waitlist_id = ? AND ${column} IN (${placeholders(values.length)})`,
      [waitlistId, ...values],
      (rows) => rows.map((row) => Object.assign(this.waiters.read(row), { priority: priorityOf(row) })),
    );
  }

  /** The records without positions: it reads no buckets. */
  private findStoredWhere(
    waitlistId: number,
    column: string,
    values: readonly string[],
    hint: string,
    without: Without = [],
  ): Query<StoredWaiter[]> {
    if (values.length === 0) return known([]);
    return select<Row, StoredWaiter[]>(
      `SELECT ${this.waiters.select('w', without)} FROM waiter w ${hint}
       WHERE w.waitlist_id = ? AND ${column} IN (${placeholders(values.length)})`,
      [waitlistId, ...values],
      (rows) => rows.map((row) => this.waiters.read(row)),
    );
  }

  /**
   * The position. An offboarded or offered record keeps the one that it had, and a pending one comes after all active
   * ones. So that nothing is counted in a crowded bucket, the SQL first looks for one record more than
   * {@link COUNTED_MAX}.
   */
  private prioritySql(): string {
    const inBucket = (alias: string) => `FROM waiter ${alias} ${this.database.dialect.byIndex('waiter_order')}
      WHERE ${alias}.waitlist_id = w.waitlist_id AND ${alias}.status = ${STATUS_CODES.waiting} AND ${alias}.rank_bucket = w.rank_bucket`;
    return `CASE WHEN w.status IN (${STATUS_CODES.offboarded}, ${STATUS_CODES.offered}) THEN w.removed_priority
      WHEN w.status = ${STATUS_CODES.pending} THEN (SELECT l.active FROM waitlist l WHERE l.id = w.waitlist_id)
      WHEN (SELECT 1 ${inBucket('other')} LIMIT 1 OFFSET ${COUNTED_MAX}) = 1 THEN ${CROWDED} ELSE ${BEFORE_BUCKET} + (
      SELECT COUNT(*) ${inBucket('ahead')}
        AND (ahead.rank_key < w.rank_key OR (ahead.rank_key = w.rank_key AND ahead.seq > w.seq))
    ) END`;
  }
}

const BEFORE_BUCKET = QUEUE_AXIS.widthBits
  .map((_, level) => beforeInSql(QUEUE_AXIS, level, 'w.waitlist_id', 'w.rank_key'))
  .join(' + ');

/** `rankKey` in SQL. */
function keySql(spotsPerReferral: number) {
  const key = '(? + seq - ? * credited_referrals - spots_advanced)';
  const values = [RANK_BASE, spotsPerReferral];
  return { sql: `CASE WHEN ${key} < 0 THEN 0 ELSE ${key} END`, values: [...values, ...values] };
}

function priorityOf({ id, waitlist_id, priority }: Row): number {
  if (typeof priority !== 'number') throw new MissingBucketError(id as number, waitlist_id as number);
  return priority;
}
