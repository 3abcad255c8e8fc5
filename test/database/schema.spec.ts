import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { isEmbedded } from '../../src/platform/database/dialect.js';
import { migrate } from '../../src/platform/database/migrator.js';
import { addColumn, migrationsOf, renameColumn } from '../../src/platform/database/migrations/ddl.js';
import { migrations } from '../../src/platform/database/migrations/index.js';
import {
  countTableWaits,
  openDatabase,
  openDataSource,
  openMigratedDatabase,
  type TestDatabase,
  withDataSource,
} from '../support/database.js';
import { startService } from '../support/service.js';
import { ServiceProcess, until } from '../support/service-process.js';

/** Tables of TypeORM, SQLite and fills themselves. */
const BOOKKEEPING = `'migrations', 'sqlite_sequence', 'fill_cursor'`;

interface ColumnRow {
  readonly table: string;
  readonly name: string;
  readonly isNullable: boolean;
}

/** The columns of the database; TypeORM cannot read a generated column of SQLite. */
async function readColumns(dataSource: DataSource): Promise<ColumnRow[]> {
  const rows: Record<'tableName' | 'name' | 'isNullable', string | number>[] = await dataSource.query(
    isEmbedded(dataSource)
      ? `SELECT t.name AS tableName, c.name AS name, c."notnull" = 0 AND c.pk = 0 AS isNullable
         FROM sqlite_master t JOIN pragma_table_xinfo(t.name) c
         WHERE t.type = 'table' AND t.name NOT IN (${BOOKKEEPING}) ORDER BY t.name, c.name`
      : `SELECT table_name AS tableName, column_name AS name, is_nullable = 'YES' AS isNullable
         FROM information_schema.columns
         WHERE table_schema = DATABASE() AND table_name NOT IN (${BOOKKEEPING}) ORDER BY table_name, column_name`,
  );
  return rows.map(({ tableName, name, isNullable }) => ({
    table: String(tableName),
    name: String(name),
    isNullable: Number(isNullable) === 1,
  }));
}

/**
 * Everything that a migration can change: tables with types and constraints, and indexes. Columns are in the order of
 * their names, because one that was dropped comes back at the end of its table.
 */
async function readSchema(dataSource: DataSource): Promise<unknown[]> {
  if (isEmbedded(dataSource)) {
    const columns: unknown[] = await dataSource.query(
      `SELECT t.name AS table_name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden
       FROM sqlite_master t JOIN pragma_table_xinfo(t.name) c
       WHERE t.type = 'table' AND t.name NOT IN (${BOOKKEEPING}) ORDER BY t.name, c.name`,
    );
    const indexes: unknown[] = await dataSource.query(
      `SELECT tbl_name, name, sql FROM sqlite_master
       WHERE type = 'index' AND tbl_name NOT IN (${BOOKKEEPING}) ORDER BY tbl_name, name`,
    );
    return [...columns, ...indexes];
  }
  const columns: unknown[] = await dataSource.query(
    `SELECT table_name, column_name, column_type, collation_name, is_nullable, column_default,
       generation_expression
     FROM information_schema.columns
     WHERE table_schema = DATABASE() AND table_name NOT IN (${BOOKKEEPING}) ORDER BY table_name, column_name`,
  );
  const indexes: unknown[] = await dataSource.query(
    `SELECT table_name, index_name, seq_in_index, column_name, collation, non_unique
     FROM information_schema.statistics
     WHERE table_schema = DATABASE() AND table_name NOT IN (${BOOKKEEPING})
     ORDER BY table_name, index_name, seq_in_index`,
  );
  return [...columns, ...indexes];
}

describe('the entities', () => {
  /** Types are not compared, because TypeORM reports default lengths and collations as differences. */
  it('have exactly the columns of the migrations, with the same nullability', async () => {
    const service = await startService({ isolated: true });
    try {
      const { dataSource } = service.app.get(Database);
      const ofEntities = dataSource.entityMetadatas.flatMap(({ tableName, columns }) =>
        columns.map(({ databaseName, isNullable }) => ({ table: tableName, name: databaseName, isNullable })),
      );
      const tables = new Set(ofEntities.map(({ table }) => table));
      const ofDatabase = await readColumns(dataSource);
      const byName = (a: ColumnRow, b: ColumnRow) => `${a.table}.${a.name}`.localeCompare(`${b.table}.${b.name}`);

      expect(tables.size).toBeGreaterThan(0);
      expect(ofEntities.sort(byName)).toEqual(ofDatabase.filter(({ table }) => tables.has(table)).sort(byName));
    } finally {
      await service.stop();
    }
  });
});

const onServer = process.env.TEST_DATABASE_URL ? describe : describe.skip;

