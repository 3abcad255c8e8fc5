import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { type Service, startService } from '../support/service.js';
import { type Queue, queueOf } from '../support/queue.js';
import type { OwnedWaitlist, Owner } from '../support/world.js';

const PEOPLE = 80;
const OFFBOARDED = 10;
/** The parent of the narrowest buckets in which the line begins, as rank keys do. */
const PARENT = 2 ** 40 / 2 ** 11;
const LEAVES = `axis = 0 AND level = 0 AND parent = ${PARENT}`;

/** Damage to derived data, which only foreign SQL does, and the finding. Each statement ends where the waitlist is named. */
const DERIVED: [string, string, RegExp][] = [
  ['a bucket that is one too high', `UPDATE queue_bucket SET before_in_parent = before_in_parent + 1 WHERE ${LEAVES} AND slot = 2 AND`, /bucket 0\/0\/.*\/2: before is \d+, the records give \d+/],
  ['a bucket that is one too low', `UPDATE queue_bucket SET before_in_parent = before_in_parent - 1 WHERE ${LEAVES} AND slot = 1 AND`, /bucket 0\/0\/.*\/1: before is/],
  ['a first bucket that is not 0', 'UPDATE queue_bucket SET before_in_parent = 1 WHERE axis = 0 AND level = 3 AND', /bucket 0\/3\/0\/.*: before is 1, the records give 0/],
  ['a missing narrow bucket', `DELETE FROM queue_bucket WHERE ${LEAVES} AND slot = 1 AND`, /bucket 0\/0\/.*\/1: it is missing/],
  ['a missing wide bucket', 'DELETE FROM queue_bucket WHERE axis = 0 AND level = 3 AND', /bucket 0\/3\/0\/.*: it is missing/],
  ['no bucket at all', 'DELETE FROM queue_bucket WHERE', /bucket 4\/2\/.*: it is missing/],
  ...[1, 2, 3, 4].map((axis): [string, string, RegExp] => [`a wrong bucket of listing ${axis}`, `UPDATE queue_bucket SET before_in_parent = before_in_parent + 1 WHERE axis = ${axis} AND level = 0 AND`, new RegExp(`bucket ${axis}/0/0/0: before is 1`)]),
  ['a surplus bucket, wrong for later records', surplus(50, 5), /bucket 0\/0\/.*\/50: before is 5, the records give/],
  ['a bucket where none can be', surplus(64, 0), /bucket 0\/0\/.*\/64: before is 0, the records give no such bucket/],
  ['a wrong bucket of the referred in queue order', 'UPDATE queue_bucket SET before_in_parent = before_in_parent + 1 WHERE axis = 5 AND level = 0 AND slot = 2 AND', /bucket 5\/0\/.*\/2: before is/],
  ['no bucket of the referred in queue order', 'DELETE FROM queue_bucket WHERE axis = 5 AND', /bucket 5\/3\/.*: it is missing/],
  ['a bucket beyond 2^53', `UPDATE queue_bucket SET before_in_parent = 4611686018427387904 WHERE ${LEAVES} AND slot = 1 AND`, /bucket 0\/0\/.*\/1: before is 4611686018427388000/],
  ...['active', 'offboarded', 'referred_active', 'referred_offboarded'].map((column): [string, string, RegExp] => [`a wrong total: ${column}`, `UPDATE waitlist SET ${column} = ${column} + 1 WHERE`, /queue: \w+ is/]),
  ['a next number that is taken', `UPDATE waitlist SET next_seq = ${PEOPLE - 1} WHERE`, /queue: nextSeq is 79, but records go up to seq 79/],
  ['a wrong key', 'UPDATE waiter SET rank_key = rank_key - 1 WHERE seq = 7 AND', /record .*: rankKey is/],
  ['a wrong count of referrals', 'UPDATE waiter SET amount_referred = amount_referred + 1 WHERE seq = 7 AND', /record .*: amountReferred is/],
  ...['9223372036854775807', '-1', '-9223372036854775808'].map((key): [string, string, RegExp] => [`the key ${key}`, `UPDATE waiter SET rank_key = ${key} WHERE seq = 7 AND`, /record .*: rankKey is -?\d+, the facts give/]),
  ...['amount_referred', 'credited_referrals'].map((column): [string, string, RegExp] => [`a count beyond 2^53: ${column}`, `UPDATE waiter SET ${column} = 4611686018427387904 WHERE seq = 7 AND`, /record .*: \w+ is 4611686018427388000, the facts give 1/]),
  ['a referral that is not credited', 'UPDATE waiter SET credited_referrals = 0 WHERE seq = 0 AND', /record .*: creditedReferrals is 0/],
  ['referred records not marked as such', 'UPDATE waiter SET referred = 0 WHERE referred = 1 AND', /record .*: referred is 0/],
  ['a mark that is neither 0 nor 1', 'UPDATE waiter SET referred = 2 WHERE seq = 7 AND', /record .*: referred is 2, the facts give 0/],
  ['counters that include a record deleted since', 'DELETE FROM waiter WHERE seq = 40 AND', /queue: \w+ is \d+, the records give \d+/],
  ['a sequence number changed since the key was derived', `UPDATE waiter SET seq = seq + 100 WHERE seq = ${PEOPLE - 1} AND`, /record .*: rankKey is/],
]; // prettier-ignore

