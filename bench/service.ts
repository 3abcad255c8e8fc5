import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const START_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 50;
/** The target of DESIGN §7. */
export const MEMORY_MAX_MIB = 256;
const RSS_POLL_MS = 1_000;
const MIB = 2 ** 20;

/** A process of this run, and where it listens. */
export interface Server {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export interface MemorySample {
  readonly seconds: number;
  readonly mib: number;
}

export interface Service extends Server {
  /** Resident memory from the start on, once a second, as the service's own /metrics tells it. */
  readonly memory: readonly MemorySample[];
}

/** A module of the service as built: in production it runs so, and tsx would leave out what dependency injection needs. */
export async function built<Module>(path: string): Promise<Module> {
  return (await import(builtUrl(path).href)) as Module;
}

function builtUrl(path: string): URL {
  return new URL(`../dist/src/${path}`, import.meta.url);
}

/** The settings of the service in a run: production's, without limits for one address. */
export function serviceEnvironment(databaseUrl: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    JWT_SECRET: 'bench-secret-bench-secret-bench-secret',
    RATE_LIMIT_PUBLIC: '0',
    RATE_LIMIT_LOGIN: '0',
    HOST: '127.0.0.1',
    // The clients are many, and come from one address, as through a proxy.
    TRUST_PROXY: '127.0.0.1',
  };
}

/** Starts the built service as production does. `nodeOptions` go to node, such as `--cpu-prof`. */
export async function startService(databaseUrl: string, nodeOptions: readonly string[] = []): Promise<Service> {
  const port = await freePort();
  const child = fork(builtUrl('main.js'), {
    env: { ...serviceEnvironment(databaseUrl), PORT: String(port) },
    execArgv: [...nodeOptions],
    stdio: ['ignore', process.stderr, 'inherit', 'ipc'],
  });
  const url = `http://127.0.0.1:${port}`;
  await until(() => isReady(url), child);
  const onDeath = (code: number | null, signal: string | null) => {
    process.stderr.write(`The service ended amidst the run, by ${signal ?? `exit code ${code}`}\n`);
    process.exit(1);
  };
  child.once('exit', onDeath);
  const memory: MemorySample[] = [];
  const sampling = setInterval(() => void sampleMemory(url, memory), RSS_POLL_MS);
  return {
    url,
    memory,
    stop: () => {
      clearInterval(sampling);
      child.off('exit', onDeath);
      return stop(child);
    },
  };
}

/** Starts a file of bench/ in a process of its own; resolves with the first message that it sends. */
export async function startProcess<Greeting>(
  file: string,
  options: unknown,
): Promise<{ readonly child: ChildProcess; readonly greeting: Greeting; readonly stop: () => Promise<void> }> {
  const child = fork(new URL(file, import.meta.url), [JSON.stringify(options)]);
  const [greeting] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended at its start`))),
  ])) as [Greeting];
  return { child, greeting, stop: () => stop(child) };
}

/** Highest, and how it rises over the second half of the run, when the caches are warm. */
export function memoryTrend(samples: readonly MemorySample[]): { maxMib: number; mibPerMinute: number } {
  const later = samples.slice(Math.floor(samples.length / 2));
  const meanSeconds = mean(later.map(({ seconds }) => seconds));
  const meanMib = mean(later.map(({ mib }) => mib));
  const covariance = later.reduce((sum, { seconds, mib }) => sum + (seconds - meanSeconds) * (mib - meanMib), 0);
  const variance = later.reduce((sum, { seconds }) => sum + (seconds - meanSeconds) ** 2, 0);
  return {
    maxMib: Math.max(...samples.map(({ mib }) => mib)),
    mibPerMinute: variance === 0 ? 0 : (covariance / variance) * 60,
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

async function sampleMemory(url: string, memory: MemorySample[]): Promise<void> {
  const seconds = performance.now() / 1000;
  const text = await fetch(`${url}/metrics`)
    .then((response) => response.text())
    .catch(() => '');
  const bytes = Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
  if (bytes > 0) memory.push({ seconds, mib: bytes / MIB });
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function until(condition: () => Promise<boolean>, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await condition())) {
    if (child.exitCode !== null) throw new Error(`The service ended at its start with code ${child.exitCode}`);
    if (Date.now() > deadline) throw new Error(`The service was not ready within ${START_TIMEOUT_MS} ms`);
    await wait(READY_POLL_MS);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
