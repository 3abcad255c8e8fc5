/**
 * Three replicas send events of people to two receivers. All sign up; every second is verified and offboarded. First
 * nothing fails: each event must arrive once. Then services and a receiver are killed: each event must arrive at least
 * once, again only with the same id and body. In both, the events of a person must arrive in their order.
 *   npm run test:events [-- --people 2501 --kills 12 --seed 1]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { reasonToRepeat } from '../src/platform/database/database-error.js';
import { toSqlTime } from '../src/platform/database/dialect.js';
import { withDataSource } from '../test/support/database.js';
import { type Received, Receiver, verify } from '../test/support/receiver.js';
import { freePort, Replica, until } from '../test/support/service-process.js';
import type { WebhookWithSecretDto } from '../src/webhook/webhook.dto.js';
import { migrate } from './support/command-line.js';
import { DatabaseServer } from './support/database-server.js';
import { openWaitlist } from './support/traffic.js';

const REPLICAS = 3;
const VISITORS = 8;
/**
 * The events of an offboarded person, in order. Other people have only the first, so a dispatcher makes its deliveries.
 */
const EVENTS = ['new_signup', 'verified_signup', 'offboarded_signup'];
/** People before the first kill. */
const CALM_SHARE = 0.3;
const LIFE_MAX_MS = 1_500;
const RECEIVER_DOWN_MS = 300;
/** A receiver thinks for so long, so that kills meet messages under way. */
const ANSWER_MS = 50;
/** Longer than the lease of a delivery. */
const LEASE_MAX_MS = 35_000;
const PAUSE_MS = 50;
const FAULTS_MAX = 10;

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '2501' },
    kills: { type: 'string', default: '12' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [people, kills, seed] = [Number(values.people), Number(values.kills), Number(values.seed)];
const offboarded = Math.ceil(people / 2);
/** The events of all people. */
const expected = people - offboarded + offboarded * EVENTS.length;

const directory = await mkdtemp(join(tmpdir(), 'waitlist-events-'));
const server = new DatabaseServer(join(directory, 'database'), await freePort());
const replicas: Replica[] = [];
const receivers: Receiver[] = [];
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await Promise.all(replicas.map((replica) => replica.kill()));
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  await server.wipe();
  await rm(directory, { recursive: true, force: true });
}

async function run(): Promise<boolean> {
  const startMs = performance.now();
  await server.start();
  await migrate(server.url);
  // One after the other, because the first makes the account.
  for (let count = 0; count < REPLICAS; count += 1) {
    const replica = new Replica({ DATABASE_URL: server.url, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' });
    replicas.push(replica);
    await replica.start();
  }
  const { waitlistId, token } = await openWaitlist(replicas[0]!.process);
  const secrets: string[] = [];
  const histories: Received[][] = [];
  for (let count = 0; count < 2; count += 1) {
    const receiver = await startReceiver();
    receivers.push(receiver);
    histories.push(receiver.received);
    const body = { url: receiver.url };
    const created = await replicas[0]!.process.call('POST', `/api/v1/waitlist/${waitlistId}/webhook`, body, { token });
    secrets.push((created.body as WebhookWithSecretDto).secret);
  }

  const calm = Math.round(people * CALM_SHARE);
  await serve(0, calm, waitlistId, token);
  await delivered();
  const repeated = histories.map((received) => received.length - new Set(received.map(({ id }) => id)).size);

  await Promise.all([killAll(), serve(calm, people, waitlistId, token)]);
  await delivered();

  const faults = histories.flatMap((received, index) => faultsOf(received, secrets[index]!));
  if (repeated.some((count) => count > 0)) faults.push(`${repeated.join(' and ')} repeated while nothing failed`);
  const messages = histories.reduce((sum, received) => sum + received.length, 0);
  const events = expected * histories.length;
  const seconds = Math.round((performance.now() - startMs) / 1000);
  process.stdout.write(
    `${events} events, ${messages - events} repeated, ${kills} kills, seed ${seed}, ${seconds} s: ${faults.slice(0, FAULTS_MAX).join('; ') || 'all right'}\n`,
  );
  return faults.length === 0;
}

/** Visitors share the people: each signs up, and every second is verified and offboarded. */
async function serve(from: number, to: number, waitlistId: number, token: string): Promise<void> {
  let next = from;
  await Promise.all(
    Array.from({ length: VISITORS }, async () => {
      for (let person = next++; person < to; person = next++) {
        const body = { waitlist_id: waitlistId, email: `person${person}@example.com` };
        const { uuid } = (await succeed('POST', '/api/v1/signup', body)) as { uuid: string };
        if (person % 2 === 1) continue;
        await succeed('PATCH', `/api/v1/signup/${uuid}`, { verified: true }, token);
        const turn = { waitlist_id: waitlistId, offboard_request: true, signups: [{ uuid }] };
        await succeed('PATCH', '/api/v1/signup', turn, token);
      }
    }),
  );
}

/** Repeats a call, which is safe to repeat, at any living replica until it is answered. */
async function succeed(method: string, path: string, body: object, token?: string): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    const { process } = replicas[attempt % REPLICAS]!;
    const answer = await process.callIfAlive(method, path, body, { token });
    if (answer?.status === 200) return answer.body;
    if (answer && answer.status !== 503) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    await setTimeout(PAUSE_MS);
  }
}

