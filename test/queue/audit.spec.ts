import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { WaiterEntity } from '../../src/queue/record/waiter.entity.js';
import { type Service, startService } from '../support/service.js';
import { commands, type Queue, queueOf } from '../support/queue.js';
import type { OwnedWaitlist } from '../support/world.js';

const PEOPLE = 80;
/** The number of a record that was erased. */
const ERASED_SEQ = PEOPLE;
const OFFBOARDED = 10;
/** The parent of the narrowest buckets in which the queue begins. */
const PARENT = 2 ** 40 / 2 ** 11;
const LEAVES = `axis = 0 AND level = 0 AND parent = ${PARENT}`;
/** A whole number beyond 2^53, which JavaScript cannot read exactly. */
const HUGE = '4611686018427387904';

const TABLES = ['waitlist', 'waiter', 'erased_waiter', 'queue_bucket', 'waitlist_day'];

/** Damage to derived data, which only foreign SQL does, and the finding of `verify`. */
const DERIVED: [string, string, RegExp][] = [
  [
    'a bucket that is too high by one',
    setBuckets('before_in_parent + 1', `${LEAVES} AND slot = 2`),
    /bucket 0\/0\/.*\/2: before is \d+, the records give \d+/,
  ],
  [
    'a bucket that is too low by one',
    setBuckets('before_in_parent - 1', `${LEAVES} AND slot = 1`),
    /bucket 0\/0\/.*\/1: before is/,
  ],
  [
    'a first bucket that is not 0',
    setBuckets('1', 'axis = 0 AND level = 3'),
    /bucket 0\/3\/0\/.*: before is 1, the records give 0/,
  ],
  [
    'a bucket beyond 2^53',
    setBuckets(HUGE, `${LEAVES} AND slot = 1`),
    /bucket 0\/0\/.*\/1: before is 4611686018427388000/,
  ],
  [
    'a missing bucket of the narrowest level',
    `DELETE FROM queue_bucket WHERE ${LEAVES} AND slot = 1`,
    /bucket 0\/0\/.*\/1: it is missing/,
  ],
  [
    'a missing bucket of the widest level',
    'DELETE FROM queue_bucket WHERE axis = 0 AND level = 3',
    /bucket 0\/3\/0\/.*: it is missing/,
  ],
  ['no bucket at all', 'DELETE FROM queue_bucket', /bucket 4\/2\/.*: it is missing/],
  [
    'an extra bucket that is wrong for later records',
    addBucket(50, 5),
    /bucket 0\/0\/.*\/50: before is 5, the records give/,
  ],
  [
    'an extra bucket in a slot that does not exist',
    addBucket(64, 0),
    /bucket 0\/0\/.*\/64: before is 0, the records give no such bucket/,
  ],
  ...[1, 2, 3, 4].map((axis): [string, string, RegExp] => [
    `a wrong bucket on axis ${axis}`,
    setBuckets('before_in_parent + 1', `axis = ${axis} AND level = 0`),
    new RegExp(`bucket ${axis}/0/0/0: before is 1`),
  ]),
  [
    'a wrong bucket of referred records in queue order',
    setBuckets('before_in_parent + 1', 'axis = 5 AND level = 0 AND slot = 2'),
    /bucket 5\/0\/.*\/2: before is/,
  ],
  [
    'no bucket of referred records in queue order',
    'DELETE FROM queue_bucket WHERE axis = 5',
    /bucket 5\/3\/.*: it is missing/,
  ],
  ...[
    'active',
    'offered',
    'offboarded',
    'seats_taken',
    'referred_active',
    'referred_offered',
    'referred_offboarded',
  ].map((total): [string, string, RegExp] => [
    `a wrong total: ${total}`,
    `UPDATE waitlist SET ${total} = ${total} + 1`,
    /queue: \w+ is/,
  ]),
  ...['signups', 'referred', 'offboarded', 'erased'].map((count): [string, string, RegExp] => [
    `a wrong count of a day: ${count}`,
    `UPDATE waitlist_day SET ${count} = ${count} + 1`,
    new RegExp(`^day \\d{4}-\\d\\d-\\d\\d: ${count} is \\d+, the records give \\d+$`),
  ]),
  [
    'a count of a day beyond 2^53',
    `UPDATE waitlist_day SET signups = ${HUGE}`,
    /day .*: signups is 4611686018427388000/,
  ],
  ['no counts of days', 'DELETE FROM waitlist_day', /day .*: signups is 0, the records give \d+/],
  [
    'counts of a day without records',
    `INSERT INTO waitlist_day (waitlist_id, day, signups, referred, offboarded, erased)
     SELECT id, '1999-12-31', 2, 0, 0, 0 FROM waitlist`,
    /day 1999-12-31: signups is 2, the records give 0/,
  ],
  [
    'a next sequence number that is taken',
    `UPDATE waitlist SET next_seq = ${PEOPLE - 1}`,
    /queue: nextSeq is 79, but records go up to seq 80/,
  ],
  [
    'a next sequence number that an erased record had',
    `UPDATE waitlist SET next_seq = ${ERASED_SEQ}`,
    /queue: nextSeq is 80, but records go up to seq 80/,
  ],
  [
    'referrals of people who were erased before an import',
    setRecord('imported_referrals = 2', 0),
    /record .*: creditedReferrals is 2, the facts give 4/,
  ],
  [
    'totals that include a deleted record',
    'DELETE FROM waiter WHERE seq = 40',
    /queue: \w+ is \d+, the records give \d+/,
  ],
  ['a wrong rank key', setRecord('rank_key = rank_key - 1'), /record .*: rankKey is/],
  ...['9223372036854775807', '-1', '-9223372036854775808'].map((key): [string, string, RegExp] => [
    `the rank key ${key}`,
    setRecord(`rank_key = ${key}`),
    /record .*: rankKey is -?\d+, the facts give/,
  ]),
  [
    'a sequence number changed after the rank key was derived',
    setRecord('seq = seq + 100', PEOPLE - 1),
    /record .*: rankKey is/,
  ],
  [
    'a number of referrals beyond 2^53',
    setRecord(`credited_referrals = ${HUGE}`),
    /record .*: creditedReferrals is 4611686018427388000, the facts give 1/,
  ],
  ['a referral that is not credited', setRecord('credited_referrals = 0', 0), /record .*: creditedReferrals is 0/],
  [
    'a referral whose credit changed by itself',
    setRecord('credit = 3', 40),
    /record .*: creditedReferrals is (2, the facts give 1|1, the facts give 0)/,
  ],
  [
    'an erased referral whose credit changed by itself',
    'UPDATE erased_waiter SET credit = 4',
    /record .*: creditedReferrals is 2, the facts give 1/,
  ],
  [
    'referred records that are not marked as referred',
    'UPDATE waiter SET referred = 0 WHERE referred = 1',
    /record .*: referred is 0/,
  ],
  ['a referred mark that is neither 0 nor 1', setRecord('referred = 2'), /record .*: referred is 2, the facts give 0/],
];

