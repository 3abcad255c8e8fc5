import { createHash } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { isEmbedded } from './dialect.js';
import { AFTER_V0_2_0 } from './migrations/index.js';
import { requireSupported, SchemaError } from './server-check.js';
import { SqliteConnection } from './sqlite-driver.js';

const LOCK_WAIT_SECONDS = 600;

/**
 * Migrates the embedded database. A replica must not change the schema of a shared one, so that is only checked.
 * @throws SchemaError when a shared database has an older schema or is not supported
 */
export async function prepareSchema(dataSource: DataSource): Promise<void> {
  if (isEmbedded(dataSource)) {
    await migrate(dataSource);
    return;
  }
  await requireSupported(dataSource);
  if (await dataSource.showMigrations())
    throw new SchemaError('The database is not at the newest schema: run `npm run cli -- migrate` first.');
}

/**
 * Runs the pending migrations, one migrator at a time, and returns their names. From the schema of v0.2.0, it first
 * copies an embedded database, and does nothing to a shared one that other connections use, unless `isForced`.
 * @throws SchemaError
 */
export async function migrate(dataSource: DataSource, { isForced = false } = {}): Promise<string[]> {
  return isEmbedded(dataSource) ? migrateFile(dataSource) : migrateServer(dataSource, isForced);
}

async function migrateServer(dataSource: DataSource, isForced: boolean): Promise<string[]> {
  await requireSupported(dataSource);
  const lock = dataSource.createQueryRunner();
  const name = lockName(String(dataSource.options.database));
  try {
    const question = 'SELECT GET_LOCK(?, ?) AS isMine';
    const [row] = await lock.manager.query<{ isMine: number | null }[]>(question, [name, LOCK_WAIT_SECONDS]);
    if (row?.isMine !== 1) throw new SchemaError('Another program is changing the schema: try again when it is done.');
    if (!isForced && (await isOfV020(lock))) await requireStop(lock);
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
    if (await isOfV020(dataSource.createQueryRunner())) await copyFile(dataSource, `${file}-v0.2.0`);
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

async function isOfV020(queryRunner: QueryRunner): Promise<boolean> {
  const done = await new MigrationExecutor(queryRunner.dataSource, queryRunner).getExecutedMigrations();
  return done.length > 0 && done.every(({ timestamp }) => timestamp < AFTER_V0_2_0);
}

/** Migrators that wait for the lock are no others. Without PROCESS, a server shows the connections of one user only. */
async function requireStop(queryRunner: QueryRunner): Promise<void> {
  const others = await queryRunner.manager.query<{ client: string }[]>(
    `SELECT CONCAT(user, '@', host) AS client FROM information_schema.processlist
     WHERE db = DATABASE() AND id <> CONNECTION_ID() AND user <> 'system user' AND COALESCE(state, '') <> 'User lock'`,
  );
  if (others.length === 0) return;
  throw new SchemaError(
    `v0.2.0 does not work on the new schema, and ${others[0]?.client} uses the database (connections: ${others.length}). Stop all replicas and run this again, or add --force.`,
  );
}

/** Only the owner may read the copy. It replaces that of an earlier attempt, after which v0.2.0 may have run. */
async function copyFile(dataSource: DataSource, copy: string): Promise<void> {
  const unfinished = `${copy}.part`;
  const file = await open(unfinished, 'w', 0o600);
  try {
    await dataSource.query('VACUUM INTO ?', [unfinished]);
    await file.sync();
    await rename(unfinished, copy);
  } catch (error) {
    await rm(unfinished, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new SchemaError(
      `The upgrade begins with a copy of the database, ${copy}, which failed (${reason}): make space for it and start again.`,
    );
  } finally {
    await file.close();
  }
  dataSource.logger.logMigration(`Copied the database of v0.2.0 to ${copy}`);
}

/** Lock names are server-wide and limited to 64 characters, the length that a database name alone may have. */
function lockName(database: string): string {
  return `waitlist-service/migrate/${createHash('sha256').update(database).digest('hex').slice(0, 32)}`;
}
