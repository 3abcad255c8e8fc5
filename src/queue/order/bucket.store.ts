import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { chunksOf, placeholders } from '../../platform/database/dialect.js';
import { mapped, type Query, select, type Session, together, write } from '../../platform/database/session.js';
import {
  type Axis,
  type Bucket,
  bucketId,
  type BucketRef,
  type CounterChanges,
  FAN_OUT,
  familyId,
  type FamilyRef,
  firstKeyOf,
  numberOf,
  pathOf,
} from './counters.js';

/** Families in one statement; SQLite takes an expression of at most 1,000 levels. */
const FAMILIES_MAX = 200;
const ROWS_MAX = 1_000;
/** Families deleted in one transaction: some thousand rows. */
const FAMILIES_DELETED_MAX = 50;

const KEY = ['waitlist_id', 'axis', 'level', 'parent', 'slot'];
const COLUMNS = [...KEY, 'before_in_parent'];
/** Repeated in each term of an OR: SQLite would search by a condition outside of it alone, and scan the rest. */
const IN_FAMILY = 'waitlist_id = ? AND axis = ? AND level = ? AND parent = ?';

type BucketRow = BucketRef & { readonly before_in_parent: number };

/** Buckets of each family from a slot on, in order, by {@link familyId}. */
export type Siblings = ReadonlyMap<string, readonly Bucket[]>;

/** A bucket found on the way down: its number on its level, and its records among all of the axis. */
interface Span {
  readonly bucket: number;
  readonly before: number;
  readonly amount: number;
}

/** The records of an axis before a narrowest bucket, and those in it. */
export type LeafCount = Omit<Span, 'bucket'>;

/** A narrowest bucket, and how many of its records come before a position. */
export interface Leaf {
  readonly bucket: number;
  readonly rest: number;
}

/** The rows of `counters.ts`. They change only under the lock of their queue. */
@Injectable()
export class BucketStore {
  constructor(private readonly database: Database) {}

  /** The rows that `changes` needs: of each family, from its first changed slot on. Earlier ones stay as they are. */
  findSiblings(waitlistId: number, changes: CounterChanges): Query<Siblings> {
    return this.read(
      waitlistId,
      changes.families().map((family) => ({ ...family, from: Math.min(...family.changes.keys()) })),
    );
  }

  findAll(waitlistId: number, axis: Axis): Query<Bucket[]> {
    return select<BucketRow, Bucket[]>(
      // As text, because node:sqlite throws on an integer beyond 2^53, which only foreign SQL stores.
      `SELECT axis, level, parent, slot, CAST(before_in_parent AS CHAR) AS before_in_parent
       FROM queue_bucket WHERE waitlist_id = ? AND axis = ?`,
      [waitlistId, axis.code],
      (rows) => rows.map(toBucket),
    );
  }

  /**
   * The narrowest bucket that holds the record at a position, counted from 0; `rest` is how many of its records come
   * before it. Beyond the last position: the last bucket, with `rest` at least its size. Null if the axis has no
   * buckets.
   */
  findLeaf(waitlistId: number, { code, widthBits }: Axis, position: number): Query<Leaf | null> {
    const levels = [...widthBits.keys()].reverse();
    // Of siblings with the same `before`, all but the last are empty.
    const sql = levels.reduce(
      (wider, level) => `SELECT b.parent * ${FAN_OUT} + b.slot AS bucket, wider.rest - b.before_in_parent AS rest
        FROM (${wider}) wider JOIN queue_bucket b ON b.waitlist_id = ? AND b.axis = ${code} AND b.level = ${level}
          AND b.parent = wider.bucket AND b.before_in_parent <= wider.rest
        ORDER BY b.slot DESC LIMIT 1`,
      'SELECT 0 AS bucket, ? AS rest',
    );
    return select<Leaf, Leaf | null>(sql, [position, ...levels.map(() => waitlistId)], ([leaf]) => leaf ?? null);
  }

