/**
 * Breaks the database in every known way under load, and checks how each operation ends, how fast, and how soon it
 * works again. No answered change may be lost.
 *   npm run test:faults [-- fault…]
 * The full disk needs root, to mount a small one.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Answer } from '../test/support/api.js';
import { freePort, ServiceProcess, until } from '../test/support/service-process.js';
import { DatabaseServer } from './support/database-server.js';
import { crowdsOf, endure } from './support/crowd.js';
import { chosen, endureAll, EXPECTED, type Fault, Matrix } from './support/matrix.js';
import { migrate } from './support/command-line.js';

const DISK_FULL = 'disk full';
const DISK_SIZE = '700m';
const LASTS_MS = 5_000;
/** Several times longer than any deadline of the service. */
const PAUSE_MS = 20_000;
/** A slow server pauses for most of a deadline and then runs for a moment, which is too short for a whole request. */
const STILL_MS = 2_500;
const RUNNING_MS = 5;
/** The minimum of both servers. */
const CONNECTIONS_MIN = 10;
const CONNECTIONS_MAX = 151;

const FLOOD_PROBES = 500;
/** One a second, on a machine that takes seconds for the probes. */
const FLOOD_STATEMENTS_MAX = 10;

const run = promisify(execFile);

/** `fillsRoom` is a signup that fails when the disk is full; `hasLog` tells whether the server has a binary log. */
function faultsOf(
  database: DatabaseServer,
  disk: string,
  { fillsRoom, hasLog }: { readonly fillsRoom: () => Promise<Answer>; readonly hasLog: boolean },
): Fault[] {
  const filler = join(disk, 'filler');
  const hogs: Connection[] = [];
  let root: Connection | undefined;
  let speedUp: () => Promise<void>;
  const gone = { expected: EXPECTED.GONE, lastsMs: LASTS_MS };
  return [
    { ...gone, name: 'stopped', begin: () => database.stop(), end: () => database.start() },
    { ...gone, name: 'killed', begin: () => database.kill(), end: () => database.start() },
    {
      ...gone,
      name: 'hanging',
      lastsMs: PAUSE_MS,
      begin: () => database.signal('SIGSTOP'),
      end: () => database.signal('SIGCONT'),
    },
    {
      name: 'slow',
      expected: EXPECTED.PASSING,
      lastsMs: LASTS_MS * 2,
      begin: async () => (speedUp = slowDown(database)),
      end: () => speedUp(),
    },
    {
      name: DISK_FULL,
      expected: hasLog ? EXPECTED.LOG_FULL : EXPECTED.TABLES_FULL,
      lastsMs: LASTS_MS * 2,
      begin: async () => {
        const { bavail, bsize } = await statfs(disk);
        // More than fits, because the database writes too.
        await writeFile(filler, Buffer.alloc((bavail + 1) * bsize)).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOSPC') throw error;
        });
        // The database uses up its reserved space first.
        await until(async () => (await fillsRoom()).status === 503);
      },
      // A server may stop without space; a supervisor would start it again.
      end: async () => {
        await rm(filler);
        await database.start();
      },
    },
    {
      ...gone,
      name: 'connections used up',
      begin: async () => {
        // Including root's own.
        root = await database.connectAsRoot();
        await root.query(`SET GLOBAL max_connections = ${CONNECTIONS_MIN}`);
        await until(async () => {
          for (let hog; (hog = await createConnection(database.url).catch(() => null)) !== null;) hogs.push(hog);
          const taken = new Set(hogs.map(({ threadId }) => threadId));
          const [all] = (await root?.query<RowDataPacket[]>('SHOW PROCESSLIST')) ?? [[]];
          const free = all.filter(({ Id, User }) => User === 'waitlist' && !taken.has(Id as number));
          // Some have ended meanwhile.
          for (const { Id } of free) await root?.query(`KILL ${Id}`).catch(() => undefined);
          return free.length === 0 && hogs.length === CONNECTIONS_MIN - 1;
        });
      },
      end: async () => {
        for (const hog of hogs.splice(0)) hog.destroy();
        await root?.query(`SET GLOBAL max_connections = ${CONNECTIONS_MAX}`);
        await root?.end();
      },
    },
    {
      name: 'read-only',
      expected: EXPECTED.READ_ONLY,
      lastsMs: LASTS_MS,
      begin: () => database.asRoot('SET GLOBAL read_only = 1'),
      end: () => database.asRoot('SET GLOBAL read_only = 0'),
    },
  ];
}

/** Returns the function that ends it. */
function slowDown(database: DatabaseServer): () => Promise<void> {
  const over = new AbortController();
  const slow = async () => {
    while (!over.signal.aborted) {
      await database.signal('SIGSTOP');
      await setTimeout(STILL_MS);
      await database.signal('SIGCONT');
      await setTimeout(RUNNING_MS);
    }
  };
  const done = slow();
  // The returned function throws a failure.
  done.catch(() => undefined);
  return async () => {
    over.abort();
    await done;
  };
}

/** How many statements a flood of probes causes; the first flood may be answered from the cache. */
async function flood(service: ServiceProcess, database: DatabaseServer): Promise<number> {
  const root = await database.connectAsRoot();
  const updates = async () => {
    const [[row]] = await root.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'Com_update'");
    return Number(row?.Value);
  };
  const before = await updates();
  let statements = 0;
  while (statements === 0) {
    await Promise.all(Array.from({ length: FLOOD_PROBES }, () => service.call('GET', '/readyz')));
    statements = (await updates()) - before;
  }
  await root.end();
  return statements;
}

const names = process.argv.slice(2);
const needsDisk = names.length === 0 || names.includes(DISK_FULL);
const directory = await mkdtemp(join(tmpdir(), 'waitlist-faults-'));
const disk = join(directory, 'disk');
await run('mkdir', [disk]);
if (needsDisk) await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE}`, 'tmpfs', disk]);
const database = new DatabaseServer(join(disk, 'server'), await freePort());
let service: ServiceProcess | undefined;
try {
  await database.start();
  await migrate(database.url);
  const running = await ServiceProcess.spawn({
    DATABASE_URL: database.url,
    RATE_LIMIT_LOGIN: '0',
    // All clients share one address, as behind a proxy.
    TRUST_PROXY: '127.0.0.1',
  });
  service = running;
  await running.started();
  const matrix = await Matrix.open(running, database.url);
  const scene = { fillsRoom: () => matrix.call('createSignup'), hasLog: await database.hasLog() };
  const asked = chosen([...faultsOf(database, disk, scene), ...crowdsOf(database)], names);
  const faults = asked.filter((one) => 'expected' in one);
  let isSound = await endureAll(basename(DatabaseServer.program), matrix, faults, [running], database.url);
  for (const one of asked) if ('connections' in one) isSound = (await endure(one, running, database.url)) && isSound;
  const statements = await flood(running, database);
  process.stdout.write(`${statements} statements for ${FLOOD_PROBES} probes at once\n`);
  process.exitCode = isSound && statements <= FLOOD_STATEMENTS_MAX ? 0 : 1;
} finally {
  service?.signal('SIGKILL');
  await database.wipe();
  if (needsDisk) await run('umount', [disk]);
  await rm(directory, { recursive: true, force: true });
}
