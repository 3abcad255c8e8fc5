/**
 * Upgrades a full table: an earlier build makes the schema and fills a waitlist, then this build migrates while a writer and
 * a reader run without a pause. No statement may wait longer than a request may; afterward `verify` must find nothing and
 * the service must run.
 *   npm run test:upgrade [-- records [commit]]
 * Without a commit, or with the current one, this build is upgraded to itself.
 * It needs a MySQL or MariaDB server in TEST_DATABASE_URL and makes a database of its own there.
 */
import { createConnection } from 'mysql2/promise';
import { openDatabase } from '../test/support/database.js';
import { OWNER, ServiceProcess } from '../test/support/service-process.js';
import { runCli, runCliIn, verify } from './support/command-line.js';
import { earlierBuild } from './support/earlier-build.js';

const RECORDS = Number(process.argv[2] ?? 1_000_000);
const COMMIT = process.argv[3];
/** A statement that waits longer for a change of the schema would have been a request answered with 503. */
const STALL_MAX_MS = 4_000;

/** Repeats a statement until stopped; `stop` returns how long the slowest took. */
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

async function run(url: string): Promise<void> {
  const before = await earlierBuild(COMMIT);
  const cli = (...args: string[]) => runCliIn(before.root, url, ...args);
  await cli('migrate');
  await cli('owner', 'create', OWNER.email);
  const made = await cli('waitlist', 'create', 'Upgrade', '--owner', OWNER.email, '--url', 'https://example.com/join');
  const [, id = ''] = /^Created waitlist (\d+) /m.exec(made) ?? [];
  await cli('waitlist', 'seed', id, '--count', String(RECORDS));

  // It changes no value, but takes the same locks as a write that does.
  const writer = repeat(url, (turn) => `UPDATE waiter SET verified = verified WHERE id = ${1 + (turn % RECORDS)}`);
  const reader = repeat(url, (turn) => `SELECT * FROM waiter WHERE id = ${1 + (turn % RECORDS)}`);
  const startMs = performance.now();
  const migrated = await runCli(url, 'migrate');
  const tookMs = Math.round(performance.now() - startMs);
  const [writerMs, readerMs] = [await writer.stop(), await reader.stop()];
  await verify(url);

  const service = await ServiceProcess.spawn({ DATABASE_URL: url, SHUTDOWN_DELAY: '0' });
  try {
    await service.started();
    const body = { waitlist_id: Number(id), email: 'late@example.com' };
    const answer = await service.call('POST', '/api/v1/signup', body);
    if (answer.status !== 200 || answer.body.priority !== RECORDS)
      throw new Error(`The service answered ${answer.status}: ${answer.text}`);
  } finally {
    await service.stop();
  }
  process.stdout.write(
    `${migrated}\nupgraded ${RECORDS} records from ${before.name} in ${tookMs} ms: a write waited ${writerMs} ms at most, a read ${readerMs} ms; verified; the next signup has priority ${RECORDS}\n`,
  );
  if (Math.max(writerMs, readerMs) > STALL_MAX_MS) throw new Error('A statement waited too long for the migration.');
}

if (!process.env.TEST_DATABASE_URL) throw new Error('TEST_DATABASE_URL: a MySQL or MariaDB server is needed');
const database = await openDatabase(true);
try {
  await run(database.url);
} finally {
  await database.drop();
}
