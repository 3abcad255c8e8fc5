/**
 * Kills services and their database by a seeded schedule while people sign up and refer each other, the owner
 * offboards, corrects, advances, erases and reorders them, and waitlists are deleted. Every answered change must have
 * happened exactly once, all positions must be as earned, and all derived data must be right. It runs one process on a
 * server, three on a server, and one on the embedded database.
 *   npm run test:crash [-- --service-kills 250 --database-kills 50 --seed 1]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { freePort, Replica, until } from '../test/support/service-process.js';
import { DatabaseServer } from './support/database-server.js';
import { migrate } from './support/command-line.js';
import { openWaitlist, Traffic } from './support/traffic.js';

const VISITORS = 12;
/** A service is killed between its first request and full load. */
const SERVICE_LIFE_MAX_MS = 400;
/** Longer than a signup takes on a busy machine; and the server's timeout for a silent process, with a margin. */
const HELD_MIN_MS = 3_000;
const HELD_MAX_MS = 40_000;
const HANGS_MAX = 20;
/** Long enough for some services to return and work. */
const DATABASE_LIFE_MIN_MS = 500;
const DATABASE_LIFE_MAX_MS = 2_500;

interface Scene {
  readonly name: string;
  readonly services: number;
  readonly serviceKills: number;
  readonly databaseKills: number;
  readonly database: DatabaseServer | null;
  readonly url: string;
}

async function run({ name, services, serviceKills, databaseKills, database, url }: Scene, seed: number) {
  const startMs = performance.now();
  await migrate(url);
  const replicas = Array.from({ length: services }, () => new Replica({ DATABASE_URL: url }));
  try {
    // One after the other, because the first makes the account.
    for (const replica of replicas) await replica.start();
    const place = await openWaitlist((replicas[0] as Replica).process);
    const traffic = new Traffic(() => replicas.map(({ process }) => process), place);
    traffic.start(VISITORS);
    traffic.startReordering();
    traffic.startDeleting();
    const lives = fc.sample(fc.integer({ min: 0, max: SERVICE_LIFE_MAX_MS }), { seed, numRuns: serviceKills });
    const killServices = async (replica: Replica) => {
      for (let life = lives.pop(); life !== undefined; life = lives.pop()) {
        await setTimeout(life);
        await replica.kill();
        await replica.start();
      }
    };
    const databaseLife = fc.integer({ min: DATABASE_LIFE_MIN_MS, max: DATABASE_LIFE_MAX_MS });
    const killDatabase = async () => {
      for (const life of databaseKills > 0 ? fc.sample(databaseLife, { seed, numRuns: databaseKills }) : []) {
        await setTimeout(life);
        await database?.kill();
        await database?.start();
      }
    };
    await Promise.all([...replicas.map(killServices), killDatabase()]);
    await traffic.stop();

    const seconds = Math.round((performance.now() - startMs) / 1000);
    const figures = `${serviceKills} kills of the service, ${databaseKills} of its database, seed ${seed}, ${seconds} s`;
    return await traffic.conclude(`${name}: ${figures}`, (replicas[0] as Replica).process, url);
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill()));
  }
}

/**
 * Pauses one of two processes, most likely within a transaction, and measures how long the other waits for its locks.
 * If the pause fell between two transactions, there is nothing to wait for, and it tries again.
 */
async function hang(url: string): Promise<boolean> {
  await migrate(url);
  const replicas = [new Replica({ DATABASE_URL: url }), new Replica({ DATABASE_URL: url })] as const;
  const [hanging, other] = replicas;
  try {
    for (const replica of replicas) await replica.start();
    const place = await openWaitlist(other.process);
    let heldMs = 0;
    for (let tries = 0; tries < HANGS_MAX && heldMs < HELD_MIN_MS; tries += 1) {
      const traffic = new Traffic(() => [hanging.process], place, `hanging${tries}`);
      traffic.start(VISITORS);
      await until(() => traffic.signups > 0);
      hanging.process.signal('SIGSTOP');
      const startMs = performance.now();
      const body = { waitlist_id: place.waitlistId, email: `other${tries}@example.com` };
      await until(async () => (await other.process.call('POST', '/api/v1/signup', body)).status === 200);
      heldMs = performance.now() - startMs;
      hanging.process.signal('SIGCONT');
      await traffic.stop();
    }
    process.stdout.write(`a process that hangs in a transaction held up the others for ${Math.round(heldMs)} ms\n`);
    return heldMs >= HELD_MIN_MS && heldMs < HELD_MAX_MS;
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill()));
  }
}

const { values } = parseArgs({
  options: {
    'service-kills': { type: 'string', default: '250' },
    'database-kills': { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const serviceKills = Number(values['service-kills']);
const databaseKills = Number(values['database-kills']);
const seed = Number(values.seed);
const part = (whole: number, share: number) => Math.ceil(whole * share);

const directory = await mkdtemp(join(tmpdir(), 'waitlist-crash-'));
const one = new DatabaseServer(join(directory, 'one'), await freePort());
try {
  await one.start();
  const server = { database: one, url: one.url, databaseKills: part(databaseKills, 0.5) };
  const embedded = { database: null, url: `sqlite:${join(directory, 'waitlist.sqlite')}`, databaseKills: 0 };
  const results = [await hang(one.url)];
  if (serviceKills > 0)
    results.push(
      await run({ name: 'one process', services: 1, serviceKills: part(serviceKills, 0.4), ...server }, seed),
      await run({ name: 'three processes', services: 3, serviceKills: part(serviceKills, 0.4), ...server }, seed + 1),
      await run({ name: 'embedded', services: 1, serviceKills: part(serviceKills, 0.2), ...embedded }, seed + 2),
    );
  const isSound = results.every(Boolean);
  process.stdout.write(
    `${serviceKills} kills of services, ${databaseKills} of databases, seed ${seed}: ${isSound ? 'nothing' : 'SOMETHING'} lost, doubled or out of place\n`,
  );
  process.exitCode = isSound ? 0 : 1;
} finally {
  await one.wipe();
  await rm(directory, { recursive: true, force: true });
}