/** Damage to facts: the finding of `verify`, and the reason that `rebuild` names for its refusal. */
const FACTS: [string, string, string][] = [
  ['an active record that is neither active nor offboarded', 'UPDATE waiter SET active = 2 WHERE seq = 7 AND', 'active is neither 0 nor 1'],
  ['offboarded records that are neither', 'UPDATE waiter SET active = -1 WHERE active = 0 AND', 'active is neither 0 nor 1'],
  ['a negative sequence number', 'UPDATE waiter SET seq = -7 WHERE seq = 20 AND', 'seq is negative or too large'],
  ['only negative sequence numbers', 'UPDATE waiter SET seq = -1 - seq WHERE', 'seq is negative or too large'],
  ...['4611686018427387905', '-4611686018427387905'].flatMap((seq) => [20, PEOPLE - 1].map((record): [string, string, string] => [`record ${record} with the sequence number ${seq}`, `UPDATE waiter SET seq = ${seq} WHERE seq = ${record} AND`, 'seq is negative or too large'])),
  ['an offboarded record without its last position', 'UPDATE waiter SET removed_priority = NULL WHERE active = 0 AND', 'removed_priority is no position, but the record is offboarded'],
  ...[-5, PEOPLE, '4611686018427387904'].map((position): [string, string, string] => [`an offboarded record with the last position ${position}`, `UPDATE waiter SET removed_priority = ${position} WHERE active = 0 AND`, 'removed_priority is no position, but the record is offboarded']),
  ['an offboarded record without its time', 'UPDATE waiter SET removed_at = NULL WHERE active = 0 AND', 'removed_at is missing, but the record is offboarded'],
  ['an active record with a time of offboarding', 'UPDATE waiter SET removed_at = created_at WHERE seq = 7 AND', 'removed_at is set, but the record is active'],
  ['an active record with a last position', 'UPDATE waiter SET removed_priority = 3 WHERE seq = 7 AND', 'removed_priority is set, but the record is active'],
]; // prettier-ignore

function surplus(slot: number, before: number): string {
  return `INSERT INTO queue_bucket (waitlist_id, axis, level, parent, slot, before_in_parent)
    SELECT id, 0, 0, ${PARENT}, ${slot}, ${before} FROM waitlist WHERE`;
}

