import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { placeholders } from '../../platform/database/dialect.js';
import { known, mapped, type Query, select, together } from '../../platform/database/session.js';
import type { Row, Table } from '../../platform/database/table.js';
import { leafOf, QUEUE_AXIS } from '../order/counters.js';
import { LARGE, type PageRequest, type RecordKey, type StoredWaiter } from '../record/waiter.js';
import { CREDIT_CODES, CREDITS, STATUS_CODES, STATUSES, WaiterEntity } from '../record/waiter.entity.js';

/** Records that the embedded database counts at most for one position. Counting for a whole page takes some 10 ms. */
const AHEAD_MAX = 100;

/** Which records a listing has, and in which order. */
export interface Listing extends Pick<PageRequest, 'status' | 'credit' | 'referredBy' | 'keys' | 'order'> {
  /** Only records whose `emailKey` begins with this, in the order of that key; null for all. */
  readonly emailPrefix: string | null;
  /** Only records whose `nameKey` begins with this, in the order of that key and then of the id; null for all. */
  readonly namePrefix: string | null;
  /**
   * Few records have this status or credit, or were referred: reading and sorting them is faster than skipping others
   * in the index that has the order of the listing.
   */
  readonly isSparse?: boolean;
}

/** The part of a listing that a page reads. */
export interface Window {
  readonly from: PageStart | null;
  /** Records to skip from there on. */
  readonly skip: number;
  /** The narrowest buckets that can hold a record of the page; null for all. */
  readonly leaves: readonly number[] | null;
}

/** The record that a page starts at, or after. */
export interface PageStart {
  readonly id: number;
  readonly seq: number;
  readonly rankKey: number;
  readonly emailKey: string | null;
  readonly nameKey?: string | null;
  /** Null if unknown. */
  readonly creditedReferrals?: number | null;
  readonly isAfter: boolean;
}

/** Numbers of what waits on a waitlist. */
export interface Waiting {
  /** People who have not verified their email. */
  readonly pending: number;
  /** People of any status whose referral waits for the owner's decision. */
  readonly withheld: number;
}

/** How many active records are before a record in its bucket. */
interface Ahead {
  readonly seq: number;
  readonly ahead: number;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Reads pages of listings. Every statement names its waitlist: the sharding key, and the boundary between owners. */
@Injectable()
export class ListingStore {
  private readonly waiters: Table<WaiterEntity>;

  constructor(private readonly database: Database) {
    this.waiters = database.table(WaiterEntity);
  }

  findPage(
    waitlistId: number,
    listing: Listing,
    window: Window,
    page: Pick<PageRequest, 'limit' | 'without'>,
  ): Query<StoredWaiter[]> {
    const { from, skip, leaves } = window;
    const { limit, without } = page;
    // `waiter_credit` orders ids only within one credit, so read each credit and merge.
    if (listing.order === 'id' && listing.credit === null && indexOf(listing) === 'waiter_credit')
      return mapped(
        together(CREDITS.map((credit) => this.findPage(waitlistId, { ...listing, credit }, window, page))),
        (found) => {
          const waiters = found.flat().sort((one, other) => one.id - other.id);
          return waiters.slice(0, limit);
        },
      );
    // `waiter_name` orders names only within one status.
    if (listing.namePrefix !== null && listing.status === 'any')
      return mapped(
        together(ANY_STATUS.map((status) => this.findPage(waitlistId, { ...listing, status }, window, page))),
        (found) => found.flat().sort(byName).slice(0, limit),
      );
    const pages = rangesOf(listing, from).map((range) => {
      const conditions: Condition[] = [filterOf(waitlistId, listing), range];
      if (leaves) conditions.push({ sql: `w.rank_bucket IN (${placeholders(leaves.length)})`, values: leaves });
      return select<Row, StoredWaiter[]>(
        `SELECT ${this.waiters.select('w', without)}
         FROM waiter w ${this.database.dialect.byIndex(indexOf(listing))}
         WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}
         ORDER BY ${orderOf(listing)} LIMIT ? OFFSET ?`,
        [...conditions.flatMap(({ values }) => values), limit, skip],
        (rows) => rows.map((row) => this.waiters.read(row)),
      );
    });
    return mapped(together(pages), (found) => found.flat().slice(0, limit));
  }

