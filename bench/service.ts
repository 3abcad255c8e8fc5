import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { ServiceProcess } from '../test/support/service-process.js';

/** Of the service under load. */
export const MEMORY_MAX_MIB = 256;
const RSS_POLL_MS = 1_000;
const MIB = 2 ** 20;

/** A process that this run started, and its address. */
export interface Server {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export interface MemorySample {
  readonly seconds: number;
  readonly mib: number;
}

export interface Service extends Server {
  /** Resident memory, read from /metrics once a second since the start. */
  readonly memory: readonly MemorySample[];
}

/** A module of the built service: tsx does not write the metadata that dependency injection needs. */
export async function built<Module>(path: string): Promise<Module> {
  return (await import(builtUrl(path).href)) as Module;
}

function builtUrl(path: string): URL {
  return new URL(`../dist/src/${path}`, import.meta.url);
}

/** Production settings, without the limits for one address. */
export function serviceEnvironment(databaseUrl: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    NODE_ENV: 'production',
    DATABASE_URL: databaseUrl,
    JWT_SECRET: 'a-secret-that-signs-tokens-in-benchmarks-only',
    RATE_LIMIT_PUBLIC: '0',
    RATE_LIMIT_LOGIN: '0',
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
    HOST: '127.0.0.1',
    // All clients share one address, as behind a proxy.
    TRUST_PROXY: '127.0.0.1',
  };
}

/**
 * Starts the built service as production does. `nodeOptions` go to node, such as `--cpu-prof`; `more` are settings
 * besides those of all benchmarks.
 */
export async function startService(
  databaseUrl: string,
  nodeOptions: readonly string[] = [],
  more: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const environment = { ...(serviceEnvironment(databaseUrl) as Record<string, string>), ...more };
  const service = await ServiceProcess.spawn(environment, ...nodeOptions, 'dist/src/main.js');
  await service.started();
  const url = `http://127.0.0.1:${service.port}`;
  const memory: MemorySample[] = [];
  const sampling = setInterval(() => void sampleMemory(url, memory), RSS_POLL_MS);
  let isStopping = false;
  void service.exit.then((ending) => {
    if (isStopping) return;
    process.stderr.write(`The service ended during the run (${ending}): ${service.output}\n`);
    process.exit(1);
  });
  return {
    url,
    memory,
    stop: async () => {
      isStopping = true;
      clearInterval(sampling);
      await service.stop();
    },
  };
}

/** The value of a metric without labels; NaN if there is none. */
export async function readMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
}

/** Starts a file of bench/ as a process; resolves with its first message. */
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

/** The highest value, and the slope over the second half of the run, when the caches are warm. */
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
  const bytes = await readMetric(url, 'process_resident_memory_bytes').catch(() => NaN);
  if (bytes > 0) memory.push({ seconds, mib: bytes / MIB });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
