/**
 * A semi-synchronous replica behind haproxy takes over under load: once by a switchover, once after the primary was
 * killed. No answered change may be lost.
 *   npm run test:replicas
 * It needs haproxy.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RowDataPacket } from 'mysql2/promise';
import { freePort, ServiceProcess, until } from '../test/support/service-process.js';
import { Pin } from './support/cluster.js';
import { DatabaseServer } from './support/database-server.js';
import { chosen, endureAll, EXPECTED, type Fault, Matrix } from './support/matrix.js';
import { migrate } from './support/command-line.js';

/** Longer than a run, so the primary never continues without its replica. */
const FALLBACK_MS = 3_600_000;
const CATCH_UP_SECONDS = 10;
/** A server can only change to the next mode. */
const GTID_MODES = ['OFF', 'OFF_PERMISSIVE', 'ON_PERMISSIVE', 'ON'];

const directory = await mkdtemp(join(tmpdir(), 'waitlist-replicas-'));
const servers = [await server('one'), await server('two')] as const;
let [primary, replica] = servers;

async function server(name: string): Promise<DatabaseServer> {
  return new DatabaseServer(join(directory, name), await freePort());
}

/** Prepares a server to be primary or replica, with no writes yet. */
async function prepare(one: DatabaseServer, id: number): Promise<void> {
  await one.start();
  const [row] = await one.queryAsRoot<RowDataPacket & { mode: string }>('SELECT @@GLOBAL.gtid_mode AS mode');
  await one.asRoot(
    `SET GLOBAL server_id = ${id}`,
    'SET GLOBAL enforce_gtid_consistency = ON',
    ...GTID_MODES.slice(GTID_MODES.indexOf(row?.mode ?? '') + 1).map((mode) => `SET GLOBAL gtid_mode = ${mode}`),
    "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'",
    "INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'",
    `SET GLOBAL rpl_semi_sync_source_timeout = ${FALLBACK_MS}`,
    "CREATE USER IF NOT EXISTS 'replica'@'%' IDENTIFIED BY 'replica'",
    "GRANT REPLICATION SLAVE ON *.* TO 'replica'@'%'",
    'RESET BINARY LOGS AND GTIDS',
  );
}

/** Returns when each commit of the primary waits for the replica. */
async function follow(): Promise<void> {
  await replica.asRoot(
    'SET GLOBAL super_read_only = 1',
    'SET GLOBAL rpl_semi_sync_replica_enabled = 1',
    `CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = ${new URL(primary.url).port},
       SOURCE_USER = 'replica', SOURCE_PASSWORD = 'replica', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1`,
    'START REPLICA',
  );
  await primary.asRoot('SET GLOBAL rpl_semi_sync_source_enabled = 1');
  await until(async () => {
    const status = await variables(primary, 'Rpl_semi_sync_source_%');
    return status.Rpl_semi_sync_source_status === 'ON' && status.Rpl_semi_sync_source_clients === '1';
  });
}

async function variables(one: DatabaseServer, pattern: string): Promise<Record<string, string>> {
  const rows = await one.queryAsRoot<RowDataPacket & { Variable_name: string; Value: string }>(
    `SHOW GLOBAL STATUS LIKE '${pattern}'`,
  );
  return Object.fromEntries(rows.map(({ Variable_name, Value }) => [Variable_name, Value]));
}

/** The replica applies what it received, then takes writes. */
async function promote(): Promise<void> {
  await replica.asRoot('STOP REPLICA IO_THREAD');
  const [status] = await replica.queryAsRoot<RowDataPacket & { received: string }>(
    'SELECT RECEIVED_TRANSACTION_SET AS received FROM performance_schema.replication_connection_status',
  );
  await replica.asRoot(
    `SELECT WAIT_FOR_EXECUTED_GTID_SET('${status?.received.replaceAll('\n', '')}', ${CATCH_UP_SECONDS})`,
    'STOP REPLICA',
    'RESET REPLICA ALL',
    'SET GLOBAL rpl_semi_sync_replica_enabled = 0',
    'SET GLOBAL super_read_only = 0',
    'SET GLOBAL read_only = 0',
  );
  [primary, replica] = [replica, primary];
}

/** The primary stops taking writes, and the replica catches up before it is promoted. */
async function handOver(): Promise<void> {
  await primary.asRoot('SET GLOBAL super_read_only = 1');
  const [row] = await primary.queryAsRoot<RowDataPacket & { all: string }>('SELECT @@GLOBAL.gtid_executed AS `all`');
  await replica.asRoot(`SELECT WAIT_FOR_EXECUTED_GTID_SET('${row?.all.replaceAll('\n', '')}', ${CATCH_UP_SECONDS})`);
  await primary.asRoot('SET GLOBAL rpl_semi_sync_source_enabled = 0');
  await promote();
}

function faults(): Fault[] {
  const fault = (name: string, begin: () => Promise<unknown>): Fault => ({
    name,
    expected: EXPECTED.PASSING,
    lastsMs: 0,
    begin,
  });
  return [
    { ...fault('primary changed', handOver), mend: follow },
    fault('primary killed', async () => {
      await primary.kill();
      await promote();
    }),
  ];
}

let pin: Pin | undefined;
let service: ServiceProcess | undefined;
try {
  for (const [index, one] of servers.entries()) await prepare(one, index + 1);
  await follow();
  pin = await Pin.start(
    servers.map(({ url }) => url),
    directory,
  );
  const { url } = pin;
  await migrate(url);
  const running = await ServiceProcess.spawn({ DATABASE_URL: url, RATE_LIMIT_LOGIN: '0' });
  service = running;
  await running.started();
  const matrix = await Matrix.open(running, url);
  const asked = chosen(faults(), process.argv.slice(2));
  process.exitCode = (await endureAll('semi-synchronous replica', matrix, asked, [running], url)) ? 0 : 1;
} finally {
  service?.signal('SIGKILL');
  pin?.stop();
  for (const one of servers) await one.wipe();
  await rm(directory, { recursive: true, force: true });
}
