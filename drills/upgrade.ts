/**
 * Upgrades a full table from v0.2.0 by a stop: its replica stops after traffic of every kind, with events that were not
 * delivered, and this build migrates. Everything that v0.2.0 answered must be there, its events arrive, its imports are
 * known, its exports are the same, and its people can be offered seats. Then it shows on another database that nothing
 * goes without the stop: `migrate` is refused and changes nothing while the replica runs. After `migrate --force`, the
 * replica answers every signup, lookup and offboarding with an error and changes nothing, and v0.2.0 does not start.
 *   npm run test:upgrade [-- records [commit]]
 * It needs a MySQL or MariaDB server in TEST_DATABASE_URL and makes databases of its own there.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as pathOf } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import type { Answer } from '../test/support/api.js';
import { openDatabase, withDataSource } from '../test/support/database.js';
import { answerWith, type Received, Receiver, verify as verifyMessage } from '../test/support/receiver.js';
import { OWNER, ServiceProcess, until } from '../test/support/service-process.js';
import { migrate, runCli, runCliIn, verify } from './support/command-line.js';
import { type EarlierBuild, earlierBuild } from './support/earlier-build.js';
import { openWaitlist, read, type TestWaitlist, Traffic } from './support/traffic.js';

const RECORDS = Number(process.argv[2] ?? 1_000_000);
const COMMIT = process.argv[3] ?? 'v0.2.0';
const VISITORS = 4;
const TRAFFIC_MS = 5_000;
/** On the waitlist with a webhook and an import. */
const IMPORTED = 300;
const JOINED = 20;
const LET_IN = 3;
const ENVIRONMENT = { SHUTDOWN_DELAY: '0', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' };

async function startEarlier({ root }: EarlierBuild, url: string): Promise<ServiceProcess> {
  return ServiceProcess.spawnIn(root, { DATABASE_URL: url, ...ENVIRONMENT }, 'dist/src/main.js');
}

async function upgrade(before: EarlierBuild, url: string, directory: string): Promise<void> {
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
  const receiver = await Receiver.start();
  const left = await leave(before, earlier, receiver, url, directory);
  await earlier.stop();

  const startMs = performance.now();
  await migrate(url);
  const tookMs = Math.round(performance.now() - startMs);
  await checkNewColumns(url);

  const service = await ServiceProcess.spawn({ DATABASE_URL: url, ...ENVIRONMENT });
  try {
    await service.started();
    await goesOn(service, tokens);
    await goesOnWith(left, service, receiver, url, directory);
    const name = `upgraded ${RECORDS} records from ${before.name} in ${tookMs} ms`;
    const isSound = await traffic.conclude(name, service, url);
    const next = read(await join(service, full, 'late@example.com'));
    if (!isSound || traffic.failures.size > 0 || next.priority !== RECORDS)
      throw new Error(`Something was lost; the next signup has priority ${next.priority}, not ${RECORDS}`);
    await letIn(service, full, next);
    await verify(url);
  } finally {
    await service.stop();
    await receiver.stop();
  }
}

/** What v0.2.0 leaves on a waitlist with an import and a webhook whose receiver refused everything. */
interface Left {
  readonly place: TestWaitlist;
  readonly webhookId: number;
  readonly secret: string;
  readonly since: string;
  readonly file: string;
  readonly exported: readonly Row[];
}

type Row = Readonly<Record<string, string>>;

async function leave(
  before: EarlierBuild,
  earlier: ServiceProcess,
  receiver: Receiver,
  url: string,
  directory: string,
): Promise<Left> {
  const place = await openWaitlist(earlier);
  const { waitlistId, apiKey, token } = place;
  const since = new Date().toISOString();
  const file = pathOf(directory, 'people.csv');
  await writeFile(file, people());
  await runCliIn(before.root, url, 'waitlist', 'import', String(waitlistId), file);
  receiver.answer = answerWith(503);
  const path = `/api/v1/waitlist/${waitlistId}/webhook`;
  const { id: webhookId, secret } = read(await earlier.call('POST', path, { url: receiver.url }, { token }));
  for (let index = 0; index < JOINED; index += 1) read(await join(earlier, place, `joined${index}@example.com`));
  const offboarding = { api_key: apiKey, offboard_request: true, offboard_next: LET_IN };
  read(await earlier.call('PATCH', '/api/v1/waiter', offboarding, { token }));
  const out = pathOf(directory, 'before.csv');
  await runCliIn(before.root, url, 'waitlist', 'export', String(waitlistId), out);
  return { place, webhookId, secret, since, file, exported: await rowsOf(out) };
}

/** A third of them are referred by the person before, and a tenth have been let in. */
function people(): string {
  const lines = Array.from({ length: IMPORTED }, (_, index) => {
    const minute = String(index % 60).padStart(2, '0');
    const joined = `2026-03-0${1 + Math.floor(index / 60)}T09:${minute}:00Z`;
    const referrer = index % 3 === 2 ? tokenOf(index - 1) : '';
    const removal = index % 10 === 9 ? '2026-04-01T09:00:00Z,0' : ',';
    return `imported${index}@example.com,${joined},${tokenOf(index)},${referrer},${removal}`;
  });
  return ['email,created_at,referral_token,referred_by,removed_date,removed_priority', ...lines, ''].join('\n');
}

const tokenOf = (index: number) => `TOKEN${String(index).padStart(7, '0')}`;

async function rowsOf(file: string): Promise<Row[]> {
  return parse<Row>(await readFile(file, 'utf8'), { columns: true });
}

async function goesOnWith(left: Left, service: ServiceProcess, receiver: Receiver, url: string, directory: string) {
  const { place, webhookId, secret, since, file, exported } = left;
  const out = pathOf(directory, 'after.csv');
  await runCli(url, 'waitlist', 'export', String(place.waitlistId), out);
  const rows = await rowsOf(out);
  const differing = exported.find((row, index) =>
    Object.entries(row).some(([column, value]) => rows[index]?.[column] !== value),
  );
  if (differing || rows.length !== exported.length) throw new Error(`Exported otherwise: ${JSON.stringify(differing)}`);

  const repeat = JSON.parse(await runCli(url, 'waitlist', 'import', String(place.waitlistId), file, '--json'));
  if (repeat.imported !== 0 || repeat.skipped !== IMPORTED)
    throw new Error(`The repeated import gave ${JSON.stringify(repeat)}`);

  const refused = receiver.received.splice(0);
  receiver.answer = answerWith(204);
  const path = `/api/v1/waitlist/${place.waitlistId}/webhook/${webhookId}/replay`;
  read(await service.call('POST', path, { since }, { token: place.token }));
  const byId = () => new Map(receiver.received.map((message) => [message.id, message]));
  await until(() => byId().size >= JOINED + LET_IN);
  for (const message of receiver.received) verifyMessage(message, secret);
  const isOther = ({ id, body }: Received) => byId().get(id)?.body !== body;
  const other = refused.find(isOther);
  if (other || byId().size > JOINED + LET_IN)
    throw new Error(`${byId().size} events of ${JOINED + LET_IN} came; changed: ${other?.body}`);
}

/** Nobody of before has a fact that v0.2.0 did not know, and each removal of before counts as a departure. */
async function checkNewColumns(url: string): Promise<void> {
  const [found]: Record<string, unknown>[] = await withDataSource(url, (dataSource) =>
    dataSource.query(
      `SELECT (SELECT COUNT(*) FROM waiter WHERE joined_priority IS NOT NULL OR removed_reason IS NOT NULL
         OR offer_expires_at IS NOT NULL) AS people,
       (SELECT COUNT(*) FROM waitlist WHERE offered <> 0 OR seats_taken <> 0 OR offers IS NOT NULL
         OR release_plan IS NOT NULL) AS waitlists,
       (SELECT COUNT(*) FROM waitlist_day WHERE departed <> offboarded
         OR offered + accepted + declined + expired <> 0) AS days,
       (SELECT COUNT(*) FROM offer) AS offers,
       (SELECT COUNT(*) FROM waitlist_day WHERE departed > 0) > 0 AS has_departures`,
    ),
  );
  const { has_departures: hasDepartures, ...unexpected } = found ?? {};
  if (!Number(hasDepartures) || Object.values(unexpected).some((count) => Number(count) !== 0))
    throw new Error(`After the migration: ${JSON.stringify(found)}`);
}

/** The people of before get offers, and come back to the places that they had. */
async function letIn(service: ServiceProcess, { waitlistId, token }: TestWaitlist, newest: Person): Promise<void> {
  const post = async (path: string, body: object) => read(await service.call('POST', path, body, { token }));
  const offers: Person[] = await post(`/api/v1/waitlist/${waitlistId}/offer`, { count: 2 });
  const [first, second] = offers;
  const code = String(first?.offer_url).split('/').at(-1);
  const { state } = await post('/api/v1/offer/accept', { code });
  const signups = [first, second].map((person) => ({ uuid: person?.uuid }));
  const back: Person[] = await post(`/api/v1/waitlist/${waitlistId}/return`, { signups });
  const path = `/api/v1/signup/place?waitlist_id=${waitlistId}&uuid=`;
  const [old, late] = [
    read(await service.call('GET', `${path}${first?.uuid}`)),
    read(await service.call('GET', `${path}${newest.uuid}`)),
  ];
  const found = [offers, back].map((some) => some.map(({ priority }) => priority));
  const facts = [state, ...found.flat(), old.joined_priority, late.joined_priority, late.priority];
  const expected = ['accepted', 0, 1, 0, 1, null, RECORDS, RECORDS];
  if (JSON.stringify(facts) !== JSON.stringify(expected))
    throw new Error(`Offers, returns and places gave ${JSON.stringify(facts)}, not ${JSON.stringify(expected)}`);
}

interface Person {
  readonly uuid: string;
  readonly priority: number;
  readonly offer_url?: string;
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
const directory = await mkdtemp(pathOf(tmpdir(), 'waitlist-upgrade-'));
try {
  for (const drill of [upgrade, refuseWithoutStop]) {
    const database = await openDatabase(true);
    try {
      await drill(before, database.url, directory);
    } finally {
      await database.drop();
    }
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
