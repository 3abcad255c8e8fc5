import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { readConfig } from '../../src/platform/config/config.js';
import { dataSourceOptions } from '../../src/platform/database/data-source-options.js';
import { Database } from '../../src/platform/database/database.js';
import { isEmbedded } from '../../src/platform/database/dialect.js';
import { migrations } from '../../src/platform/database/migrations/index.js';
import { openDatabase, startService } from '../support/service.js';

/** What TypeORM and SQLite keep for themselves. */
const BOOKKEEPING = ['migrations', 'sqlite_sequence'];

/** A runner keeps what it saw of the schema, so each use gets one of its own. */
async function withRunner<Result>(dataSource: DataSource, use: (runner: QueryRunner) => Promise<Result>) {
  const runner = dataSource.createQueryRunner();
  try {
    return await use(runner);
  } finally {
    await runner.release();
  }
}

/** Tables, columns and indices, as the database has them. */
async function readSchema(dataSource: DataSource) {
  const listTables = isEmbedded(dataSource)
    ? "SELECT name FROM sqlite_master WHERE type = 'table'"
    : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()';
  const rows: { name: string }[] = await dataSource.query(listTables);
  const names = rows.map(({ name }) => name).filter((name) => !BOOKKEEPING.includes(name));
  const tables = await withRunner(dataSource, async (runner) => (names.length > 0 ? runner.getTables(names) : []));
  return tables
    .map(({ name, columns, indices, uniques }) => ({
      name: name.split('.').at(-1)!,
      columns: columns
        .map((column) => `${column.name} ${column.type} ${column.isNullable ? 'NULL' : 'NOT NULL'}`)
        .sort(),
      indices: [...indices, ...uniques].map((index) => `${index.name} (${index.columnNames.join(', ')})`).sort(),
    }))
    .sort((a, b) => a.name.localeCompare(b.name));
}

describe('the entities', () => {
  /** Types are not compared: TypeORM sees a drift there that isn't one, a default length or a collation. */
  it('have the columns that the migrations made, and no others, and agree on which may be NULL', async () => {
    const service = await startService({ isolated: true });
    try {
      const { dataSource } = service.app.get(Database);

      expect(dataSource.entityMetadatas.length).toBeGreaterThan(0);
      for (const { tableName, columns } of dataSource.entityMetadatas) {
        const table = await withRunner(dataSource, (runner) => runner.getTable(tableName));
        const ofDatabase = table?.columns.map(({ name, isNullable, isPrimary }) => ({
          name,
          isNullable: isNullable && !isPrimary,
        }));
        const ofEntity = columns.map(({ databaseName, isNullable }) => ({ name: databaseName, isNullable }));
        const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
        expect([tableName, ofDatabase?.sort(byName)]).toEqual([tableName, ofEntity.sort(byName)]);
      }
    } finally {
      await service.stop();
    }
  });
});

describe('the migrations', () => {
  let dataSource: DataSource;
  let database: Awaited<ReturnType<typeof openDatabase>>;
  beforeEach(async () => {
    database = await openDatabase(true);
    const config = readConfig({ DATABASE_URL: database.url, JWT_SECRET: 'test-secret-test-secret-test-secret-' });
    dataSource = await new DataSource(dataSourceOptions(config.database)).initialize();
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('each go up, down to where they were, and up again', async () => {
    expect(migrations.length).toBeGreaterThan(0);
    for (const migration of migrations.map((Migration) => new Migration())) {
      const before = await readSchema(dataSource);
      await withRunner(dataSource, (runner) => migration.up(runner));
      const after = await readSchema(dataSource);

      await withRunner(dataSource, (runner) => migration.down(runner));
      expect([migration.name, await readSchema(dataSource)]).toEqual([migration.name, before]);

      await withRunner(dataSource, (runner) => migration.up(runner));
      expect([migration.name, await readSchema(dataSource)]).toEqual([migration.name, after]);
    }
  });

  it('run as one from nothing to the newest schema, back to nothing, and to the newest again', async () => {
    const ran = await dataSource.runMigrations();
    const newest = await readSchema(dataSource);
    expect(ran).toHaveLength(migrations.length);
    expect(newest.length).toBeGreaterThan(0);

    for (let count = 0; count < migrations.length; count += 1) await dataSource.undoLastMigration();
    expect(await readSchema(dataSource)).toEqual([]);

    await dataSource.runMigrations();
    expect(await readSchema(dataSource)).toEqual(newest);
    expect(await dataSource.showMigrations()).toBe(false);
  });
});
