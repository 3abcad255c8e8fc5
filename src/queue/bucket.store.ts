import { Injectable } from '@nestjs/common';
import { chunksOf, placeholders, upsert } from '../platform/database/dialect.js';
import type { Session } from '../platform/database/session.js';
import {
  type Axis,
  type Bucket,
  bucketId,
  type BucketPlace,
  type CounterChanges,
  type Family,
  familyId,
  type FamilyPlace,
  firstKeyOf,
  numberOf,
  pathOf,
} from './counters.js';

/** Families in one statement; SQLite takes an expression of at most 1,000 levels. */
const FAMILIES_MAX = 200;
const ROWS_MAX = 1_000;
/** Parents whose children are deleted in one transaction: some thousand rows. */
const PARENTS_MAX = 50;

const KEY = ['waitlist_id', 'axis', 'level', 'parent', 'slot'];
const COLUMNS = [...KEY, 'before_in_parent'];
/** Repeated in each term of an OR: SQLite would search by a condition outside of it alone, and scan the rest. */
const IN_FAMILY = 'waitlist_id = ? AND axis = ? AND level = ? AND parent = ?';

interface BucketRow {
  readonly axis: number;
  readonly level: number;
  readonly parent: number;
  readonly slot: number;
  readonly before_in_parent: number;
}

/** Siblings from a slot on, in order. */
interface Read {
  readonly from: number;
  readonly buckets: Bucket[];
}

/** By {@link familyId}. */
export type Siblings = ReadonlyMap<string, Read>;

/** A bucket found on the way down: its number on its level, and its records among all of the axis. */
interface Span {
  readonly bucket: number;
  readonly before: number;
  readonly amount: number;
}

/** The rows of `counters.ts`. They change only under the lock of their queue. */
@Injectable()
export class BucketStore {
  async apply(session: Session, waitlistId: number, changes: CounterChanges): Promise<void> {
    const buckets = await this.findChanged(session, waitlistId, changes);
    // One after the other: after a deadlock has ended the transaction, a statement already sent would commit by itself.
    for (const some of chunksOf(buckets, ROWS_MAX)) await this.save(session, waitlistId, some);
  }

  /** The buckets that differ after changes, as they are to be saved. Reads the families that `known` does not cover. */
  async findChanged(
    session: Session,
    waitlistId: number,
    changes: CounterChanges,
    known: Siblings = new Map(),
  ): Promise<Bucket[]> {
    const unread = changes.families().filter((family) => {
      const read = known.get(familyId(family));
      return read === undefined || read.from > firstSlotOf(family);
    });
    const siblings = new Map([...known, ...(await this.findSiblings(session, waitlistId, unread))]);
    return changes.changedBuckets(new Map(Array.from(siblings, ([id, { buckets }]) => [id, buckets])));
  }

  /** The rows of each family from its first changed slot on: those before it stay as they are. */
  async findSiblings(session: Session, waitlistId: number, families: readonly Family[]): Promise<Siblings> {
    return this.read(session, waitlistId, families.map((family) => ({ ...family, from: firstSlotOf(family) }))); // prettier-ignore
  }

  /** Replaces all buckets of the waitlist. */
  async replaceAll(session: Session, waitlistId: number, buckets: readonly Bucket[]): Promise<void> {
    await this.deleteAll(session, waitlistId);
    await this.save(session, waitlistId, buckets);
  }

  async deleteAll(session: Session, waitlistId: number): Promise<void> {
    await session.query('DELETE FROM queue_bucket WHERE waitlist_id = ?', [waitlistId]);
  }

  /** Deletes the buckets of some parents, from `parent` on; returns the parent to go on from, or null at the level's end. */
  async deleteSome(
    session: Session,
    waitlistId: number,
    { axis, level, parent }: Pick<BucketRow, 'axis' | 'level' | 'parent'>,
  ): Promise<number | null> {
    const [row]: { last: number | null }[] = await session.query(
      `SELECT MAX(parent) AS last FROM (
         SELECT DISTINCT parent FROM queue_bucket WHERE waitlist_id = ? AND axis = ? AND level = ? AND parent >= ?
         ORDER BY parent LIMIT ?
       ) some`,
      [waitlistId, axis, level, parent, PARENTS_MAX],
    );
    const last = row?.last ?? null;
    if (last === null) return null;
    await session.query(
      'DELETE FROM queue_bucket WHERE waitlist_id = ? AND axis = ? AND level = ? AND parent >= ? AND parent <= ?',
      [waitlistId, axis, level, parent, last],
    );
    return last + 1;
  }

  async findAll(session: Session, waitlistId: number, axis: Axis): Promise<Bucket[]> {
    // As text, because node:sqlite throws on an integer beyond 2^53, which only foreign SQL stores.
    const rows: BucketRow[] = await session.query(
      `SELECT axis, level, parent, slot, CAST(before_in_parent AS CHAR) AS before_in_parent
       FROM queue_bucket WHERE waitlist_id = ? AND axis = ?`,
      [waitlistId, axis.code],
    );
    return rows.map(toBucket);
  }

