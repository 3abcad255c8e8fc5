import { describe, expect, it } from '@jest/globals';
import { type Bucket, bucketId, EMPTY_TOTALS, familyId, pathOf, QUEUE_AXIS } from './counters.js';
import { dayOf } from './day-counts.js';
import { LedgerChanges } from './ledger-changes.js';
import { RANK_BASE } from './rank-key.js';
import type { StoredWaiter } from '../record/waiter.js';

const PEOPLE = 400;
const MOVED = { from: RANK_BASE + 390, to: RANK_BASE + 3 };

function person(seq: number, fields: Partial<Pick<StoredWaiter, 'status' | 'removedAt' | 'removedReason'>> = {}) {
  const facts = { rankKey: RANK_BASE + seq, referred: seq % 3 === 0, createdAt: new Date(), removedAt: null };
  const left = { removedReason: null };
  return { seq, status: 'waiting' as const, ...facts, ...left, ...fields };
}

/** Stores the changes as the bucket store does. */
function save(stored: Map<string, Bucket>, { counters }: LedgerChanges): void {
  const siblings = new Map<string, Bucket[]>();
  for (const bucket of [...stored.values()].sort((one, other) => one.slot - other.slot))
    siblings.set(familyId(bucket), [...(siblings.get(familyId(bucket)) ?? []), bucket]);
  for (const bucket of counters.changedBuckets(siblings)) stored.set(bucketId(bucket), bucket);
}

/** The records in the buckets before that of a key. */
const countBefore = (stored: ReadonlyMap<string, Bucket>, key: number) =>
  pathOf(QUEUE_AXIS, key).reduce((sum, ref) => sum + (stored.get(bucketId(ref))?.before ?? NaN), 0);

describe('the ledger of a queue', () => {
  it('counts the records before each bucket, as they join, move, leave and are erased', () => {
    const totals = { ...EMPTY_TOTALS };
    const stored = new Map<string, Bucket>();
    const people = Array.from({ length: PEOPLE }, (_, seq) => person(seq));
    for (const record of people) {
      const changes = new LedgerChanges(totals);
      changes.join(record);
      save(stored, changes);
    }
    const now = new Date();
    const changes = new LedgerChanges(totals);
    changes.move({ ...person(390), rankKey: MOVED.from }, MOVED.to);
    changes.remove(person(10));
    changes.add(person(10, { status: 'offboarded', removedAt: now, removedReason: 'by_owner' }));
    changes.erase(person(20), now);
    save(stored, changes);

    const gone = [MOVED.from, RANK_BASE + 10, RANK_BASE + 20];
    const keys = [...people.map(({ rankKey }) => rankKey).filter((key) => !gone.includes(key)), MOVED.to];
    const [width = 0] = QUEUE_AXIS.widthBits;
    for (const key of keys) {
      const start = Math.floor(key / 2 ** width) * 2 ** width;
      expect(countBefore(stored, key)).toBe(keys.filter((other) => other < start).length);
    }
    expect(totals).toMatchObject({ nextSeq: PEOPLE, active: PEOPLE - 2, offboarded: 1 });
    expect(changes.days.changed()).toMatchObject([
      { day: dayOf(now), signups: -1, referred: 0, offboarded: 1, erased: 1 },
    ]);
  });
});