const NO_LAST_POSITION = 'removed_priority is no position, but the record is offboarded';

/** Damage to facts, which nothing else tells, and how `verify` and `rebuild` name it. */
const FACTS: [string, string, string][] = [
  ['an active record without a known status', setRecord('status = 4'), 'status is none of 0 to 3'],
  ['offboarded records without a known status', setOffboarded('status = -1'), 'status is none of 0 to 3'],
  ['a record of the queue that is pending', setRecord('status = 2'), 'seq is not negative, but the record is pending'],
  [
    'a pending record with credit',
    setRecord('status = 2, credit = 1', 40),
    'credit is given, but the record is pending',
  ],
  ['a record without a known credit', setRecord('credit = 5'), 'credit is none of 0 to 4'],
  ['a negative sequence number', setRecord('seq = -7', 20), 'seq is negative or too large'],
  ['only negative sequence numbers', 'UPDATE waiter SET seq = -1 - seq', 'seq is negative or too large'],
  ...['4611686018427387905', '-4611686018427387905'].flatMap((seq) =>
    [20, PEOPLE - 1].map((record): [string, string, string] => [
      `record ${record} with the sequence number ${seq}`,
      setRecord(`seq = ${seq}`, record),
      'seq is negative or too large',
    ]),
  ),
  ...['NULL', '-5', HUGE].map((position): [string, string, string] => [
    `offboarded records with the last position ${position}`,
    setOffboarded(`removed_priority = ${position}`),
    NO_LAST_POSITION,
  ]),
  ['a negative number of granted spots', setRecord('spots_advanced = -1'), 'spots_advanced is negative or too large'],
  [
    'imported referrals beyond 2^53',
    setRecord(`imported_referrals = ${HUGE}`),
    'imported_referrals is negative or too large',
  ],
  [
    'an erased record with a negative sequence number',
    'UPDATE erased_waiter SET seq = -1',
    'it was erased, but its seq is negative or too large',
  ],
  ...['id', 'seq', 'referral_token'].map((column): [string, string, string] => [
    `an erased record whose ${column} a record has`,
    `UPDATE erased_waiter SET ${column} = (SELECT ${column} FROM waiter WHERE seq = 7)`,
    'it was erased, but a record has its id, seq or token',
  ]),
  [
    'offboarded records without the time of offboarding',
    setOffboarded('removed_at = NULL'),
    'removed_at is missing, but the record is offboarded',
  ],
  [
    'an active record with a time of offboarding',
    setRecord('removed_at = created_at'),
    'removed_at is set, but the record is not offboarded',
  ],
  [
    'an active record with a last position',
    setRecord('removed_priority = 3'),
    'removed_priority is set, but the record waits',
  ],
  [
    'an offered record without an open offer',
    setRecord('status = 3, removed_priority = 3'),
    'its status and its open offers contradict each other',
  ],
  [
    'an open offer of a record that waits',
    `INSERT INTO offer (id, waitlist_id, waiter_uuid, state, priority, made_at)
     SELECT uuid, waitlist_id, uuid, 0, 0, created_at FROM waiter WHERE seq = 7`,
    'its status and its open offers contradict each other',
  ],
];

