/**
 * `npm run bench`: the targets of the service as ratios against hand-written rivals, measured in the same run on the
 * same machine and database. Contestants take turns within each round, and a ratio is the median over the rounds: other
 * load on the machine affects all of them alike.
 */
import { once } from 'node:events';
import { cpus } from 'node:os';
import { Command } from 'commander';
import type * as configModule from '../src/platform/config/config.js';
import { dropMails, readConditions, requireDatabaseUrl } from './database.js';
import type { Load, Measured } from './load.js';
import {
  type CostPoint,
  drawChart,
  format,
  median,
  ratioRow,
  type Report,
  type Row,
  spread,
  type Target,
  toMarkdown,
  writeReport,
} from './report.js';
import type { RivalName, RivalOptions } from './rivals.js';
import { logIn, prepareSeeds, type Seed } from './seeds.js';
import {
  built,
  MEMORY_MAX_MIB,
  memoryTrend,
  type Server,
  serviceEnvironment,
  startProcess,
  startService,
} from './service.js';

const FIND_CONNECTIONS = 32;
const JOIN_CONNECTIONS = 64;
/** For cost by size: enough connections to keep the machine busy, too few to queue for long. */
const COST_CONNECTIONS = 8;
const MILLION = 1_000_000;
/** Requests to a list of this size must cost about as much as at ten thousand. */
const COST_SIZE = 10 * MILLION;
/** Few enough that a waitlist of 10,000 keeps its size. */
const COST_JOINS = 500;
const WARM_UP_SECONDS = 3;
/**
 * A rival that counts answers this many requests instead of running for a time: unfinished counts would keep the
 * database busy while the next contestant is measured.
 */
const COUNTED_REQUESTS = 64;
/**
 * Throughput against a rival, or latency for a lone signup and for pages. One process on two cores does not reach 1.5
 * times the signups of the lean INSERT, because its single thread is busy with HTTP. A page within three times the bare
 * LIMIT is out of reach: to read whole records costs that alone.
 */
const TARGETS = {
  lookup: { atLeast: 0.9, size: MILLION },
  leanLookup: { atLeast: 0.75, size: MILLION },
  counted: { atLeast: 100, size: MILLION },
  signup: { atLeast: 1.4 },
  leanSignup: { atLeast: 1.1 },
  alone: { atMost: 2.6 },
  hostedPage: { atLeast: 0.5 },
  joinedPage: { atMost: 4.7 },
  queuePage: { atMost: 4.2 },
  events: { atLeast: 0.9 },
  mails: { atLeast: 0.85 },
} as const;
const DEEP_OFFSET = MILLION;
const PAGE = 100;
/** What the desk asks for when it searches by name. */
const NAMES_PAGE = 50;
/** Records that follow the start of a later page: enough to fill it. */
const LAST_PEOPLE = 1_000;

const { quick, large, mails, rounds, seconds } = new Command('bench')
  .description('Measures the service against hand-written rivals that run beside it.')
  .option('--quick', 'a smoke run: two small waitlists and short rounds', false)
  .option('--large', 'add a waitlist of ten million, which takes a while to seed', false)
  .option('--mails', 'measure signups with a mail only', false)
  .option('--rounds <count>', 'rounds of each comparison', Number, 5)
  .option('--seconds <count>', 'duration of a contestant in a round', Number, 5)
  .parse()
  .opts<{ quick: boolean; large: boolean; mails: boolean; rounds: number; seconds: number }>();
const ROUNDS = quick ? 2 : rounds;
const SECONDS = quick ? 1 : seconds;
const SIZES = mails
  ? [10_000]
  : quick
    ? [10_000, 100_000]
    : [10_000, 100_000, 1_000_000, ...(large ? [10_000_000] : [])];

type Contestants<Name extends string> = Readonly<Record<Name, Load>>;
type Rounds<Name extends string> = Readonly<Record<Name, Measured[]>>;

