import { Injectable } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { byId, byIndex, chunksOf, fromSqlTime, placeholders, toSqlTime } from '../platform/database/dialect.js';
import type { Session } from '../platform/database/session.js';
import { beforeInSql } from './bucket.store.js';
import { leafOf, QUEUE_AXIS } from './counters.js';
import { RANK_BASE } from './rank-key.js';
import type { ContactKeys, ListedWaiter, PageRequest, Waiter } from './waiter.js';
import type { WaiterEntity } from './waiter.entity.js';

/** A row as both drivers give it. */
type WaiterRow = Record<string, string | number | null> & {
  created_at: Date | string;
  removed_at: Date | string | null;
};
interface TakenRow {
  readonly email_key: string | null;
  readonly phone_key: string | null;
}

const LISTED_COLUMNS = `w.id, w.seq, w.uuid, w.email, w.referral_token, w.referred_by_token, w.amount_referred, w.rank_key,
  w.active, w.verified, w.removed_at, w.removed_priority, w.created_at`;
const COLUMNS = `${LISTED_COLUMNS}, w.waitlist_id, w.email_key, w.registered_email, w.phone, w.phone_key, w.first_name,
  w.last_name, w.metadata, w.answers, w.referred, w.credited_referrals, w.spots_advanced, w.removed_by`;

const BEFORE_BUCKET = QUEUE_AXIS.widthBits
  .map((_, level) => beforeInSql(QUEUE_AXIS, level, 'w.waitlist_id', 'w.rank_key'))
  .join(' + ');

/** The active records ahead, where of two equal keys the later is ahead. */
function aheadSql(dataSource: DataSource): string {
  return `${BEFORE_BUCKET} + (
    SELECT COUNT(*) FROM waiter ahead ${byIndex(dataSource, 'waiter_order')}
    WHERE ahead.waitlist_id = w.waitlist_id AND ahead.active = 1 AND ahead.rank_bucket = w.rank_bucket
      AND (ahead.rank_key < w.rank_key OR (ahead.rank_key = w.rank_key AND ahead.seq > w.seq))
  )`;
}

/** The place: as it was for the offboarded. */
function prioritySql(dataSource: DataSource): string {
  return `CASE WHEN w.active = 0 THEN w.removed_priority ELSE ${aheadSql(dataSource)} END AS priority`;
}

/** Records in one UPDATE: its cases are searched for each, and SQLite takes 32,766 parameters. */
const UPDATES_MAX = 500;

const STANDING_COLUMNS =
  'id, seq, amount_referred, credited_referrals, spots_advanced, rank_key, active, referred, referral_token';

/** Which records a listing shows, and in which order. */
export type Listing = Pick<PageRequest, 'offboarded' | 'referredBy' | 'order'>;

/** What of a listing a page shows. */
export interface Window {
  readonly from: PageStart | null;
  /** Records left out, of those from there on. */
  readonly skip: number;
  /** The narrowest buckets of the line outside of which there is none of them; null where that is not known. */
  readonly leaves: readonly number[] | null;
}

/** Where a page starts: at a record or after it. */
export interface PageStart {
  readonly seq: number;
  readonly rankKey?: number;
  readonly isAfter?: boolean;
}