/** Kills services, one after the other in turn, and with each the first receiver for a moment. */
async function killAll(): Promise<void> {
  const lives = fc.sample(fc.integer({ min: 0, max: LIFE_MAX_MS }), { seed, numRuns: kills });
  for (const [index, life] of lives.entries()) {
    await setTimeout(life);
    const replica = replicas[index % REPLICAS]!;
    await replica.kill();
    await Promise.all([replica.start(), restartReceiver()]);
  }
}

async function restartReceiver(): Promise<void> {
  const [receiver] = receivers;
  const { port } = receiver!;
  await receiver!.stop();
  await setTimeout(RECEIVER_DOWN_MS);
  receivers[0] = await startReceiver(port, receiver!.received);
}

async function startReceiver(port?: number, received?: Received[]): Promise<Receiver> {
  const receiver = await Receiver.start(port, received);
  const { answer } = receiver;
  receiver.answer = (...message) => void setTimeout(ANSWER_MS).then(() => answer(...message));
  return receiver;
}

/**
 * Resolves when nothing is left to send. The leases of killed services end by themselves; later retries are made due.
 */
async function delivered(): Promise<void> {
  await withDataSource(server.url, async (database: DataSource) => {
    await until(async () => {
      const [now, afterLeases] = [new Date(), new Date(Date.now() + LEASE_MAX_MS)].map(toSqlTime);
      // It may meet a service's own write in a deadlock, and is then made again.
      await database
        .query('UPDATE delivery SET next_attempt_at = ? WHERE next_attempt_at > ?', [now, afterLeases])
        .catch((error: unknown) => {
          if (reasonToRepeat(error) === undefined) throw error;
        });
      const [row] = await database.query<[{ left: unknown }]>(
        "SELECT (SELECT COUNT(*) FROM signup_event) + (SELECT COUNT(*) FROM delivery WHERE status = 'pending') AS `left`",
      );
      return Number(row.left) === 0;
    });
  });
}

function faultsOf(received: readonly Received[], secret: string): string[] {
  const faults: string[] = [];
  const bodies = new Map<string, string>();
  const last = new Map<string, number>();
  for (const message of received) {
    verify(message, secret);
    const { id, body, event, signup } = message;
    if ((bodies.get(id) ?? body) !== body) faults.push(`${id} came with another body`);
    bodies.set(id, body);
    const { uuid } = signup as { uuid: string };
    const place = EVENTS.indexOf(event);
    const before = last.get(uuid) ?? -1;
    if (place !== before && place !== before + 1) faults.push(`${uuid}: ${event} after ${EVENTS[before] ?? 'nothing'}`);
    last.set(uuid, place);
  }
  if (bodies.size !== expected) faults.push(`${bodies.size} of ${expected} events`);
  return faults;
}
