import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { chunksOf, placeholders } from '../platform/database/dialect.js';
import { known, mapped, type Query, select, type Session, together, write } from '../platform/database/session.js';
import {
  type Axis,
  type Bucket,
  bucketId,
  type BucketPlace,
  changedBuckets,
  CounterChanges,
  covers,
  FAN_OUT,
  type Family,
  familyId,
  firstKeyOf,
  pathOf,
} from './counters.js';
import type { WaitlistEntity } from './waitlist.entity.js';

/** Families in one statement; SQLite takes an expression of at most 1,000 levels. */
const FAMILIES_MAX = 200;
const ROWS_MAX = 1_000;
/** Parents whose children are deleted in one transaction: some thousand rows. */
const PARENTS_MAX = 50;

const KEY = ['waitlist_id', 'axis', 'level', 'parent', 'slot'];
const COLUMNS = [...KEY, 'amount', 'before_in_parent'];
/** Whole in each term of an OR: what is said once for all terms, SQLite would take alone, and read all it leaves. */
const IN_FAMILY = 'waitlist_id = ? AND axis = ? AND level = ? AND parent = ?';

interface BucketRow {
  readonly axis: number;
  readonly level: number;
  readonly parent: number;
  readonly slot: number;
  readonly amount: number;
  readonly before_in_parent: number;
}

/** The buckets of some families, by {@link familyId}. */
export type Siblings = ReadonlyMap<string, readonly Bucket[]>;

/** The rows of `counters.ts`. They change only under the lock of their line. */
@Injectable()
export class BucketStore {
  constructor(private readonly database: Database) {}

  /** The buckets that differ after changes, as they are to be saved; reads what `known` leaves out. */
  async findChanged(session: Session, { id: waitlistId }: WaitlistEntity, changes: CounterChanges): Promise<Bucket[]> {
    const families = changes.families();
    const near = await session.one(this.findSiblings(waitlistId, families));
    const uncovered = families.filter((family) => !covers(near.get(familyId(family)) ?? [], family));
    const whole = await session.one(this.read(waitlistId, uncovered, () => 0));
    const siblings = new Map([...near, ...whole]);
    return families.flatMap((family) => changedBuckets(family, siblings.get(familyId(family)) ?? []));
  }

  /** Of each family what its changes are about: who comes before them is nearly always told by the eldest or the one before. */
  findSiblings(waitlistId: number, families: readonly Family[]): Query<Siblings> {
    return this.read(waitlistId, families, ({ changes }) => Math.min(...changes.keys()) - 1);
  }

  deleteAll(waitlistId: number): Query<void> {
    return write('DELETE FROM queue_bucket WHERE waitlist_id = ?', [waitlistId]);
  }

  /** Deletes the buckets of some parents, from `parent` on; gives the parent to go on from, or null at the level's end. */
  async deleteSome(
    session: Session,
    waitlistId: number,
    { axis, level, parent }: Pick<BucketRow, 'axis' | 'level' | 'parent'>,
  ): Promise<number | null> {
    const last = await session.one(
      select<{ last: number | null }, number | null>(
        `SELECT MAX(parent) AS last FROM (
           SELECT DISTINCT parent FROM queue_bucket WHERE waitlist_id = ? AND axis = ? AND level = ? AND parent >= ?
           ORDER BY parent LIMIT ?
         ) some`,
        [waitlistId, axis, level, parent, PARENTS_MAX],
        ([row]) => row?.last ?? null,
      ),
    );
    if (last === null) return null;
    await session.one(
      write(
        'DELETE FROM queue_bucket WHERE waitlist_id = ? AND axis = ? AND level = ? AND parent >= ? AND parent <= ?',
        [waitlistId, axis, level, parent, last],
      ),
    );
    return last + 1;
  }