const databaseUrl = requireDatabaseUrl();
const { settings, isDurable } = await readConditions(databaseUrl);
say(
  `Database: ${Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}`,
);
if (!isDurable) say('WARNING: commits are not durable here, so signups are faster than in production.');
say(`Waitlists of ${SIZES.map(format).join(', ')}…`);
const seeds = await prepareSeeds(serviceEnvironment(databaseUrl), SIZES);
const smallest = seeds[0] as Seed;
const largest = seeds.at(-1) as Seed;
/** Rivals are compared at a million or less. */
const usual = seeds.findLast(({ size }) => size <= MILLION) as Seed;

const { readConfig } = await built<typeof configModule>('platform/config/config.js');
const config = readConfig(serviceEnvironment(databaseUrl));
const poolSize = config.database.kind === 'mysql' ? config.database.poolSize : 0;
const mailServer = await startProcess<string>('mail-server.ts', {});
const service = await startService(databaseUrl, [], {
  SMTP_URL: mailServer.greeting,
  MAIL_FROM: 'bench@example.com',
  // The bounds of mails count networks, and all clients share one.
  RATE_LIMIT_EXEMPT: '127.0.0.1',
});
const generator = await startProcess<string>('load.ts', {});
const rivals = new Map<RivalName, Server>();
const NAMES = [
  'lookup',
  'lookup-and-count',
  'insert',
  'insert-and-count',
  'page',
  'lean-lookup',
  'lean-insert',
] as const;
for (const name of NAMES) {
  const options: RivalOptions = { name, databaseUrl, poolSize };
  const { greeting: url, stop } = await startProcess<string>('rivals.ts', options);
  rivals.set(name, { url, stop });
}

