import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { QueueService } from '../../src/queue/queue.service.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Owner } from '../support/world.js';

const PEOPLE = 80;
const OFFBOARDED = 10;
/** The parent of the narrowest buckets in which the line begins, as rank keys do. */
const PARENT = 2 ** 40 / 2 ** 11;
const LEAVES = `axis = 0 AND level = 0 AND parent = ${PARENT}`;

/** What no code of ours does, and what an audit says of it. Each statement ends where the waitlist is named. */
const DAMAGE: [string, string, RegExp][] = [
  ['a counter that is one too high', `UPDATE queue_bucket SET amount = amount + 1 WHERE ${LEAVES} AND slot = 1 AND`, /bucket 0\/0\/.*\/1: amount is/],
  ['a counter that is one too low', `UPDATE queue_bucket SET amount = amount - 1 WHERE ${LEAVES} AND slot = 1 AND`, /bucket 0\/0\/.*\/1: amount is/],
  ['a sum of elder siblings that is off by one', `UPDATE queue_bucket SET before_in_parent = before_in_parent + 1 WHERE ${LEAVES} AND slot = 2 AND`, /bucket 0\/0\/.*\/2: before is/],
  ['a narrow counter that is missing', `DELETE FROM queue_bucket WHERE ${LEAVES} AND slot = 1 AND`, /bucket 0\/0\/.*\/1: amount is 0/],
  ['a wide counter that is missing', 'DELETE FROM queue_bucket WHERE axis = 0 AND level = 3 AND', /bucket 0\/3\/0\/.*: amount is 0/],
  ['all counters missing', 'DELETE FROM queue_bucket WHERE', /bucket 4\/2\/.*: amount is 0/],
  ...[1, 2, 3, 4].map((axis): [string, string, RegExp] => [`a wrong counter of listing ${axis}`, `UPDATE queue_bucket SET amount = amount + 1 WHERE axis = ${axis} AND level = 0 AND`, new RegExp(`bucket ${axis}/0/0/0: amount is`)]),
  ['a counter too many', surplus(50, 3, 0), /bucket 0\/0\/.*\/50: amount is 3, the records give 0/],
  ['a counter too many that counts nobody, but whoever will come', surplus(50, 0, 5), /bucket 0\/0\/.*\/50: before is 5, the records give/],
  ['a wrong counter of the referred in the line', 'UPDATE queue_bucket SET amount = amount + 1 WHERE axis = 5 AND level = 0 AND slot = 1 AND', /bucket 5\/0\/.*\/1: amount is/],
  ['a wrong sum of elder siblings among the referred in the line', 'UPDATE queue_bucket SET before_in_parent = before_in_parent + 1 WHERE axis = 5 AND level = 0 AND slot = 2 AND', /bucket 5\/0\/.*\/2: before is/],
  ['the counters of the referred in the line missing', 'DELETE FROM queue_bucket WHERE axis = 5 AND', /bucket 5\/3\/.*: amount is 0/],
  ...['next_seq', 'active', 'offboarded', 'referred_active', 'referred_offboarded'].map((column): [string, string, RegExp] => [`a wrong total: ${column}`, `UPDATE queue SET ${column} = ${column} + 1 WHERE`, /queue: \w+ is/]),
  ['a wrong key', 'UPDATE waiter SET rank_key = rank_key - 1 WHERE seq = 7 AND', /record .*: rankKey is/],
  ['a wrong count of referrals', 'UPDATE waiter SET amount_referred = amount_referred + 1 WHERE seq = 7 AND', /record .*: amountReferred is/],
  ...['9223372036854775807', '-1', '-9223372036854775808'].map((key): [string, string, RegExp] => [`the key ${key}`, `UPDATE waiter SET rank_key = ${key} WHERE seq = 7 AND`, /record .*: rankKey is -?\d+, the facts give/]),
  ...['amount_referred', 'credited_referrals'].map((column): [string, string, RegExp] => [`too many referrals to count: ${column}`, `UPDATE waiter SET ${column} = 4611686018427387904 WHERE seq = 7 AND`, /record .*: \w+ is 4611686018427388000, the facts give 1/]),
  ['a total beyond all numbers', 'UPDATE queue SET active = 4611686018427387904 WHERE', /queue: active is 4611686018427387904, the records give/],
  ['a counter beyond all numbers', `UPDATE queue_bucket SET amount = 4611686018427387904 WHERE ${LEAVES} AND slot = 1 AND`, /bucket 0\/0\/.*\/1: amount is 4611686018427387904/],
  ['a referral that is not credited', 'UPDATE waiter SET credited_referrals = 0 WHERE seq = 0 AND', /record .*: creditedReferrals is 0/],
  ['someone referred who does not count as such', 'UPDATE waiter SET referred = 0 WHERE referred = 1 AND', /record .*: referred is false/],
  ['someone whom nobody referred, and who counts as neither', 'UPDATE waiter SET referred = 2 WHERE seq = 7 AND', /record .*: referred is 2, the facts give false/],
  ['someone in line who is neither active nor not', 'UPDATE waiter SET active = 2 WHERE seq = 7 AND', /record .*: active is 2, the facts give true/],
  ['offboarded records that are neither active nor not', 'UPDATE waiter SET active = -1 WHERE active = 0 AND', /record .*: active is -1, the facts give false/],
  ['a record that was deleted, and so a gap', 'DELETE FROM waiter WHERE seq = 40 AND', /record .*: seq is 41, the facts give 40/],
  ['a first record that was deleted', 'DELETE FROM waiter WHERE seq = 0 AND', /record .*: seq is 1, the facts give 0/],
  ['a sequence number below 0', 'UPDATE waiter SET seq = -7 WHERE seq = 20 AND', /record .*: seq is -7, the facts give 0/],
  ['a first sequence number below 0', 'UPDATE waiter SET seq = -1 WHERE seq = 0 AND', /record .*: seq is -1, the facts give 0/],
  ...['4611686018427387905', '-4611686018427387905'].flatMap((seq) => [20, PEOPLE - 1].map((record): [string, string, RegExp] => [`record ${record} as number ${seq}`, `UPDATE waiter SET seq = ${seq} WHERE seq = ${record} AND`, /record .*: seq is -?4611686018427388000, the facts give/])),
  ['sequence numbers below 0 throughout', 'UPDATE waiter SET seq = -1 - seq WHERE', /record .*: seq is -80, the facts give 0/],
  ['an offboarded record without the place it left', 'UPDATE waiter SET removed_priority = NULL WHERE active = 0 AND', /record .*: removedPriority is null, but the record is offboarded/],
  ...[-5, PEOPLE, '4611686018427387904'].map((place): [string, string, RegExp] => [`offboarded records that left the place ${place}`, `UPDATE waiter SET removed_priority = ${place} WHERE active = 0 AND`, /record .*: removedPriority is -?\d+, but the record is offboarded, and one of 80/]),
  ['offboarded records that left at no time', 'UPDATE waiter SET removed_at = NULL WHERE active = 0 AND', /record .*: removedAt is missing, but the record is offboarded/],
  ['an active record that left at some time', `UPDATE waiter SET removed_at = created_at WHERE seq = 7 AND`, /record .*: removedAt is there, but the record is active/],
  ['an active record with a place it left', 'UPDATE waiter SET removed_priority = 3 WHERE seq = 7 AND', /record .*: removedPriority is 3, but the record is active/],
  ['a line whose row is gone', 'DELETE FROM queue WHERE', /queue: the row of this waitlist is missing/],
  ['numbers below 0 and beyond all', 'UPDATE waiter SET seq = CASE seq WHEN 20 THEN -5 ELSE 4611686018427387905 END WHERE seq IN (20, 50) AND', /record .*: seq is -5, the facts give 0/],
  ['more counted among the referred than there were', 'UPDATE queue_bucket SET amount = amount + 40 WHERE axis = 6 AND', /bucket 6\/0\/0\/\d+: amount is \d+, the records give \d+ at most/],
  ['fewer than none counted among the referred', 'UPDATE queue_bucket SET amount = -1 WHERE axis = 6 AND', /bucket 6\/0\/0\/\d+: amount is -1/],
  ['the count of the referred on another level', 'UPDATE queue_bucket SET level = 1 WHERE axis = 6 AND', /bucket 6\/1\/0\/\d+: amount is \d+, the records give 0 at most/],
  ['a gap before the last', `UPDATE waiter SET seq = seq + 100 WHERE seq = ${PEOPLE - 1} AND`, /record .*: seq is 179, the facts give 79/],
]; // prettier-ignore