  findAll(waitlistId: number, axis: Axis): Query<Bucket[]> {
    return select<BucketRow, Bucket[]>(
      // As text, because node:sqlite throws on an integer beyond 2^53, which only foreign SQL stores.
      `SELECT axis, level, parent, slot, CAST(amount AS CHAR) AS amount, CAST(before_in_parent AS CHAR) AS before_in_parent
       FROM queue_bucket WHERE waitlist_id = ? AND axis = ?`,
      [waitlistId, axis.code],
      (rows) =>
        rows.map((row) => ({ ...toBucket(row), amount: Number(row.amount), before: Number(row.before_in_parent) })),
    );
  }

  /**
   * The narrowest buckets that hold the records at positions from `first` to `last`, counted from 0, in their order, and
   * how many records of the first bucket come before. Null beyond the last record.
   */
  async findLeaves(
    session: Session,
    waitlistId: number,
    axis: Axis,
    first: number,
    last: number,
  ): Promise<{ readonly leaves: readonly [number, ...number[]]; readonly rest: number } | null> {
    const levels = axis.widthBits.map((_, level) => level).reverse();
    const [top = 0] = levels;
    // Each level's siblings are few; those of them that hold a position lead to the next level's, and empty ones nowhere.
    // Of a CROSS JOIN SQLite keeps the order, else it may begin in the middle, with all of a level.
    const joins = levels.slice(1).map(
      (level) =>
        `CROSS JOIN queue_bucket b${level} ON b${level}.waitlist_id = b${top}.waitlist_id AND b${level}.axis = b${top}.axis
           AND b${level}.level = ${level} AND b${level}.parent = ${numberSql(axis, level + 1)}`,
    );
    const before = (from: number) => levels.filter((level) => level >= from).map((level) => `b${level}.before_in_parent`).join(' + '); // prettier-ignore
    const holds = levels.map(
      (level) => `${before(level)} <= ? AND ${before(level)} + b${level}.amount > ? AND b${level}.amount > 0`,
    );
    const rows = await session.one(
      select<{ leaf: number; total_before: number }, { leaf: number; total_before: number }[]>(
        `SELECT ${numberSql(axis, 0)} AS leaf, ${before(0)} AS total_before
       FROM queue_bucket b${top} ${joins.join(' ')}
       WHERE b${top}.waitlist_id = ? AND b${top}.axis = ? AND b${top}.level = ${top} AND b${top}.parent = 0
         AND ${holds.join(' AND ')}`,
        [waitlistId, axis.code, ...holds.flatMap(() => [last, first])],
        (found) => [...found],
      ),
    );
    const [start, ...others] = rows.sort((a, b) => a.leaf - b.leaf);
    return start ? { leaves: [start.leaf, ...others.map(({ leaf }) => leaf)], rest: first - start.total_before } : null;
  }

  /** How many records come before a narrowest bucket, which need not be there. */
  countBefore(waitlistId: number, axis: Axis, leaf: number): Query<number> {
    const path = pathOf(axis, firstKeyOf(axis, leaf));
    const elders = path.map(
      () => `COALESCE((SELECT before_in_parent + amount FROM queue_bucket WHERE ${IN_FAMILY} AND slot < ?
        ORDER BY slot DESC LIMIT 1), 0)`,
    );
    return select<{ total: number }, number>(
      `SELECT ${elders.join(' + ')} AS total`,
      path.flatMap(({ level, parent, slot }) => [waitlistId, axis.code, level, parent, slot]),
      ([row]) => Number(row?.total),
    );
  }

