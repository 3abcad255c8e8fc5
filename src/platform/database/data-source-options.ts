import type { DataSourceOptions } from 'typeorm';
import type { DatabaseConfig } from '../config/config.js';
import { migrations } from './migrations/index.js';
import { SqliteConnection } from './sqlite-driver.js';

const CONNECT_TIMEOUT_MS = 3_000;
/**
 * A server ends a connection that has been silent for so long, and the transaction in it. The locks of a process that
 * hangs or was cut off, and so can't say that it is gone, would else hold up a line for hours.
 */
export const SILENCE_MAX_SECONDS = 30;
/** The pool itself closes earlier what it does not use. */
const IDLE_MAX_MS = 10_000;
/** The driver waits in the event loop's own thread, so it waits briefly, and the transaction is tried again. */
const SQLITE_BUSY_TIMEOUT_MS = 100;

/** The same tables on the embedded database and on MySQL or MariaDB. */
export function dataSourceOptions(config: DatabaseConfig): DataSourceOptions {
  const common = { migrations, migrationsTransactionMode: 'each', logging: false } as const;
  if (config.kind === 'sqlite') {
    return {
      ...common,
      type: 'better-sqlite3',
      database: config.file,
      driver: SqliteConnection,
      enableWAL: config.file !== ':memory:',
      timeout: SQLITE_BUSY_TIMEOUT_MS,
      prepareDatabase: (connection: SqliteConnection) => void connection.pragma('synchronous = FULL'),
    };
  }
  return {
    ...common,
    type: 'mysql',
    host: config.host,
    port: config.port,
    username: config.username,
    password: config.password,
    database: config.database,
    // Else whoever has any certificate of any authority that is trusted could stand in for the server.
    ssl: config.tls ? { verifyIdentity: true } : undefined,
    charset: 'utf8mb4',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    poolSize: config.poolSize,
    multipleStatements: true,
    // Without `trace` the driver does not record where each query was called from, which it would for no error at all.
    extra: {
      enableKeepAlive: true,
      trace: false,
      // The driver looks at idle times only where not all connections may be idle.
      maxIdle: config.poolSize - 1,
      idleTimeout: IDLE_MAX_MS,
      gracefulEnd: true,
    },
  };
}