const rows: Row[] = [];
const costs: CostPoint[] = [];
try {
  if (!mails) {
    await measureLookups();
    await measureSignups();
    await measureCostBySize();
    await measureHostedPage();
    await measurePages();
    await measureEvents();
  }
  await measureMails();
  measureMemory();
} finally {
  await Promise.all([service, generator, mailServer, ...rivals.values()].map((server) => server.stop()));
}
const report: Report = {
  at: new Date().toISOString(),
  conditions: {
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node.js ${process.versions.node}`,
    rounds: `${ROUNDS} of ${SECONDS} s a contestant`,
    'pool size': poolSize,
    durable: isDurable ? 'yes' : 'NO',
    ...settings,
  },
  rows,
  costs,
};
await writeReport(mails ? 'mails' : quick ? 'quick' : 'latest', report);
if (!quick) await drawChart(costs);
process.stdout.write(`\n${toMarkdown(report)}`);

async function measureLookups(): Promise<void> {
  const load = { ...base(usual), does: 'find', connections: FIND_CONNECTIONS } as const;
  const measured = await compare(`GET /signup at ${FIND_CONNECTIONS} connections`, {
    service: load,
    lookup: { ...load, url: urlOf('lookup') },
    lean: { ...load, url: urlOf('lean-lookup') },
    count: { ...load, url: urlOf('lookup-and-count'), until: { requests: COUNTED_REQUESTS } },
  });
  const what = `GET /signup, ${format(usual.size)} people, ${FIND_CONNECTIONS} connections: throughput against`;
  rows.push(throughputRow(`${what} the point lookup alone`, TARGETS.lookup, measured.service, measured.lookup));
  rows.push(throughputRow(`${what} the lean point lookup`, TARGETS.leanLookup, measured.service, measured.lean));
  rows.push(throughputRow(`${what} the lookup with COUNT(*)`, TARGETS.counted, measured.service, measured.count));
}

async function measureHostedPage(): Promise<void> {
  const load = { ...base(usual), does: 'find', connections: FIND_CONNECTIONS } as const;
  const path = `/waitlist/${usual.id}`;
  const measured = await compare('GET /waitlist/{id}', { page: { ...load, does: { path } }, lookup: load });
  const what = `Hosted page, ${FIND_CONNECTIONS} connections: throughput against GET /signup`;
  rows.push(throughputRow(what, TARGETS.hostedPage, measured.page, measured.lookup));
}

async function measureSignups(): Promise<void> {
  const load = { ...base(usual), does: 'join', connections: JOIN_CONNECTIONS } as const;
  const measured = await compare(`POST /signup at ${JOIN_CONNECTIONS} connections`, {
    service: load,
    insert: { ...load, url: urlOf('insert') },
    lean: { ...load, url: urlOf('lean-insert') },
    count: { ...load, url: urlOf('insert-and-count'), until: { requests: COUNTED_REQUESTS } },
  });
  const what = `POST /signup, ${JOIN_CONNECTIONS} connections: throughput against`;
  rows.push(throughputRow(`${what} one autocommitted INSERT`, TARGETS.signup, measured.service, measured.insert));
  rows.push(throughputRow(`${what} the lean INSERT`, TARGETS.leanSignup, measured.service, measured.lean));
  rows.push(
    throughputRow(
      `${what} INSERT and COUNT(*), ${format(usual.size)} people`,
      TARGETS.counted,
      measured.service,
      measured.count,
    ),
  );

  const alone = { ...load, connections: 1 };
  const {
    service: own,
    insert,
    lean,
  } = await compare('POST /signup at 1 connection', {
    service: alone,
    insert: { ...alone, url: urlOf('insert') },
    lean: { ...alone, url: urlOf('lean-insert') },
  });
  rows.push(latencyRow('One signup at a time: p50 against one INSERT', TARGETS.alone, usual.size, own, insert));
  rows.push(latencyRow('One signup at a time: p50 against the lean INSERT', TARGETS.alone, usual.size, own, lean));
}

async function measureCostBySize(): Promise<void> {
  const find = (seed: Seed): Load => ({ ...base(seed), does: 'find', connections: COST_CONNECTIONS });
  const join = (seed: Seed): Load => ({ ...find(seed), does: 'join', until: { requests: COST_JOINS } });
  const series: readonly [string, (seed: Seed) => Load][] = [
    ['GET /signup', find],
    ['POST /signup', join],
    ['rival: lookup, no position', (seed) => ({ ...find(seed), url: urlOf('lookup') })],
    [
      'rival: lookup and COUNT(*)',
      (seed) => ({ ...find(seed), url: urlOf('lookup-and-count'), until: { requests: COUNTED_REQUESTS } }),
    ],
  ];
  for (const [name, loadOf] of series) {
    const loads = Object.fromEntries(seeds.map((seed) => [seed.size, loadOf(seed)]));
    const measured = await compare(`${name} by size`, loads);
    for (const { size } of seeds) {
      const ms = (measured[size] ?? []).map(({ p50Ms }) => p50Ms);
      costs.push({ series: name, size, p50Ms: median(ms), lowestMs: Math.min(...ms), highestMs: Math.max(...ms) });
    }
    if (name.startsWith('rival')) continue;
    const what = `${name}: p50 at ${format(largest.size)} against ${format(smallest.size)}`;
    const target = { atMost: 1.2, size: COST_SIZE };
    rows.push(latencyRow(what, target, largest.size, measured[largest.size] ?? [], measured[smallest.size] ?? []));
  }
}

async function measurePages(): Promise<void> {
  const authorization = `Bearer ${await logIn(service.url)}`;
  const offset = Math.min(DEEP_OFFSET, largest.size - PAGE);
  const page = (query: string, limit = PAGE): Load => ({
    ...base(largest),
    connections: 1,
    does: {
      path: `/api/v1/waiter?limit=${limit}${query}`,
      headers: { authorization, 'api-key': largest.apiKey },
    },
  });
  for (const order of ['joined', 'queue']) {
    const { first, deep } = await compare(`Pages, order=${order}`, {
      first: page(`&order=${order}&offset=0`),
      deep: page(`&order=${order}&offset=${offset}`),
    });
    const what = `Page of ${PAGE}, order=${order}: p50 at offset ${format(offset)} against 0`;
    rows.push(latencyRow(what, { atMost: 1.5, size: DEEP_OFFSET }, largest.size, deep, first));
  }
  // As the desk's table turns pages: after a person far into the queue, and far into the results of a search by prefix.
  const response = await fetch(`${service.url}/api/v1/waiter?email=seed-${largest.size - LAST_PEOPLE}@example.com`, {
    headers: { authorization, 'api-key': largest.apiKey },
  });
  const [{ id }] = (await response.json()) as [{ id: number }];
  for (const [name, view] of [
    ['the queue', 'order=queue'],
    ['a search', 'search=seed-9'],
  ] as const) {
    const { first, later } = await compare(`The desk's pages of ${name}`, {
      first: page(`&${view}&include_referrer=true`),
      later: page(`&${view}&include_referrer=true&after_id=${id}`),
    });
    rows.push(
      latencyRow(
        `The desk's table, ${name}: p50 of a later page against the first`,
        { atMost: 1.5, size: MILLION },
        largest.size,
        later,
        first,
      ),
    );
  }
  const { first, named } = await compare("The desk's pages by name", {
    first: page('&order=queue&include_referrer=true'),
    named: page('&name=berg+anna&include_referrer=true', NAMES_PAGE),
  });
  const search = `The desk's table, ${NAMES_PAGE} by name: p50 against ${PAGE} of the queue`;
  rows.push(latencyRow(search, { atMost: 1.5, size: MILLION }, largest.size, named, first));
  const measured = await compare('Pages against LIMIT', {
    joined: page(''),
    queue: page(`&order=queue&offset=${PAGE}`),
    limit: { ...page(''), url: urlOf('page'), does: { path: `/page?waitlist_id=${largest.id}` } },
  });
  const what = `Page of ${PAGE} with priorities: p50 against the bare LIMIT ${PAGE}`;
  rows.push(latencyRow(what, TARGETS.joinedPage, largest.size, measured.joined, measured.limit));
  rows.push(latencyRow(`${what}, in queue order`, TARGETS.queuePage, largest.size, measured.queue, measured.limit));
}

