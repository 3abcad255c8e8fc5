/**
 * How many records come before a key, without counting them.
 *
 * The keys of an axis are cut into buckets of a few widths, each level's buckets being the children of the next wider
 * one. A bucket keeps how many records fall into it (`amount`) and how many fall into its elder siblings (`before`), so
 * the records before a key are the sum of `before` along its path, one row a level, and a short count within its
 * narrowest bucket. It is a counted B-tree written as rows, and like one it is walked down to find the record at a
 * position.
 *
 * The price is paid by writers: a change of a bucket changes `before` of its younger siblings, at most `FAN_OUT` rows a
 * level. A record that joins has no younger siblings on any level, so the common case touches one row a level. The
 * widest level has no parent and as many siblings as the keys need: two or three for ten million records.
 *
 * This file is the arithmetic; `bucket.store.ts` keeps the rows. Widths were chosen by measurement: see
 * docs/decisions/counters.md.
 */
/** Siblings of one parent, but for the widest level. */
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

/** The active records by rank key. Its narrowest buckets are counted out on every lookup, so they are small. */
export const QUEUE_AXIS = axis(0, 5, 4);

/** The records of a listing by `seq`, for offsets in join order. */
export const JOINED_AXES = {
  active: axis(1, 8, 3),
  offboarded: axis(2, 8, 3),
  referredActive: axis(3, 8, 3),
  referredOffboarded: axis(4, 8, 3),
} as const;

/** Those of the active that somebody referred, by rank key: for offsets among them in the order of the line. */
export const REFERRED_AXIS = axis(5, 5, 4);

export const AXES: readonly Axis[] = [QUEUE_AXIS, ...Object.values(JOINED_AXES), REFERRED_AXIS];

/** Where a bucket stands: among the children of `parent`, in the order of `slot`. */
export interface BucketPlace {
  readonly axis: number;
  readonly level: number;
  readonly parent: number;
  readonly slot: number;
}

export interface Bucket extends BucketPlace {
  readonly amount: number;
  readonly before: number;
}

/** Keys reach beyond 2^32, where JavaScript's bit operators end. */
function shiftRight(key: number, bits: number): number {
  return Math.floor(key / 2 ** bits);
}

export function placeOf({ code, widthBits }: Axis, level: number, key: number): BucketPlace {
  const bucket = shiftRight(key, widthBits[level] as number);
  if (level === widthBits.length - 1) return { axis: code, level, parent: 0, slot: bucket };
  return { axis: code, level, parent: shiftRight(bucket, FAN_OUT_BITS), slot: bucket % FAN_OUT };
}

/** The buckets that hold a key, one a level. */
export function pathOf(axis: Axis, key: number): BucketPlace[] {
  return axis.widthBits.map((_, level) => placeOf(axis, level, key));
}

/** The number of the narrowest bucket that holds a key; of the queue's axis, what `waiter.rank_bucket` is. */
export function leafOf({ widthBits: [bits = 0] }: Axis, key: number): number {
  return shiftRight(key, bits);
}

/** The first key of a narrowest bucket. */
export function firstKeyOf({ widthBits: [bits = 0] }: Axis, leaf: number): number {
  return leaf * 2 ** bits;
}

/** What of a record decides where it counts. */
interface Placed {
  readonly seq: number;
  readonly rankKey: number;
  readonly referred: boolean;
}

/** Changes gathered from many records, by axis and by their narrowest bucket. */
export class CounterChanges {
  private readonly byAxis = new Map<Axis, Map<number, number>>();

  add(axis: Axis, key: number, amount = 1): void {
    const leaf = leafOf(axis, key);
    const leaves = this.byAxis.get(axis) ?? new Map<number, number>();
    this.byAxis.set(axis, leaves.set(leaf, (leaves.get(leaf) ?? 0) + amount));
  }

  remove(axis: Axis, key: number, amount = 1): void {
    this.add(axis, key, -amount);
  }

