/** The load generator, a process of its own: each message is a load to run, and the answer is what it measured. */
import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';

export interface Load {
  /** The service's base URL. */
  readonly url: string;
  /** Look up a random person, sign up a new one, or get one path again and again. */
  readonly does: 'find' | 'join' | { readonly path: string; readonly headers?: Readonly<Record<string, string>> };
  readonly waitlistId: number;
  /** Signups take turns at these waitlists, in place of one. */
  readonly waitlistIds?: readonly number[];
  /** The number of `seed-<n>@example.com` to choose from. */
  readonly size: number;
  readonly connections: number;
  /** Requests of all connections together; as many as they can if left out. */
  readonly perSecond?: number;
  /** Runs for a time, or for a number of requests. */
  readonly until: { readonly seconds: number } | { readonly requests: number };
  /** Whether to return the emails in the answers. */
  readonly listsJoined?: boolean;
}

export interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Counts of answers by status, and of requests without an answer as `lost`, by error code if known. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly joined: readonly string[];
}

const TIMEOUT_SECONDS = 60;
const SIGNUP = '/api/v1/signup';
const person = randomUUID().slice(0, 8);
let people = 0;

async function run({
  url,
  does,
  waitlistId,
  waitlistIds = [waitlistId],
  size,
  connections,
  perSecond,
  until,
  listsJoined = false,
}: Load): Promise<Measured> {
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
              const waitlist_id = waitlistIds[people % waitlistIds.length];
              return { ...prepared, body: JSON.stringify({ waitlist_id, email }) };
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
      ...(perSecond !== undefined && { overallRate: perSecond }),
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
  // At the end of a timed run each connection waits for one answer. Any other request without one was repeated silently
  // by autocannon after the server had closed the connection. At a pace, it counts requests that it has not sent yet.
  const closed = perSecond === undefined ? all.sent - known - ('seconds' in until ? connections : 0) : 0;
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
