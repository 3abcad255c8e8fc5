import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { placeholders } from '../../platform/database/dialect.js';
import { known, mapped, type Query, select, together } from '../../platform/database/session.js';
import type { Row, Table } from '../../platform/database/table.js';
import { leafOf, QUEUE_AXIS } from '../order/counters.js';
import { LARGE, type PageRequest, type RecordKey, type StoredWaiter } from '../record/waiter.js';
import { CREDIT_CODES, CREDITS, STATUS_CODES, WaiterEntity } from '../record/waiter.entity.js';

/** Records that the embedded database numbers for the positions of a page: some ten milliseconds. */
const NUMBERED_MAX = 10_000;

/** Which records a listing has, and in which order. */
export interface Listing extends Pick<PageRequest, 'status' | 'credit' | 'referredBy' | 'keys' | 'order'> {
  /** Only records whose `emailKey` begins with this, in the order of that key; null for all. */
  readonly emailPrefix: string | null;
  /** Few records have this status or credit: reading them is faster than skipping others in the index of emails. */
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
  readonly isAfter: boolean;
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
    const conditions: Condition[] = [filterOf(waitlistId, listing)];
    if (from) conditions.push(startOf(listing, from));
    // Not both: SQLite would seek the lower of two bounds, and skip all records between them.
    else if (listing.emailPrefix !== null) conditions.push({ sql: 'w.email_key >= ?', values: [listing.emailPrefix] });
    if (leaves) conditions.push({ sql: `w.rank_bucket IN (${placeholders(leaves.length)})`, values: leaves });
    return select<Row, StoredWaiter[]>(
      `SELECT ${this.waiters.select('w', without)}
       FROM waiter w ${this.database.dialect.byIndex(indexOf(listing))}
       WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}
       ORDER BY ${orderOf(listing)} LIMIT ? OFFSET ?`,
      [...conditions.flatMap(({ values }) => values), limit, skip],
      (rows) => rows.map((row) => this.waiters.read(row)),
    );
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
   * beyond {@link NUMBERED_MAX} are missing there.
   */
  findAhead(waitlistId: number, records: readonly StoredWaiter[]): Query<ReadonlyMap<number, number>> {
    if (records.length === 0) return known(new Map());
    const buckets = [...new Set(records.map(({ rankKey }) => leafOf(QUEUE_AXIS, rankKey)))];
    const { dialect } = this.database;
    return select<{ seq: number; ahead: number }, ReadonlyMap<number, number>>(
      `SELECT seq, ahead FROM (
         SELECT seq, ROW_NUMBER() OVER (PARTITION BY rank_bucket ORDER BY rank_key, seq DESC) - 1 AS ahead FROM (
           SELECT rank_bucket, rank_key, seq FROM waiter ${dialect.byIndex('waiter_order')}
           WHERE waitlist_id = ? AND status = ${STATUS_CODES.waiting} AND rank_bucket IN (${placeholders(buckets.length)})
           ${dialect.isEmbedded ? `ORDER BY rank_bucket, rank_key, seq DESC LIMIT ${NUMBERED_MAX}` : ''}
         ) counted
       ) numbered WHERE seq IN (${placeholders(records.length)})`,
      [waitlistId, ...buckets, ...records.map(({ seq }) => seq)],
      (rows) => new Map(rows.map(({ seq, ahead }) => [seq, Number(ahead)])),
    );
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

  /** The record `offset` after the first of a listing without counters, in join order; reads the index alone. */
  findAt(waitlistId: number, listing: Listing, offset: number): Query<PageStart | null> {
    const filter = filterOf(waitlistId, listing);
    return select<{ seq: number }, PageStart | null>(
      `SELECT w.seq FROM waiter w ${this.database.dialect.byIndex(indexOf(listing))} WHERE ${filter.sql}
       ORDER BY w.seq LIMIT 1 OFFSET ?`,
      [...filter.values, offset],
      ([row]) => (row ? { id: 0, seq: row.seq, rankKey: 0, emailKey: null, isAfter: false } : null),
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
   * erased record, `emailKey` is null, and `rankKey` is the one at its erasure.
   */
  findAfter(waitlistId: number, id: number): Query<PageStart | null> {
    return select<{ seq: number; rank_key: number; email_key: string | null }, PageStart | null>(
      `SELECT seq, rank_key, email_key FROM waiter WHERE id = ? AND waitlist_id = ?
       UNION ALL SELECT seq, rank_key, NULL FROM erased_waiter WHERE id = ? AND waitlist_id = ?`,
      [id, waitlistId, id, waitlistId],
      ([row]) => (row ? { id, seq: row.seq, rankKey: row.rank_key, emailKey: row.email_key, isAfter: true } : null),
    );
  }
}

const KEYS = {
  emailKey: { column: 'email_key', index: 'waiter_email' },
  phoneKey: { column: 'phone_key', index: 'waiter_phone' },
  uuid: { column: 'uuid', index: 'waiter_uuid' },
  referralToken: { column: 'referral_token', index: 'waiter_token' },
} as const satisfies Record<RecordKey['column'], object>;
/** Above all other characters. */
const LAST_CHARACTER = '\u{10FFFF}';

function filterOf(waitlistId: number, { status, credit, referredBy, keys, emailPrefix }: Listing): Condition {
  const conditions: Condition[] = [
    {
      sql: 'w.waitlist_id = ? AND w.status = ?',
      values: [waitlistId, STATUS_CODES[status]],
    },
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
  return { sql: conditions.map(({ sql }) => sql).join(' AND '), values: conditions.flatMap(({ values }) => values) };
}

/** The index that has a listing's records in its order. The referrals of some records are few enough to sort. */
function indexOf({ credit, referredBy, keys: [key], emailPrefix, isSparse, order }: Listing): string {
  if (key) return KEYS[key.column].index;
  if (referredBy !== null && referredBy !== 'anyone') return 'waiter_referrer';
  if (emailPrefix !== null && !isSparse) return 'waiter_email';
  if (order === 'id' || credit !== null) return 'waiter_credit';
  if (order === 'queue') return 'waiter_order';
  return referredBy === null ? 'waiter_joined' : 'waiter_referred';
}

function orderOf({ emailPrefix, order }: Listing): string {
  if (emailPrefix !== null) return 'w.email_key';
  if (order === 'id') return 'w.id';
  return order === 'queue' ? 'w.rank_bucket, w.rank_key, w.seq DESC' : 'w.seq';
}

/** Written column by column: MySQL uses only the first column of a row comparison that starts inside an index. */
function startOf({ emailPrefix, order }: Listing, { id, seq, rankKey, emailKey, isAfter }: PageStart): Condition {
  if (emailPrefix !== null) return { sql: 'w.email_key > ?', values: [emailKey ?? ''] };
  if (order === 'id') return { sql: 'w.id > ?', values: [id] };
  if (order === 'joined') return { sql: `w.seq ${isAfter ? '>' : '>='} ?`, values: [seq] };
  const bucket = leafOf(QUEUE_AXIS, rankKey);
  return isAfter
    ? {
        sql: 'w.rank_bucket >= ? AND (w.rank_key > ? OR (w.rank_key = ? AND w.seq < ?))',
        values: [bucket, rankKey, rankKey, seq],
      }
    : { sql: 'w.rank_bucket >= ? AND w.rank_key >= ?', values: [bucket, rankKey] };
}