function setBuckets(before: string, where: string): string {
  return `UPDATE queue_bucket SET before_in_parent = ${before} WHERE ${where}`;
}

function addBucket(slot: number, before: number): string {
  return `INSERT INTO queue_bucket (waitlist_id, axis, level, parent, slot, before_in_parent)
    SELECT id, 0, 0, ${PARENT}, ${slot}, ${before} FROM waitlist`;
}

function setRecord(change: string, seq = 7): string {
  return `UPDATE waiter SET ${change} WHERE seq = ${seq}`;
}

function setOffboarded(change: string): string {
  return `UPDATE waiter SET ${change} WHERE status = 0`;
}

/** The database holds one waitlist, which each test damages. A copy restores it before the next test. */
describe('an audit', () => {
  let service: Service;
  let queue: Queue;
  let waitlist: OwnedWaitlist;
  beforeAll(async () => {
    service = await startService({ isolated: true });
    queue = queueOf(service.app);
    const { world } = service;
    waitlist = await world.waitlist();
    const early = await Promise.all(Array.from({ length: PEOPLE / 2 }, () => world.signup(waitlist)));
    await Promise.all(early.map(({ referral_link }) => world.signup(waitlist, { referral_link })));
    await offboard(await list({ offset: PEOPLE / 2 - OFFBOARDED / 2, limit: OFFBOARDED }));
    const { uuid } = await world.signup(waitlist, { referral_link: early[0]?.referral_link });
    await queue.writer.submit(waitlist.id, commands.erase([uuid], operatorWrite(1)));
    for (const table of TABLES) await run(`CREATE TABLE copy_of_${table} AS SELECT * FROM ${table}`);
  });
  beforeEach(async () => {
    const { dataSource } = service.app.get(Database);
    const insertable = dataSource.getMetadata(WaiterEntity).columns.filter(({ isInsert }) => isInsert);
    const columns = insertable.map(({ databaseName }) => databaseName).join();
    await run(...TABLES.map((table) => `DELETE FROM ${table}`));
    await run(
      'DELETE FROM offer',
      'INSERT INTO waitlist SELECT * FROM copy_of_waitlist',
      'INSERT INTO erased_waiter SELECT * FROM copy_of_erased_waiter',
      `INSERT INTO waiter (${columns}) SELECT ${columns} FROM copy_of_waiter`,
      'INSERT INTO queue_bucket SELECT * FROM copy_of_queue_bucket',
      'INSERT INTO waitlist_day SELECT * FROM copy_of_waitlist_day',
    );
  });
  afterAll(() => service.stop());

  const verify = () => queue.auditor.verify(waitlist.id, () => undefined);
  const rebuild = () => queue.auditor.rebuild(waitlist.id, () => undefined);
  const list = (query: Parameters<typeof service.world.list>[1]) => service.world.list(waitlist, query);
  const query = async (sql: string): Promise<object[]> =>
    service.app.get(Database).transaction((manager) => manager.query(sql));
  const offboard = async (waiters: readonly { readonly id: number }[]) =>
    service.world.offboard(
      waitlist,
      waiters.map(({ id }) => id),
    );
  const sound = (records: number) => ({ records, findings: [], differences: 0 });

  async function run(...statements: readonly string[]): Promise<void> {
    for (const sql of statements) await query(sql);
  }

  it('finds nothing in a sound queue', async () => {
    expect(await verify()).toEqual(sound(PEOPLE));
    expect(await rebuild()).toBe(0);
  });

  it.each(DERIVED)('finds %s, and a rebuild corrects it', async (_, damage, finding) => {
    await run(damage);

    const { findings, differences, records } = await verify();
    expect(findings).toContainEqual(expect.stringMatching(finding));
    expect(differences).toBeGreaterThanOrEqual(findings.length);

    await rebuild();

    expect(await verify()).toEqual(sound(records));
    const active = await list({ limit: 100 });
    const offboarded = await list({ limit: 100, offboarded_request: true });
    expect(active.length + offboarded.length).toBe(records);
    expect(await service.world.signup(waitlist)).toMatchObject({ priority: active.length });
    expect(await verify()).toEqual(sound(records + 1));
  });

  it.each(FACTS)('finds %s, which a rebuild refuses to change', async (_, damage, reason) => {
    await run(setBuckets('before_in_parent + 1', 'axis = 0'), setRecord('rank_key = rank_key - 1', 3), damage);
    const stored = await rows();

    expect((await verify()).findings).toContainEqual(expect.stringContaining(reason));
    await expect(rebuild()).rejects.toMatchObject({
      code: 'DAMAGED_BEYOND_REBUILD',
      message: expect.stringContaining(reason),
    });
    expect(await rows()).toEqual(stored);
  });

  it('names twenty damaged records and counts the rest', async () => {
    await run('UPDATE waiter SET removed_at = created_at WHERE status = 1');

    await expect(rebuild()).rejects.toThrow(
      /^Waitlist \d+ cannot be rebuilt\. Restore it from a backup:\n {2}removed_at is set, but the record is not offboarded: records (\d+, ){19}\d+ and 50 more$/,
    );
  });

  it('accepts gaps in the sequence, and keeps the next number above them', async () => {
    await run('DELETE FROM waiter WHERE seq IN (40, 79)', 'UPDATE waitlist SET next_seq = next_seq + 1000');
    await rebuild();
    for (const records of [PEOPLE - 1, PEOPLE]) {
      await service.world.signup(waitlist);
      expect(await verify()).toEqual(sound(records));
    }
    expect(await rebuild()).toBe(0);
    expect(await rows()).toMatchObject({ waitlist: [{ next_seq: PEOPLE + 1003 }] });

    await run('UPDATE waitlist SET next_seq = 0');
    await rebuild();

    expect(await rows()).toMatchObject({ waitlist: [{ next_seq: PEOPLE + 1003 }] });
  });

  it('lets people join a rebuilt queue in which nobody is active', async () => {
    await offboard(await list({ limit: 100 }));

    await rebuild();
    await service.world.signup(waitlist);

    expect(await verify()).toEqual(sound(PEOPLE + 1));
  });

  it.each(TABLES.filter((table) => table !== 'waitlist'))(
    'names a waitlist of which only %s rows remain',
    async (left) => {
      const lost = TABLES.filter((table) => table !== left);
      await run(...lost.map((table) => `DELETE FROM ${table}`));

      expect(await queue.purger.orphanIds()).toContain(waitlist.id);
    },
  );

  /** All that is stored of the queue. SQLite's driver refuses to read a `seq` beyond 2^53 as a number. */
  async function rows(): Promise<Record<string, readonly object[]>> {
    return {
      waitlist: await query(
        `SELECT next_seq, active, offered, offboarded, referred_active, referred_offered, referred_offboarded
         FROM waitlist`,
      ),
      buckets: await query('SELECT axis, level, parent, slot, before_in_parent FROM queue_bucket ORDER BY 1, 2, 3, 4'),
      waiters: await query(
        'SELECT id, CAST(seq AS CHAR) AS seq, rank_key, referred, status, removed_at FROM waiter ORDER BY id',
      ),
    };
  }
});
