/**
 * The way from the first schema to the newest with people on the list: each change of the schema is timed, and beside it
 * how long a writer and a reader that never pause had to wait. Then what is derived is derived, and the service runs.
 *   npm run test:upgrade [-- records]
 * It needs, in TEST_DATABASE_URL, a MySQL or MariaDB server on which it makes a database of its own.
 */
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { readConfig } from '../src/platform/config/config.js';
import { dataSourceOptions } from '../src/platform/database/data-source-options.js';
import { migrations } from '../src/platform/database/migrations/index.js';
import type { Answer } from '../test/support/api.js';
import { ServiceProcess } from '../test/support/service-process.js';

const RECORDS = Number(process.argv[2] ?? 1_000_000);
/** The schema in which people are first kept: what follows, changes a table that may be full. */
const FIRST_WITH_RECORDS = 'table_waiter_1763683200007';
/** A statement that waits longer than this for a change of the schema would have been a request answered with 503. */
const STALL_MAX_MS = 4_000;
const DIGITS = '(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)'; // prettier-ignore

/** As TypeORM runs them: by the time at the end of their names. */
const nameOf = (Migration: (typeof migrations)[number]) => String(new Migration().name);
const timeOf = (Migration: (typeof migrations)[number]) => Number(nameOf(Migration).slice(-13));
const inOrder = [...migrations].sort((a, b) => timeOf(a) - timeOf(b));

/** Puts `records` people on waitlist 1: facts only, for what is derived is for `rebuild`. Every tenth referred the next nine. */
async function seed(url: string, records: number): Promise<void> {
  const connection = await createConnection(url);
  await connection.query(`INSERT INTO account (uuid, email, email_key, password_hash, created_at)
    VALUES ('u', 'owner@example.com', 'owner@example.com', 'none', NOW())`);
  await connection.query(`INSERT INTO waitlist (account_id, api_key_hash, waitlist_name, waitlist_url_location, required_contact, questions, created_at)
    VALUES (1, 'h', 'Upgrade', 'https://example.com/join', '{"email":"required","phone":"optional","first_name":"optional","last_name":"optional"}', '[]', NOW())`);
  await connection.query(`INSERT INTO queue VALUES (1, ${records}, 3, 0, 0, 0, 0)`);
  const digits = ['a', 'b', 'c', 'e', 'f', 'g', 'h'];
  const number = digits.map((name, place) => `${name}.d * ${10 ** place}`).join(' + ');
  await connection.query(`INSERT INTO waiter (waitlist_id, seq, uuid, email, email_key, registered_email, referral_token,
      referred_by_token, referred, rank_key, created_at)
    SELECT 1, n, CONCAT('uuid', n), CONCAT(n, '@example.com'), CONCAT(n, '@example.com'), CONCAT(n, '@example.com'),
      CONCAT('T', n), IF(n % 10 = 0, NULL, CONCAT('T', n - n % 10)), n % 10 <> 0, n, NOW()
    FROM (SELECT ${number} AS n FROM ${digits.map((name) => `${DIGITS} ${name}`).join(', ')}) numbers WHERE n < ${records}`);
  await connection.end();
}

/** Repeats a statement, one after the other, until told to stop; tells how long the slowest took. */
function repeat(url: string, statement: (turn: number) => string) {
  const over = new AbortController();
  let slowestMs = 0;
  const done = (async () => {
    const connection = await createConnection(url);
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const startMs = performance.now();
      await connection.query(statement(turn));
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
    }
    await connection.end();
  })();
  return {
    async stop(): Promise<number> {
      over.abort();
      await done;
      return Math.round(slowestMs);
    },
  };
}

async function migrateTo(url: string, count: number): Promise<number> {
  const { database } = readConfig({ DATABASE_URL: url, JWT_SECRET: 'upgrade-upgrade-upgrade-upgrade-upgrade' });
  const dataSource = new DataSource({ ...dataSourceOptions(database), migrations: inOrder.slice(0, count) });
  await dataSource.initialize();
  const startMs = performance.now();
  await dataSource.runMigrations();
  const tookMs = performance.now() - startMs;
  await dataSource.destroy();
  return Math.round(tookMs);
}

async function runCli(url: string, ...args: string[]): Promise<string> {
  const running = await ServiceProcess.spawn({ DATABASE_URL: url }, 'dist/src/cli.js', ...args);
  if ((await running.exit) !== 0) throw new Error(running.output);
  return running.output.trim();
}

async function run(url: string): Promise<void> {
  const names = inOrder.map(nameOf);
  const first = names.indexOf(FIRST_WITH_RECORDS) + 1;
  if (first === 0) throw new Error(`There is no migration ${FIRST_WITH_RECORDS}.`);
  await migrateTo(url, first);
  await seed(url, RECORDS);
  let worstMs = 0;
  for (let count = first + 1; count <= names.length; count += 1) {
    // Rows of another waitlist, so that the first one's stay dense.
    const writer = repeat(url, (turn) => `INSERT INTO waiter (waitlist_id, seq, uuid, referral_token, referred, rank_key, created_at)
      VALUES (2, ${count * 1e6 + turn}, 'u', 'W${count}-${turn}', 0, 0, NOW())`); // prettier-ignore
    const reader = repeat(url, (turn) => `SELECT * FROM waiter WHERE id = ${1 + (turn % RECORDS)}`);
    const tookMs = await migrateTo(url, count);
    const [writerMs, readerMs] = [await writer.stop(), await reader.stop()];
    worstMs = Math.max(worstMs, writerMs, readerMs);
    print(`${names[count - 1]}: ${tookMs} ms; a write waited ${writerMs} ms at most, a read ${readerMs} ms`);
  }
  const connection = await createConnection(url);
  await connection.query('DELETE FROM waiter WHERE waitlist_id = 2');
  print(await runCli(url, 'migrate'));
  print(await runCli(url, 'rebuild'));
  const verdict = await runCli(url, 'verify');

  const service = await ServiceProcess.spawn({ DATABASE_URL: url, SHUTDOWN_DELAY: '0' });
  let answer: Answer;
  try {
    await service.started();
    answer = await service.call('POST', '/api/v1/signup', { waitlist_id: 1, email: 'late@example.com' });
  } finally {
    service.signal('SIGTERM');
    await service.exit;
  }
  const { status, text } = answer;
  const [rows] = await connection.query<RowDataPacket[]>(
    'SELECT COUNT(*) AS records FROM waiter WHERE waitlist_id = 1',
  );
  await connection.end();
  const { priority } = JSON.parse(text) as { priority: number };
  if (status !== 200 || priority !== RECORDS || rows[0]?.records !== RECORDS + 1)
    throw new Error(`The service answered ${status}: ${text}`);
  if (worstMs > STALL_MAX_MS) throw new Error(`A statement waited ${worstMs} ms for a change of the schema.`);
  print(
    `upgraded ${RECORDS} records by ${names.length - first} changes of the schema: a statement waited ${worstMs} ms at most; verify: ${verdict}; the next signup has priority ${priority}`,
  );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const server = process.env.TEST_DATABASE_URL;
if (server === undefined) throw new Error('TEST_DATABASE_URL: a MySQL or MariaDB server is needed');
const database = new URL(server);
database.pathname = `${database.pathname}_upgrade`;
const name = database.pathname.slice(1);
const connection = await createConnection(server);
try {
  await connection.query(`DROP DATABASE IF EXISTS \`${name}\``);
  await connection.query(`CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4`);
  await run(database.href);
} finally {
  await connection.query(`DROP DATABASE IF EXISTS \`${name}\``);
  await connection.end();
}
