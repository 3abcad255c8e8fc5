/**
 * The database fails in every way we know of, under load: what becomes of each operation, how fast, and how soon after its
 * return. Nothing that was answered may be lost.
 *   npm run test:faults [-- fault…]
 * It needs root, to make a disk that can be full, and DATABASE_PROGRAM (docs/scaling.md).
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { freePort, ServiceProcess, until } from '../support/service-process.js';
import { DatabaseServer, programFrom } from './database-server.js';
import { crowdsOf, endure } from './crowd.js';
import { EXPECTED, type Fault, openMatrix, report } from './matrix.js';
import { migrate, openWaitlist, Traffic } from './traffic.js';

const VISITORS = 4;
const DISK_SIZE = '700m';
const LASTS_MS = 5_000;
/** Longer than any deadline of ours, several times. */
const PAUSE_MS = 20_000;
/** The least that both servers take. */
const CONNECTIONS_MIN = 10;
const CONNECTIONS_MAX = 151;

const FLOOD_PROBES = 500;
/** One a second, on a machine that takes some seconds for so many probes. */
const FLOOD_STATEMENTS_MAX = 10;

const run = promisify(execFile);

function faultsOf(database: DatabaseServer, disk: string): Fault[] {
  const filler = join(disk, 'filler');
  const hogs: Connection[] = [];
  let root: Connection | undefined;
  return [
    {
      name: 'stopped',
      expected: EXPECTED.GONE,
      lastsMs: LASTS_MS,
      begin: () => database.stop(),
      end: () => database.start(),
    },
    {
      name: 'killed',
      expected: EXPECTED.GONE,
      lastsMs: LASTS_MS,
      begin: () => database.kill(),
      end: () => database.start(),
    },
    {
      name: 'hanging',
      expected: EXPECTED.GONE,
      lastsMs: PAUSE_MS,
      begin: () => database.signal('SIGSTOP'),
      end: () => database.signal('SIGCONT'),
    },
    {
      name: 'disk full',
      expected: EXPECTED.PASSING,
      lastsMs: LASTS_MS * 2,
      begin: async () => {
        const { bavail, bsize } = await statfs(disk);
        // More than fits, for the database fills it too.
        await writeFile(filler, Buffer.alloc((bavail + 1) * bsize)).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOSPC') throw error;
        });
      },
      // A server may give itself up for want of room; then it is started as a supervisor would.
      end: async () => {
        await rm(filler);
        await database.start();
      },
    },
    {
      name: 'connections used up',
      expected: EXPECTED.GONE,
      lastsMs: LASTS_MS,
      begin: async () => {
        // Root's own is one of those.
        root = await database.connectAsRoot();
        await root.query(`SET GLOBAL max_connections = ${CONNECTIONS_MIN}`);
        await until(async () => {
          for (let hog; (hog = await createConnection(database.url).catch(() => null)) !== null;) hogs.push(hog);
          const taken = new Set(hogs.map(({ threadId }) => threadId));
          const [all] = (await root?.query<RowDataPacket[]>('SHOW PROCESSLIST')) ?? [[]];
          const free = all.filter(({ Id, User }) => User === 'waitlist' && !taken.has(Id as number));
          // Some have ended by themselves since.
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

/** How many statements a flood of probes makes, of which the first may be answered from before. */
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

const directory = await mkdtemp(join(tmpdir(), 'waitlist-faults-'));
const disk = join(directory, 'disk');
await run('mkdir', [disk]);
await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE}`, 'tmpfs', disk]);
const database = new DatabaseServer(programFrom('DATABASE_PROGRAM'), join(disk, 'server'), await freePort());
let service: ServiceProcess | undefined;
try {
  await database.start();
  await migrate(database.url);
  const running = await ServiceProcess.spawn({ DATABASE_URL: database.url, RATE_LIMIT_LOGIN: '0' });
  service = running;
  await running.started();
  const matrix = await openMatrix(running, database.url);
  const traffic = new Traffic(() => [running], await openWaitlist(running));
  traffic.start(VISITORS);
  let wrong = 0;
  const asked = process.argv.slice(2);
  const isAsked = (name: string) => asked.length === 0 || asked.includes(name);
  for (const fault of faultsOf(database, disk)) {
    if (!isAsked(fault.name)) continue;
    wrong += report(fault.name, await matrix.endure(fault));
  }
  matrix.close();
  await traffic.stop();
  const statements = await flood(running, database);
  if (statements > FLOOD_STATEMENTS_MAX) wrong += 1;
  for (const crowd of crowdsOf(database)) {
    if (isAsked(crowd.name) && !(await endure(crowd, running, database.url))) wrong += 1;
  }
  const differences = await traffic.audit(running, database.url);
  const { signups, slowestMs } = traffic;
  const outcomes = Object.fromEntries([...traffic.outcomes].sort());
  process.stdout.write(
    `${JSON.stringify({ wrong, statements, signups, outcomes, slowestMs: Math.round(slowestMs), differences })}\n`,
  );
  process.exitCode = wrong === 0 && differences.length === 0 ? 0 : 1;
} finally {
  service?.signal('SIGKILL');
  await database.wipe();
  await run('umount', [disk]);
  await rm(directory, { recursive: true, force: true });
}
