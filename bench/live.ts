/**
 * `npm run bench:live`: the cost of open streams of live places. Measures, with and without them in turns, the signups
 * at full speed, and the processor time and memory of the service at a fixed rate of signups. With streams, the places
 * of all people change every few seconds, and the delay until each stream gets its event is measured.
 */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { describeConditions, requireDatabaseUrl } from './database.js';
import type { Load, Measured } from './load.js';
import { format, median, spread } from './report.js';
import { logIn, prepareSeeds } from './seeds.js';
import { readMetric, serviceEnvironment, startProcess, startService } from './service.js';
import type { WatcherMessage } from './watchers.js';

const SIZE = 10_000;
const JOIN_CONNECTIONS = 64;
const LOOKUPS_AT_ONCE = 32;
const RATIO_MIN = 0.9;

const { streams, perSecond, rounds, seconds } = new Command('bench:live')
  .option('--streams <count>', 'open streams', Number, 5_000)
  .option('--per-second <count>', 'the fixed rate of signups a second', Number, 200)
  .option('--rounds <count>', 'rounds of each', Number, 3)
  .option('--seconds <count>', 'duration of a load', Number, 20)
  .parse()
  .opts<{ streams: number; perSecond: number; rounds: number; seconds: number }>();

/** Signups a second at full speed; at the fixed rate, the cores and the memory that the service used. */
interface Cost {
  readonly joinedPerSecond: number;
  readonly cores: number;
  readonly mib: number;
}

const databaseUrl = requireDatabaseUrl();
const conditions = await describeConditions(databaseUrl);
const [seed] = await prepareSeeds(serviceEnvironment(databaseUrl), [Math.max(SIZE, 2 * streams)]);
if (!seed) throw new Error('There is no waitlist to watch');
// All streams come from one address.
const service = await startService(databaseUrl, [], {
  LIVE_CONNECTIONS: String(streams),
  RATE_LIMIT_EXEMPT: '127.0.0.1',
});
const generator = await startProcess<string>('load.ts', {});
const watchers = await startProcess<string>('watchers.ts', {});
try {
  const token = await logIn(service.url);
  const uuids = await uuidsOf(streams);
  const without: Cost[] = [];
  const withStreams: Cost[] = [];
  const delaysMs: number[] = [];
  let missed = 0;
  for (let round = 1; round <= rounds; round += 1) {
    without.push(await measure());
    await tell({ open: { url: service.url, waitlistId: seed.id, uuids } });
    const changing = change(token);
    withStreams.push(await measure());
    const seen = await changing;
    delaysMs.push(...seen.delaysMs);
    missed += seen.missed;
    await tell('close');
    process.stderr.write(`Round ${round} of ${rounds}\n`);
  }
  delaysMs.sort((one, other) => one - other);
  const ratios = withStreams.map(({ joinedPerSecond }, index) => joinedPerSecond / without[index]!.joinedPerSecond);
  const of = (costs: readonly Cost[], field: keyof Cost) => {
    const values = costs.map((cost) => cost[field]);
    return `${format(median(values))} (${spread(values)})`;
  };
  const delay = (share: number) => format((delaysMs[Math.floor((delaysMs.length - 1) * share)] ?? NaN) / 1000);
  process.stdout.write(
    [
      conditions,
      `Signups at ${JOIN_CONNECTIONS} connections: ${of(without, 'joinedPerSecond')} /s, ` +
        `with ${format(streams)} streams ${of(withStreams, 'joinedPerSecond')} /s: ` +
        `ratio ${format(median(ratios))} (${spread(ratios)}), target ≥ ${RATIO_MIN}`,
      `Cores of the service at ${perSecond} signups/s: ${of(without, 'cores')}, with streams ${of(withStreams, 'cores')}`,
      `Memory in MiB: ${of(without, 'mib')}, with streams ${of(withStreams, 'mib')}`,
      `A change reached a stream after ${delay(0.5)} s (median), ${delay(0.99)} s (99 %), ${delay(1)} s (all); ` +
        `${missed} of ${missed + delaysMs.length} not before the next change`,
    ].join('\n') + '\n',
  );
  process.exitCode = median(ratios) >= RATIO_MIN ? 0 : 1;
} finally {
  await Promise.all([service.stop(), generator.stop(), watchers.stop()]);
}

async function measure(): Promise<Cost> {
  const { perSecond: joinedPerSecond } = await load({ until: { seconds } });
  const before = await readMetric(service.url, 'process_cpu_seconds_total');
  const startedAtMs = performance.now();
  await load({ until: { seconds }, perSecond });
  const cores = (await readMetric(service.url, 'process_cpu_seconds_total')) - before;
  return {
    joinedPerSecond,
    cores: (cores * 1000) / (performance.now() - startedAtMs),
    mib: (await readMetric(service.url, 'process_resident_memory_bytes')) / 2 ** 20,
  };
}

/** During one measurement, lets the first person in, four times: the places of all others change. */
async function change(token: string) {
  const delaysMs: number[] = [];
  let missed = 0;
  for (let times = 0; times < 4; times += 1) {
    await tell('mark');
    const response = await fetch(`${service.url}/api/v1/waiter`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ api_key: seed!.apiKey, offboard_request: true, offboard_next: 1 }),
    });
    if (!response.ok) throw new Error(`An offboarding was answered ${response.status}`);
    await wait((seconds * 1000) / 2);
    for (const delayMs of (await tell('delays')) as (number | null)[]) {
      if (delayMs === null) missed += 1;
      else delaysMs.push(delayMs);
    }
  }
  return { delaysMs, missed };
}

async function load(kind: Pick<Load, 'until' | 'perSecond'>): Promise<Measured> {
  const { id: waitlistId, size } = seed!;
  generator.child.send({ ...kind, url: service.url, does: 'join', waitlistId, size, connections: JOIN_CONNECTIONS });
  const [measured] = (await once(generator.child, 'message')) as [Measured];
  const { 200: joined = 0, ...others } = measured.statuses;
  if (joined === 0 || Object.keys(others).length > 0)
    throw new Error(`Some signups were not answered 200: ${JSON.stringify(measured.statuses)}`);
  return measured;
}

async function tell(message: WatcherMessage): Promise<unknown> {
  watchers.child.send(message);
  const [answer] = (await once(watchers.child, 'message')) as [unknown];
  return answer;
}

/** People from the whole queue, who are not the next to be let in. */
async function uuidsOf(count: number): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, index) => Math.floor(((index + 0.5) / count) * seed!.size));
  const uuids: string[] = [];
  const work = async () => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
      const query = `waitlist_id=${seed!.id}&email=seed-${number}%40example.com`;
      const person = (await (await fetch(`${service.url}/api/v1/signup?${query}`)).json()) as {
        status: string;
        uuid: string;
      };
      if (person.status === 'waiting') uuids.push(person.uuid);
    }
  };
  await Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, work));
  return uuids;
}
