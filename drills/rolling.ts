/**
 * A rolling restart under load: two replicas behind haproxy, which takes one out when its /readyz says no, are restarted
 * in turns until so many requests have been answered. No request may fail, and every signup answered must exist; those who
 * came by somebody's link are listed in the order of the line, whichever program let them in.
 *   npm run test:rolling [-- requests [commit]]
 * With a commit both begin as the program of that commit, on its schema. Then the schema is brought to the newest under
 * them, and each restart is a change between that program and this one: an upgrade, and the way back.
 * It needs haproxy and, in TEST_DATABASE_URL, a MySQL or MariaDB server on which it makes a database of its own.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createConnection } from 'mysql2/promise';
import { freePort, OWNER, ServiceProcess, until } from '../test/support/service-process.js';

const REQUESTS = Number(process.argv[2] ?? 50_000);
const COMMIT = process.argv[3];
const CONNECTIONS = 16;
/** Both replicas, twice. */
const RESTARTS_MIN = 4;
const ARCHIVE_MAX_BYTES = 64 * 1024 * 1024;
const DURATION_MAX_MS = 15 * 60_000;
/** haproxy asks every half second and believes the second no: the replica serves on for longer than that. */
const SHUTDOWN_DELAY_SECONDS = 3;
const HERE = fileURLToPath(new URL('../..', import.meta.url));

const PAGE_SIZE = 100;

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Listed {
  readonly referred_by_waiter_token: string | null;
}

class Replica {
  private process?: ServiceProcess;
  private starts = 0;

  constructor(
    readonly name: string,
    readonly port: number,
    private readonly databaseUrl: string,
    /** The checkouts that it runs, one after the other. */
    private readonly roots: readonly [string, ...string[]],
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

/** Without retries of its own, so that what a replica refuses is seen. */
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

/** A checkout of a commit, installed and built by its own first start. */
async function checkOut(commit: string, directory: string): Promise<string> {
  const root = join(directory, 'before');
  await mkdir(root);
  const archive = execFileSync('git', ['archive', commit], { cwd: HERE, maxBuffer: ARCHIVE_MAX_BYTES });
  execFileSync('tar', ['-x', '-C', root], { input: archive });
  return root;
}

async function runCli(root: string, databaseUrl: string, command: string): Promise<void> {
  const running = await ServiceProcess.spawnIn(root, { DATABASE_URL: databaseUrl }, 'dist/src/cli.js', command);
  if ((await running.exit) !== 0) throw new Error(running.output);
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

  const roots: [string, ...string[]] = COMMIT === undefined ? [HERE] : [await checkOut(COMMIT, directory), HERE];
  const replicas = [
    new Replica('a', await freePort(), databaseUrl, roots),
    new Replica('b', await freePort(), databaseUrl, roots),
  ];
  let balancer: ChildProcess | undefined;
  try {
    await runCli(roots[0], databaseUrl, 'migrate');
    // One after the other, for the first makes the account.
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
    const { id: waitlist_id, api_key } = await json('POST', '/api/v1/waitlist', waitlist, String(token));
    const listInLine = async (filter = ''): Promise<Listed[]> => {
      const listed: Listed[] = [];
      for (;;) {
        const path = `/api/v1/waiter?api_key=${api_key as string}&order=queue&offset=${listed.length}${filter}`;
        const page = JSON.parse((await call('GET', path, undefined, String(token))).text) as Listed[];
        listed.push(...page);
        if (page.length < PAGE_SIZE) return listed;
      }
    };
    const isReferredListRight = async () => {
      const listed = await listInLine('&referral_token=true');
      const expected = (await listInLine()).filter(({ referred_by_waiter_token: by }) => by !== null);
      return expected.length > 0 && JSON.stringify(listed) === JSON.stringify(expected);
    };

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
        // Who has referred some gives way to one of them.
        if (answer && signups % 3 === 0) ({ referral_link } = JSON.parse(answer.text) as { referral_link: string });
        await visit('GET', `/api/v1/signup?waitlist_id=${waitlist_id as number}&email=${email}`);
      }
    };
    const restarter = async () => {
      await runCli(HERE, databaseUrl, 'migrate');
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
      `${COMMIT === undefined ? 'rolling restarts' : `upgrades from ${COMMIT} and back`}: ${restarts} in ${seconds} s, under ${requests} requests; failed: ${failed}; ${signups} signups answered, ${stored} stored\n`,
    );
    await runCli(HERE, databaseUrl, 'verify');
    if (!(await isReferredListRight())) throw new Error('Those referred are listed wrongly.');
    // What the older program has left uncounted, this counts.
    await runCli(HERE, databaseUrl, 'rebuild');
    if (!(await isReferredListRight())) throw new Error('After a rebuild those referred are listed wrongly.');
    return failures.size === 0 && stored === signups && restarts >= RESTARTS_MIN && requests >= REQUESTS;
  } finally {
    balancer?.kill();
    for (const replica of replicas) replica.kill();
    agent.destroy();
  }
}

const server = process.env.TEST_DATABASE_URL;
if (server === undefined) throw new Error('TEST_DATABASE_URL: a MySQL or MariaDB server is needed');
const database = new URL(server);
database.pathname = `${database.pathname}_rolling`;
const connection = await createConnection(server);
const name = database.pathname.slice(1);
const directory = await mkdtemp(join(tmpdir(), 'waitlist-rolling-'));
try {
  await connection.query(`DROP DATABASE IF EXISTS \`${name}\``);
  await connection.query(`CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4`);
  process.exitCode = (await run(directory, database.href, await freePort())) ? 0 : 1;
} finally {
  await connection.query(`DROP DATABASE IF EXISTS \`${name}\``);
  await connection.end();
  await rm(directory, { recursive: true, force: true });
}