/** Who leaves the line: the place of each at that moment by id, and the command that removes them. */
export interface Removal {
  readonly at: Date;
  readonly by: string;
  readonly priorities: ReadonlyMap<number, number>;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** Records that go from one bucket to another, or stay in it. */
export interface Move {
  readonly from: number;
  readonly to: number;
  /** Whether somebody referred them. */
  readonly referred: boolean;
  readonly amount: number;
}

/** A record without its place. */
export type RecordedWaiter = Omit<Waiter, 'priority'>;
export type ListedRecord = Omit<ListedWaiter, 'priority'>;

/** What a referral changes of the record that referred. */
export interface Standing {
  readonly id: number;
  readonly seq: number;
  readonly amountReferred: number;
  readonly creditedReferrals: number;
  readonly spotsAdvanced: number;
  readonly rankKey: number;
  readonly active: boolean;
  readonly referred: boolean;
  readonly referralToken: string;
}

/** A record as `verify` and `rebuild` read it: stored values, whatever they are. */
export interface AuditedFacts extends Omit<Standing, 'active' | 'referred'> {
  readonly active: number;
  readonly referred: number;
  readonly referredByToken: string | null;
  readonly removedPriority: number | null;
  readonly isDated: boolean;
  /** Records that name this one as their referrer. */
  readonly referrals: number;
}

/** A record whose buckets are missing has no place, and a wrong one must not be shown. */
export class MissingBucketError extends Error {
  constructor(id: number, waitlistId: number) {
    super(`Record ${id} has no bucket: run \`npm run cli -- rebuild ${waitlistId}\``);
  }
}

/** Records and their places in SQL. Every statement names its waitlist: the sharding key, and the wall between owners. */
@Injectable()
export class WaiterStore {
  /** Each record that one of the keys matches. */
  async findByContacts(session: Session, waitlistId: number, contacts: readonly ContactKeys[]): Promise<Waiter[]> {
    const emailKeys = contacts.flatMap(({ emailKey }) => emailKey ?? []);
    const phoneKeys = contacts.flatMap(({ phoneKey }) => phoneKey ?? []);
    const { dataSource } = session;
    const found = await Promise.all([
      this.findWhere(session, waitlistId, 'w.email_key', emailKeys, byIndex(dataSource, 'waiter_email')),
      this.findWhere(session, waitlistId, 'w.phone_key', phoneKeys, byIndex(dataSource, 'waiter_phone')),
    ]);
    return found.flat();
  }

  async findByIds(session: Session, waitlistId: number, ids: readonly number[]): Promise<Waiter[]> {
    return this.findWhere(session, waitlistId, 'w.id', ids, byId(session.dataSource));
  }

  /** Which of these keys are taken, without places. */
  async findTaken(session: Session, waitlistId: number, contacts: readonly ContactKeys[]): Promise<ContactKeys[]> {
    const emailKeys = contacts.flatMap(({ emailKey }) => emailKey ?? []);
    const phoneKeys = contacts.flatMap(({ phoneKey }) => phoneKey ?? []);
    const find = async (column: string, index: string, keys: readonly string[]): Promise<TakenRow[]> =>
      keys.length === 0
        ? []
        : session.query(
            `SELECT email_key, phone_key FROM waiter ${byIndex(session.dataSource, index)}
             WHERE waitlist_id = ? AND ${column} IN (${placeholders(keys.length)})`,
            [waitlistId, ...keys],
          );
    const rows = await Promise.all([
      find('email_key', 'waiter_email', emailKeys),
      find('phone_key', 'waiter_phone', phoneKeys),
    ]);
    return rows.flat().map(({ email_key, phone_key }) => ({ emailKey: email_key, phoneKey: phone_key }));
  }

  /** The records of these tokens that belong to this waitlist. */
  async findStandings(session: Session, waitlistId: number, tokens: readonly string[]): Promise<Standing[]> {
    if (tokens.length === 0) return [];
    const rows: Record<string, number | string | null>[] = await session.query(
      `SELECT ${STANDING_COLUMNS}
       FROM waiter ${byIndex(session.dataSource, 'waiter_token')} WHERE referral_token IN (${placeholders(tokens.length)}) AND waitlist_id = ?`,
      [...tokens, waitlistId],
    );
    return rows.map(toStanding);
  }