/**
 * Signups whose transactions store an event each, and whose process sends them, against signups without. Without, the
 * webhook is deleted, so that nothing of the backlog is left to be sent.
 */
async function measureEvents(): Promise<void> {
  const receiver = await startProcess<string>('receiver.ts', {});
  const headers = { authorization: `Bearer ${await logIn(service.url)}`, 'content-type': 'application/json' };
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${service.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
    return (response.status === 204 ? {} : await response.json()) as { readonly id: number };
  };
  const list = await call('POST', '/api/v1/waitlist', { waitlist_name: 'bench-events' });
  const path = `/api/v1/waitlist/${list.id}/webhook`;
  const load: Load = { ...base({ ...smallest, id: list.id }), does: 'join', connections: JOIN_CONNECTIONS };
  const measured = { events: [] as Measured[], plain: [] as Measured[] };
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const name of ['events', 'plain'] as const) {
        const webhook = name === 'events' ? await call('POST', path, { url: receiver.greeting }) : null;
        const one = await run(load);
        if (webhook) await call('DELETE', `${path}/${webhook.id}`);
        // The first round warms up.
        if (round > 0) measured[name].push(one);
      }
      say(`POST /signup with events, round ${round} of ${ROUNDS}`);
    }
  } finally {
    await call('DELETE', `/api/v1/waitlist/${list.id}`);
    await receiver.stop();
  }
  const what = `POST /signup, ${JOIN_CONNECTIONS} connections, with events: throughput against without`;
  rows.push(throughputRow(what, TARGETS.events, measured.events, measured.plain));
}