  /** The active or the offboarded records with the most credited referrals; among equals, those that joined first. */
  findLeaders(waitlistId: number, isActive: boolean, limit: number): Query<StoredWaiter[]> {
    return select<Row, StoredWaiter[]>(
      `SELECT ${this.waiters.select('w', LARGE)}
       FROM waiter w ${this.database.dialect.byIndex('waiter_credited')}
       WHERE w.waitlist_id = ? AND w.status = ? AND w.credited_referrals > 0
       ORDER BY w.credited_referrals DESC, w.seq LIMIT ?`,
      [waitlistId, STATUS_CODES[isActive ? 'waiting' : 'offboarded'], limit],
      (rows) => rows.map((row) => this.waiters.read(row)),
    );
  }

  /** The records with these ids, whole. */
  findByIds(waitlistId: number, ids: readonly number[]): Query<StoredWaiter[]> {
    return select<Row, StoredWaiter[]>(
      `SELECT ${this.waiters.select('w')} FROM waiter w ${this.database.dialect.byId()}
       WHERE w.waitlist_id = ? AND w.id IN (${placeholders(ids.length)})`,
      [waitlistId, ...ids],
      (rows) => rows.map((row) => this.waiters.read(row)),
    );
  }

  /**
   * How many active records are before each of these in its narrowest bucket, by `seq`. The database counts, because
   * an import can put a whole waitlist into one bucket. The embedded one blocks the event loop meanwhile, so records
   * with more than {@link AHEAD_MAX} before them are missing there.
   */
  findAhead(waitlistId: number, records: readonly StoredWaiter[]): Query<ReadonlyMap<number, number>> {
    // The records of a page by name or referrals are in many buckets. There, COUNT is faster than ROW_NUMBER: ten times
    // on the embedded database, and by a third on MySQL.
    if (this.database.dialect.isEmbedded) return this.countAheadToMax(waitlistId, records);
    const byBucket = new Map<number, StoredWaiter[]>();
    for (const record of records) {
      const bucket = leafOf(QUEUE_AXIS, record.rankKey);
      const sharers = byBucket.get(bucket);
      if (sharers) sharers.push(record);
      else byBucket.set(bucket, [record]);
    }
    // COUNT reads a bucket again for each of its records, ROW_NUMBER once. A bucket can be crowded.
    const alone = [...byBucket.values()].filter(({ length }) => length === 1).flat();
    const sharing = [...byBucket.values()].filter(({ length }) => length > 1).flat();
    const found = together([this.countAhead(waitlistId, alone), this.numberAhead(waitlistId, sharing)]);
    return mapped(found, (maps) => new Map(maps.flatMap((ahead) => [...ahead])));
  }

  /** How many records a listing has, counted in its index. */
  count(waitlistId: number, listing: Listing): Query<number> {
    const filter = filterOf(waitlistId, listing);
    return select<{ total: number }, number>(
      `SELECT COUNT(*) AS total FROM waiter w ${this.database.dialect.byIndex(indexOf(listing))} WHERE ${filter.sql}`,
      filter.values,
      ([row]) => Number(row?.total),
    );
  }

  /** Counts pending records, and withheld referrals of records of any status, up to `max` each. */
  countWaiting(waitlistId: number, max: number): Query<Waiting> {
    const { dialect } = this.database;
    const count = (index: string, condition: string, values: readonly number[]) =>
      select<{ total: number }, number>(
        `SELECT COUNT(*) AS total
         FROM (SELECT 1 FROM waiter ${dialect.byIndex(index)} WHERE waitlist_id = ? AND ${condition} LIMIT ?) AS counted`,
        [waitlistId, ...values, max],
        ([row]) => Number(row?.total),
      );
    const withheld = Object.values(STATUS_CODES).map((status) =>
      count('waiter_credit', 'status = ? AND credit = ?', [status, CREDIT_CODES.withheld]),
    );
    const counts = together([count('waiter_joined', 'status = ?', [STATUS_CODES.pending]), ...withheld]);
    return mapped(counts, ([pending, ...totals]) => {
      const sum = totals.reduce((before, total) => before + total, 0);
      return { pending, withheld: Math.min(sum, max) };
    });
  }

