/**
 * `npm run bench:transfer`: imports a file of a million lines into a new waitlist and exports it again, while people
 * sign up on another one at a steady pace. Measures how long both take, the memory of the service, and what the signups
 * notice.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { Command } from 'commander';
import { readConditions, requireDatabaseUrl } from './database.js';
import type { Load, Measured } from './load.js';
import { format, median, ratioRow, type Report, type Row, spread, toMarkdown, writeReport } from './report.js';
import { logIn, prepareSeeds, type Seed } from './seeds.js';
import { MEMORY_MAX_MIB, memoryTrend, serviceEnvironment, startProcess, startService } from './service.js';

const MILLION = 1_000_000;
const IMPORT_MAX_SECONDS = 180;
const EXPORT_MAX_SECONDS = 60;
/** Median time of a signup on another waitlist, against the time before. */
const SLOWDOWN_MAX = 2;
const OTHER_SIZE = 10_000;
/** Signups of a busy page, far below what the service can take. */
const SIGNUPS_PER_SECOND = 50;
const CONNECTIONS = 4;
const ROUND_SECONDS = 5;
const ROUNDS_BEFORE = 4;
const REFERRED_SHARE = 0.3;
const METADATA_SHARE = 0.1;

const { lines } = new Command('bench:transfer')
  .option('--lines <count>', 'lines of the file', Number, MILLION)
  .parse()
  .opts<{ lines: number }>();

const databaseUrl = requireDatabaseUrl();
const { settings, isDurable } = await readConditions(databaseUrl);
if (!isDurable) say('WARNING: commits are not durable here, so an import is faster than in production.');
const [other] = (await prepareSeeds(serviceEnvironment(databaseUrl), [OTHER_SIZE])) as [Seed];
const directory = await mkdtemp(join(tmpdir(), 'waitlist-bench-'));
const file = join(directory, 'people.csv');
say(`A file of ${format(lines)} lines…`);
await pipeline(Readable.from(people()), createWriteStream(file));

