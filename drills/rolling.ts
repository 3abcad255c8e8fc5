/**
 * A rolling restart under load: two replicas behind haproxy, which stops sending to one whose /readyz fails, are
 * restarted in turn until enough requests were answered. No request may fail, and every answered signup must be stored.
 *   npm run test:rolling [-- requests [commit]]
 * With an earlier commit both replicas start as its build, on its schema. Then the schema is migrated under them, and
 * each restart changes a replica between the two builds: an upgrade and a way back. v0.2.0 needs a stop (see
 * drills/upgrade.ts). It needs haproxy, and a MySQL or MariaDB server in TEST_DATABASE_URL; it makes a database of its
 * own there.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../test/support/database.js';
import { freePort, OWNER, ServiceProcess, until } from '../test/support/service-process.js';
import { migrate, runCliIn, verify } from './support/command-line.js';
import { earlierBuild } from './support/earlier-build.js';

const REQUESTS = Number(process.argv[2] ?? 50_000);
const COMMIT = process.argv[3];
const CONNECTIONS = 16;
/** Both replicas, twice. */
const RESTARTS_MIN = 4;
const DURATION_MAX_MS = 15 * 60_000;
/** haproxy checks every 0.5 s and needs two failures; the replica must keep serving for longer than that. */
const SHUTDOWN_DELAY_SECONDS = 3;
const HERE = fileURLToPath(new URL('..', import.meta.url));

interface Answer {
  readonly status: number;
  readonly text: string;
}

class Replica {
  private process?: ServiceProcess;
  private starts = 0;

  constructor(
    readonly name: string,
    readonly port: number,
    private readonly databaseUrl: string,
    /** The directories of the builds that it runs in turn. */
    private readonly roots: readonly [string, string],
  ) {}

  async start(): Promise<void> {
    const root = this.roots[this.starts % this.roots.length] as string;
    this.starts += 1;
    const environment = {
      DATABASE_URL: this.databaseUrl,
      PORT: String(this.port),
      SHUTDOWN_DELAY: String(SHUTDOWN_DELAY_SECONDS),
    };
    const started = await ServiceProcess.spawnIn(root, environment, 'dist/src/main.js');
    this.process = started;
    await started.started();
  }

  async restart(): Promise<void> {
    this.process?.signal('SIGTERM');
    const code = await this.process?.exit;
    if (code !== 0) throw new Error(`Replica ${this.name} ended with ${code}: ${this.process?.output}`);
    await this.start();
  }

  kill(): void {
    this.process?.signal('SIGKILL');
  }
}

/** haproxy must not retry, so that each refusal of a replica shows. */
function balancerConfig(port: number, replicas: readonly Replica[]): string {
  return `
global
  maxconn 1000
defaults
  mode http
  retries 0
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  default-server check inter 500ms fall 2 rise 1
frontend people
  bind 127.0.0.1:${port}
  http-request return status 200 content-type text/plain lf-string "%[srv_is_up(replicas/a)]%[srv_is_up(replicas/b)]" if { path /balancer }
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk GET /readyz
${replicas.map(({ name, port: to }) => `  server ${name} 127.0.0.1:${to}`).join('\n')}
`;
}

async function run(directory: string, databaseUrl: string, port: number): Promise<boolean> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const call = (method: string, path: string, body?: unknown, token?: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
      const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
        text(response).then((answer) => resolve({ status: response.statusCode ?? 0, text: answer }), reject);
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const json = async (method: string, path: string, body?: unknown, token?: string) =>
    JSON.parse((await call(method, path, body, token)).text) as Record<string, unknown>;

  const before = await earlierBuild(COMMIT);
  const roots = [before.root, HERE] as const;
  const replicas = [
    new Replica('a', await freePort(), databaseUrl, roots),
    new Replica('b', await freePort(), databaseUrl, roots),
  ];
  let balancer: ChildProcess | undefined;
  try {
    await runCliIn(before.root, databaseUrl, 'migrate');
    // One after the other, because the first makes the account.
    for (const replica of replicas) await replica.start();
    await writeFile(join(directory, 'haproxy.cfg'), balancerConfig(port, replicas));
    balancer = spawn('haproxy', ['-db', '-q', '-f', join(directory, 'haproxy.cfg')], { stdio: 'inherit' });
    const bothServe = () =>
      call('GET', '/balancer').then(
        (answer) => answer.text === '11',
        () => false,
      );
    await until(bothServe);

    const { access_token: token } = await json('POST', '/api/v1/auth/create_tokens', OWNER);
    const waitlist = { waitlist_name: 'Rolling', waitlist_url_location: 'https://example.com/join' };
    const { id: waitlist_id } = await json('POST', '/api/v1/waitlist', waitlist, String(token));
    const failures = new Map<string, number>();
    const startMs = performance.now();
    let requests = 0;
    let signups = 0;
    let restarts = 0;
    const isOver = () =>
      (requests >= REQUESTS && restarts >= RESTARTS_MIN) || performance.now() - startMs > DURATION_MAX_MS;
    const visit = async (method: string, path: string, body?: unknown): Promise<Answer | null> => {
      const answer = await call(method, path, body).catch((error: unknown) => error);
      requests += 1;
      const { status, code } = answer as { readonly status?: number; readonly code?: string };
      if (status === 200) return answer as Answer;
      const outcome = String(status ?? code ?? answer);
      failures.set(outcome, (failures.get(outcome) ?? 0) + 1);
      return null;
    };
    const visitor = async () => {
      let referral_link: string | undefined;
      while (!isOver()) {
        const email = `${randomUUID()}@example.com`;
        const answer = await visit('POST', '/api/v1/signup', { waitlist_id, email, referral_link });
        if (answer) signups += 1;
        // From time to time a newcomer becomes the referrer of those who follow.
        if (answer && signups % 3 === 0) ({ referral_link } = JSON.parse(answer.text) as { referral_link: string });
        await visit('GET', `/api/v1/signup?waitlist_id=${waitlist_id as number}&email=${email}`);
      }
    };
    const restarter = async () => {
      await migrate(databaseUrl);
      while (!isOver()) {
        for (const replica of replicas) {
          await replica.restart();
          await until(bothServe);
          restarts += 1;
        }
      }
    };
    await Promise.all([restarter(), ...Array.from({ length: CONNECTIONS }, visitor)]);

    const { statistics } = await json('GET', `/api/v1/waitlist/${waitlist_id as number}`, undefined, String(token));
    const { total_signups: stored } = statistics as { total_signups: number };
    const seconds = Math.round((performance.now() - startMs) / 1000);
    const failed = [...failures].map(([outcome, count]) => `${outcome}×${count}`).join(' ') || 'none';
    process.stdout.write(
      `rolling restarts between this build and ${before.name}: ${restarts} in ${seconds} s, under ${requests} requests; failed: ${failed}; ${signups} signups answered, ${stored} stored\n`,
    );
    await verify(databaseUrl);
    return failures.size === 0 && stored === signups && restarts >= RESTARTS_MIN && requests >= REQUESTS;
  } finally {
    balancer?.kill();
    for (const replica of replicas) replica.kill();
    agent.destroy();
  }
}

if (!process.env.TEST_DATABASE_URL) throw new Error('TEST_DATABASE_URL: a MySQL or MariaDB server is needed');
const directory = await mkdtemp(join(tmpdir(), 'waitlist-rolling-'));
const database = await openDatabase(true);
try {
  process.exitCode = (await run(directory, database.url, await freePort())) ? 0 : 1;
} finally {
  await database.drop();
  await rm(directory, { recursive: true, force: true });
}
