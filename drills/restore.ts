/**
 * Backs up a service under load and restores the backup: it must hold every signup that was answered before the backup
 * began, pass `verify`, serve requests, and send the events that were not delivered before. The commands are those of
 * docs/operations.md.
 *   npm run test:restore
 * With TEST_DATABASE_URL it makes two databases on that server and needs mysqldump and mysql (or the commands in
 * MYSQLDUMP and MYSQL). Without, it uses the embedded database and sqlite3.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toSqlTime } from '../src/platform/database/dialect.js';
import type { WebhookWithSecretDto } from '../src/webhook/webhook.dto.js';
import { openDatabase, withDataSource } from '../test/support/database.js';
import { answerWith, Receiver, verify } from '../test/support/receiver.js';
import { ServiceProcess, until } from '../test/support/service-process.js';
import { runCli } from './support/command-line.js';
import { openWaitlist, read } from './support/traffic.js';

const VISITORS = 8;
const SIGNUPS_BEFORE = 300;
const { MYSQLDUMP = 'mysqldump', MYSQL = 'mysql' } = process.env;

async function shell(command: string): Promise<void> {
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command]);
}

/** The arguments of a MySQL client program. */
function clientArguments(url: string): string {
  const { hostname, port, username, password, pathname } = new URL(url);
  return `-h${hostname} -P${port} -u${username} -p${password} ${pathname.slice(1)}`;
}

async function backUp(url: string, file: string): Promise<void> {
  if (url.startsWith('sqlite:')) return shell(`sqlite3 ${url.slice('sqlite:'.length)} "VACUUM INTO '${file}'"`);
  return shell(
    `${MYSQLDUMP} --single-transaction --no-tablespaces --hex-blob ${clientArguments(url)} | gzip > ${file}`,
  );
}

async function restore(file: string, url: string): Promise<void> {
  const path = url.slice('sqlite:'.length);
  if (url.startsWith('sqlite:')) return shell(`rm -f ${path}-wal ${path}-shm && cp ${file} ${path}`);
  return shell(`gunzip < ${file} | ${MYSQL} ${clientArguments(url)}`);
}

/** Events that a killed service was sending would wait for the end of their lease. */
async function makeDue(url: string): Promise<void> {
  await withDataSource(url, async (database) => {
    await database.query('UPDATE delivery SET next_attempt_at = ? WHERE next_attempt_at IS NOT NULL', [
      toSqlTime(new Date()),
    ]);
  });
}

async function run(live: string, restored: string, file: string, receiver: Receiver): Promise<void> {
  await runCli(live, 'migrate');
  const environment = { SHUTDOWN_DELAY: '0', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' };
  const service = await ServiceProcess.spawn({ ...environment, DATABASE_URL: live });
  const agent = new Agent({ keepAlive: true });
  const answered: string[] = [];
  let isOver = false;
  try {
    await service.started();
    const { waitlistId: waitlist_id, token } = await openWaitlist(service);
    const path = `/api/v1/waitlist/${waitlist_id}/webhook`;
    const webhook = await service.call('POST', path, { url: receiver.url }, { token });
    const { secret } = read(webhook) as WebhookWithSecretDto;
    // It never answers, so no event is delivered before the backup.
    receiver.answer = () => undefined;
    const visitor = async () => {
      let link = '';
      while (!isOver) {
        const email = `${randomUUID()}@example.com`;
        const body = { waitlist_id, email, referral_link: link };
        const { status, text } = await service.call('POST', '/api/v1/signup', body, { agent });
        if (status !== 200) throw new Error(`A signup was answered with ${status}: ${text}`);
        if (answered.push(email) % 3 === 0) link = (JSON.parse(text) as { referral_link: string }).referral_link;
      }
    };
    const visitors = Promise.all(Array.from({ length: VISITORS }, visitor));
    await Promise.race([visitors, until(() => answered.length >= SIGNUPS_BEFORE)]);
    const before = [...answered];
    await backUp(live, file);
    const during = answered.length - before.length;
    isOver = true;
    await visitors;
    // A kill, because a crash leaves a write-ahead log next to an embedded database.
    service.signal('SIGKILL');
    await service.exit;

    await restore(file, restored);
    const verdict = await runCli(restored, 'verify');
    await makeDue(restored);
    receiver.received.splice(0);
    receiver.answer = answerWith(204);
    const next = await ServiceProcess.spawn({ ...environment, DATABASE_URL: restored });
    try {
      await next.started();
      const look = (email: string) =>
        next.call('GET', `/api/v1/signup?waitlist_id=${waitlist_id}&email=${email}`, undefined, { agent });
      const missing = (await Promise.all(before.map(look))).filter(({ status }) => status !== 200);
      const { status } = await next.call('POST', '/api/v1/signup', { waitlist_id, email: 'after@example.com' });
      process.stdout.write(
        `${before.length} signups before the backup, ${during} while it ran; restored: ${verdict}\n`,
      );
      if (missing.length > 0 || status !== 200) throw new Error(`${missing.length} are missing; a signup: ${status}`);
      if (!(await runCli(restored, 'verify')).endsWith('all right'))
        throw new Error('The restored database has changed');
      await until(() => {
        const told = new Set(receiver.received.map(({ signup }) => (signup as { email: string }).email));
        return before.every((email) => told.has(email));
      });
      for (const message of receiver.received) verify(message, secret);
    } finally {
      next.signal('SIGKILL');
    }
  } finally {
    service.signal('SIGKILL');
    agent.destroy();
  }
}

const directory = await mkdtemp(join(tmpdir(), 'waitlist-restore-'));
const [live, restored] = await Promise.all([openDatabase(true), openDatabase(true)]);
const receiver = await Receiver.start();
try {
  // The embedded database is restored in place, a server's into an empty database.
  const place = live.url.startsWith('sqlite:') ? live.url : restored.url;
  await run(live.url, place, join(directory, 'backup'), receiver);
} finally {
  await receiver.stop();
  await Promise.all([live.drop(), restored.drop()]);
  await rm(directory, { recursive: true, force: true });
}
