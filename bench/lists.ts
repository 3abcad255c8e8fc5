/**
 * `npm run bench:lists`: what a signup costs on one busy waitlist against many, in processor time of the service and of
 * MySQL. The signups of one waitlist share transactions; those of many cannot.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describeConditions, requireDatabaseUrl } from './database.js';
import type { Load, Measured } from './load.js';
import { format, median, spread } from './report.js';
import { logIn, prepareSeeds } from './seeds.js';
import { readMetric, type Service, serviceEnvironment, startProcess, startService } from './service.js';

const CONNECTIONS = 64;
/** Linux counts the processor time of a process in hundredths of a second. */
const TICK_MS = 10;

const { lists, rounds, seconds, mysqldPid } = new Command('bench:lists')
  .option('--lists <count>', 'the many waitlists', Number, 2_000)
  .option('--rounds <count>', 'rounds of each', Number, 5)
  .option('--seconds <count>', 'duration of a round', Number, 5)
  .requiredOption('--mysqld-pid <pid>', 'process of the MySQL server on this machine', Number)
  .parse()
  .opts<{ lists: number; rounds: number; seconds: number; mysqldPid: number }>();

interface Cost {
  readonly perSecond: number;
  readonly serviceMs: number;
  readonly databaseMs: number;
}

const databaseUrl = requireDatabaseUrl();
const conditions = await describeConditions(databaseUrl);
await prepareSeeds(serviceEnvironment(databaseUrl), []);
const service = await startService(databaseUrl);
const generator = await startProcess<string>('load.ts', {});
const ids: number[] = [];
try {
  const headers = { authorization: `Bearer ${await logIn(service.url)}`, 'content-type': 'application/json' };
  while (ids.length <= lists) {
    const body = JSON.stringify({ waitlist_name: 'bench-lists' });
    const response = await fetch(`${service.url}/api/v1/waitlist`, { method: 'POST', headers, body });
    ids.push(((await response.json()) as { id: number }).id);
  }
  const contestants = { 'one waitlist': ids.slice(0, 1), [`${format(lists)} waitlists`]: ids.slice(1) };
  const costs = new Map<string, Cost[]>(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, waitlistIds] of Object.entries(contestants)) {
      const cost = await measure(service, waitlistIds);
      // The first round warms up.
      if (round > 0) costs.get(name)?.push(cost);
    }
    process.stderr.write(`Round ${round} of ${rounds}\n`);
  }
  process.stdout.write(`${conditions}\n`);
  for (const [name, measured] of costs) {
    const of = (field: keyof Cost) => {
      const values = measured.map((cost) => cost[field]);
      return `${format(median(values))} (${spread(values)})`;
    };
    process.stdout.write(
      `${name}: ${of('perSecond')} signups/s; a signup takes ${of('serviceMs')} ms of the service and ${of('databaseMs')} ms of MySQL\n`,
    );
  }
  for (const id of ids) await fetch(`${service.url}/api/v1/waitlist/${id}`, { method: 'DELETE', headers });
} finally {
  await Promise.all([service.stop(), generator.stop()]);
}

async function measure({ url }: Service, waitlistIds: readonly number[]): Promise<Cost> {
  const load: Load = {
    url,
    does: 'join',
    waitlistId: 0,
    waitlistIds,
    size: 0,
    connections: CONNECTIONS,
    until: { seconds },
  };
  const [serviceBefore, databaseBefore] = [await serviceTime(url), databaseTime()];
  generator.child.send(load);
  const [{ perSecond, statuses }] = (await once(generator.child, 'message')) as [Measured];
  const [serviceAfter, databaseAfter] = [await serviceTime(url), databaseTime()];
  const { 200: count = 0, ...others } = statuses;
  if (Object.keys(others).length > 0)
    throw new Error(`Some signups were not answered 200: ${JSON.stringify(statuses)}`);
  return {
    perSecond,
    serviceMs: (serviceAfter - serviceBefore) / count,
    databaseMs: (databaseAfter - databaseBefore) / count,
  };
}

async function serviceTime(url: string): Promise<number> {
  return (await readMetric(url, 'process_cpu_seconds_total')) * 1_000;
}

/** User and system time: the fields 14 and 15 of `stat`, of which the second is the name in parentheses. */
function databaseTime(): number {
  const fields = readFileSync(`/proc/${mysqldPid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