  /** The record `offset` after the first of a listing without counters for its order; reads the index alone. */
  findAt(waitlistId: number, listing: Listing, offset: number): Query<PageStart | null> {
    const filter = filterOf(waitlistId, listing);
    const columns = listing.order === 'referrals' ? 'w.seq, w.credited_referrals' : 'w.seq';
    return select<{ seq: number; credited_referrals?: number }, PageStart | null>(
      `SELECT ${columns} FROM waiter w ${this.database.dialect.byIndex(indexOf(listing))} WHERE ${filter.sql}
       ORDER BY ${orderOf(listing)} LIMIT 1 OFFSET ?`,
      [...filter.values, offset],
      ([row]) =>
        row
          ? {
              id: 0,
              seq: row.seq,
              rankKey: 0,
              emailKey: null,
              creditedReferrals: row.credited_referrals ?? null,
              isAfter: false,
            }
          : null,
    );
  }

  /** How many active records that anyone referred are in a record's narrowest bucket, up to that record. */
  countReferredWithin(waitlistId: number, { seq, rankKey }: PageStart): Query<number> {
    return select<{ total: number }, number>(
      `SELECT COUNT(*) AS total FROM waiter ${this.database.dialect.byIndex('waiter_order')}
       WHERE waitlist_id = ? AND status = ${STATUS_CODES.waiting} AND rank_bucket = ? AND referred = 1
         AND (rank_key < ? OR (rank_key = ? AND seq >= ?))`,
      [waitlistId, leafOf(QUEUE_AXIS, rankKey), rankKey, rankKey, seq],
      ([row]) => Number(row?.total),
    );
  }

  /**
   * The start of a page after this record: active, offboarded or erased. Null if the waitlist never had this id. Of an
   * erased record, `rankKey` is the one at its erasure; its email, name and referrals are unknown.
   */
  findAfter(waitlistId: number, id: number): Query<PageStart | null> {
    return select<Row, PageStart | null>(
      `SELECT seq, rank_key, email_key, name_key, credited_referrals FROM waiter WHERE id = ? AND waitlist_id = ?
       UNION ALL SELECT seq, rank_key, NULL, NULL, NULL FROM erased_waiter WHERE id = ? AND waitlist_id = ?`,
      [id, waitlistId, id, waitlistId],
      ([row]) =>
        row
          ? {
              id,
              seq: row.seq as number,
              rankKey: row.rank_key as number,
              emailKey: row.email_key as string | null,
              nameKey: row.name_key as string | null,
              creditedReferrals: row.credited_referrals as number | null,
              isAfter: true,
            }
          : null,
    );
  }

  private countAhead(waitlistId: number, records: readonly StoredWaiter[]): Query<ReadonlyMap<number, number>> {
    if (records.length === 0) return known(new Map());
    const { dialect } = this.database;
    return select<Ahead, ReadonlyMap<number, number>>(
      `SELECT w.seq, (
         SELECT COUNT(*) FROM waiter o ${dialect.byIndex('waiter_order')}
         WHERE o.waitlist_id = w.waitlist_id AND o.status = ${STATUS_CODES.waiting} AND o.rank_bucket = w.rank_bucket
           AND (o.rank_key < w.rank_key OR (o.rank_key = w.rank_key AND o.seq > w.seq))
       ) AS ahead
       FROM waiter w ${dialect.byId()} WHERE w.waitlist_id = ? AND w.id IN (${placeholders(records.length)})`,
      [waitlistId, ...records.map(({ id }) => id)],
      aheadBySeq,
    );
  }

