import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { isEmbedded } from './dialect.js';
import { SqliteConnection } from './sqlite-driver.js';

const LOCK_WAIT_SECONDS = 600;

/** The schema is not the one that this version of the code needs. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/**
 * Migrates the embedded database. A replica must not change the schema of a shared one, so that is only checked.
 * @throws SchemaError when a shared database has an older schema
 */
export async function prepareSchema(dataSource: DataSource): Promise<void> {
  if (isEmbedded(dataSource)) await migrate(dataSource);
  else if (await dataSource.showMigrations())
    throw new SchemaError('The database is not at the newest schema: run `npm run cli -- migrate` first.');
}

/**
 * Runs the pending migrations, one migrator at a time, and returns their names.
 * @throws SchemaError when another migrator does not finish within {@link LOCK_WAIT_SECONDS}
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  return isEmbedded(dataSource) ? migrateFile(dataSource) : migrateServer(dataSource);
}

async function migrateServer(dataSource: DataSource): Promise<string[]> {
  const lock = dataSource.createQueryRunner();
  const name = lockName(String(dataSource.options.database));
  try {
    const [row] = (await lock.query('SELECT GET_LOCK(?, ?) AS isMine', [name, LOCK_WAIT_SECONDS])) as {
      isMine: number | null;
    }[];
    if (row?.isMine !== 1) {
      throw new SchemaError('Another program is changing the schema: try again when it is done.');
    }
    const names = await runMigrations(dataSource);
    await lock.query('SELECT RELEASE_LOCK(?)', [name]);
    return names;
  } finally {
    await lock.release();
  }
}

/** Locks a second SQLite file: unlike a lock file, the lock ends with the process that holds it. */
async function migrateFile(dataSource: DataSource): Promise<string[]> {
  const file = String(dataSource.options.database);
  if (file === ':memory:') return runMigrations(dataSource);
  const lock = new SqliteConnection(`${file}-migrate`, { timeout: LOCK_WAIT_SECONDS * 1000 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    // Nothing is served yet, so the driver may block the event loop while it waits for another program's transaction.
    await dataSource.query(`PRAGMA busy_timeout = ${LOCK_WAIT_SECONDS * 1000}`);
    return await runMigrations(dataSource);
  } finally {
    await dataSource.query('PRAGMA busy_timeout = 0');
    lock.close();
  }
}

async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const done = await dataSource.runMigrations();
  return done.map(({ name }) => name);
}

/** Lock names are server-wide and limited to 64 characters, the length that a database name alone may have. */
function lockName(database: string): string {
  return `waitlist-service/migrate/${createHash('sha256').update(database).digest('hex').slice(0, 32)}`;
}