  /**
   * Records in join order after a `seq`, or from the first. Numbers are read as text, because node:sqlite throws on an
   * integer beyond 2^53, which only foreign SQL stores and which `verify` must name.
   */
  async findFacts(session: Session, waitlistId: number, after: number | null, limit: number): Promise<AuditedFacts[]> {
    const { dataSource } = session;
    const numbers = ['seq', 'amount_referred', 'credited_referrals', 'spots_advanced', 'rank_key', 'removed_priority'];
    const rows: Record<string, number | string | null>[] = await session.query(
      `SELECT w.id, ${numbers.map((column) => `CAST(w.${column} AS CHAR) AS ${column}`).join(', ')}, w.active, w.referred,
         w.referral_token, w.referred_by_token, w.removed_at IS NOT NULL AS is_dated, (
           SELECT COUNT(*) FROM waiter r ${byIndex(dataSource, 'waiter_referrer')}
           WHERE r.waitlist_id = w.waitlist_id AND r.referred_by_token = w.referral_token
         ) AS referrals
       FROM waiter w ${byIndex(dataSource, 'waiter_seq')}
       WHERE w.waitlist_id = ? ${after === null ? '' : 'AND w.seq > ?'} ORDER BY w.seq LIMIT ?`,
      [waitlistId, ...(after === null ? [] : [after]), limit],
    );
    return rows.map((row) => ({
      ...toStanding(row),
      active: row.active as number,
      referred: row.referred as number,
      referredByToken: row.referred_by_token as string | null,
      removedPriority: row.removed_priority === null ? null : Number(row.removed_priority),
      isDated: row.is_dated === 1,
      referrals: Number(row.referrals),
    }));
  }

  /** Stores new records; the database gives them their ids. */
  async insert(session: Session, waiters: readonly Omit<RecordedWaiter, 'id'>[]): Promise<void> {
    if (waiters.length === 0) return;
    const rows = waiters.map((waiter) => [
      waiter.waitlistId,
      waiter.seq,
      waiter.uuid,
      waiter.email,
      waiter.emailKey,
      waiter.registeredEmail,
      waiter.phone,
      waiter.phoneKey,
      waiter.firstName,
      waiter.lastName,
      waiter.metadata && JSON.stringify(waiter.metadata),
      waiter.answers && JSON.stringify(waiter.answers),
      waiter.referralToken,
      waiter.referredByToken,
      waiter.referred,
      waiter.amountReferred,
      waiter.creditedReferrals,
      waiter.rankKey,
      toSqlTime(waiter.createdAt),
    ]);
    await session.query(
      `INSERT INTO waiter (waitlist_id, seq, uuid, email, email_key, registered_email, phone, phone_key, first_name,
         last_name, metadata, answers, referral_token, referred_by_token, referred, amount_referred, credited_referrals,
         rank_key, created_at)
       VALUES ${rows.map((row) => `(${placeholders(row.length)})`).join(', ')}`,
      rows.flat(),
    );
  }

  /** Writes what referrals changed. */
  async updateStandings(session: Session, waitlistId: number, standings: readonly Standing[]): Promise<void> {
    await Promise.all(chunksOf(standings, UPDATES_MAX).map((some) => this.updateSome(session, waitlistId, some)));
  }

  private async updateSome(
    session: Session,
    waitlistId: number,
    standings: readonly Omit<Standing, 'active' | 'referred'>[],
  ): Promise<void> {
    const cases = standings.map(() => 'WHEN ? THEN ?').join(' ');
    await session.query(
      `UPDATE waiter ${byId(session.dataSource)} SET amount_referred = CASE id ${cases} END, credited_referrals = CASE id ${cases} END,
         rank_key = CASE id ${cases} END WHERE waitlist_id = ? AND id IN (${placeholders(standings.length)})`,
      [
        ...standings.flatMap(({ id, amountReferred }) => [id, amountReferred]),
        ...standings.flatMap(({ id, creditedReferrals }) => [id, creditedReferrals]),
        ...standings.flatMap(({ id, rankKey }) => [id, rankKey]),
        waitlistId,
        ...standings.map(({ id }) => id),
      ],
    );
  }

  /** Writes the derived columns of records. */
  async updateDerived(
    session: Session,
    waitlistId: number,
    standings: readonly Omit<Standing, 'active' | 'referred'>[],
  ): Promise<void> {
    for (const some of chunksOf(standings, UPDATES_MAX)) {
      await this.updateSome(session, waitlistId, some);
      await session.query(
        `UPDATE waiter ${byId(session.dataSource)} SET referred = (referred_by_token IS NOT NULL)
         WHERE waitlist_id = ? AND id IN (${placeholders(some.length)})`,
        [waitlistId, ...some.map(({ id }) => id)],
      );
    }
  }

