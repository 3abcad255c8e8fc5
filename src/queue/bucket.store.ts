import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { placeholders, upsert } from '../platform/database/dialect.js';
import {
  type Axis,
  type Bucket,
  changedBuckets,
  type CounterChanges,
  type Family,
  familyId,
  firstKey,
  parentOfChildren,
} from './counters.js';

/** Families in one statement; SQLite takes an expression of at most 1,000 terms. */
const FAMILIES_MAX = 200;
const ROWS_MAX = 1_000;

const KEY = ['waitlist_id', 'axis', 'level', 'parent', 'slot'];
const COLUMNS = [...KEY, 'amount', 'before_in_parent'];

interface BucketRow {
  readonly axis: number;
  readonly level: number;
  readonly parent: number;
  readonly slot: number;
  readonly amount: number;
  readonly before_in_parent: number;
}

/** The rows of `counters.ts`. They change only under the lock of their line. */
@Injectable()
export class BucketStore {
  async apply(manager: EntityManager, waitlistId: number, changes: CounterChanges): Promise<void> {
    const families = changes.families();
    for (let start = 0; start < families.length; start += FAMILIES_MAX) {
      const some = families.slice(start, start + FAMILIES_MAX);
      const siblings = await this.findSiblings(manager, waitlistId, some);
      await this.save(
        manager,
        waitlistId,
        some.flatMap((family) => changedBuckets(family, siblings.get(familyId(family)) ?? [])),
      );
    }
  }

  /** Puts these buckets in the place of all that the waitlist has. */
  async replaceAll(manager: EntityManager, waitlistId: number, buckets: readonly Bucket[]): Promise<void> {
    await this.deleteAll(manager, waitlistId);
    await this.save(manager, waitlistId, buckets);
  }

  async deleteAll(manager: EntityManager, waitlistId: number): Promise<void> {
    await manager.query('DELETE FROM queue_bucket WHERE waitlist_id = ?', [waitlistId]);
  }

  /** Waitlists whose line is closed and whose records were not all deleted: buckets go last. */
  async listOrphans(manager: EntityManager): Promise<number[]> {
    const rows: { waitlist_id: number }[] = await manager.query(
      'SELECT DISTINCT waitlist_id FROM queue_bucket WHERE waitlist_id NOT IN (SELECT waitlist_id FROM queue)',
    );
    return rows.map(({ waitlist_id }) => waitlist_id);
  }

  async findAll(manager: EntityManager, waitlistId: number, axis: Axis): Promise<Bucket[]> {
    const rows: BucketRow[] = await manager.query(
      `SELECT ${COLUMNS.join(', ')} FROM queue_bucket WHERE waitlist_id = ? AND axis = ?`,
      [waitlistId, axis.code],
    );
    return rows.map(toBucket);
  }

  /**
   * The narrowest bucket that holds the record at a position, counted from 0: its first key, and how many records of it
   * come before that one. Null beyond the last record.
   */
  async findAt(
    manager: EntityManager,
    waitlistId: number,
    axis: Axis,
    position: number,
  ): Promise<{ readonly key: number; readonly rest: number } | null> {
    let parent = 0;
    let rest = position;
    let key = 0;
    for (let level = axis.widthBits.length - 1; level >= 0; level -= 1) {
      const [row]: BucketRow[] = await manager.query(
        `SELECT ${COLUMNS.join(', ')} FROM queue_bucket
         WHERE waitlist_id = ? AND axis = ? AND level = ? AND parent = ? AND before_in_parent <= ? AND amount > 0
         ORDER BY slot DESC LIMIT 1`,
        [waitlistId, axis.code, level, parent, rest],
      );
      if (!row || rest - row.before_in_parent >= row.amount) return null;
      const bucket = toBucket(row);
      rest -= bucket.before;
      parent = parentOfChildren(axis, bucket);
      key = firstKey(axis, bucket);
    }
    return { key, rest };
  }

  private async findSiblings(
    manager: EntityManager,
    waitlistId: number,
    families: readonly Family[],
  ): Promise<Map<string, Bucket[]>> {
    const isFamily = families.map(() => '(axis = ? AND level = ? AND parent = ?)').join(' OR ');
    const rows: BucketRow[] = await manager.query(
      `SELECT axis, level, parent, slot, amount, before_in_parent FROM queue_bucket WHERE waitlist_id = ? AND (${isFamily})`,
      [waitlistId, ...families.flatMap(({ axis, level, parent }) => [axis, level, parent])],
    );
    const siblings = new Map<string, Bucket[]>();
    for (const bucket of rows.map(toBucket)) {
      const id = familyId(bucket);
      const family = siblings.get(id);
      if (family) family.push(bucket);
      else siblings.set(id, [bucket]);
    }
    return siblings;
  }

  private async save(manager: EntityManager, waitlistId: number, buckets: readonly Bucket[]): Promise<void> {
    for (let start = 0; start < buckets.length; start += ROWS_MAX) {
      const rows = buckets
        .slice(start, start + ROWS_MAX)
        .map(({ axis, level, parent, slot, amount, before }) => [
          waitlistId,
          axis,
          level,
          parent,
          slot,
          amount,
          before,
        ]);
      await manager.query(
        `INSERT INTO queue_bucket (${COLUMNS.join(', ')}) VALUES ${rows.map((row) => `(${placeholders(row.length)})`).join(', ')}
         ${upsert(manager.dataSource, KEY, ['amount', 'before_in_parent'])}`,
        rows.flat(),
      );
    }
  }
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
