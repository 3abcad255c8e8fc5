/**
 * Kills, pauses, stops or isolates a node of a three-node cluster under load. haproxy sends all connections to one node
 * that takes writes. On Galera, three services also write to a node each, where conflicts come at COMMIT.
 *   npm run test:cluster -- galera|group-replication [fault…]
 * It needs haproxy, and rsync for Galera.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isFree, ServiceProcess, until } from '../test/support/service-process.js';
import { Cluster, Pin } from './support/cluster.js';
import { serverProgram } from './support/database-server.js';
import { chosen, endureAll, EXPECTED, type Fault, Matrix } from './support/matrix.js';
import { migrate } from './support/command-line.js';
import { openWaitlist, Traffic } from './support/traffic.js';

const WRITERS_MS = 20_000;
const WRITERS_VISITORS = 12;
const SEVERAL_WRITERS = 'several writers';
/** The nodes' ports lie in this range, below the ephemeral ports. */
const PORTS_FROM = 25_300;
const PORTS_TO = 32_000;
/** A cluster uses this many consecutive ports. */
const PORTS_COUNT = 40;

const [kind = '', ...asked] = process.argv.slice(2);
if (kind !== 'galera' && kind !== 'group-replication') throw new Error('Which cluster: galera or group-replication?');

async function freePorts(): Promise<number> {
  for (let first = PORTS_FROM; first < PORTS_TO; first += PORTS_COUNT) {
    const ports = Array.from({ length: PORTS_COUNT }, (_, index) => isFree(first + index));
    if ((await Promise.all(ports)).every(Boolean)) return first;
  }
  throw new Error('There are no ports free in a row.');
}

/** Faults of the node that has the connections. */
function faultsOf(cluster: Cluster, pin: Pin): Fault[] {
  let node = 0;
  const fault = (name: string, begin: () => Promise<unknown>, mend: () => Promise<unknown>): Fault => ({
    name,
    expected: EXPECTED.PASSING,
    lastsMs: 0,
    begin: async () => {
      node = await cluster.nodeAt(pin.url);
      await begin();
    },
    mend: async () => {
      await mend();
      await until(() => cluster.isWhole());
    },
  });
  const restart = () => cluster.node('restart-node', node);
  return [
    fault('node killed', () => cluster.node('kill-node', node), restart),
    fault(
      'node hanging',
      () => cluster.node('pause-node', node),
      () => cluster.node('resume-node', node),
    ),
    fault('node stopped', () => cluster.node('stop-node', node), restart),
    kind === 'galera'
      ? fault(
          'node isolated',
          () => cluster.node('isolate-node', node),
          () => cluster.node('heal-node', node),
        )
      : fault(
          'primary changed',
          () => cluster.node('primary', (node % 3) + 1),
          async () => undefined,
        ),
  ];
}

async function serve(databaseUrl: string): Promise<ServiceProcess> {
  const service = await ServiceProcess.spawn({ DATABASE_URL: databaseUrl, RATE_LIMIT_LOGIN: '0' });
  services.push(service);
  await service.started();
  return service;
}

async function pinned(names: readonly string[]): Promise<boolean> {
  const pin = await Pin.start(cluster.urls, directory);
  try {
    await migrate(pin.url);
    const service = await serve(pin.url);
    const other = await serve(pin.url);
    const matrix = await Matrix.open(service, pin.url);
    const faults = chosen(faultsOf(cluster, pin), names);
    return await endureAll(`${kind}, one writer`, matrix, faults, [service, other], pin.url);
  } finally {
    pin.stop();
  }
}

async function everywhere(): Promise<boolean> {
  const [url = ''] = cluster.urls;
  await migrate(url);
  const each: ServiceProcess[] = [];
  for (const node of cluster.urls) each.push(await serve(node));
  const [service] = each as [ServiceProcess];
  const place = await openWaitlist(service);
  const traffic = new Traffic(() => each, place);
  traffic.start(WRITERS_VISITORS, each.length);
  await setTimeout(WRITERS_MS);
  await traffic.stop();
  const metrics = await Promise.all(each.map((one) => one.call('GET', '/metrics')));
  const conflicts = metrics
    .flatMap(({ text }) => [...text.matchAll(/^waitlist_queue_retries_total\{reason="1213"\} (\d+)$/gm)])
    .reduce((sum, [, count]) => sum + Number(count), 0);
  const name = `${kind}, ${each.length} writers for ${WRITERS_MS / 1000} s: ${conflicts} certification conflicts met`;
  const isSound = await traffic.conclude(name, service, url);
  return isSound && traffic.failures.size === 0 && conflicts > 0;
}

const services: ServiceProcess[] = [];
const directory = await mkdtemp(join(tmpdir(), 'waitlist-cluster-'));
const cluster = new Cluster(serverProgram(kind), join(directory, 'nodes'), await freePorts());
try {
  await cluster.start();
  const results: boolean[] = [];
  const takesSeveral = kind === 'galera' && (asked.length === 0 || asked.includes(SEVERAL_WRITERS));
  const faults = takesSeveral ? asked.filter((name) => name !== SEVERAL_WRITERS) : asked;
  if (asked.length === 0 || faults.length > 0) results.push(await pinned(faults));
  if (takesSeveral) results.push(await everywhere());
  process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
  for (const service of services) service.signal('SIGKILL');
  await cluster.wipe();
  await rm(directory, { recursive: true, force: true });
}
