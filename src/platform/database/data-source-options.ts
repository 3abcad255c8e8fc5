import type { DataSourceOptions } from 'typeorm';
import type { DatabaseConfig } from '../config/config.js';
import { migrations } from './migrations/index.js';
import { SqliteConnection } from './sqlite-driver.js';

const CONNECT_TIMEOUT_MS = 3_000;
/**
 * The server closes a connection that is silent for this long, and rolls its transaction back. Otherwise the locks of a
 * process that hangs, or lost its network, could block a queue for hours.
 */
export const SILENCE_MAX_SECONDS = 30;
/** The pool closes idle connections before the server does. */
const IDLE_MAX_MS = 10_000;
/** SQLite waits in the event loop's thread, so it waits briefly; then the transaction is retried. */
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
  const { kind, tls, ...server } = config;
  return {
    ...common,
    ...server,
    type: kind,
    // Without this, a server with any trusted certificate could impersonate ours.
    ssl: tls ? { verifyIdentity: true } : undefined,
    charset: 'utf8mb4',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    multipleStatements: true,
    // With `trace`, the driver would record a stack for each query.
    extra: {
      enableKeepAlive: true,
      trace: false,
      // mysql2 applies `idleTimeout` only if `maxIdle` is below the limit of connections.
      maxIdle: server.poolSize - 1,
      idleTimeout: IDLE_MAX_MS,
      gracefulEnd: true,
    },
  };
}
