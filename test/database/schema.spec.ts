import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { readConfig } from '../../src/platform/config/config.js';
import { dataSourceOptions } from '../../src/platform/database/data-source-options.js';
import { Database } from '../../src/platform/database/database.js';
import { migrations } from '../../src/platform/database/migrations/index.js';
import { openDatabase, startService } from '../support/service.js';

/** Tables, columns and indices, as the database has them. */
async function readSchema(runner: QueryRunner) {
  const tables = await runner.getTables();
  return tables
    .map(({ name, columns, indices, uniques }) => ({
      name: name.split('.').at(-1)!,
      columns: columns
        .map((column) => `${column.name} ${column.type} ${column.isNullable ? 'NULL' : 'NOT NULL'}`)
        .sort(),
      indices: [...indices, ...uniques].map((index) => `${index.name} (${index.columnNames.join(', ')})`).sort(),
    }))
    .filter(({ name }) => name !== 'migrations')
    .sort((a, b) => a.name.localeCompare(b.name));
}

describe('the entities', () => {
  /** Types are not compared: TypeORM sees a drift there that isn't one, a default length or a collation. */
  it('have the columns that the migrations made, and no others, and agree on which may be NULL', async () => {
    const service = await startService({ isolated: true });
    try {
      const { dataSource } = service.app.get(Database);
      const runner = dataSource.createQueryRunner();

      expect(dataSource.entityMetadatas.length).toBeGreaterThan(0);
      for (const { tableName, columns } of dataSource.entityMetadatas) {
        const table = await runner.getTable(tableName);
        const ofDatabase = table?.columns.map(({ name, isNullable }) => ({ name, isNullable }));
        const ofEntity = columns.map(({ databaseName, isNullable }) => ({ name: databaseName, isNullable }));
        const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
        expect([tableName, ofDatabase?.sort(byName)]).toEqual([tableName, ofEntity.sort(byName)]);
      }
      await runner.release();
    } finally {
      await service.stop();
    }
  });
});

describe('the migrations', () => {
  let dataSource: DataSource;
  let runner: QueryRunner;
  let database: Awaited<ReturnType<typeof openDatabase>>;
  beforeEach(async () => {
    database = await openDatabase(true);
    const config = readConfig({ DATABASE_URL: database.url, JWT_SECRET: 'test-secret-test-secret-test-secret-' });
    dataSource = await new DataSource(dataSourceOptions(config.database)).initialize();
    runner = dataSource.createQueryRunner();
  });
  afterEach(async () => {
    await runner.release();
    await dataSource.destroy();
    await database.drop();
  });

  it('each go up, down to where they were, and up again', async () => {
    expect(migrations.length).toBeGreaterThan(0);
    for (const migration of migrations.map((Migration) => new Migration())) {
      const before = await readSchema(runner);
      await migration.up(runner);
      const after = await readSchema(runner);

      await migration.down(runner);
      expect([migration.name, await readSchema(runner)]).toEqual([migration.name, before]);

      await migration.up(runner);
      expect([migration.name, await readSchema(runner)]).toEqual([migration.name, after]);
    }
  });

  it('run as one from nothing to the newest schema, back to nothing, and to the newest again', async () => {
    const ran = await dataSource.runMigrations();
    const newest = await readSchema(runner);
    expect(ran).toHaveLength(migrations.length);
    expect(newest.length).toBeGreaterThan(0);

    for (let count = 0; count < migrations.length; count += 1) await dataSource.undoLastMigration();
    expect(await readSchema(runner)).toEqual([]);

    await dataSource.runMigrations();
    expect(await readSchema(runner)).toEqual(newest);
    expect(await dataSource.showMigrations()).toBe(false);
  });
});
