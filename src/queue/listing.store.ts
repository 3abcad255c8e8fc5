import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { placeholders } from '../platform/database/dialect.js';
import { known, type Query, select } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { leafOf, QUEUE_AXIS } from './counters.js';
import type { PageRequest, StoredWaiter } from './waiter.js';
import { WaiterEntity } from './waiter.entity.js';

/** Which records a listing has, and in which order. Offboarded records are listed in the order of joining. */
export type Listing = Pick<PageRequest, 'offboarded' | 'referredBy' | 'order'>;

/** The part of a listing that a page reads. */
export interface Window {
  readonly from: PageStart | null;
  /** Records to skip from there on. */
  readonly skip: number;
  /** The only narrowest buckets of the queue's index that can hold a record of the page; null for all. */
  readonly leaves: readonly number[] | null;
}

/** The record that a page starts at, or after. */
export interface PageStart {
  readonly seq: number;
  readonly rankKey: number;
  readonly isAfter: boolean;
}

interface Neighbor {
  readonly bucket: number;
  readonly seq: number;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Reads the pages of listings. Every statement names its waitlist: the sharding key, and the boundary between owners. */
@Injectable()
export class ListingStore {
  private readonly waiters: Table<WaiterEntity>;

  constructor(private readonly database: Database) {
    this.waiters = database.table(WaiterEntity);
  }

  findPage(
    waitlistId: number,
    listing: Listing,
    { from, skip, leaves }: Window,
    { limit, withAnswers }: Pick<PageRequest, 'limit' | 'withAnswers'>,
  ): Query<StoredWaiter[]> {
    const conditions: Condition[] = [filterOf(waitlistId, listing)];
    if (from) conditions.push(startOf(listing, from));
    if (leaves) conditions.push({ sql: `w.rank_bucket IN (${placeholders(leaves.length)})`, values: leaves });
    return select<Row, StoredWaiter[]>(
      `SELECT ${this.waiters.select('w', withAnswers ? [] : ['answers'])}
       FROM waiter w ${this.database.dialect.byIndex(indexOf(listing))}
       WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}
       ORDER BY ${listing.order === 'queue' ? 'w.rank_bucket, w.rank_key, w.seq DESC' : 'w.seq'} LIMIT ? OFFSET ?`,
      [...conditions.flatMap(({ values }) => values), limit, skip],
      (rows) => rows.map((row) => this.waiters.read(row)),
    );
  }

  /** The active records of narrowest buckets, in the order of the queue. */
  findNeighbors(waitlistId: number, buckets: readonly number[]): Query<readonly Neighbor[]> {
    if (buckets.length === 0) return known([]);
    return select<Neighbor, readonly Neighbor[]>(
      `SELECT rank_bucket AS bucket, seq FROM waiter ${this.database.dialect.byIndex('waiter_order')}
       WHERE waitlist_id = ? AND active = 1 AND rank_bucket IN (${placeholders(buckets.length)})
       ORDER BY rank_bucket, rank_key, seq DESC`,
      [waitlistId, ...buckets],
      (rows) => rows,
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

  /** The record that comes `offset` after the first of a token's referrals, in join order; reads the index alone. */
  findReferredAt(waitlistId: number, listing: Listing, offset: number): Query<PageStart | null> {
    const filter = filterOf(waitlistId, listing);
    return select<{ seq: number }, PageStart | null>(
      `SELECT w.seq FROM waiter w ${this.database.dialect.byIndex(indexOf(listing))} WHERE ${filter.sql}
       ORDER BY w.seq LIMIT 1 OFFSET ?`,
      [...filter.values, offset],
      ([row]) => (row ? { seq: row.seq, rankKey: 0, isAfter: false } : null),
    );
  }

  /** How many active records that anyone referred are in a record's narrowest bucket, up to that record. */
  countReferredWithin(waitlistId: number, { seq, rankKey }: PageStart): Query<number> {
    return select<{ total: number }, number>(
      `SELECT COUNT(*) AS total FROM waiter ${this.database.dialect.byIndex('waiter_order')}
       WHERE waitlist_id = ? AND active = 1 AND rank_bucket = ? AND referred = 1
         AND (rank_key < ? OR (rank_key = ? AND seq >= ?))`,
      [waitlistId, leafOf(QUEUE_AXIS, rankKey), rankKey, rankKey, seq],
      ([row]) => Number(row?.total),
    );
  }

  /** The start of a page that follows this record, active or offboarded; null if the waitlist never had this id. */
  findAfter(waitlistId: number, id: number): Query<PageStart | null> {
    return select<{ seq: number; rank_key: number }, PageStart | null>(
      'SELECT seq, rank_key FROM waiter WHERE id = ? AND waitlist_id = ?',
      [id, waitlistId],
      ([row]) => (row ? { seq: row.seq, rankKey: row.rank_key, isAfter: true } : null),
    );
  }
}

function filterOf(waitlistId: number, { offboarded, referredBy }: Listing): Condition {
  const base: Condition = { sql: 'w.waitlist_id = ? AND w.active = ?', values: [waitlistId, offboarded ? 0 : 1] };
  if (referredBy === null) return base;
  if (referredBy === 'anyone') return { sql: `${base.sql} AND w.referred = 1`, values: base.values };
  return { sql: `${base.sql} AND w.referred_by_token = ?`, values: [...base.values, referredBy.token] };
}

/** The index that has a listing's records in its order. The referrals of one record are few enough to sort. */
function indexOf({ referredBy, order }: Listing): string {
  if (referredBy !== null && referredBy !== 'anyone') return 'waiter_referrer';
  if (order === 'queue') return 'waiter_order';
  return referredBy === null ? 'waiter_joined' : 'waiter_referred';
}

/** Written column by column: MySQL uses only the first column of a row comparison that starts inside an index. */
function startOf({ order }: Listing, { seq, rankKey, isAfter }: PageStart): Condition {
  if (order === 'joined') return { sql: `w.seq ${isAfter ? '>' : '>='} ?`, values: [seq] };
  const bucket = leafOf(QUEUE_AXIS, rankKey);
  return isAfter
    ? {
        sql: 'w.rank_bucket >= ? AND (w.rank_key > ? OR (w.rank_key = ? AND w.seq < ?))',
        values: [bucket, rankKey, rankKey, seq],
      }
    : { sql: 'w.rank_bucket >= ? AND w.rank_key >= ?', values: [bucket, rankKey] };
}