function surplus(slot: number, amount: number, before: number): string {
  return `INSERT INTO queue_bucket (waitlist_id, axis, level, parent, slot, amount, before_in_parent)
    SELECT waitlist_id, 0, 0, ${PARENT}, ${slot}, ${amount}, ${before} FROM queue WHERE`;
}

describe('an audit', () => {
  let service: Service;
  let queue: QueueService;
  let owner: Owner;
  beforeAll(async () => {
    service = await startService();
    queue = service.app.get(QueueService);
    owner = await service.world.owner();
  });
  afterAll(() => service.stop());

  const verify = ({ id }: OwnedWaitlist) => queue.verify(id, () => undefined);
  const rebuild = ({ id }: OwnedWaitlist) => queue.rebuild(id, () => undefined);
  const damage = ({ id }: OwnedWaitlist, sql: string, column = 'waitlist_id') =>
    service.app.get(Database).transaction((manager) => manager.query(`${sql} ${column} = ?`, [id]));

  /** Half of them referred by the other, and some let in. */
  async function crowd(settings: Parameters<typeof service.world.waitlist>[0] = {}): Promise<OwnedWaitlist> {
    const { world } = service;
    const waitlist = await world.waitlist(settings, owner);
    const early = await Promise.all(Array.from({ length: PEOPLE / 2 }, () => world.signup(waitlist)));
    await Promise.all(early.map(({ referral_link }) => world.signup(waitlist, { referral_link })));
    const leaving = await world.list(waitlist, { offset: PEOPLE / 2 - OFFBOARDED / 2, limit: OFFBOARDED });
    await world.offboard(waitlist, leaving.map(({ id }) => id)); // prettier-ignore
    return waitlist;
  }

  it.each(DAMAGE)('finds %s, and a rebuild mends it', async (_, sql, finding) => {
    const waitlist = await crowd();
    expect(await verify(waitlist)).toEqual({ records: PEOPLE, findings: [], differences: 0, remarks: [] });

    await damage(waitlist, sql);

    const { records, active_count } = await standing(waitlist);
    const { findings, differences, ...report } = await verify(waitlist);
    expect(report.records).toBe(records);
    expect(findings).toContainEqual(expect.stringMatching(finding));
    expect(differences).toBeGreaterThanOrEqual(findings.length);

    await rebuild(waitlist);

    expect(await verify(waitlist)).toEqual({ records, findings: [], differences: 0, remarks: [] });
    for (const offboarded_request of [false, true]) {
      const listed = await service.world.list(waitlist, { offboarded_request, limit: 100 });
      expect(listed).toHaveLength(offboarded_request ? records - active_count : active_count);
      for (const { removed_priority } of listed)
        expect(removed_priority).toEqual(offboarded_request ? expect.any(Number) : null);
      for (const { removed_date } of listed)
        expect(removed_date).toEqual(offboarded_request ? expect.any(String) : null);
    }
    expect(await service.world.signup(waitlist)).toMatchObject({ priority: active_count });
    expect(await verify(waitlist)).toEqual({ records: records + 1, findings: [], differences: 0, remarks: [] });
  });

  it('gives those whose place was lost the place they would have, also where nobody is near', async () => {
    const waitlist = await crowd({ spots_to_move_upon_referral: 10_000 });
    const [first, second] = await service.world.list(waitlist, { order: 'queue', limit: 2 });
    for (const ahead of [first!, first!, second!])
      await service.world.signup(waitlist, { referral_link: ahead.referral_link });
    await service.world.offboard(waitlist, [second!.id]);
    await damage(waitlist, 'UPDATE waiter SET removed_priority = NULL WHERE active = 0 AND');

    await rebuild(waitlist);

    const gone = await service.world.list(waitlist, { offboarded_request: true });
    expect(gone.find(({ uuid }) => uuid === second?.uuid)?.removed_priority).toBe(1);
  });

  it('gives a line whose row was lost what a referral is worth, as the keys say', async () => {
    const waitlist = await crowd({ spots_to_move_upon_referral: 7 });
    const before = await service.world.list(waitlist, { order: 'queue' });
    await damage(waitlist, 'DELETE FROM queue WHERE');
    expect(await queue.waitlistIds()).toContain(waitlist.id);

    expect(await rebuild(waitlist)).toEqual({
      changed: 0,
      remarks: ['its line was missing: see that spots_to_move_upon_referral is 7'],
    });

    expect(await service.world.list(waitlist, { order: 'queue' })).toEqual(before);
    expect(await rebuild(waitlist)).toEqual({ changed: 0, remarks: [] });
  });

  it('says of each record what it made up, and leaves what is known', async () => {
    const waitlist = await crowd();
    const before = await service.world.list(waitlist, { offboarded_request: true });
    const [placeless, , timeless] = before.map(({ id }) => id) as [number, number, number];
    await damage(waitlist, `UPDATE waiter SET removed_priority = -5 WHERE id = ${placeless} AND`);
    await damage(waitlist, `UPDATE waiter SET removed_at = NULL WHERE id = ${timeless} AND`);
    await damage(waitlist, 'UPDATE waiter SET removed_priority = 3, removed_at = created_at WHERE seq = 7 AND');

    const { changed, remarks } = await rebuild(waitlist);

    expect({ changed, remarks: remarks.map((remark) => remark.replace(/^record \d+: /, '')).sort() }).toEqual({
      changed: 3,
      remarks: [
        'removedAt is missing, but the record is offboarded: it is as if it left just now',
        'removedAt is there, but the record is active: that is cleared',
        'removedPriority is -5, but the record is offboarded, and one of 80: it is as if it left just now',
        'removedPriority is 3, but the record is active: that is cleared',
      ],
    });
    const after = await service.world.list(waitlist, { offboarded_request: true });
    const known = (records: typeof before) =>
      records.map((record) => ({
        ...record,
        removed_date: record.id === timeless ? expect.any(String) : record.removed_date,
        ...(record.id === placeless && { removed_priority: expect.any(Number), priority: expect.any(Number) }),
      }));
    expect(after).toEqual(known(before));
  });

  it('names a waitlist whose own row is gone, which a rebuild leaves as it is', async () => {
    const waitlist = await crowd();
    await damage(waitlist, 'DELETE FROM waitlist WHERE', 'id');
    const remark = 'waitlist: its own row is missing, though its line is there: see docs/operations.md';

    expect(await queue.waitlistIds()).toContain(waitlist.id);
    expect(await verify(waitlist)).toEqual({ records: PEOPLE, findings: [remark], differences: 1, remarks: [] });
    expect(await rebuild(waitlist)).toEqual({ changed: 0, remarks: [remark] });
    expect(await verify(waitlist)).toEqual({ records: PEOPLE, findings: [remark], differences: 1, remarks: [] });
    expect(await queue.orphanIds()).not.toContain(waitlist.id);

    // As the operator's guide says.
    await damage(waitlist, 'DELETE FROM queue WHERE');
    expect(await queue.orphanIds()).toContain(waitlist.id);
  });

  it.each(['waiter', 'queue_bucket'])('names a waitlist of which only %s is left, until it is purged', async (left) => {
    const waitlist = await crowd();
    await damage(waitlist, 'DELETE FROM waitlist WHERE', 'id');
    for (const table of ['queue', 'waiter', 'queue_bucket'])
      if (table !== left) await damage(waitlist, `DELETE FROM ${table} WHERE`);

    expect(await queue.orphanIds()).toContain(waitlist.id);
    await queue.purge(waitlist.id);
    expect(await queue.orphanIds()).not.toContain(waitlist.id);
  });

  it('takes a line for sound in which the referred are not counted in their order, as older programs leave it; a rebuild counts them', async () => {
    const waitlist = await crowd();
    const inLine = { order: 'queue', referral_token: true };
    const listed = await service.world.list(waitlist, inLine);
    await damage(waitlist, 'DELETE FROM queue_bucket WHERE axis IN (5, 6) AND');
    const { referral_link } = listed[0]!;
    await service.world.signup(waitlist, { referral_link });

    expect(await verify(waitlist)).toEqual({
      records: PEOPLE + 1,
      findings: [],
      differences: 0,
      remarks: [expect.stringContaining('rebuild')],
    });
    expect(await service.world.list(waitlist, inLine)).toHaveLength(listed.length + 1);

    await rebuild(waitlist);
    await damage(waitlist, 'UPDATE queue_bucket SET amount = amount + 1 WHERE axis = 5 AND level = 0 AND slot = 1 AND');

    expect((await verify(waitlist)).findings).toEqual([expect.stringMatching(/^bucket 5/)]);
  });

  /** By the records alone. */
  async function standing({ id }: OwnedWaitlist): Promise<{ readonly records: number; readonly active_count: number }> {
    const rows: { active: number; removed_at: unknown }[] = await service.app
      .get(Database)
      .read((manager) => manager.query('SELECT active, removed_at FROM waiter WHERE waitlist_id = ?', [id]));
    const isActive = ({ active, removed_at }: (typeof rows)[number]) =>
      [0, 1].includes(active) ? active === 1 : removed_at === null;
    return { records: rows.length, active_count: rows.filter(isActive).length };
  }
});
