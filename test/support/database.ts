import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { readConfig } from '../../src/platform/config/config.js';
import { dataSourceOptions } from '../../src/platform/database/data-source-options.js';
import { OWNER } from './service-process.js';

/** Of `OWNER.password`, at the least cost there is. */
export const OWNER_PASSWORD_HASH =
  '$argon2id$v=19$m=8,t=1,p=1$swe0rHtK8wJ78wE8LI99oQ$iE4cRwsQDih0wCcQV+TuT0rp9oCV2O4MoMmXhTOzGzc';

export interface TestDatabase {
  readonly url: string;
  /** Deletes the database unless other suites use it. */
  drop(): Promise<void>;
}

/** An empty database if `isolated` or embedded; otherwise the one that the suites of this Jest worker share. */
export async function openDatabase(isolated: boolean): Promise<TestDatabase> {
  const server = process.env.TEST_DATABASE_URL;
  if (!server) {
    const directory = await mkdtemp(join(tmpdir(), 'waitlist-test-'));
    return {
      url: `sqlite:${join(directory, 'waitlist.sqlite')}`,
      drop: () => rm(directory, { recursive: true, force: true }),
    };
  }
  const url = new URL(server);
  const name = `${url.pathname.slice(1)}_${isolated ? randomUUID().replaceAll('-', '') : (process.env.JEST_WORKER_ID ?? '1')}`;
  await run(server, `CREATE DATABASE IF NOT EXISTS \`${name}\` CHARACTER SET utf8mb4`);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      if (isolated) await run(server, `DROP DATABASE \`${name}\``);
    },
  };
}

/** An isolated, empty database with the newest schema. */
export async function openMigratedDatabase(): Promise<TestDatabase> {
  const database = await openDatabase(true);
  await withDataSource(database.url, (dataSource) => dataSource.runMigrations());
  return database;
}

/** The same with the account of `OWNER`, so that the first service does not have to check and hash its password. */
export async function openOwnedDatabase(): Promise<TestDatabase> {
  const database = await openMigratedDatabase();
  const at = '2026-01-01 00:00:00.000';
  await withDataSource(database.url, async (dataSource) => {
    await dataSource.query('INSERT INTO account (id, uuid, created_at) VALUES (1, ?, ?)', [randomUUID(), at]);
    await dataSource.query(
      `INSERT INTO member (id, account_id, email, email_key, role, password_hash, joined_at, created_at)
       VALUES (?, 1, ?, ?, 'owner', ?, ?, ?)`,
      [randomUUID(), OWNER.email, OWNER.email, OWNER_PASSWORD_HASH, at, at],
    );
  });
  return database;
}

/** Works on a database without the service. */
export async function withDataSource<Result>(
  url: string,
  work: (dataSource: DataSource) => Promise<Result>,
): Promise<Result> {
  const dataSource = await openDataSource(url);
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** The caller destroys it. */
export async function openDataSource(url: string): Promise<DataSource> {
  const config = readConfig({ DATABASE_URL: url, JWT_SECRET: 'a-secret-that-signs-tokens-in-tests-only' });
  return new DataSource(dataSourceOptions(config.database)).initialize();
}

/** How many statements on this database wait for a table lock. */
export async function countTableWaits(dataSource: DataSource): Promise<number> {
  const rows = await dataSource.query<unknown[]>(
    `SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND state LIKE 'Waiting for table%'`,
  );
  return rows.length;
}

async function run(server: string, sql: string): Promise<void> {
  // Loaded for a server alone: each suite would load it anew.
  const { createConnection } = await import('mysql2/promise');
  const address = new URL(server);
  address.pathname = '';
  const connection = await createConnection(address.href);
  await connection.query(sql);
  await connection.end();
}
