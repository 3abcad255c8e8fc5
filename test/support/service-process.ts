import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Answer, held, parsed } from './api.js';
import { LeakDetector, privateText, privateTextOf, privateTextOfUrl } from './leak-detector.js';

/** The account that the service makes at its first start. */
export const OWNER = { email: 'owner@example.com', password: 'vnqzt rowkd jhx plmw' };
/** For services that nobody logs in to: a generated password is not checked, which shortens a first start. */
export const NO_OWNER = { OWNER_EMAIL: '', OWNER_PASSWORD: '' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const POLL_MS = 20;
const WAIT_MAX_MS = 60_000;
const HALF_HOUR_MS = 1_800_000;
/** Less than WAIT_MAX_MS, and longer than a test that has an active plan. */
const MARGIN_MS = 30_000;
/** A failed start takes about a second; a killed database returns within a few. */
const STARTS_MAX = 60;
/** Below the ephemeral ports. Jest's workers take different ones, and each run begins at a random one. */
const PORTS_FROM = 14_000;
const PORTS_TO = 23_000;
const WORKERS_MAX = 8;
const WORKER = Number(process.env.JEST_WORKER_ID ?? 0) % WORKERS_MAX;
let nextPort = randomInt(PORTS_FROM / WORKERS_MAX, PORTS_TO / WORKERS_MAX) * WORKERS_MAX + WORKER;

/** The built service, or its command line, as a process. All tests, drills, benchmarks and tools start it here. */
export class ServiceProcess {
  output = '';
  private readonly leaks = new LeakDetector();
  /** The exit code or signal; rejects if the log leaked personal data or secrets of the calls. */
  readonly exit: Promise<number | NodeJS.Signals | null>;

  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    /** Whether it runs this checkout. Then its answers must keep the contract that lies here. */
    private readonly isOwn: boolean,
  ) {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => (this.output += chunk));
    const log = createInterface(child.stdout!).on('line', (line) => {
      // A line without JSON belongs to the greeting, which may show the password of the first account.
      if (line.startsWith('{')) this.leaks.write(line);
    });
    this.exit = Promise.all([once(child, 'close'), once(log, 'close')]).then(([[code, signal]]) => {
      this.leaks.check('');
      return (code ?? signal) as number | NodeJS.Signals;
    });
  }

  /** `command` follows `node`. A database server must have the newest schema. */
  static async spawn(environment: Readonly<Record<string, string>>, ...command: string[]) {
    return ServiceProcess.spawnNode(ROOT, environment, ...(command.length > 0 ? command : ['dist/src/main.js']));
  }

  /** Runs another checkout, which may be of another version and not yet built. */
  static async spawnIn(root: string, environment: Readonly<Record<string, string>>, ...command: string[]) {
    return ServiceProcess.spawnNode(root, environment, 'scripts/prepare.js', ...command);
  }

  private static async spawnNode(root: string, environment: Readonly<Record<string, string>>, ...command: string[]) {
    const port = Number(environment.PORT ?? (await freePort()));
    const child = spawn(process.execPath, command, {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        JWT_SECRET: 'a-secret-that-signs-tokens-in-tests-only',
        OWNER_EMAIL: OWNER.email,
        OWNER_PASSWORD: OWNER.password,
        RATE_LIMIT_PUBLIC: '0',
        ...environment,
        PORT: String(port),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new ServiceProcess(port, child, root === ROOT);
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Asks it to stop and returns how it ended. */
  async stop(): Promise<number | NodeJS.Signals | null> {
    this.signal('SIGTERM');
    return this.exit;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Uses a new connection, unless `agent` keeps one. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    { agent, token, key }: { readonly agent?: Agent; readonly token?: string; readonly key?: string } = {},
  ): Promise<Answer> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = {
      // Node.js gives the body of a DELETE no length of its own.
      ...(payload !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(payload)),
      }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { 'idempotency-key': key }),
    };
    const sent = this.begin(method, path, headers, agent);
    sent.end(payload);
    const answer = this.isOwn ? await ServiceProcess.answerOf(sent) : parsed(await receive(sent));
    const isJson = path.startsWith('/api/') && answer.text.startsWith('{');
    this.leaks.keep([...privateTextOfUrl(path), ...privateText(body), ...(isJson ? privateTextOf(answer.text) : [])]);
    return answer;
  }

  /** For a service that may be killed during the call: null without an answer. */
  async callIfAlive(...call: Parameters<ServiceProcess['call']>): Promise<Answer | null> {
    return this.call(...call).catch((error: NodeJS.ErrnoException) => {
      // An error without a code is an answer that breaks the contract.
      if (error.code === undefined) throw error;
      return null;
    });
  }

  /** Begins a request; the caller sends the body. */
  begin(method: string, path: string, headers: Record<string, string> = {}, agent: Agent = new Agent()) {
    return request({ host: '127.0.0.1', port: this.port, method, path, headers, agent });
  }

  static async answerOf(sent: ReturnType<typeof request>): Promise<Answer> {
    return held(sent.method, sent.path, await receive(sent));
  }

  /** Resolves when it is ready and has made its first account, which comes after it listens. */
  async started(): Promise<void> {
    await until(async () => {
      if (this.hasExited) throw new Error(`The service has ended: ${this.output}`);
      return this.output.includes('is running on') && (await this.isReady());
    });
  }

  async isReady(): Promise<boolean> {
    return this.call('GET', '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
  }
}

/** A service that is killed and started again. */
export class Replica {
  process!: ServiceProcess;

  constructor(private readonly environment: Readonly<Record<string, string>>) {}

  /** Tries again if a start fails because the database is down. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      this.process = await ServiceProcess.spawn(this.environment);
      if (
        await this.process.started().then(
          () => true,
          () => false,
        )
      )
        return;
      if (tries === STARTS_MAX || !this.process.hasExited)
        throw new Error(`It does not get ready: ${this.process.output}`);
    }
  }

  async kill(): Promise<void> {
    this.process.signal('SIGKILL');
    await this.process.exit;
  }
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MAX_MS;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`Timed out waiting for: ${condition.toString()}`);
    await setTimeout(POLL_MS);
  }
}

/** Waits for the next half hour if it is about to begin: no time of a release plan comes while a test runs. */
export const farFromHalfHour = (): Promise<void> => until(() => Date.now() % HALF_HOUR_MS < HALF_HOUR_MS - MARGIN_MS);

/** A port on which nothing listens; no other call returns it soon after. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort;
    nextPort = port + WORKERS_MAX < PORTS_TO ? port + WORKERS_MAX : PORTS_FROM + WORKER;
    if (await isFree(port)) return port;
  }
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port);
  return once(server, 'listening').then(
    async () => {
      await once(server.close(), 'close');
      return true;
    },
    () => false,
  );
}

async function receive(sent: ReturnType<typeof request>): Promise<Omit<Answer, 'body'>> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headers } = response;
  return { status, headers, text: await text(response) };
}