/** With a mail to each person, of which the mail server takes a hundred a second, against the same without. */
async function measureMails(): Promise<void> {
  const headers = { authorization: `Bearer ${await logIn(service.url)}`, 'content-type': 'application/json' };
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${service.url}${path}`, { method, headers, body: body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
    return (response.status === 204 ? {} : await response.json()) as { readonly id: number };
  };
  const list = await call('POST', '/api/v1/waitlist', { waitlist_name: 'bench-mails' });
  const path = `/api/v1/waitlist/${list.id}`;
  const load: Load = { ...base({ ...smallest, id: list.id }), does: 'join', connections: JOIN_CONNECTIONS };
  const measured = { mails: [] as Measured[], plain: [] as Measured[] };
  try {
    for (let round = 0; round <= ROUNDS; round += 1) {
      for (const name of ['mails', 'plain'] as const) {
        await call('PATCH', path, { mail_on_signup: name === 'mails' });
        const one = await run(load);
        await dropMails(databaseUrl);
        // The first round warms up.
        if (round > 0) measured[name].push(one);
      }
      say(`POST /signup with mails, round ${round} of ${ROUNDS}`);
    }
  } finally {
    await call('DELETE', path);
  }
  const what = `POST /signup, ${JOIN_CONNECTIONS} connections, with a mail to each person: throughput against without`;
  rows.push(throughputRow(what, TARGETS.mails, measured.mails, measured.plain));
}

/** The maximum. `npm run bench:soak` measures whether it stays flat. */
function measureMemory(): void {
  const { maxMib } = memoryTrend(service.memory);
  rows.push({
    what: 'Memory of the service under this load',
    target: `< ${MEMORY_MAX_MIB} MiB`,
    measured: `max ${format(maxMib)} MiB`,
    spread: '',
    verdict: maxMib < MEMORY_MAX_MIB ? 'pass' : 'falls short',
  });
}

/** Warms up all contestants, then measures them in turn. */
async function compare<Name extends string>(title: string, contestants: Contestants<Name>): Promise<Rounds<Name>> {
  const names = Object.keys(contestants) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Measured[]>;
  for (const name of names) {
    const load = contestants[name];
    const until = 'seconds' in load.until ? { seconds: Math.min(WARM_UP_SECONDS, SECONDS) } : load.until;
    await run({ ...load, until });
  }
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const name of names) measured[name].push(await run(contestants[name]));
    say(
      `${title}, round ${round} of ${ROUNDS}: ${names.map((name) => `${name} ${format(measured[name].at(-1)?.perSecond ?? 0)}/s`).join(', ')}`,
    );
  }
  return measured;
}

async function run(load: Load): Promise<Measured> {
  generator.child.send(load);
  const [measured] = (await once(generator.child, 'message')) as [Measured];
  const failures = Object.entries(measured.statuses).filter(([status]) => status !== '200');
  if (failures.length > 0)
    throw new Error(`Some answers were not 200: ${JSON.stringify(measured.statuses)} of ${JSON.stringify(load)}`);
  return measured;
}

/** For lookups and signups, which use the usual waitlist. */
function throughputRow(what: string, target: Target, own: readonly Measured[], others: readonly Measured[]): Row {
  return row(what, target, usual.size, '/s', own, others, ({ perSecond }) => perSecond);
}

function latencyRow(
  what: string,
  target: Target,
  size: number,
  own: readonly Measured[],
  others: readonly Measured[],
): Row {
  return row(what, target, size, ' ms', own, others, ({ p50Ms }) => p50Ms);
}

function row(
  what: string,
  target: Target,
  size: number,
  unit: string,
  own: readonly Measured[],
  others: readonly Measured[],
  valueOf: (measured: Measured) => number,
): Row {
  const [values, otherValues] = [own.map(valueOf), others.map(valueOf)];
  const ratios = values.map((value, round) => value / (otherValues[round] ?? NaN));
  const absolute = (all: readonly number[]) => `${format(median(all))}${unit}, ${spread(all)}`;
  return ratioRow(what, target, size, ratios, `${absolute(values)}; against ${absolute(otherValues)}`);
}

function base({ id, size }: Seed) {
  return { url: service.url, waitlistId: id, size, until: { seconds: SECONDS } } as const;
}

function urlOf(name: RivalName): string {
  return (rivals.get(name) as Server).url;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
