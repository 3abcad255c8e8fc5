import { AbstractLogger, type DataSourceOptions, type LogLevel, type LogMessage } from 'typeorm';
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
/** How long to wait for another program that is creating the file. */
const SQLITE_OPEN_MS = 5_000;

/** The same tables on the embedded database and on MySQL or MariaDB. */
export function dataSourceOptions(config: DatabaseConfig): DataSourceOptions {
  const common = {
    migrations,
    migrationsTransactionMode: 'each',
    logger: new MigrationLogger(['migration']),
  } as const satisfies Partial<DataSourceOptions>;
  if (config.kind === 'sqlite') {
    return {
      ...common,
      type: 'better-sqlite3',
      database: config.file,
      driver: SqliteConnection,
      timeout: SQLITE_OPEN_MS,
      prepareDatabase: (connection: SqliteConnection) => {
        if (!connection.isReadOnly) connection.pragma('journal_mode = WAL');
        connection.pragma('synchronous = FULL');
        // Overwrites deleted rows in the file (see WriteAheadLog).
        connection.pragma('secure_delete = ON');
        // While the driver waits for a lock, it blocks the event loop. So it never waits: the transaction is repeated.
        connection.pragma('busy_timeout = 0');
      },
    };
  }
  const { kind, tls, clientCertificate, ...server } = config;
  return {
    ...common,
    ...server,
    type: kind,
    // Without this, a server with any trusted certificate could impersonate ours.
    ssl: tls ? { verifyIdentity: true, ...clientCertificate } : undefined,
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

/** Prints the progress of fills and the name of a migration that failed, not into the output of a command. */
class MigrationLogger extends AbstractLogger {
  protected override writeLog(_level: LogLevel, { message }: LogMessage): void {
    console.error(message);
  }
}
