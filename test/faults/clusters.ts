/**
 * A node of a three-node cluster is killed, hangs, or hands over, under load: through haproxy, which sends all to one node
 * that takes writes. On Galera, whose nodes all do, three services write to a node each, too: there conflicts come at COMMIT.
 *   npm run test:cluster -- galera|group-replication [fault…]
 * It needs haproxy and CLUSTER_PROGRAM (docs/scaling.md).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ServiceProcess, until } from '../support/service-process.js';
import { Cluster, Pin } from './cluster.js';
import { programFrom } from './database-server.js';
import { EXPECTED, type Fault, openMatrix, report } from './matrix.js';
import { migrate, openWaitlist, Traffic } from './traffic.js';

const VISITORS = 4;
const WRITERS_MS = 20_000;
const WRITERS_VISITORS = 12;
/** Its nodes take this and some thirty above. */
const BASE_PORT = 25_300;

const [kind = '', ...asked] = process.argv.slice(2);
if (kind !== 'galera' && kind !== 'group-replication') throw new Error('Which cluster: galera or group-replication?');

function isAsked(fault: string): boolean {
  return asked.length === 0 || asked.includes(fault);
}

/** What happens to the node that has the connections; `mend` makes the cluster whole, when the cells were judged. */
type ClusterFault = Fault & { readonly mend: () => Promise<unknown> };

function faultsOf(cluster: Cluster, pin: Pin): ClusterFault[] {
  let node = 0;
  const fault = (name: string, begin: () => Promise<unknown>, mend: () => Promise<unknown>): ClusterFault => ({
    name,
    // The cluster mends itself: nothing ends.
    expected: EXPECTED.PASSING,
    lastsMs: 0,
    begin: async () => {
      node = await cluster.nodeAt(pin.url);
      await begin();
    },
    end: async () => undefined,
    mend,
  });
  const restart = () => cluster.node('restart-node', node);
  return [
    fault('node killed', () => cluster.node('kill-node', node), restart),
    fault('node hanging', () => cluster.node('pause-node', node), () => cluster.node('resume-node', node)), // prettier-ignore
    fault('node stopped', () => cluster.node('stop-node', node), restart),
    kind === 'galera'
      ? fault('node isolated', () => cluster.node('isolate-node', node), () => cluster.node('heal-node', node)) // prettier-ignore
      : fault('primary changed', () => cluster.node('primary', (node % 3) + 1), async () => undefined), // prettier-ignore
  ];
}

async function serve(databaseUrl: string): Promise<ServiceProcess> {
  const service = await ServiceProcess.spawn({ DATABASE_URL: databaseUrl, RATE_LIMIT_LOGIN: '0' });
  services.push(service);
  await service.started();
  return service;
}

async function pinned(): Promise<boolean> {
  const pin = await Pin.start(cluster, directory);
  try {
    await migrate(pin.url);
    const service = await serve(pin.url);
    const other = await serve(pin.url);
    const matrix = await openMatrix(service, pin.url);
    const traffic = new Traffic(() => [service, other], await openWaitlist(service));
    traffic.start(VISITORS);
    let wrong = 0;
    for (const fault of faultsOf(cluster, pin)) {
      if (!isAsked(fault.name)) continue;
      wrong += report(fault.name, await matrix.endure(fault));
      await fault.mend();
      await until(() => cluster.isWhole());
    }
    matrix.close();
    await traffic.stop();
    return (await conclude('one node', traffic, service, pin.url)) && wrong === 0;
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
  const conflicts = metrics.flatMap(({ text }) => [...text.matchAll(/^waitlist_queue_retries_total\{reason="1213"\} (\d+)$/gm)].map(([, count]) => Number(count))); // prettier-ignore
  process.stdout.write(`certification conflicts met: ${conflicts.reduce((sum, count) => sum + count, 0)}\n`);
  const isSound = await conclude('three nodes', traffic, service, url);
  return isSound && traffic.failures.size === 0 && conflicts.length > 0;
}

async function conclude(name: string, traffic: Traffic, service: ServiceProcess, url: string): Promise<boolean> {
  const differences = await traffic.audit(service, url);
  const { signups, slowestMs } = traffic;
  const outcomes = Object.fromEntries([...traffic.outcomes].sort());
  process.stdout.write(
    `${JSON.stringify({ name, signups, outcomes, slowestMs: Math.round(slowestMs), differences })}\n`,
  );
  return differences.length === 0 && signups > 0;
}

const services: ServiceProcess[] = [];
const directory = await mkdtemp(join(tmpdir(), 'waitlist-cluster-'));
const cluster = new Cluster(programFrom('CLUSTER_PROGRAM'), join(directory, 'nodes'), BASE_PORT);
try {
  await cluster.start();
  const results = [await pinned()];
  if (kind === 'galera' && isAsked('several writers')) results.push(await everywhere());
  process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
  for (const service of services) service.signal('SIGKILL');
  await cluster.wipe();
  await rm(directory, { recursive: true, force: true });
}
