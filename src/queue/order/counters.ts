/**
 * Counting the records before a key without visiting them: a counted B-tree, stored as rows.
 *
 * An axis orders records by a number, their key. Its keys are cut into buckets of several widths, one a level; the
 * buckets of a level are the children of the next wider ones, at most `FAN_OUT` to a parent, and only the widest level
 * has no parent. A bucket stores one number, `before`: how many records fall into its preceding siblings. The records
 * before a key are then the sum of `before` along the key's path, one row a level, and a short count within its
 * narrowest bucket.
 *
 * How many records a bucket holds is not stored, because siblings tell it: `before` of the following sibling less its
 * own. Of the last sibling, it is what remains of the parent; of the last bucket of the widest level, what remains of
 * the axis's total in `waitlist`. So a walk from the widest level down finds the record at a position.
 *
 * A bucket opens, that is, gets its row, with its first record and keeps the row when empty. A missing bucket is empty,
 * and `before` of the bucket that follows it holds for it too.
 *
 * Writers pay: where a bucket gains or loses records, its following siblings change, at most `FAN_OUT` rows a level. A
 * record that joins at the end has none, so it changes a row only if it opens a bucket. The code knows without reading
 * whether it does: on the two axes where every record joins at the end, the buckets of the last assigned `seq` always
 * have rows. Signups and imports keep that true; `rebuild` restores it, `verify` checks it.
 *
 * This file is the arithmetic; `bucket.store.ts` keeps the rows. The widths are measured: docs/decisions/counters.md.
 */
import { RANK_BASE } from './rank-key.js';
import type { StoredWaiter } from '../record/waiter.js';
import type { WaitlistEntity } from '../settings/waitlist.entity.js';

/** Siblings of one parent. The widest level has as many as the keys need: two or three for ten million records. */
const FAN_OUT_BITS = 6;
export const FAN_OUT = 2 ** FAN_OUT_BITS;

export interface Axis {
  /** As stored. */
  readonly code: number;
  /** Widths of the levels as powers of two, narrowest first. */
  readonly widthBits: readonly number[];
}

function axis(code: number, leafBits: number, levels: number): Axis {
  return { code, widthBits: Array.from({ length: levels }, (_, level) => leafBits + level * FAN_OUT_BITS) };
}

/** The active records by rank key. Every lookup counts within a narrowest bucket, so these are small. */
export const QUEUE_AXIS = axis(0, 5, 4);

/** The records of a listing by `seq`, for offsets in join order. */
export const JOINED_AXES = {
  active: axis(1, 8, 3),
  offboarded: axis(2, 8, 3),
  referredActive: axis(3, 8, 3),
  referredOffboarded: axis(4, 8, 3),
} as const;

/** The active records that were referred, by rank key: for offsets among them in queue order. */
export const REFERRED_AXIS = axis(5, 5, 4);

export const AXES: readonly Axis[] = [QUEUE_AXIS, ...Object.values(JOINED_AXES), REFERRED_AXIS];

/** The totals of no records. */
export const NO_RECORDS = {
  active: 0,
  offered: 0,
  offboarded: 0,
  seatsTaken: 0,
  referredActive: 0,
  referredOffered: 0,
  referredOffboarded: 0,
};
/** The totals of a new queue. */
export const EMPTY_TOTALS = { nextSeq: 0, ...NO_RECORDS };
export type Totals = Pick<WaitlistEntity, keyof typeof EMPTY_TOTALS>;

/** The records of an axis. */
export function totalOf(queue: Totals, axis: Axis): number {
  if (axis === JOINED_AXES.offboarded) return queue.offboarded;
  if (axis === JOINED_AXES.referredOffboarded) return queue.referredOffboarded;
  if (axis === JOINED_AXES.referredActive || axis === REFERRED_AXIS) return queue.referredActive;
  return queue.active;
}

/** The children of one parent. The widest level is one family, of parent 0. */
export interface FamilyRef {
  readonly axis: number;
  readonly level: number;
  readonly parent: number;
}

/** A bucket among its siblings, which `slot` orders. */
export interface BucketRef extends FamilyRef {
  readonly slot: number;
}

export interface Bucket extends BucketRef {
  /** Records in the preceding siblings. */
  readonly before: number;
}

/** A family in which buckets gain or lose records: the change of each, which can be 0. */
export interface Family extends FamilyRef {
  readonly changes: ReadonlyMap<number, number>;
}

/** Keys exceed 2^32, the limit of JavaScript's bit operators. */
function shiftRight(key: number, bits: number): number {
  return Math.floor(key / 2 ** bits);
}

function isWidest({ widthBits }: Axis, level: number): boolean {
  return level === widthBits.length - 1;
}

/** The parent and slot of bucket number `bucket` on its level. */
function refOf(axis: Axis, level: number, bucket: number): BucketRef {
  if (isWidest(axis, level)) return { axis: axis.code, level, parent: 0, slot: bucket };
  return { axis: axis.code, level, parent: shiftRight(bucket, FAN_OUT_BITS), slot: bucket % FAN_OUT };
}

/** The reverse: the number that a bucket has on its level, and its children have as `parent`. */
export function numberOf(axis: Axis, { level, parent, slot }: BucketRef): number {
  return isWidest(axis, level) ? slot : parent * FAN_OUT + slot;
}

/** The buckets that hold a key, narrowest first. */
export function pathOf(axis: Axis, key: number): BucketRef[] {
  return axis.widthBits.map((bits, level) => refOf(axis, level, shiftRight(key, bits)));
}