const service = await startService(databaseUrl);
const generator = await startProcess<string>('load.ts', {});
const rows: Row[] = [];
try {
  const token = await logIn(service.url);
  const headers = { authorization: `Bearer ${token}` };
  const settingsOfList = { waitlist_name: 'bench-transfer', waitlist_url_location: 'https://example.com/join' };
  const created = await fetch(`${service.url}/api/v1/waitlist`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(settingsOfList),
  });
  const { id } = (await created.json()) as { id: number };
  const address = `${service.url}/api/v1/waitlist/${id}`;
  await signUp();
  const before = [];
  while (before.length < ROUNDS_BEFORE) before.push(await signUp());
  say(`Signups before: p50 ${format(median(before))} ms`);

  await measure('Import', IMPORT_MAX_SECONDS, before, async () => {
    const response = await fetch(`${address}/import`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'text/csv' },
      // Preact brings the types of browsers along. Their streams differ from those of Node.js.
      body: Readable.toWeb(createReadStream(file)) as unknown,
      duplex: 'half',
    } as RequestInit);
    const report = (await response.json()) as { imported?: number };
    if (report.imported !== lines) throw new Error(`Not all was imported: ${JSON.stringify(report).slice(0, 500)}`);
  });
  await measure('Export', EXPORT_MAX_SECONDS, before, async () => {
    const response = await fetch(`${address}/export`, { headers });
    let exported = -1;
    const count = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', at + 1)) exported += 1;
        done(null, chunk);
      },
    });
    const source = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
    await pipeline(source, count, createWriteStream(join(directory, 'export.csv')));
    if (exported !== lines) throw new Error(`${exported} lines were exported`);
  });
  await fetch(address, { method: 'DELETE', headers });

  const { maxMib } = memoryTrend(service.memory);
  rows.push({
    what: 'Memory of the service',
    target: `< ${MEMORY_MAX_MIB} MiB`,
    measured: `max ${format(maxMib)} MiB`,
    spread: '',
    verdict: maxMib < MEMORY_MAX_MIB ? 'pass' : 'falls short',
  });
} finally {
  await Promise.all([service.stop(), generator.stop(), rm(directory, { recursive: true })]);
}
const report: Report = {
  at: new Date().toISOString(),
  conditions: {
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node.js ${process.versions.node}`,
    lines,
    'signups meanwhile': `${SIGNUPS_PER_SECOND} a second`,
    durable: isDurable ? 'yes' : 'NO',
    ...settings,
  },
  rows,
  costs: [],
};
await writeReport('transfer', report);
process.stdout.write(`\n${toMarkdown(report)}`);

/** Signs people up, round after round, while `work` runs. */
async function measure(what: string, maxSeconds: number, before: readonly number[], work: () => Promise<void>) {
  const startMs = performance.now();
  const working = new AbortController();
  const taken = work()
    .then(() => (performance.now() - startMs) / 1000)
    .finally(() => working.abort());
  // A failure is thrown below.
  taken.catch(() => undefined);
  const meanwhile: number[] = [];
  do meanwhile.push(await signUp());
  while (!working.signal.aborted);
  const seconds = await taken;
  say(`${what}: ${format(seconds)} s, signups meanwhile: p50 ${format(median(meanwhile))} ms`);
  const isMeasured = lines >= MILLION;
  rows.push({
    what: `${what} of ${format(lines)} lines`,
    target: `< ${maxSeconds} s${isMeasured ? '' : ` for ${format(MILLION)}`}`,
    measured: `${format(seconds)} s, ${format(lines / seconds)} lines/s`,
    spread: '',
    verdict: isMeasured ? (seconds < maxSeconds ? 'pass' : 'falls short') : 'not measured',
  });
  const ratios = meanwhile.map((ms) => ms / median(before));
  const absolute = `${format(median(meanwhile))} ms, ${spread(meanwhile)}; before ${format(median(before))} ms, ${spread(before)}`;
  rows.push(ratioRow(`${what}: p50 of signups of another waitlist`, { atMost: SLOWDOWN_MAX }, lines, ratios, absolute));
}

/** The median time of a signup in one round. */
async function signUp(): Promise<number> {
  const load: Load = {
    url: service.url,
    does: 'join',
    waitlistId: other.id,
    size: other.size,
    connections: CONNECTIONS,
    perSecond: SIGNUPS_PER_SECOND,
    until: { seconds: ROUND_SECONDS },
  };
  generator.child.send(load);
  const [{ p50Ms, statuses }] = (await once(generator.child, 'message')) as [Measured];
  if (Object.keys(statuses).some((status) => status !== '200'))
    throw new Error(`Some signups were not answered 200: ${JSON.stringify(statuses)}`);
  return p50Ms;
}

/**
 * A list as other products export it. Tokens differ from run to run; emails need not, because each run has its own
 * list.
 */
function* people(): Generator<string> {
  yield 'email,first_name,last_name,phone,created_at,referral_token,referred_by,metadata\n';
  const startMs = Date.now() - lines * 1000;
  let batch = '';
  for (let index = 0; index < lines; index += 1) {
    const referrer = Math.random() < REFERRED_SHARE ? `T${Math.floor(Math.random() * lines)}`.padEnd(12, 'X') : '';
    const metadata = Math.random() < METADATA_SHARE ? `"{""plan"":""team"",""seats"":${index % 100}}"` : '';
    const phone = index % 4 === 0 ? `+1415${String(2_000_000 + index).slice(-7)}` : '';
    const joined = new Date(startMs + index * 1000).toISOString();
    batch += `person-${index}@example.com,First${index % 1000},Last${index % 500},${phone},${joined},${`T${index}`.padEnd(12, 'X')},${referrer},${metadata}\n`;
    if (batch.length < 65_536) continue;
    yield batch;
    batch = '';
  }
  yield batch;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