  /** How many records come before narrowest buckets. One is left out where a row on its path is missing. */
  findBefore(waitlistId: number, axis: Axis, leaves: readonly number[]): Query<ReadonlyMap<number, number>> {
    if (leaves.length === 0) return known(new Map());
    const paths = leaves.map((leaf) => pathOf(axis, firstKeyOf(axis, leaf)));
    const places = new Map(paths.flat().map((place) => [bucketId(place), place]));
    return select<Omit<BucketRow, 'amount'>, ReadonlyMap<number, number>>(
      // A list of rows takes MySQL two thirds of the time of as many terms of an OR.
      `SELECT axis, level, parent, slot, before_in_parent FROM queue_bucket
       WHERE waitlist_id = ? AND axis = ? AND (level, parent, slot) IN (${Array.from(places, () => '(?, ?, ?)').join(', ')})`,
      [waitlistId, axis.code, ...[...places.values()].flatMap(({ level, parent, slot }) => [level, parent, slot])],
      (rows) => {
        const before = new Map(rows.map((row) => [bucketId(row), row.before_in_parent]));
        const total = (path: readonly BucketPlace[]) =>
          path.reduce((sum, place) => sum + (before.get(bucketId(place)) ?? NaN), 0);
        const sums = leaves.map((leaf, index) => [leaf, total(paths[index] ?? [])] as const);
        return new Map(sums.filter(([, sum]) => !Number.isNaN(sum)));
      },
    );
  }

  /** The buckets of each family from a slot on, in their order. */
  private read(waitlistId: number, families: readonly Family[], fromSlot: (family: Family) => number): Query<Siblings> {
    const chunks = together(
      chunksOf(families, FAMILIES_MAX).map((some) =>
        select<BucketRow, Bucket[]>(
          `SELECT axis, level, parent, slot, amount, before_in_parent FROM queue_bucket
           WHERE ${some.map(() => `(${IN_FAMILY} AND slot >= ?)`).join(' OR ')}
           ORDER BY axis, level, parent, slot`,
          some.flatMap((family) => [waitlistId, family.axis, family.level, family.parent, fromSlot(family)]),
          (rows) => rows.map(toBucket),
        ),
      ),
    );
    return mapped(chunks, (found) => {
      const siblings = new Map<string, Bucket[]>(families.map((family) => [familyId(family), []]));
      for (const bucket of found.flat()) siblings.get(familyId(bucket))?.push(bucket);
      return siblings;
    });
  }

  save(waitlistId: number, buckets: readonly Bucket[]): Query<unknown> {
    return together(
      chunksOf(buckets, ROWS_MAX).map((some) =>
        write(
          `INSERT INTO queue_bucket (${COLUMNS.join(', ')}) VALUES ${some.map(() => `(${placeholders(COLUMNS.length)})`).join(', ')}
           ${this.database.dialect.upsert(KEY, ['amount', 'before_in_parent'])}`,
          some.flatMap(({ axis, level, parent, slot, amount, before }) => [waitlistId, axis, level, parent, slot, amount, before]), // prettier-ignore
        ),
      ),
    );
  }
}

/** In SQL, the number of the bucket `b<level>` on its level: the `parent` that its children carry. */
function numberSql({ widthBits }: Axis, level: number): string {
  return level === widthBits.length - 1 ? `b${level}.slot` : `b${level}.parent * ${FAN_OUT} + b${level}.slot`;
}

function toBucket({ axis, level, parent, slot, amount, before_in_parent }: BucketRow): Bucket {
  return { axis, level, parent, slot, amount, before: before_in_parent };
}

/** In SQL, `before` of the bucket that holds a key: one row by the primary key. `key` is a column or an expression. */
export function beforeInSql(axis: Axis, level: number, waitlistId: string, key: string): string {
  const width = axis.widthBits[level] as number;
  const parentWidth = axis.widthBits[level + 1];
  // MySQL's shifts give unsigned numbers, which it would not look up in a signed key.
  const shifted = (bits: number) => `CAST(${key} >> ${bits} AS SIGNED)`;
  const place =
    parentWidth === undefined
      ? `b.parent = 0 AND b.slot = ${shifted(width)}`
      : `b.parent = ${shifted(parentWidth)} AND b.slot = CAST((${key} >> ${width}) & ${2 ** (parentWidth - width) - 1} AS SIGNED)`;
  return `(SELECT b.before_in_parent FROM queue_bucket b
    WHERE b.waitlist_id = ${waitlistId} AND b.axis = ${axis.code} AND b.level = ${level} AND ${place})`;
}