/** The number of the narrowest bucket that holds a key; on the queue's axis, the value of `waiter.rank_bucket`. */
export function leafOf({ widthBits: [bits = 0] }: Axis, key: number): number {
  return shiftRight(key, bits);
}

/** The first key of a narrowest bucket. */
export function firstKeyOf({ widthBits: [bits = 0] }: Axis, leaf: number): number {
  return leaf * 2 ** bits;
}

export function familyId({ axis, level, parent }: FamilyRef): string {
  return `${axis}/${level}/${parent}`;
}

export function bucketId(ref: BucketRef): string {
  return `${familyId(ref)}/${ref.slot}`;
}

/** What decides where a record counts. */
type CountedRecord = Pick<StoredWaiter, 'seq' | 'rankKey' | 'referred'>;

/** Changes of counters, gathered from many records: by axis and narrowest bucket. */
export class CounterChanges {
  private readonly byAxis = new Map<Axis, Map<number, number>>();
  private readonly old: Totals;

  /** `queue` is read before the changes, and need not stay as it is. */
  constructor(queue: Totals) {
    this.old = { ...queue };
  }

  /** A record, or as many as `amount`, moves to another key. */
  move(from: number, to: number, referred: boolean, amount = 1): void {
    if (leafOf(QUEUE_AXIS, from) === leafOf(QUEUE_AXIS, to)) return;
    for (const axis of referred ? [QUEUE_AXIS, REFERRED_AXIS] : [QUEUE_AXIS]) {
      this.add(axis, from, -amount);
      this.add(axis, to, amount);
    }
  }

  /** Adds `amount` records like this one, active or offboarded. */
  count({ seq, rankKey, referred }: CountedRecord, isActive: boolean, amount: number): void {
    this.add(isActive ? JOINED_AXES.active : JOINED_AXES.offboarded, seq, amount);
    if (isActive) this.add(QUEUE_AXIS, rankKey, amount);
    if (!referred) return;
    this.add(isActive ? JOINED_AXES.referredActive : JOINED_AXES.referredOffboarded, seq, amount);
    if (isActive) this.add(REFERRED_AXIS, rankKey, amount);
  }

  /** Opens the buckets of the last `seq` given, where the next record without credit joins. */
  openEnd(seq: number): void {
    this.add(JOINED_AXES.active, seq, 0);
    this.add(QUEUE_AXIS, RANK_BASE + seq, 0);
  }

  /** Adds records to the narrowest bucket of a key; an amount of 0 only creates its row. */
  add(axis: Axis, key: number, amount: number): void {
    const leaf = leafOf(axis, key);
    const leaves = this.byAxis.get(axis) ?? new Map<number, number>();
    this.byAxis.set(axis, leaves.set(leaf, (leaves.get(leaf) ?? 0) + amount));
  }

  /** The families to be read, each from its first changed slot on. A family comes after that of its parent. */
  families(): Family[] {
    return Array.from(this.byAxis).flatMap(([axis, leaves]) => this.familiesOf(axis, leaves));
  }

  /** The buckets that differ after the changes. `siblings` are the stored rows by {@link familyId}. */
  changedBuckets(siblings: ReadonlyMap<string, readonly Bucket[]>, axes: readonly Axis[] = AXES): Bucket[] {
    return axes.flatMap((axis) => {
      const changed: Bucket[] = [];
      /** The records of each family before the changes. */
      const totals = new Map<string, number>();
      for (const { changes, ...ref } of this.familiesOf(axis, this.byAxis.get(axis) ?? new Map())) {
        const old = new Map(siblings.get(familyId(ref))?.map(({ slot, before }) => [slot, before]));
        let end = totals.get(familyId(ref)) ?? totalOf(this.old, axis);
        let shift = [...changes.values()].reduce((sum, amount) => sum + amount, 0);
        for (const slot of [...new Set([...old.keys(), ...changes.keys()])].sort((a, b) => b - a)) {
          const before = old.get(slot) ?? end;
          shift -= changes.get(slot) ?? 0;
          if (!old.has(slot) || shift !== 0) changed.push({ ...ref, slot, before: before + shift });
          const parent = numberOf(axis, { ...ref, slot });
          totals.set(familyId({ ...ref, level: ref.level - 1, parent }), end - before);
          end = before;
        }
      }
      return changed;
    });
  }

  private familiesOf(axis: Axis, leaves: ReadonlyMap<number, number>): Family[] {
    if (leaves.size === 1 && leaves.has(this.endLeaf(axis))) return [];
    const families = new Map<string, FamilyRef & { readonly changes: Map<number, number> }>();
    let changes = leaves;
    for (const level of axis.widthBits.keys()) {
      const parents = new Map<number, number>();
      for (const [bucket, amount] of changes) {
        const { slot, ...ref } = refOf(axis, level, bucket);
        const family = families.get(familyId(ref)) ?? { ...ref, changes: new Map<number, number>() };
        families.set(familyId(ref), family);
        family.changes.set(slot, amount);
        parents.set(ref.parent, (parents.get(ref.parent) ?? 0) + amount);
      }
      changes = parents;
    }
    return [...families.values()].reverse();
  }

  /** The narrowest bucket of the last `seq`: it has a row and no following sibling. NaN on the other axes. */
  private endLeaf(axis: Axis): number {
    const last = this.old.nextSeq > 0 ? this.old.nextSeq - 1 : NaN;
    if (axis === QUEUE_AXIS) return leafOf(axis, RANK_BASE + last);
    return axis === JOINED_AXES.active ? leafOf(axis, last) : NaN;
  }
}