  private numberAhead(waitlistId: number, records: readonly StoredWaiter[]): Query<ReadonlyMap<number, number>> {
    if (records.length === 0) return known(new Map());
    const buckets = [...new Set(records.map(({ rankKey }) => leafOf(QUEUE_AXIS, rankKey)))];
    return select<Ahead, ReadonlyMap<number, number>>(
      `SELECT seq, ahead FROM (
         SELECT seq, ROW_NUMBER() OVER (PARTITION BY rank_bucket ORDER BY rank_key, seq DESC) - 1 AS ahead FROM (
           SELECT rank_bucket, rank_key, seq FROM waiter ${this.database.dialect.byIndex('waiter_order')}
           WHERE waitlist_id = ? AND status = ${STATUS_CODES.waiting} AND rank_bucket IN (${placeholders(buckets.length)})
         ) counted
       ) numbered WHERE seq IN (${placeholders(records.length)})`,
      [waitlistId, ...buckets, ...records.map(({ seq }) => seq)],
      aheadBySeq,
    );
  }

  /** Up to {@link AHEAD_MAX}; records with more are missing. */
  private countAheadToMax(waitlistId: number, records: readonly StoredWaiter[]): Query<ReadonlyMap<number, number>> {
    if (records.length === 0) return known(new Map());
    const { dialect } = this.database;
    const count = (condition: string) =>
      `(SELECT COUNT(*) FROM (SELECT 1 FROM waiter ${dialect.byIndex('waiter_order')}
         WHERE waitlist_id = ? AND status = ${STATUS_CODES.waiting} AND rank_bucket = w.rank_bucket AND ${condition}
         LIMIT ${AHEAD_MAX + 1}) counted)`;
    return select<{ seq: number; lower: number; equal: number }, ReadonlyMap<number, number>>(
      `SELECT w.seq, ${count('rank_key < w.rank_key')} AS lower, ${count('rank_key = w.rank_key AND seq > w.seq')} AS equal
       FROM waiter w ${dialect.byId()} WHERE w.waitlist_id = ? AND w.id IN (${placeholders(records.length)})`,
      [waitlistId, waitlistId, waitlistId, ...records.map(({ id }) => id)],
      (rows) =>
        new Map(
          rows.flatMap(({ seq, lower, equal }) =>
            lower > AHEAD_MAX || equal > AHEAD_MAX ? [] : [[seq, lower + equal]],
          ),
        ),
    );
  }
}

const KEYS = {
  emailKey: { column: 'email_key', index: 'waiter_email' },
  phoneKey: { column: 'phone_key', index: 'waiter_phone' },
  uuid: { column: 'uuid', index: 'waiter_uuid' },
  referralToken: { column: 'referral_token', index: 'waiter_token' },
} as const satisfies Record<RecordKey['column'], object>;
/** The statuses of records that were in the queue. */
const ANY_STATUS = STATUSES.filter((status) => status !== 'pending');
const ANY: Condition = { sql: 'TRUE', values: [] };
/** Above all other characters. */
const LAST_CHARACTER = '\u{10FFFF}';

function aheadBySeq(rows: readonly Ahead[]): ReadonlyMap<number, number> {
  return new Map(rows.map(({ seq, ahead }) => [seq, Number(ahead)]));
}

function filterOf(waitlistId: number, listing: Listing): Condition {
  const { status, credit, referredBy, keys, emailPrefix, namePrefix } = listing;
  const conditions: Condition[] = [
    { sql: 'w.waitlist_id = ?', values: [waitlistId] },
    status === 'any'
      ? { sql: `w.status IN (${ANY_STATUS.map((each) => STATUS_CODES[each]).join(', ')})`, values: [] }
      : { sql: 'w.status = ?', values: [STATUS_CODES[status]] },
    ...(credit === null ? [] : [{ sql: 'w.credit = ?', values: [CREDIT_CODES[credit]] }]),
    ...keys.map(({ column, value }) => ({ sql: `w.${KEYS[column].column} = ?`, values: [value] })),
  ];
  if (referredBy === 'anyone') conditions.push({ sql: 'w.referred = 1', values: [] });
  else if (referredBy !== null) {
    const { tokens } = referredBy;
    conditions.push({ sql: `w.referred_by_token IN (${placeholders(tokens.length)})`, values: tokens });
  }
  // Not LIKE: a range needs no escaping, and its order is that of the column's binary collation. A page adds its start.
  if (emailPrefix !== null) conditions.push({ sql: 'w.email_key < ?', values: [`${emailPrefix}${LAST_CHARACTER}`] });
  if (namePrefix !== null) conditions.push({ sql: 'w.name_key < ?', values: [`${namePrefix}${LAST_CHARACTER}`] });
  return { sql: conditions.map(({ sql }) => sql).join(' AND '), values: conditions.flatMap(({ values }) => values) };
}

/** By name key as the column compares it, byte by byte, then by id. */
function byName(one: StoredWaiter, other: StoredWaiter): number {
  return Buffer.compare(Buffer.from(one.nameKey ?? ''), Buffer.from(other.nameKey ?? '')) || one.id - other.id;
}

/** The index that has a listing's records in its order. The referrals of some records are few enough to sort. */
function indexOf({ credit, referredBy, keys: [key], emailPrefix, namePrefix, isSparse, order }: Listing): string {
  if (key) return KEYS[key.column].index;
  if (referredBy !== null && referredBy !== 'anyone') return 'waiter_referrer';
  if (isSparse && referredBy === 'anyone') return 'waiter_referred';
  if (emailPrefix !== null && !isSparse) return 'waiter_email';
  if (namePrefix !== null) return 'waiter_name';
  if (order === 'referrals') return 'waiter_credited';
  if (order === 'id' || credit !== null) return 'waiter_credit';
  if (order === 'queue') return 'waiter_order';
  return referredBy === null ? 'waiter_joined' : 'waiter_referred';
}

function orderOf({ emailPrefix, namePrefix, order }: Listing): string {
  if (emailPrefix !== null) return 'w.email_key';
  if (namePrefix !== null) return 'w.name_key, w.id';
  if (order === 'id') return 'w.id';
  if (order === 'referrals') return 'w.credited_referrals DESC, w.seq';
  return order === 'queue' ? 'w.rank_bucket, w.rank_key, w.seq DESC' : 'w.seq';
}

/**
 * The consecutive ranges of the listing's index that begin at a record, or at the first one. Each range is read by its
 * own statement: with two lower bounds or an OR, SQLite seeks the lowest bound and skips all records up to the other.
 */
function rangesOf(listing: Listing, from: PageStart | null): Condition[] {
  const { emailPrefix, namePrefix, order } = listing;
  if (from === null) {
    if (emailPrefix !== null) return [{ sql: 'w.email_key >= ?', values: [emailPrefix] }];
    return namePrefix === null ? [ANY] : [{ sql: 'w.name_key >= ?', values: [namePrefix] }];
  }
  const { id, seq, emailKey, isAfter } = from;
  if (emailPrefix !== null) return [{ sql: 'w.email_key > ?', values: [emailKey ?? ''] }];
  if (namePrefix !== null) {
    const nameKey = from.nameKey ?? '';
    return [
      { sql: 'w.name_key = ? AND w.id > ?', values: [nameKey, id] },
      { sql: 'w.name_key > ?', values: [nameKey] },
    ];
  }
  if (order === 'id') return [{ sql: 'w.id > ?', values: [id] }];
  const bySeq = `w.seq ${isAfter ? '>' : '>='} ?`;
  if (order === 'referrals') {
    const referrals = from.creditedReferrals ?? 0;
    return [
      { sql: `w.credited_referrals = ? AND ${bySeq}`, values: [referrals, seq] },
      { sql: 'w.credited_referrals < ?', values: [referrals] },
    ];
  }
  return [order === 'joined' ? { sql: bySeq, values: [seq] } : queueRange(from)];
}

/** Written column by column: MySQL uses only the first column of a row comparison that starts inside an index. */
function queueRange({ seq, rankKey, isAfter }: PageStart): Condition {
  const bucket = leafOf(QUEUE_AXIS, rankKey);
  return isAfter
    ? {
        sql: 'w.rank_bucket >= ? AND (w.rank_key > ? OR (w.rank_key = ? AND w.seq < ?))',
        values: [bucket, rankKey, rankKey, seq],
      }
    : { sql: 'w.rank_bucket >= ? AND w.rank_key >= ?', values: [bucket, rankKey] };
}
