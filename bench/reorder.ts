/**
 * `npm run bench:reorder`: the cost of changing spots_to_move_upon_referral, by the number of referrers. While others
 * sign up on the same waitlist, it measures how long the change takes, how long signups pause, the longest wait for an
 * answer, and how many signups get a 503.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { describeConditions, requireDatabaseUrl } from './database.js';
import { format, median, spread } from './report.js';
import { logIn, prepareSeeds, type Seed } from './seeds.js';
import { type Service, serviceEnvironment, startService } from './service.js';

/** 23 in 100 seeded people referred someone, which makes 10,000, 50,000 and 100,000. */
const SIZES = [43_350, 216_700, 433_400];
const WORTHS = [7, 2, 5];
const JOINERS = 16;
/** For how long only signups run, before and after each change. */
const MARGIN_MS = 1_000;

const databaseUrl = requireDatabaseUrl();
const conditions = await describeConditions(databaseUrl);
const seeds = await prepareSeeds(serviceEnvironment(databaseUrl), SIZES);
process.stdout.write(`${conditions}\n`);
const service = await startService(databaseUrl);
try {
  const token = await logIn(service.url);
  for (const seed of seeds) await measure(service, seed, token);
} finally {
  await service.stop();
}

async function measure({ url }: Service, seed: Seed, token: string): Promise<void> {
  const changes = [];
  for (const worth of WORTHS) changes.push(await change(url, seed, token, worth));
  const seconds = (values: readonly number[]) =>
    `${format(median(values) / 1000)} s (${spread(values.map((ms) => ms / 1000))})`;
  process.stdout.write(
    `${format(Math.max(...changes.map(({ moved }) => moved)))} moved of ${format(seed.size)}: ` +
      `the change took ${seconds(changes.map(({ tookMs }) => tookMs))}, ` +
      `signups paused for ${seconds(changes.map(({ pauseMs }) => pauseMs))}, ` +
      `the slowest signup took ${seconds(changes.map(({ waitMaxMs }) => waitMaxMs))}; ` +
      `answers in each: ${changes.map(({ statuses }) => JSON.stringify(statuses)).join(' ')}\n`,
  );
}

async function change(url: string, { id }: Seed, token: string, worth: number) {
  const joinedAtMs: number[] = [];
  const statuses: Record<string, number> = {};
  let waitMaxMs = 0;
  let isOver = false;
  const join = async (joiner: number) => {
    for (let number = 0; !isOver; number += 1) {
      const startMs = performance.now();
      const email = `reorder-${id}-${worth}-${joiner}-${number}-${Date.now()}@example.com`;
      const { status } = await send(url, 'POST', '/api/v1/signup', { waitlist_id: id, email });
      const endMs = performance.now();
      statuses[status] = (statuses[status] ?? 0) + 1;
      waitMaxMs = Math.max(waitMaxMs, endMs - startMs);
      if (status === 200) joinedAtMs.push(endMs);
    }
  };
  const joining = Promise.all(Array.from({ length: JOINERS }, (_, joiner) => join(joiner)));
  await wait(MARGIN_MS);
  const startMs = performance.now();
  const answer = await send(url, 'PATCH', `/api/v1/waitlist/${id}`, { spots_to_move_upon_referral: worth }, token);
  const tookMs = performance.now() - startMs;
  await wait(MARGIN_MS);
  isOver = true;
  await joining;
  if (answer.status !== 200) throw new Error(`The change was answered ${answer.status}: ${answer.text}`);
  const { records_moved: moved } = JSON.parse(answer.text) as { records_moved: number };
  const pauseMs = Math.max(...joinedAtMs.slice(1).map((atMs, index) => atMs - (joinedAtMs[index] as number)));
  return { moved, tookMs, pauseMs, waitMaxMs, statuses };
}

async function send(url: string, method: string, path: string, body: object, token?: string) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}
