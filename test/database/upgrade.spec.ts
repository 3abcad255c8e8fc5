import { createHmac, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { toSqlTime } from '../../src/platform/database/dialect.js';
import { migrate, prepareSchema } from '../../src/platform/database/migrator.js';
import { initial } from '../../src/platform/database/migrations/1763683200000-initial.js';
import { migrations } from '../../src/platform/database/migrations/index.js';
import { AccountService } from '../../src/account/account.service.js';
import { hashKey } from '../../src/platform/secrets/random-key.js';
import { secretId } from '../../src/platform/secrets/secrets.js';
import { openDatabase, openDataSource, OWNER_PASSWORD_HASH, type TestDatabase } from '../support/database.js';
import { startService } from '../support/service.js';
import { OWNER, until } from '../support/service-process.js';

const SINCE = migrations.slice(initial.length).map((Migration) => new Migration().name);

let database: TestDatabase;
let dataSource: DataSource;
beforeEach(async () => {
  database = await openDatabase(true);
  dataSource = await openDataSource(database.url);
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** Makes the schema of v0.2.0, with one row in it. */
async function makeV020(): Promise<void> {
  const older = await new DataSource({ ...dataSource.options, migrations: initial }).initialize();
  await older.runMigrations();
  await older.query('INSERT INTO deleted_waitlist (waitlist_id) VALUES (7)');
  await older.destroy();
}

it('gives the people of v0.2.0 the key by which they are found by name', async () => {
  await makeV020();
  const insert = `INSERT INTO waiter (waitlist_id, seq, uuid, first_name, last_name, referral_token, referred, rank_key, created_at)
    VALUES (1, ?, ?, ?, ?, ?, 0, 0, '2026-11-01 00:00:00')`;
  const names = [
    ['Zoë', 'Berg'],
    [null, null],
  ];
  for (const [seq, name] of names.entries()) await dataSource.query(insert, [seq, `u${seq}`, ...name, `t${seq}`]);

  const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  await migrate(dataSource, { isForced: true });
  printed.mockRestore();

  expect(await dataSource.query('SELECT name_key FROM waiter ORDER BY seq')).toEqual([
    { name_key: 'berg zoe' },
    { name_key: null },
  ]);
});

it('keeps the words of the verification mails of v0.2.0', async () => {
  await makeV020();
  const insert = `INSERT INTO waitlist (account_id, api_key_hash, public_key, waitlist_name, required_contact, questions,
      removed_questions, is_closed, is_public, display, hide_counts, created_at, spots_per_referral, next_seq, active,
      offboarded, referred_active, referred_offboarded, verification, fraud, mail_on_offboarding, mail_subject, mail_text)
    VALUES (1, ?, ?, 'A', '{}', '[]', '[]', 0, 1, '{}', 0, '2026-11-01 00:00:00', 3, 1, 0, 0, 0, 0, 'off', '{}', 0, ?, ?)`;
  const words = [
    ['Hello {you}', null],
    [null, null],
    [null, 'Click\n\n{{link}}'],
  ];
  for (const [at, some] of words.entries()) await dataSource.query(insert, [`h${at}`, `K${at}`, ...some]);

  const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  await migrate(dataSource, { isForced: true });
  printed.mockRestore();

  expect(await dataSource.query('SELECT kind, subject, text FROM waitlist_mail ORDER BY waitlist_id')).toEqual([
    { kind: 'verification', subject: 'Hello {you}', text: null },
    { kind: 'verification', subject: null, text: 'Click\n\n{{link}}' },
  ]);
});

it('offers nobody of v0.2.0 a seat, and counts its offboardings as departures', async () => {
  await makeV020();
  await dataSource.query(
    `INSERT INTO waitlist (id, account_id, api_key_hash, public_key, waitlist_name, required_contact, questions,
       removed_questions, is_closed, is_public, display, hide_counts, created_at, spots_per_referral, next_seq, active,
       offboarded, referred_active, referred_offboarded, verification, fraud, mail_on_offboarding)
     VALUES (3, 1, 'h', 'K', 'A', '{}', '[]', '[]', 0, 1, '{}', 0, '2026-11-01', 3, 2, 1, 1, 0, 0, 'off', '{}', 0)`,
  );
  const insert = `INSERT INTO waiter (waitlist_id, seq, uuid, referral_token, referred, rank_key, created_at, status,
      removed_at, removed_priority) VALUES (3, ?, ?, ?, 0, 0, '2026-11-01', ?, ?, ?)`;
  await dataSource.query(insert, [0, 'u0', 't0', 1, null, null]);
  await dataSource.query(insert, [1, 'u1', 't1', 0, '2026-11-02 00:00:00', 1]);
  for (const [day, offboarded] of [
    ['2026-11-01', 0],
    ['2026-11-02', 1],
  ])
    await dataSource.query(
      'INSERT INTO waitlist_day (waitlist_id, day, signups, referred, offboarded, erased) VALUES (3, ?, 2, 0, ?, 0)',
      [day, offboarded],
    );

  const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  await migrate(dataSource, { isForced: true });
  printed.mockRestore();

  const none = { joined_priority: null, removed_reason: null, offer_expires_at: null };
  expect(
    await dataSource.query(
      'SELECT status, removed_priority, joined_priority, removed_reason, offer_expires_at FROM waiter ORDER BY seq',
    ),
  ).toEqual([
    { status: 1, removed_priority: null, ...none },
    { status: 0, removed_priority: 1, ...none },
  ]);
  const counts = ['active', 'offboarded', 'offered', 'seats_taken'].join(', ');
  const numbers = (rows: Record<string, string | number>[]) => rows.map((row) => Object.values(row).map(Number));
  expect(numbers(await dataSource.query(`SELECT ${counts} FROM waitlist`))).toEqual([[1, 1, 0, 0]]);
  expect(await dataSource.query('SELECT offers, release_plan FROM waitlist')).toEqual([
    { offers: null, release_plan: null },
  ]);
  const days = ['offboarded', 'offered', 'accepted', 'declined', 'expired', 'departed'].join(', ');
  expect(numbers(await dataSource.query(`SELECT ${days} FROM waitlist_day ORDER BY day`))).toEqual([
    [0, 0, 0, 0, 0, 0],
    [1, 0, 0, 0, 0, 1],
  ]);
});

describe('the accounts of v0.2.0', () => {
  const SECRET = 'a-secret-that-signs-tokens-in-tests-only';
  const LOGIN = { id: randomUUID(), jti: randomUUID() };
  const AT = '2026-11-01 00:00:00.000';
  const now = () => Math.floor(Date.now() / 1000);

  /** A token as v0.2.0 signed it: it names the account by its id. */
  function token(use: 'access' | 'refresh', sub: number): string {
    const header = { alg: 'HS256', typ: use === 'access' ? 'at+jwt' : 'rt+jwt', kid: secretId(SECRET) };
    const claims = { iss: 'waitlist-service', aud: 'waitlist-service/owner', sub: String(sub), sid: LOGIN.id };
    const times = { jti: LOGIN.jti, iat: now(), exp: now() + 3_600, token_use: use };
    const signed = [header, { ...claims, ...times }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
  }

  it('have a member each who goes on with its password, tokens, keys and name in the log', async () => {
    await makeV020();
    const insertAccount = `INSERT INTO account (id, uuid, email, email_key, password_hash, token_version, disabled_at, created_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    const [uuid, offUuid] = [randomUUID(), randomUUID()];
    const emails = ['Ada@Example.com', 'off@example.com'] as const;
    const hash = OWNER_PASSWORD_HASH;
    await dataSource.query(insertAccount, [7, uuid, emails[0], 'ada@example.com', hash, 3, null, AT]);
    await dataSource.query(insertAccount, [9, offUuid, emails[1], emails[1], hash, 0, AT, AT]);
    await dataSource.query(
      `INSERT INTO login (id, account_id, token_version, current_jti, created_at, last_used_at, expires_at)
       VALUES (?, 7, 3, ?, ?, ?, '2999-01-01 00:00:00.000')`,
      // Logins that were not used for 30 days are not listed.
      [LOGIN.id, LOGIN.jti, AT, toSqlTime(new Date())],
    );
    const key = 'a'.repeat(64);
    await dataSource.query(
      `INSERT INTO account_key (account_id, key_hash, prefix, name, scope, created_at) VALUES (7, ?, 'aaaaaa', 'K', 'read', ?)`,
      [hashKey(key), AT],
    );
    await dataSource.query(
      `INSERT INTO audit_event (id, account_id, action, created_at) VALUES (?, 7, 'account_created', ?)`,
      [randomUUID(), AT],
    );

    const printed = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    await migrate(dataSource, { isForced: true });
    printed.mockRestore();
    const service = await startService({ environment: { DATABASE_URL: database.url, JWT_SECRET: SECRET } });
    try {
      const { api } = service;
      const logIn = (email: string) => api.post('/api/v1/auth/create_tokens', { email, password: OWNER.password });
      const access = { token: token('access', 7) };

      expect((await api.get('/api/v1/member', access)).body).toEqual([
        {
          id: uuid,
          email: emails[0],
          name: null,
          role: 'owner',
          status: 'active',
          two_factor: false,
          sign_in: ['password'],
          created_at: '2026-11-01_00-00-00',
          last_login_at: '2026-11-01_00-00-00',
        },
      ]);
      expect((await api.get('/api/v1/auth/session', access)).body).toMatchObject([{ id: LOGIN.id, current: true }]);
      const foreign = await api.get('/api/v1/account', { token: token('access', 9) });
      expect(foreign.status).toBe(401);
      const refreshed = await api.get('/api/v1/auth/refresh_access_token', { token: token('refresh', 7) });
      expect(refreshed.status).toBe(200);
      expect((await api.get('/api/v1/account', { token: refreshed.body.access_token })).body).toMatchObject({
        id: uuid,
      });
      expect((await logIn('ada@example.com')).status).toBe(200);
      expect((await logIn(emails[1])).status).toBe(401);
      expect((await api.get('/api/v1/account', { headers: { 'api-key': key } })).body).toMatchObject({ id: uuid });
      const keys = await api.get('/api/v1/api_key', access);
      expect(keys.body).toMatchObject([{ waitlist_ids: null, created_by: null }]);
      const audit = await api.get('/api/v1/audit', access);
      expect(audit.body).toMatchObject([{ action: 'account_created', user_id: uuid, member: null }]);
      await service.app.get(AccountService).enable(emails[1]);
      expect((await logIn(emails[1])).status).toBe(200);
    } finally {
      await service.stop();
    }
    await expect(dataSource.query('SELECT email FROM account')).rejects.toThrow(/email/);
  });
});

const onFile = process.env.TEST_DATABASE_URL ? describe.skip : describe;
const onServer = process.env.TEST_DATABASE_URL ? describe : describe.skip;

onFile('the start on a file of v0.2.0 (embedded database only)', () => {
  let file: string;
  beforeEach(() => {
    file = String(dataSource.options.database);
  });

  it('first writes a copy that only its owner can read, once, and says where, outside the output of a command', async () => {
    await makeV020();
    const copy = `${file}-v0.2.0`;
    const [stdout, stderr] = [jest.spyOn(console, 'log'), jest.spyOn(console, 'error')];
    for (const printed of [stdout, stderr]) printed.mockImplementation(() => undefined);

    await prepareSchema(dataSource);

    expect(stdout.mock.calls).toEqual([]);
    expect(stderr.mock.calls).toEqual([[`Copied the database of v0.2.0 to ${copy}`]]);
    for (const printed of [stdout, stderr]) printed.mockRestore();
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    const copied = await openDataSource(`sqlite:${copy}`);
    expect(await copied.query('SELECT waitlist_id FROM deleted_waitlist')).toEqual([{ waitlist_id: 7 }]);
    expect(await copied.query('SELECT waitlist_name, captcha_secret FROM waitlist')).toEqual([]);
    await copied.destroy();

    rmSync(copy);
    await prepareSchema(dataSource);
    expect(existsSync(copy)).toBe(false);
  });

  it('is refused and changes nothing if the copy cannot be written', async () => {
    await makeV020();
    mkdirSync(`${file}-v0.2.0`);

    await expect(prepareSchema(dataSource)).rejects.toThrow(/begins with a copy of the database.+make space/);

    expect(await dataSource.query('SELECT waitlist_name FROM waitlist')).toEqual([]);
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('copies nothing if the database is new', async () => {
    await prepareSchema(dataSource);

    expect(existsSync(`${file}-v0.2.0`)).toBe(false);
  });
});

onServer('migrate from v0.2.0 (needs TEST_DATABASE_URL: a file has one process)', () => {
  const countOthers = async (): Promise<number> => {
    const sql = 'SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()';
    return (await dataSource.query<unknown[]>(sql)).length;
  };

  it('is refused and changes nothing while others use the database, and runs after they left', async () => {
    await makeV020();
    const elsewhere = await openDatabase(true);
    const [other, neighbor] = [await openDataSource(database.url), await openDataSource(elsewhere.url)];

    await expect(migrate(dataSource)).rejects.toThrow(/\(connections: 1\)\. Stop all replicas .+ --force\.$/);
    expect(await other.query('SELECT waitlist_name FROM waitlist')).toEqual([]);

    await other.destroy();
    await until(async () => (await countOthers()) === 0);
    expect(await migrate(dataSource)).toEqual(SINCE);
    await neighbor.destroy();
    await elsewhere.drop();
  });

  it('runs once although another migrator waits for it', async () => {
    await makeV020();
    const elsewhere = await openDatabase(true);
    const [other, neighbor] = [await openDataSource(database.url), await openDataSource(elsewhere.url)];
    const name = String(dataSource.options.database);
    const countOf = async (condition: string): Promise<number> => {
      const sql = `SELECT 1 FROM information_schema.processlist WHERE db = ? AND ${condition}`;
      return (await neighbor.query<unknown[]>(sql, [name])).length;
    };
    const locker = neighbor.createQueryRunner();
    await locker.query(`LOCK TABLES ${name}.migrations WRITE`);

    const both = Promise.all([migrate(dataSource), migrate(other)]);
    await until(async () => (await countOf(`info LIKE 'SELECT GET_LOCK%'`)) > 0);
    await until(async () => (await countOf(`state LIKE 'Waiting for table%'`)) > 0);
    await locker.query('UNLOCK TABLES');
    await locker.release();

    expect((await both).flat()).toEqual(SINCE);
    await Promise.all([other.destroy(), neighbor.destroy()]);
    await elsewhere.drop();
  });

  it('can be forced', async () => {
    await makeV020();
    const other = await openDataSource(database.url);

    expect(await migrate(dataSource, { isForced: true })).toEqual(SINCE);

    await other.destroy();
  });
});

onServer('a database with a table that InnoDB does not store (needs TEST_DATABASE_URL)', () => {
  it('is refused by the start and by migrate', async () => {
    await dataSource.query('CREATE TABLE stray (id INT) ENGINE=MyISAM');
    const refusal = /^DATABASE_URL: the table stray is stored by MyISAM\. .+$/;

    await expect(migrate(dataSource)).rejects.toThrow(refusal);
    await expect(prepareSchema(dataSource)).rejects.toThrow(refusal);
  });
});