describe('an audit', () => {
  let service: Service;
  let queue: Queue;
  let owner: Owner;
  beforeAll(async () => {
    service = await startService();
    queue = queueOf(service.app);
    owner = await service.world.owner();
  });
  afterAll(() => service.stop());

  const verify = ({ id }: OwnedWaitlist) => queue.auditor.verify(id, () => undefined);
  const rebuild = ({ id }: OwnedWaitlist) => queue.auditor.rebuild(id, () => undefined);
  const damage = ({ id }: OwnedWaitlist, sql: string) => {
    const column = / waitlist (SET|WHERE)/.test(sql) ? 'id' : 'waitlist_id';
    return service.app.get(Database).transaction((manager) => manager.query(`${sql} ${column} = ?`, [id]));
  };

  /** Half of them referred by the other half; some are offboarded. */
  async function crowd(settings: Parameters<typeof service.world.waitlist>[0] = {}): Promise<OwnedWaitlist> {
    const { world } = service;
    const waitlist = await world.waitlist(settings, owner);
    const early = await Promise.all(Array.from({ length: PEOPLE / 2 }, () => world.signup(waitlist)));
    await Promise.all(early.map(({ referral_link }) => world.signup(waitlist, { referral_link })));
    const leaving = await world.list(waitlist, { offset: PEOPLE / 2 - OFFBOARDED / 2, limit: OFFBOARDED });
    await world.offboard(waitlist, leaving.map(({ id }) => id)); // prettier-ignore
    return waitlist;
  }

  it.each(DERIVED)('finds %s, and a rebuild corrects it', async (_, sql, finding) => {
    const waitlist = await crowd();
    const listed = (offboarded_request: boolean) => service.world.list(waitlist, { offboarded_request, limit: 100 });
    expect(await verify(waitlist)).toEqual({ records: PEOPLE, findings: [], differences: 0 });

    await damage(waitlist, sql);

    const { findings, differences, records } = await verify(waitlist);
    expect(findings).toContainEqual(expect.stringMatching(finding));
    expect(differences).toBeGreaterThanOrEqual(findings.length);

    await rebuild(waitlist);

    expect(await verify(waitlist)).toEqual({ records, findings: [], differences: 0 });
    const active = await listed(false);
    expect(active.length + (await listed(true)).length).toBe(records);
    expect(await service.world.signup(waitlist)).toMatchObject({ priority: active.length });
    expect(await verify(waitlist)).toEqual({ records: records + 1, findings: [], differences: 0 });
  });

  it.each(FACTS)('finds %s, which a rebuild refuses to change', async (_, sql, reason) => {
    const waitlist = await crowd();
    await damage(waitlist, 'UPDATE queue_bucket SET before_in_parent = before_in_parent + 1 WHERE axis = 0 AND');
    await damage(waitlist, 'UPDATE waiter SET rank_key = rank_key - 1 WHERE seq = 3 AND');
    await damage(waitlist, sql);
    const stored = await rows(waitlist);

    expect((await verify(waitlist)).findings).toContainEqual(expect.stringContaining(reason));
    const refused = rebuild(waitlist);

    await expect(refused).rejects.toMatchObject({
      code: 'DAMAGED_BEYOND_REBUILD',
      message: expect.stringContaining(reason),
    });
    expect(await rows(waitlist)).toEqual(stored);
  });

  it('says how many records are damaged, and names some', async () => {
    const waitlist = await crowd();
    await damage(waitlist, 'UPDATE waiter SET removed_at = created_at WHERE active = 1 AND');

    await expect(rebuild(waitlist)).rejects.toThrow(
      /^Waitlist \d+ cannot be rebuilt\. Restore it from a backup:\n {2}removed_at is set, but the record is active: records (\d+, ){19}\d+ and 50 more$/,
    );
  });

  it('accepts gaps in the sequence, and keeps the next number above them', async () => {
    const waitlist = await crowd();
    await damage(waitlist, 'DELETE FROM waiter WHERE seq IN (40, 79) AND');
    await damage(waitlist, 'UPDATE waitlist SET next_seq = next_seq + 1000 WHERE');
    await rebuild(waitlist);
    for (const records of [PEOPLE - 1, PEOPLE]) {
      await service.world.signup(waitlist);
      expect(await verify(waitlist)).toEqual({ records, findings: [], differences: 0 });
    }
    expect(await rebuild(waitlist)).toEqual({ changed: 0 });
    expect(await rows(waitlist)).toMatchObject({ waitlist: [{ next_seq: PEOPLE + 1002 }] });

    await damage(waitlist, 'UPDATE waitlist SET next_seq = 0 WHERE');
    await rebuild(waitlist);

    expect(await rows(waitlist)).toMatchObject({ waitlist: [{ next_seq: PEOPLE + 1002 }] });
  });

  it('keeps the end of the queue open where nobody stands there', async () => {
    const waitlist = await crowd();
    const everyone = (await service.world.list(waitlist, { limit: 100 })).map(({ id }) => id);
    await service.world.offboard(waitlist, everyone);

    await rebuild(waitlist);
    await service.world.signup(waitlist);

    expect(await verify(waitlist)).toEqual({ records: PEOPLE + 1, findings: [], differences: 0 });
  });

  it.each(['waiter', 'queue_bucket'])('names a waitlist of which only %s is left, until it is purged', async (left) => {
    const waitlist = await crowd();
    await damage(waitlist, 'DELETE FROM waitlist WHERE');
    await damage(waitlist, `DELETE FROM ${left === 'waiter' ? 'queue_bucket' : 'waiter'} WHERE`);

    expect(await queue.purger.orphanIds()).toContain(waitlist.id);
    await queue.purger.purge(waitlist.id);
    expect(await queue.purger.orphanIds()).not.toContain(waitlist.id);
  });

  /** All that is stored of a waitlist's queue. */
  async function rows({ id }: OwnedWaitlist): Promise<Record<string, readonly object[]>> {
    const database = service.app.get(Database);
    const read = async (table: string, columns: string, key = 'waitlist_id') => [
      table,
      await database.read((manager) => manager.query(`SELECT ${columns} FROM ${table} WHERE ${key} = ? ORDER BY 1, 2, 3`, [id])), // prettier-ignore
    ];
    return Object.fromEntries([
      await read('waitlist', 'next_seq, active, offboarded, referred_active, referred_offboarded', 'id'),
      await read('queue_bucket', 'axis, level, parent, slot, before_in_parent'),
      await read('waiter', 'id, CAST(seq AS CHAR) AS seq, rank_key, referred, active, removed_at'),
    ]);
  }
});