  /** One record joins the queue. */
  join({ seq, rankKey, referred }: Placed): void {
    this.add(QUEUE_AXIS, rankKey);
    this.add(JOINED_AXES.active, seq);
    if (!referred) return;
    this.add(REFERRED_AXIS, rankKey);
    this.add(JOINED_AXES.referredActive, seq);
  }

  /** One record leaves the queue. */
  leave({ seq, rankKey, referred }: Placed): void {
    this.remove(QUEUE_AXIS, rankKey);
    this.remove(JOINED_AXES.active, seq);
    this.add(JOINED_AXES.offboarded, seq);
    if (!referred) return;
    this.remove(REFERRED_AXIS, rankKey);
    this.remove(JOINED_AXES.referredActive, seq);
    this.add(JOINED_AXES.referredOffboarded, seq);
  }

  /** Of somebody, or as many as `amount`, who goes to another place in the line. */
  move(from: number, to: number, referred: boolean, amount = 1): void {
    for (const axis of referred ? [QUEUE_AXIS, REFERRED_AXIS] : [QUEUE_AXIS]) {
      this.remove(axis, from, amount);
      this.add(axis, to, amount);
    }
  }

  /** The buckets of an axis that had none before; and of `others` what they would be, though nothing falls into them. */
  buckets(axis: Axis, others: readonly BucketPlace[] = []): Bucket[] {
    const families = new Map(this.families([axis]).map((family) => [familyId(family), family]));
    for (const { level, parent, slot } of others) {
      const place = { axis: axis.code, level, parent };
      const family = families.get(familyId(place)) ?? { ...place, changes: new Map<number, number>() };
      families.set(familyId(place), family);
      if (!family.changes.has(slot)) family.changes.set(slot, 0);
    }
    return [...families.values()].flatMap((family) => changedBuckets(family, []));
  }

  /** Families of siblings in which something changes, each with the change of each slot. */
  families(axes: readonly Axis[] = AXES): Family[] {
    const families = new Map<string, Family>();
    for (const [axis, leaves] of this.byAxis) {
      if (!axes.includes(axis)) continue;
      for (const [leaf, amount] of leaves) {
        const key = firstKeyOf(axis, leaf);
        for (let level = 0; amount !== 0 && level < axis.widthBits.length; level += 1) {
          const { slot, ...place } = placeOf(axis, level, key);
          const id = familyId(place);
          const family = families.get(id) ?? { changes: new Map<number, number>(), ...place };
          families.set(id, family);
          family.changes.set(slot, (family.changes.get(slot) ?? 0) + amount);
        }
      }
    }
    return [...families.values()].filter(({ changes }) => [...changes.values()].some((amount) => amount !== 0));
  }
}

/** The children of one parent, and how the amount of some of them changes. */
export interface Family extends Omit<BucketPlace, 'slot'> {
  readonly changes: Map<number, number>;
}

export function familyId({ axis, level, parent }: Omit<BucketPlace, 'slot'>): string {
  return `${axis}/${level}/${parent}`;
}

export function bucketId(place: BucketPlace): string {
  return `${familyId(place)}/${place.slot}`;
}

/** Whether buckets of a family, in their order, tell how many come before each of its changes. */
export function covers([eldest]: readonly Bucket[], { changes }: Family): boolean {
  return eldest !== undefined && eldest.slot <= Math.min(...changes.keys());
}

/** The buckets of a family that differ after the change. `siblings` are all of it, or cover the change. */
export function changedBuckets({ changes, ...place }: Family, siblings: readonly Bucket[]): Bucket[] {
  const old = new Map(siblings.map((bucket) => [bucket.slot, bucket]));
  const slots = [...new Set([...old.keys(), ...changes.keys()])].sort((a, b) => a - b);
  const changed: Bucket[] = [];
  let before = siblings[0]?.before ?? 0;
  for (const slot of slots) {
    const known = old.get(slot);
    const amount = (known?.amount ?? 0) + (changes.get(slot) ?? 0);
    if (known?.amount !== amount || known.before !== before) changed.push({ slot, amount, before, ...place });
    before += amount;
  }
  return changed;
}