  /**
   * The narrowest buckets that hold the records at positions from `first` to `last`, counted from 0, in order, and in
   * `rest` how many records of the first bucket to skip. Null beyond the last record. `total` is the axis's number of
   * records. Makes one round trip per level.
   */
  async findLeaves(
    session: Session,
    waitlistId: number,
    axis: Axis,
    { total, first, last }: { readonly total: number; readonly first: number; readonly last: number },
  ): Promise<{ readonly leaves: readonly [number, ...number[]]; readonly rest: number } | null> {
    let parents: readonly Span[] = [{ bucket: 0, before: 0, amount: total }];
    for (const level of [...axis.widthBits.keys()].reverse()) {
      const families = parents.map(({ bucket }) => ({ axis: axis.code, level, parent: bucket }));
      const siblings = await session.one(this.read(waitlistId, families));
      parents = parents
        .flatMap((parent, index) => childrenOf(axis, parent, siblings.get(familyId(families[index] as FamilyRef))))
        .filter(({ before, amount }) => amount > 0 && before <= last && before + amount > first);
    }
    const [start, ...others] = parents;
    return start ? { leaves: [start.bucket, ...others.map(({ bucket }) => bucket)], rest: first - start.before } : null;
  }

  /** How many of the axis's `total` records come before a narrowest bucket, which may be missing. */
  countBefore(waitlistId: number, axis: Axis, leaf: number, total: number): Query<number> {
    return mapped(this.countLeaves(waitlistId, axis, [leaf], total), ([count]) => count?.before ?? 0);
  }

  /** How many of the axis's `total` records come before narrowest buckets, and are in them; a missing one is empty. */
  countLeaves(waitlistId: number, axis: Axis, leaves: readonly number[], total: number): Query<LeafCount[]> {
    const paths = leaves.map((leaf) => pathOf(axis, firstKeyOf(axis, leaf)).reverse());
    const families = new Map<string, FamilyRef & { readonly from: number }>();
    for (const { slot, ...family } of paths.flat()) {
      const from = Math.min(slot, families.get(familyId(family))?.from ?? slot);
      families.set(familyId(family), { ...family, from });
    }
    return mapped(this.read(waitlistId, [...families.values()]), (siblings) =>
      paths.map((path) => countOn(path, siblings, total)),
    );
  }

  /** How many records come before narrowest buckets, by bucket; without buckets that lack a row on their path. */
  findBefore(waitlistId: number, axis: Axis, leaves: readonly number[]): Query<ReadonlyMap<number, number>> {
    const chunks = together(chunksOf(leaves, FAMILIES_MAX).map((some) => this.findSomeBefore(waitlistId, axis, some)));
    return mapped(chunks, (found) => new Map(found.flatMap((before) => [...before])));
  }

  save(waitlistId: number, buckets: readonly Bucket[]): Query<unknown> {
    const row = `(${placeholders(COLUMNS.length)})`;
    return together(
      chunksOf(buckets, ROWS_MAX).map((some) =>
        write(
          `INSERT INTO queue_bucket (${COLUMNS.join(', ')}) VALUES ${some.map(() => row).join(', ')}
           ${this.database.dialect.upsert(KEY, ['before_in_parent'])}`,
          some.flatMap(({ axis, level, parent, slot, before }) => [waitlistId, axis, level, parent, slot, before]),
        ),
      ),
    );
  }

  deleteAll(waitlistId: number): Query<void> {
    return write('DELETE FROM queue_bucket WHERE waitlist_id = ?', [waitlistId]);
  }

  /** A family that has rows; null if there is none. */
  findFamily(waitlistId: number): Query<FamilyRef | null> {
    return select<FamilyRef, FamilyRef | null>(
      'SELECT axis, level, parent FROM queue_bucket WHERE waitlist_id = ? ORDER BY axis, level, parent LIMIT 1',
      [waitlistId],
      ([family]) => family ?? null,
    );
  }

  /** Deletes a family and the next ones of its level, some thousand rows. */
  deleteFamilies(waitlistId: number, { axis, level, parent }: FamilyRef): Query<void> {
    return write(
      'DELETE FROM queue_bucket WHERE waitlist_id = ? AND axis = ? AND level = ? AND parent >= ? AND parent < ?',
      [waitlistId, axis, level, parent, parent + FAMILIES_DELETED_MAX],
    );
  }

