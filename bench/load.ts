/** The load generator, in a process of its own: takes one load at a time by message and answers what it measured. */
import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';

export interface Load {
  /** Where, without a path. */
  readonly url: string;
  /** Look up someone at random, join as someone new, or get one address again and again. */
  readonly does: 'find' | 'join' | { readonly path: string; readonly headers?: Readonly<Record<string, string>> };
  readonly waitlistId: number;
  /** How many `seed-<n>@example.com` there are to look up. */
  readonly size: number;
  readonly connections: number;
  /** Until a time has passed, or so many requests are answered. */
  readonly until: { readonly seconds: number } | { readonly requests: number };
  /** Gives the emails that joined, as the answers name them. */
  readonly listsJoined?: boolean;
}

export interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers by status; requests without an answer count as `lost`, by the error's code where there was one. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly joined: readonly string[];
}

const TIMEOUT_SECONDS = 60;
const SIGNUP = '/api/v1/signup';
const person = randomUUID().slice(0, 8);
let people = 0;

async function run({ url, does, waitlistId, size, connections, until, listsJoined = false }: Load): Promise<Measured> {
  const durationsMs: number[] = [];
  const statuses: Record<string, number> = {};
  const joined: string[] = [];
  const startedMs = performance.now();
  let lastMs = startedMs;

  const request: autocannon.Request =
    does === 'find'
      ? {
          setupRequest: (prepared) => {
            const email = `seed-${Math.floor(Math.random() * size)}%40example.com`;
            return { ...prepared, path: `${SIGNUP}?waitlist_id=${waitlistId}&email=${email}` };
          },
        }
      : does === 'join'
        ? {
            method: 'POST',
            path: SIGNUP,
            headers: { 'content-type': 'application/json' },
            setupRequest: (prepared) => {
              people += 1;
              const email = `bench-${person}-${people}@example.com`;
              return { ...prepared, body: JSON.stringify({ waitlist_id: waitlistId, email }) };
            },
            ...(listsJoined && {
              onResponse: (status: number, body: string) => {
                if (status === 200) joined.push((JSON.parse(body) as { email: string }).email);
              },
            }),
          }
        : { path: does.path, headers: { ...does.headers } };

  const { requests: all } = await new Promise<autocannon.Result>((resolve, reject) => {
    const options = {
      url,
      connections,
      timeout: TIMEOUT_SECONDS,
      ...('seconds' in until ? { duration: until.seconds } : { amount: until.requests }),
      requests: [request],
    };
    const running = autocannon(options, (error: Error | null, result) => (error ? reject(error) : resolve(result)));
    running.on('response', (_client, status, _bytes, durationMs) => {
      lastMs = performance.now();
      statuses[status] = (statuses[status] ?? 0) + 1;
      durationsMs.push(durationMs);
    });
    running.on('reqError', ({ code, message }: NodeJS.ErrnoException) => {
      const lost = `lost (${code ?? message})`;
      statuses[lost] = (statuses[lost] ?? 0) + 1;
    });
  });
  const known = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  // At the end of a time each connection still waits for one; else autocannon asks anew where the server ended a
  // connection, and says nothing of it.
  const closed = all.sent - known - ('seconds' in until ? connections : 0);
  if (closed > 0) statuses['lost (connection closed)'] = closed;
  durationsMs.sort((a, b) => a - b);
  return {
    perSecond: (statuses[200] ?? 0) / ((lastMs - startedMs) / 1000),
    p50Ms: percentile(durationsMs, 0.5),
    p99Ms: percentile(durationsMs, 0.99),
    statuses,
    joined,
  };
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

process.on('message', (load: Load) => {
  run(load).then(
    (measured) => process.send?.(measured),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