  /** Takes records out of the line for good. */
  async remove(session: Session, waitlistId: number, { at, by, priorities }: Removal): Promise<void> {
    const cases = Array.from(priorities, () => 'WHEN ? THEN ?').join(' ');
    await session.query(
      `UPDATE waiter ${byId(session.dataSource)} SET active = 0, removed_at = ?, removed_by = ?, removed_priority = CASE id ${cases} END
       WHERE waitlist_id = ? AND id IN (${placeholders(priorities.size)})`,
      [toSqlTime(at), by, ...[...priorities].flat(), waitlistId, ...priorities.keys()],
    );
  }

  /** Derives the key of each record that has credit anew. */
  async rekey(session: Session, waitlistId: number, spotsPerReferral: number): Promise<void> {
    const key = keySql(spotsPerReferral);
    await session.query(`UPDATE waiter SET rank_key = ${key.sql} WHERE waitlist_id = ? AND credited_referrals > 0`, [
      ...key.values,
      waitlistId,
    ]);
  }

  /** How many active records such a change will move from each narrowest bucket of the line to which. */
  async countMoves(session: Session, waitlistId: number, spotsPerReferral: number): Promise<Move[]> {
    const key = keySql(spotsPerReferral);
    const rows: Record<'from_bucket' | 'to_bucket' | 'referred' | 'total', number>[] = await session.query(
      `SELECT rank_bucket AS from_bucket, (${key.sql}) >> ${QUEUE_AXIS.widthBits[0]} AS to_bucket, referred, COUNT(*) AS total
       FROM waiter WHERE waitlist_id = ? AND credited_referrals > 0 AND active = 1 GROUP BY from_bucket, to_bucket, referred`,
      [...key.values, waitlistId],
    );
    return rows.map(({ from_bucket, to_bucket, referred, total }) => ({
      from: from_bucket,
      to: Number(to_bucket),
      referred: referred === 1,
      amount: Number(total),
    }));
  }

  async deleteRange(session: Session, waitlistId: number, fromSeq: number, toSeq: number): Promise<void> {
    await session.query('DELETE FROM waiter WHERE waitlist_id = ? AND seq >= ? AND seq < ?', [
      waitlistId,
      fromSeq,
      toSeq,
    ]);
  }

  /** The first `seq` and the one after the last; the same where there is no record. */
  async findSpan(session: Session, waitlistId: number): Promise<{ readonly first: number; readonly end: number }> {
    const [row]: { first: string | null; last: string | null }[] = await session.query(
      'SELECT CAST(MIN(seq) AS CHAR) AS first, CAST(MAX(seq) AS CHAR) AS last FROM waiter WHERE waitlist_id = ?',
      [waitlistId],
    );
    return { first: Number(row?.first ?? 0), end: Number(row?.last ?? -1) + 1 };
  }

  /** A page of a listing. */
  async findPage(
    session: Session,
    waitlistId: number,
    listing: Listing,
    window: Window & { readonly limit: number; readonly withAnswers: boolean },
  ): Promise<ListedRecord[]> {
    const conditions: Condition[] = [filterOf(waitlistId, listing)];
    if (window.from) conditions.push(startOf(listing, window.from));
    if (window.leaves)
      conditions.push({ sql: `w.rank_bucket IN (${placeholders(window.leaves.length)})`, values: window.leaves });
    const rows: WaiterRow[] = await session.query(
      `SELECT ${LISTED_COLUMNS}${window.withAnswers ? ', w.answers' : ''}
       FROM waiter w ${byIndex(session.dataSource, indexOf(listing))}
       WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}
       ORDER BY ${listing.order === 'queue' ? 'w.rank_bucket, w.rank_key, w.seq DESC' : 'w.seq'} LIMIT ? OFFSET ?`,
      [...conditions.flatMap(({ values }) => values), window.limit, window.skip],
    );
    return rows.map(toListed);
  }