onServer('a connection (needs TEST_DATABASE_URL: the embedded database has no modes)', () => {
  it('sets its own SQL modes: strict, and a backslash escapes', async () => {
    const service = await startService();

    const [row]: { mode: string }[] = await service.app
      .get(Database)
      .read((manager) => manager.query('SELECT @@sql_mode AS mode'));
    await service.stop();

    expect(row?.mode.split(',')).toEqual(expect.arrayContaining(['STRICT_ALL_TABLES', 'TRADITIONAL']));
    expect(row?.mode).not.toContain('NO_BACKSLASH_ESCAPES');
  });
});

describe('the migrations', () => {
  let dataSource: DataSource;
  let runner: QueryRunner;
  let database: TestDatabase;
  beforeEach(async () => {
    database = await openDatabase(true);
    dataSource = await openDataSource(database.url);
    runner = dataSource.createQueryRunner();
  });
  afterEach(async () => {
    await runner.release();
    await dataSource.destroy();
    await database.drop();
  });

  it('each run, revert completely and run again', async () => {
    expect(migrations.length).toBeGreaterThan(0);
    for (const migration of migrations.map((Migration) => new Migration())) {
      const before = await readSchema(dataSource);
      await migration.up(runner);
      const after = await readSchema(dataSource);

      await migration.down(runner);
      expect([migration.name, await readSchema(dataSource)]).toEqual([migration.name, before]);

      await migration.up(runner);
      expect([migration.name, await readSchema(dataSource)]).toEqual([migration.name, after]);
    }
  });

  it('run once when two programs migrate at the same time', async () => {
    const environment = { DATABASE_URL: database.url };
    const both = await Promise.all([1, 2].map(() => ServiceProcess.spawn(environment, 'dist/src/cli.js', 'migrate')));
    const codes = await Promise.all(both.map(({ exit }) => exit));

    expect([codes, both.map(({ output }) => output)]).toEqual([[0, 0], expect.anything()]);
    const ran = both.flatMap(({ output }) => [...output.matchAll(/^Ran (\w+)$/gm)].map(([, name]) => name));
    expect(ran.sort()).toEqual(migrations.map((Migration) => new Migration().name).sort());
  });

  it('each change an index or a column once, although the migrator was killed before it recorded that', async () => {
    // SQLite changes a column and records it in one transaction.
    const repeated = isEmbedded(dataSource) ? /^index/ : /^(index|column)/;
    for (const migration of migrations.map((Migration) => new Migration())) {
      await migration.up(runner);
      if (!repeated.test(migration.name!)) continue;
      const after = await readSchema(dataSource);

      await migration.up(runner);
      expect([migration.name, await readSchema(dataSource)]).toEqual([migration.name, after]);
    }
  });
});

describe('a change of the schema with an unknown column', () => {
  it.each([
    ['to rename', renameColumn('waitlist', 'nmae', 'title')],
    ['to add another from', addColumn('waitlist', 'title', () => 'VARCHAR(40) GENERATED ALWAYS AS (nmae)')],
  ])('%s is refused and not recorded as done', async (_, step) => {
    const database = await openMigratedDatabase();
    await withDataSource(database.url, async ({ options }) => {
      const last = migrationsOf(1900000000000, [step]);
      const next = await new DataSource({ ...options, migrations: [...migrations, ...last] }).initialize();
      const log = jest.spyOn(console, 'error').mockImplementation(() => undefined);

      await expect(next.runMigrations()).rejects.toThrow(/nmae/);

      expect(await next.showMigrations()).toBe(true);
      log.mockRestore();
      await next.destroy();
    });
    await database.drop();
  });
});

onServer('a migrator (needs TEST_DATABASE_URL: the embedded database is a file)', () => {
  it('does not wait for a migrator of another database on the same server', async () => {
    const [first, second] = [await openDatabase(true), await openDatabase(true)];
    const [ofFirst, ofSecond] = [await openDataSource(first.url), await openDataSource(second.url)];
    await migrate(ofFirst);
    await ofFirst.query(`DELETE FROM migrations WHERE name LIKE 'index%' ORDER BY id DESC LIMIT 1`);
    const locker = ofFirst.createQueryRunner();
    await locker.query('LOCK TABLES migrations READ');
    const waiting = migrate(ofFirst);
    await until(async () => (await countTableWaits(ofFirst)) > 0);

    expect(await migrate(ofSecond)).toHaveLength(migrations.length);

    await locker.query('UNLOCK TABLES');
    await locker.release();
    expect(await waiting).not.toEqual([]);
    await Promise.all([ofFirst.destroy(), ofSecond.destroy()]);
    await Promise.all([first.drop(), second.drop()]);
  });
});