  private findSomeBefore(
    waitlistId: number,
    axis: Axis,
    leaves: readonly number[],
  ): Query<ReadonlyMap<number, number>> {
    const paths = leaves.map((leaf) => pathOf(axis, firstKeyOf(axis, leaf)));
    const refs = new Map(paths.flat().map((ref) => [bucketId(ref), ref]));
    return select<BucketRow, ReadonlyMap<number, number>>(
      // MySQL takes two thirds of the time that terms of an OR would take.
      `SELECT axis, level, parent, slot, before_in_parent FROM queue_bucket
       WHERE waitlist_id = ? AND axis = ? AND (level, parent, slot) IN (${Array.from(refs, () => '(?, ?, ?)').join(', ')})`,
      [waitlistId, axis.code, ...[...refs.values()].flatMap(({ level, parent, slot }) => [level, parent, slot])],
      (rows) => {
        const before = new Map(rows.map((row) => [bucketId(row), row.before_in_parent]));
        const total = (path: readonly BucketRef[]) =>
          path.reduce((sum, ref) => sum + (before.get(bucketId(ref)) ?? NaN), 0);
        const sums = leaves.map((leaf, index) => [leaf, total(paths[index] ?? [])] as const);
        return new Map(sums.filter(([, sum]) => !Number.isNaN(sum)));
      },
    );
  }

  private read(waitlistId: number, families: readonly (FamilyRef & { readonly from?: number })[]): Query<Siblings> {
    const chunks = together(
      chunksOf(families, FAMILIES_MAX).map((some) =>
        select<BucketRow, Bucket[]>(
          `SELECT axis, level, parent, slot, before_in_parent FROM queue_bucket
           WHERE ${some.map(() => `(${IN_FAMILY} AND slot >= ?)`).join(' OR ')}
           ORDER BY axis, level, parent, slot`,
          some.flatMap(({ axis, level, parent, from = 0 }) => [waitlistId, axis, level, parent, from]),
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
}

/** The count of the last bucket of a path, which begins with the widest. */
function countOn(path: readonly BucketRef[], siblings: Siblings, total: number): LeafCount {
  let before = 0;
  let amount = total;
  for (const ref of path) {
    const family = siblings.get(familyId(ref)) ?? [];
    const index = family.findIndex(({ slot }) => slot >= ref.slot);
    const bucket = family[index];
    if (bucket?.slot !== ref.slot) return { before: before + (bucket?.before ?? amount), amount: 0 };
    before += bucket.before;
    amount = (family[index + 1]?.before ?? amount) - bucket.before;
  }
  return { before, amount };
}

/** The buckets of a family, in order. */
function childrenOf(axis: Axis, parent: Span, buckets: readonly Bucket[] = []): Span[] {
  return buckets.map((bucket, index) => ({
    bucket: numberOf(axis, bucket),
    before: parent.before + bucket.before,
    amount: (buckets[index + 1]?.before ?? parent.amount) - bucket.before,
  }));
}

function toBucket({ axis, level, parent, slot, before_in_parent }: BucketRow): Bucket {
  return { axis, level, parent, slot, before: Number(before_in_parent) };
}

/** In SQL, `before` of the bucket that holds a key: one row by the primary key. `key` is a column or an expression. */
export function beforeInSql(axis: Axis, level: number, waitlistId: string, key: string): string {
  const width = axis.widthBits[level] as number;
  const parentWidth = axis.widthBits[level + 1];
  // MySQL's shifts give unsigned numbers, which it would not look up in a signed key.
  const shifted = (bits: number) => `CAST(${key} >> ${bits} AS SIGNED)`;
  const ref =
    parentWidth === undefined
      ? `b.parent = 0 AND b.slot = ${shifted(width)}`
      : `b.parent = ${shifted(parentWidth)} AND b.slot = CAST((${key} >> ${width}) & ${2 ** (parentWidth - width) - 1} AS SIGNED)`;
  return `(SELECT b.before_in_parent FROM queue_bucket b
    WHERE b.waitlist_id = ${waitlistId} AND b.axis = ${axis.code} AND b.level = ${level} AND ${ref})`;
}