  /**
   * The narrowest buckets that hold the records at positions from `first` to `last`, counted from 0, in order, and how
   * many records of the first bucket come before. Null beyond the last record. One round trip a level.
   */
  async findLeaves(
    session: Session,
    waitlistId: number,
    axis: Axis,
    total: number | Promise<number>,
    first: number,
    last: number,
  ): Promise<{ readonly leaves: readonly [number, ...number[]]; readonly rest: number } | null> {
    let parents: readonly Span[] | undefined;
    for (const level of [...axis.widthBits.keys()].reverse()) {
      const families = (parents ?? [{ bucket: 0 }]).map(({ bucket }) => ({ axis: axis.code, level, parent: bucket, from: 0 })); // prettier-ignore
      const [amount, siblings] = await Promise.all([total, this.read(session, waitlistId, families)]);
      parents = (parents ?? [{ bucket: 0, before: 0, amount }])
        .flatMap((parent) =>
          childrenOf(axis, parent, siblings.get(familyId({ axis: axis.code, level, parent: parent.bucket }))),
        ) // prettier-ignore
        .filter(({ before, amount }) => amount > 0 && before <= last && before + amount > first);
    }
    const [start, ...others] = parents ?? [];
    return start ? { leaves: [start.bucket, ...others.map(({ bucket }) => bucket)], rest: first - start.before } : null;
  }

  /** How many records come before a narrowest bucket, which may be missing. */
  async countBefore(
    session: Session,
    waitlistId: number,
    axis: Axis,
    total: number | Promise<number>,
    leaf: number,
  ): Promise<number> {
    const path = pathOf(axis, firstKeyOf(axis, leaf)).reverse();
    const [amount, siblings] = await Promise.all([
      total,
      this.read(session, waitlistId, path.map(({ slot, ...family }) => ({ ...family, from: slot }))), // prettier-ignore
    ]);
    let before = 0;
    let end = amount;
    for (const place of path) {
      const [bucket, following] = siblings.get(familyId(place))?.buckets ?? [];
      if (bucket?.slot !== place.slot) return before + (bucket?.before ?? end);
      before += bucket.before;
      end = (following?.before ?? end) - bucket.before;
    }
    return before;
  }

  /** How many records come before narrowest buckets, by bucket; leaves out buckets of which a row on the path is missing. */
  async findBefore(
    session: Session,
    waitlistId: number,
    axis: Axis,
    leaves: readonly number[],
  ): Promise<ReadonlyMap<number, number>> {
    if (leaves.length === 0) return new Map();
    const paths = leaves.map((leaf) => pathOf(axis, firstKeyOf(axis, leaf)));
    const places = new Map(paths.flat().map((place) => [bucketId(place), place]));
    const rows: BucketRow[] = await session.query(
      // MySQL takes two thirds of the time that terms of an OR would take.
      `SELECT axis, level, parent, slot, before_in_parent FROM queue_bucket
       WHERE waitlist_id = ? AND axis = ? AND (level, parent, slot) IN (${Array.from(places, () => '(?, ?, ?)').join(', ')})`,
      [waitlistId, axis.code, ...[...places.values()].flatMap(({ level, parent, slot }) => [level, parent, slot])],
    );
    const before = new Map(rows.map((row) => [bucketId(row), row.before_in_parent]));
    const total = (path: readonly BucketPlace[]) =>
      path.reduce((sum, place) => sum + (before.get(bucketId(place)) ?? NaN), 0);
    const sums = leaves.map((leaf, index) => [leaf, total(paths[index] ?? [])] as const);
    return new Map(sums.filter(([, sum]) => !Number.isNaN(sum)));
  }

  private async read(
    session: Session,
    waitlistId: number,
    families: readonly (FamilyPlace & { readonly from: number })[],
  ): Promise<Siblings> {
    const chunks: BucketRow[][] = await Promise.all(
      chunksOf(families, FAMILIES_MAX).map((some) =>
        session.query<BucketRow[]>(
          `SELECT axis, level, parent, slot, before_in_parent FROM queue_bucket
           WHERE ${some.map(() => `(${IN_FAMILY} AND slot >= ?)`).join(' OR ')}
           ORDER BY axis, level, parent, slot`,
          some.flatMap(({ axis, level, parent, from }) => [waitlistId, axis, level, parent, from]),
        ),
      ),
    );
    const siblings = new Map<string, Read>(
      families.map((family) => [familyId(family), { from: family.from, buckets: [] }]),
    );
    for (const bucket of chunks.flat().map(toBucket)) siblings.get(familyId(bucket))?.buckets.push(bucket);
    return siblings;
  }

  async save(session: Session, waitlistId: number, buckets: readonly Bucket[]): Promise<void> {
    await Promise.all(
      chunksOf(buckets, ROWS_MAX).map((some) =>
        session.query(
          `INSERT INTO queue_bucket (${COLUMNS.join(', ')}) VALUES ${some.map(() => `(${placeholders(COLUMNS.length)})`).join(', ')}
           ${upsert(session.dataSource, KEY, ['before_in_parent'])}`,
          some.flatMap(({ axis, level, parent, slot, before }) => [waitlistId, axis, level, parent, slot, before]),
        ),
      ),
    );
  }
}

/** The buckets of a family, in order. */
function childrenOf(axis: Axis, parent: Span, siblings: Read | undefined): Span[] {
  const buckets = siblings?.buckets ?? [];
  return buckets.map((bucket, index) => ({
    bucket: numberOf(axis, bucket),
    before: parent.before + bucket.before,
    amount: (buckets[index + 1]?.before ?? parent.amount) - bucket.before,
  }));
}

function firstSlotOf({ changes }: Family): number {
  return Math.min(...changes.keys());
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
  const place =
    parentWidth === undefined
      ? `b.parent = 0 AND b.slot = ${shifted(width)}`
      : `b.parent = ${shifted(parentWidth)} AND b.slot = CAST((${key} >> ${width}) & ${2 ** (parentWidth - width) - 1} AS SIGNED)`;
  return `(SELECT b.before_in_parent FROM queue_bucket b
    WHERE b.waitlist_id = ${waitlistId} AND b.axis = ${axis.code} AND b.level = ${level} AND ${place})`;
}
