/**
 * `npm run bench:soak`: minutes of mixed load, over which the service's memory must stay flat. Then, with --mysqld-pid,
 * MySQL is paused during signups: the service must bound its waiting requests, stay alive, and have stored every signup
 * that it answered with 200.
 */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { findMissing, requireDatabaseUrl } from './database.js';
import type { Load, Measured } from './load.js';
import { prepareSeeds } from './seeds.js';
import {
  MEMORY_MAX_MIB,
  memoryTrend,
  type Service,
  serviceEnvironment,
  startProcess,
  startService,
} from './service.js';

const SIZE = 100_000;
const MEMORY_FLAT_MIB_PER_MINUTE = 1;
const STALL_MS = 20_000;
/** Seconds of load before and after the stall. */
const MARGIN_SECONDS = 10;
/** Nearly all connections that a process accepts; a few remain for probes. */
const STALL_CONNECTIONS = 9_900;
/** A bucket bound of the service's own histogram of durations. */
const LATE_SECONDS = 5;
const FINDERS = 16;
const JOINERS = 16;

const { minutes, mysqldPid } = new Command('bench:soak')
  .option('--minutes <count>', 'how long the mixed load lasts', Number, 10)
  .option('--mysqld-pid <pid>', 'process of a MySQL server on this machine, to pause for 20 s under load', Number)
  .parse()
  .opts<{ minutes: number; mysqldPid?: number }>();

const databaseUrl = requireDatabaseUrl();
const [seed] = await prepareSeeds(serviceEnvironment(databaseUrl), [SIZE]);
if (!seed) throw new Error('There is no waitlist to load');
const base = { waitlistId: seed.id, size: seed.size };
const faults: string[] = [];

if (minutes > 0) await withService(soak);
if (mysqldPid === undefined) process.stdout.write('Without --mysqld-pid, no stall was tried.\n');
else await withService((service) => stall(service, mysqldPid));

for (const fault of faults) process.stdout.write(`FAULT: ${fault}\n`);
process.exitCode = faults.length > 0 ? 1 : 0;

async function soak(service: Service): Promise<void> {
  const until = { seconds: minutes * 60 };
  const [found, joined] = await Promise.all([
    load({ ...base, url: service.url, does: 'find', connections: FINDERS, until }),
    load({ ...base, url: service.url, does: 'join', connections: JOINERS, until }),
  ]);
  const { maxMib, mibPerMinute } = memoryTrend(service.memory);
  process.stdout.write(
    `${minutes} min of ${Math.round(found.perSecond)} lookups/s and ${Math.round(joined.perSecond)} signups/s: ` +
      `${statusesOf(found)}; ${statusesOf(joined)}; memory at most ${maxMib.toFixed(0)} MiB, ` +
      `${mibPerMinute.toFixed(2)} MiB/min over the second half\n`,
  );
  if (maxMib >= MEMORY_MAX_MIB) faults.push(`memory reached ${maxMib.toFixed(0)} MiB`);
  if (mibPerMinute >= MEMORY_FLAT_MIB_PER_MINUTE) faults.push('memory rises');
  if (hasFailures(found) || hasFailures(joined)) faults.push('not all of the mixed load was answered 200');
}

async function stall(service: Service, pid: number): Promise<void> {
  const joining = load({
    ...base,
    url: service.url,
    does: 'join',
    connections: STALL_CONNECTIONS,
    until: { seconds: 2 * MARGIN_SECONDS + STALL_MS / 1000 },
    listsJoined: true,
  });
  await wait(MARGIN_SECONDS * 1000);
  process.kill(pid, 'SIGSTOP');
  try {
    await wait(STALL_MS);
    const { ok } = await fetch(`${service.url}/livez`);
    if (!ok) faults.push('the service was not alive during the stall');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  const measured = await joining;
  const missing = await findMissing(databaseUrl, base.waitlistId, measured.joined);
  const { maxMib } = memoryTrend(service.memory);
  const late = await countLate(service.url);
  process.stdout.write(
    `MySQL paused for ${STALL_MS / 1000} s under ${STALL_CONNECTIONS} connections that sign up: ${statusesOf(measured)}; ` +
      `${measured.joined.length} answered 200, ${missing.length} of them not stored; ` +
      `${late} answered later than ${LATE_SECONDS} s after they were read; memory at most ${maxMib.toFixed(0)} MiB\n`,
  );
  if (missing.length > 0) faults.push(`${missing.length} signups were answered 200 and not stored`);
  if (measured.joined.length === 0) faults.push('nothing was answered 200');
  const unexpected = Object.keys(measured.statuses).filter((status) => status !== '200' && status !== '503');
  if (unexpected.length > 0) faults.push(`answers other than 200 and 503: ${unexpected.join(', ')}`);
}

async function countLate(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const sum = (series: string) =>
    [...metrics.matchAll(new RegExp(`^http_request_duration_seconds_${series}.*\\} (\\d+)$`, 'gm'))].reduce(
      (total, [, count]) => total + Number(count),
      0,
    );
  return sum('count\\{') - sum(`bucket\\{le="${LATE_SECONDS}",`);
}

async function withService(trial: (service: Service) => Promise<void>): Promise<void> {
  const service = await startService(databaseUrl);
  try {
    await trial(service);
  } finally {
    await service.stop();
  }
}

async function load(load: Load): Promise<Measured> {
  const generator = await startProcess<string>('load.ts', {});
  try {
    generator.child.send(load);
    const [measured] = (await once(generator.child, 'message')) as [Measured];
    return measured;
  } finally {
    await generator.stop();
  }
}

function hasFailures({ statuses }: Measured): boolean {
  return Object.keys(statuses).some((status) => status !== '200');
}

function statusesOf({ statuses }: Measured): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ');
}
