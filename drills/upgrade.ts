/**
 * Upgrades a full table from v0.2.0 by a stop: its replica stops after traffic of every kind, this build migrates,
 * and everything that v0.2.0 answered must be there. Then it shows on another database that nothing goes without the
 * stop: `migrate` is refused and changes nothing while the replica runs. After `migrate --force`, the replica answers
 * every signup, lookup and offboarding with an error and changes nothing, and v0.2.0 does not start.
 *   npm run test:upgrade [-- records [commit]]
 * It needs a MySQL or MariaDB server in TEST_DATABASE_URL and makes databases of its own there.
 */
import { setTimeout } from 'node:timers/promises';
import type { Answer } from '../test/support/api.js';
import { openDatabase, withDataSource } from '../test/support/database.js';
import { OWNER, ServiceProcess } from '../test/support/service-process.js';
import { migrate, runCli, runCliIn, verify } from './support/command-line.js';
import { type EarlierBuild, earlierBuild } from './support/earlier-build.js';
import { openWaitlist, read, type TestWaitlist, Traffic } from './support/traffic.js';

const RECORDS = Number(process.argv[2] ?? 1_000_000);
const COMMIT = process.argv[3] ?? 'v0.2.0';
const VISITORS = 4;
const TRAFFIC_MS = 5_000;

async function startEarlier({ root }: EarlierBuild, url: string): Promise<ServiceProcess> {
  return ServiceProcess.spawnIn(root, { DATABASE_URL: url, SHUTDOWN_DELAY: '0' }, 'dist/src/main.js');
}

async function upgrade(before: EarlierBuild, url: string): Promise<void> {
  await runCliIn(before.root, url, 'migrate');
  const earlier = await startEarlier(before, url);
  await earlier.started();
  const full = await openWaitlist(earlier);
  await runCliIn(before.root, url, 'waitlist', 'seed', String(full.waitlistId), '--count', String(RECORDS));
  const traffic = new Traffic(() => [earlier], await openWaitlist(earlier));
  traffic.start(VISITORS);
  await setTimeout(TRAFFIC_MS);
  await traffic.stop();
  const tokens = await logIn(earlier);
  await earlier.stop();

  const startMs = performance.now();
  await migrate(url);
  const tookMs = Math.round(performance.now() - startMs);

  const service = await ServiceProcess.spawn({ DATABASE_URL: url, SHUTDOWN_DELAY: '0' });
  try {
    await service.started();
    await goesOn(service, tokens);
    const name = `upgraded ${RECORDS} records from ${before.name} in ${tookMs} ms`;
    const isSound = await traffic.conclude(name, service, url);
    const next = read(await join(service, full, 'late@example.com'));
    if (!isSound || traffic.failures.size > 0 || next.priority !== RECORDS)
      throw new Error(`Something was lost; the next signup has priority ${next.priority}, not ${RECORDS}`);
  } finally {
    await service.stop();
  }
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

async function logIn(service: ServiceProcess): Promise<Tokens> {
  return read(await service.call('POST', '/api/v1/auth/create_tokens', OWNER));
}

/** The account's first member goes on with the tokens of before, and with the password. */
async function goesOn(service: ServiceProcess, { access_token, refresh_token }: Tokens): Promise<void> {
  const get = async (path: string, token: string) => read(await service.call('GET', path, undefined, { token }));
  const members = await get('/api/v1/member', access_token);
  const { access_token: next } = await get('/api/v1/auth/refresh_access_token', refresh_token);
  const own = [
    await get('/api/v1/member/me', next),
    await get('/api/v1/member/me', (await logIn(service)).access_token),
  ];
  const { id } = await get('/api/v1/account', next);
  const isSound = members.length === 1 && members[0].email === OWNER.email && members[0].role === 'owner';
  if (!isSound || [...members, ...own].some((member) => member.id !== id))
    throw new Error(`The account ${id} has the members ${JSON.stringify(members)}`);
}

async function refuseWithoutStop(before: EarlierBuild, url: string): Promise<void> {
  await runCliIn(before.root, url, 'migrate');
  const earlier = await startEarlier(before, url);
  await earlier.started();
  const place = await openWaitlist(earlier);
  const { email } = read(await join(earlier, place, 'first@example.com'));
  const [waiter] = read(await list(earlier, place));

  const atFirst = await contents(url);
  const refusal = await runCli(url, 'migrate').then(() => 'migrated', String);
  if (!refusal.includes('Stop all replicas')) throw new Error(`Not refused: ${refusal}`);
  if ((await contents(url)) !== atFirst) throw new Error('A refused migration changed the database');
  read(await join(earlier, place, 'second@example.com'));

  await runCli(url, 'migrate', '--force');
  const migrated = await contents(url);
  const path = `/api/v1/signup?waitlist_id=${place.waitlistId}&email=${email}`;
  const offboarding = { api_key: place.apiKey, offboard_request: true, waiters: [{ id: waiter.id }] };
  const answers = [
    await join(earlier, place, 'third@example.com'),
    await join(earlier, place, 'first@example.com'),
    await earlier.call('GET', path),
    await list(earlier, place),
    await earlier.call('PATCH', '/api/v1/waiter', offboarding, { token: place.token }),
  ].map(({ status }) => status);
  if (answers.some((status) => status < 500)) throw new Error(`${before.name} answered ${answers.join(' ')}`);
  await earlier.stop();
  const late = await startEarlier(before, url);
  if ((await late.exit) === 0) throw new Error(`${before.name} started on the new schema`);
  if ((await contents(url)) !== migrated) throw new Error(`${before.name} changed the new schema`);
  await verify(url);
  process.stdout.write(
    `without a stop: migrate was refused and changed nothing; forced, ${before.name} answered ${answers.join(' ')}, changed nothing, and did not start again; verified\n`,
  );
}

function join(service: ServiceProcess, { waitlistId }: TestWaitlist, email: string): Promise<Answer> {
  return service.call('POST', '/api/v1/signup', { waitlist_id: waitlistId, email });
}

function list(service: ServiceProcess, { apiKey, token }: TestWaitlist): Promise<Answer> {
  return service.call('GET', `/api/v1/waiter?api_key=${apiKey}`, undefined, { token });
}

/** The checksums of all tables. */
function contents(url: string): Promise<string> {
  return withDataSource(url, async (dataSource) => {
    const tables = await dataSource.query<{ name: string }[]>(
      'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name',
    );
    return JSON.stringify(await dataSource.query(`CHECKSUM TABLE ${tables.map(({ name }) => name).join(', ')}`));
  });
}

if (!process.env.TEST_DATABASE_URL) throw new Error('TEST_DATABASE_URL: a MySQL or MariaDB server is needed');
const before = await earlierBuild(COMMIT);
for (const drill of [upgrade, refuseWithoutStop]) {
  const database = await openDatabase(true);
  try {
    await drill(before, database.url);
  } finally {
    await database.drop();
  }
}