  /** The active records of narrowest buckets: each as its bucket and `seq`, in the order of the line. */
  async findNeighbours(
    session: Session,
    waitlistId: number,
    buckets: readonly number[],
  ): Promise<{ readonly bucket: number; readonly seq: number }[]> {
    if (buckets.length === 0) return [];
    return session.query(
      `SELECT rank_bucket AS bucket, seq FROM waiter ${byIndex(session.dataSource, 'waiter_order')}
       WHERE waitlist_id = ? AND active = 1 AND rank_bucket IN (${placeholders(buckets.length)})
       ORDER BY rank_bucket, rank_key, seq DESC`,
      [waitlistId, ...buckets],
    );
  }

  /** How many records this token's record referred that are active, or offboarded. */
  async countReferredBy(session: Session, waitlistId: number, listing: Listing): Promise<number> {
    const filter = filterOf(waitlistId, listing);
    const [row]: { total: number }[] = await session.query(
      `SELECT COUNT(*) AS total FROM waiter w ${byIndex(session.dataSource, indexOf(listing))} WHERE ${filter.sql}`,
      filter.values,
    );
    return Number(row?.total);
  }

  /** Where the record that comes `offset` after the first of a token's referrals stands; reads the index alone. */
  async findReferredAt(
    session: Session,
    waitlistId: number,
    listing: Listing,
    offset: number,
  ): Promise<PageStart | null> {
    const filter = filterOf(waitlistId, listing);
    const [row]: { seq: number }[] = await session.query(
      `SELECT w.seq FROM waiter w ${byIndex(session.dataSource, indexOf(listing))} WHERE ${filter.sql} ORDER BY w.seq LIMIT 1 OFFSET ?`,
      [...filter.values, offset],
    );
    return row ? { seq: row.seq } : null;
  }

  /** How many of the active whom anyone referred are in the narrowest bucket of a record, up to that record. */
  async countReferredWithin(
    session: Session,
    waitlistId: number,
    { seq, rankKey }: Required<PageStart>,
  ): Promise<number> {
    const [row]: { total: number }[] = await session.query(
      `SELECT COUNT(*) AS total FROM waiter ${byIndex(session.dataSource, 'waiter_order')}
       WHERE waitlist_id = ? AND active = 1 AND rank_bucket = ? AND referred = 1
         AND (rank_key < ? OR (rank_key = ? AND seq >= ?))`,
      [waitlistId, leafOf(QUEUE_AXIS, rankKey), rankKey, rankKey, seq],
    );
    return Number(row?.total);
  }

  /** Where a listing goes on after a record, whatever became of it; null for an id that this waitlist never had. */
  async findAfter(session: Session, waitlistId: number, id: number): Promise<Required<PageStart> | null> {
    const [row]: { seq: number; rank_key: number }[] = await session.query(
      'SELECT seq, rank_key FROM waiter WHERE id = ? AND waitlist_id = ?',
      [id, waitlistId],
    );
    return row ? { seq: row.seq, rankKey: row.rank_key, isAfter: true } : null;
  }

  private async findWhere(
    session: Session,
    waitlistId: number,
    column: string,
    values: readonly (string | number)[],
    hint: string,
  ): Promise<Waiter[]> {
    if (values.length === 0) return [];
    const rows: WaiterRow[] = await session.query(
      `SELECT ${COLUMNS}, ${prioritySql(session.dataSource)} FROM waiter w ${hint} WHERE w.waitlist_id = ? AND ${column} IN (${placeholders(values.length)})`,
      [waitlistId, ...values],
    );
    return rows.map(toWaiter);
  }
}

/** What `rankKey` gives, in SQL. */
function keySql(spotsPerReferral: number) {
  const key = '(? + seq - ? * credited_referrals - spots_advanced)';
  const values = [RANK_BASE, spotsPerReferral];
  return { sql: `CASE WHEN ${key} < 0 THEN 0 ELSE ${key} END`, values: [...values, ...values] };
}

function filterOf(waitlistId: number, { offboarded, referredBy }: Listing) {
  const base = {
    sql: 'w.waitlist_id = ? AND w.active = ?',
    values: [waitlistId, offboarded ? 0 : 1] as (string | number)[],
  };
  if (referredBy === null) return base;
  if (referredBy === 'anyone') return { sql: `${base.sql} AND w.referred = 1`, values: base.values };
  return { sql: `${base.sql} AND w.referred_by_token = ?`, values: [...base.values, referredBy.token] };
}

/** The index that holds a listing's records in its order; the referrals of one record are few enough to be sorted. */
function indexOf({ referredBy, order }: Listing): string {
  if (referredBy !== null && referredBy !== 'anyone') return 'waiter_referrer';
  if (order === 'queue') return 'waiter_order';
  return referredBy === null ? 'waiter_joined' : 'waiter_referred';
}

/** Written out column by column: MySQL uses only the first of a row comparison off the front of an index. */
function startOf({ order }: Listing, { seq, rankKey = 0, isAfter = false }: PageStart) {
  if (order === 'joined') return { sql: `w.seq ${isAfter ? '>' : '>='} ?`, values: [seq] };
  const bucket = leafOf(QUEUE_AXIS, rankKey);
  return isAfter
    ? {
        sql: 'w.rank_bucket >= ? AND (w.rank_key > ? OR (w.rank_key = ? AND w.seq < ?))',
        values: [bucket, rankKey, rankKey, seq],
      }
    : { sql: 'w.rank_bucket >= ? AND w.rank_key >= ?', values: [bucket, rankKey] };
}

/** A spread comes last, wherever a record is made into another: V8 takes a microsecond for each name after one. */
function toWaiter(row: WaiterRow): Waiter {
  return { priority: priorityOf(row), ...toRecord(row) };
}

function toRecord(row: WaiterRow): RecordedWaiter {
  return {
    waitlistId: row.waitlist_id as number,
    emailKey: row.email_key as string | null,
    registeredEmail: row.registered_email as string | null,
    phone: row.phone as string | null,
    phoneKey: row.phone_key as string | null,
    firstName: row.first_name as string | null,
    lastName: row.last_name as string | null,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata as string) as WaiterEntity['metadata']),
    referred: row.referred === 1,
    creditedReferrals: row.credited_referrals as number,
    spotsAdvanced: row.spots_advanced as number,
    removedBy: row.removed_by as string | null,
    ...toListed(row),
  };
}

function toListed(row: WaiterRow): ListedRecord {
  return {
    id: row.id as number,
    seq: row.seq as number,
    uuid: row.uuid as string,
    email: row.email as string | null,
    answers: row.answers ? (JSON.parse(row.answers as string) as WaiterEntity['answers']) : null,
    referralToken: row.referral_token as string,
    referredByToken: row.referred_by_token as string | null,
    amountReferred: row.amount_referred as number,
    rankKey: row.rank_key as number,
    active: row.active === 1,
    verified: row.verified === 1,
    removedAt: row.removed_at === null ? null : fromSqlTime(row.removed_at),
    removedPriority: row.removed_priority as number | null,
    createdAt: fromSqlTime(row.created_at),
  };
}

function toStanding(row: Record<string, number | string | null>): Standing {
  return {
    id: row.id as number,
    // Text where `findFacts` reads it, and from MySQL beyond 2^53.
    seq: Number(row.seq),
    amountReferred: Number(row.amount_referred),
    creditedReferrals: Number(row.credited_referrals),
    spotsAdvanced: Number(row.spots_advanced),
    rankKey: Number(row.rank_key),
    active: row.active === 1,
    referred: row.referred === 1,
    referralToken: row.referral_token as string,
  };
}

function priorityOf({ id, waitlist_id, priority }: WaiterRow): number {
  if (typeof priority !== 'number') throw new MissingBucketError(id as number, waitlist_id as number);
  return priority;
}
