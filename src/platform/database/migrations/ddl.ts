import type { EntityManager, MigrationInterface, QueryRunner } from 'typeorm';
import { isDoneAlready } from '../database-error.js';
import { columnTypes, Dialect, dropIndex as dropIndexSql, isEmbedded, placeholders } from '../dialect.js';

type MigrationClass = new () => MigrationInterface;
type ColumnTypes = ReturnType<typeof columnTypes>;

/**
 * Rows in one transaction of a fill. Even if all people have 16 KiB of metadata and three answers of 4,000
 * characters, the rows before and after stay below Group Replication's default limit of 143 MiB.
 */
const FILL_ROWS = 500;

/** One DDL statement or one fill, and its reverse. */
interface Step {
  readonly name: string;
  /** False for a fill, which commits by itself. */
  readonly transaction?: false;
  readonly up: (queryRunner: QueryRunner) => Promise<void>;
  readonly down: (queryRunner: QueryRunner) => Promise<void>;
}

/**
 * A migration class for each step, because MySQL commits each DDL statement by itself: a migrator that is killed
 * between two leaves the first recorded as done, and the next migrator continues with the second. TypeORM runs them
 * in the order of the 13 digits at the end of their names.
 */
export function migrationsOf(firstTimestamp: number, steps: readonly Step[]): MigrationClass[] {
  return steps.map(
    ({ name, transaction, up, down }, index) =>
      class implements MigrationInterface {
        readonly name = `${name}_${firstTimestamp + index}`;
        readonly transaction = transaction;
        readonly up = up;
        readonly down = down;
      },
  );
}

export function table(name: string, columns: (is: ColumnTypes) => string): Step {
  return {
    name: `table_${name}`,
    async up(queryRunner) {
      const is = columnTypes(queryRunner);
      await queryRunner.query(`CREATE TABLE ${name} (${columns(is)})${is.tableOptions}`);
    },
    async down(queryRunner) {
      await queryRunner.query(`DROP TABLE ${name}`);
    },
  };
}

export function index(name: string, tableName: string, columns: string, kind = 'INDEX'): Step {
  return {
    name: `index_${name}`,
    up: (queryRunner) => changeOnce(queryRunner, `CREATE ${kind} ${name} ON ${tableName} (${columns})`),
    async down(queryRunner) {
      await queryRunner.query(dropIndexSql(queryRunner, tableName, name));
    },
  };
}

/** Its reverse makes the index again. */
export function dropIndex(name: string, tableName: string, columns: string): Step {
  const { up: down } = index(name, tableName, columns);
  return {
    name: `index_${name}_dropped`,
    up: (queryRunner) => changeOnce(queryRunner, dropIndexSql(queryRunner, tableName, name)),
    down,
  };
}

/** A column at the end of a table. It allows NULL or has a default, which the existing rows get. */
export function addColumn(tableName: string, name: string, type: (is: ColumnTypes) => string): Step {
  return {
    name: `column_${tableName}_${name}`,
    up: (queryRunner) =>
      changeOnce(queryRunner, `ALTER TABLE ${tableName} ADD COLUMN ${name} ${type(columnTypes(queryRunner))}`),
    async down(queryRunner) {
      await queryRunner.query(`ALTER TABLE ${tableName} DROP COLUMN ${name}`);
    },
  };
}

/** Its reverse adds the column again, empty. `type` allows NULL or has a default. */
export function dropColumn(tableName: string, name: string, type: (is: ColumnTypes) => string): Step {
  return {
    name: `column_${tableName}_${name}_dropped`,
    async up(queryRunner) {
      if (await queryRunner.hasColumn(tableName, name))
        await queryRunner.query(`ALTER TABLE ${tableName} DROP COLUMN ${name}`);
    },
    async down(queryRunner) {
      await queryRunner.query(`ALTER TABLE ${tableName} ADD COLUMN ${name} ${type(columnTypes(queryRunner))}`);
    },
  };
}

/**
 * Drops columns, unique ones too, of a small table that has these columns and no others, and no index of its own.
 * SQLite can neither drop a unique column nor add one that must have a value, so the table is rebuilt there, in the
 * transaction of the step. Its reverse is for an empty table.
 */
export function dropColumns(
  tableName: string,
  kept: (is: ColumnTypes) => Readonly<Record<string, string>>,
  dropped: (is: ColumnTypes) => Readonly<Record<string, string>>,
): Step {
  const listOf = (columns: object) => Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  const rebuild = async (queryRunner: QueryRunner, columns: object) => {
    const [rebuilt, names] = [`${tableName}_rebuilt`, Object.keys(kept(columnTypes(queryRunner))).join(', ')];
    await queryRunner.query(`CREATE TABLE ${rebuilt} (${listOf(columns).join(', ')})`);
    await queryRunner.query(`INSERT INTO ${rebuilt} (${names}) SELECT ${names} FROM ${tableName}`);
    await queryRunner.query(`DROP TABLE ${tableName}`);
    await queryRunner.query(`ALTER TABLE ${rebuilt} RENAME TO ${tableName}`);
  };
  const alter = (queryRunner: QueryRunner, change: string, columns: readonly string[]) =>
    queryRunner.query(`ALTER TABLE ${tableName} ${columns.map((column) => `${change} COLUMN ${column}`).join(', ')}`);
  return {
    name: `columns_${tableName}_dropped`,
    async up(queryRunner) {
      const is = columnTypes(queryRunner);
      const names = Object.keys(dropped(is));
      if (isEmbedded(queryRunner.dataSource)) await rebuild(queryRunner, kept(is));
      else if (await queryRunner.hasColumn(tableName, names[0]!)) await alter(queryRunner, 'DROP', names);
    },
    async down(queryRunner) {
      const is = columnTypes(queryRunner);
      if (isEmbedded(queryRunner.dataSource)) await rebuild(queryRunner, { ...kept(is), ...dropped(is) });
      else await alter(queryRunner, 'ADD', listOf(dropped(is)));
    },
  };
}

export function renameColumn(tableName: string, from: string, to: string): Step {
  const rename = (before: string, after: string) => `ALTER TABLE ${tableName} RENAME COLUMN ${before} TO ${after}`;
  return {
    name: `column_${tableName}_${to}`,
    async up(queryRunner) {
      const isRenamed = (await queryRunner.hasColumn(tableName, to)) && !(await queryRunner.hasColumn(tableName, from));
      if (!isRenamed) await queryRunner.query(rename(from, to));
    },
    async down(queryRunner) {
      await queryRunner.query(rename(to, from));
    },
  };
}

/**
 * Changes or copies the rows of a table that has a numeric `id`. `statement` gets the first and the last id of one
 * chunk at a time, must be limited to them, and must be SQL that all databases understand. Add the column that it
 * fills in an earlier step, and set all new columns of a table in one fill: for ten million people, MySQL needs some
 * seven minutes.
 *
 *     addColumn('waiter', 'joined_at', (is) => `${is.time} NULL`),
 *     fill('waiter_joined_at', 'waiter', 'UPDATE waiter SET joined_at = created_at WHERE id BETWEEN ? AND ?'),
 *
 * Each chunk commits together with the cursor in `fill_cursor`. So the next migrator after a killed one continues
 * behind the last committed chunk, and each row is filled exactly once. Its reverse only forgets the cursor.
 */
export function fill(name: string, tableName: string, statement: string): Step {
  return fillBy(name, tableName, (manager, first, last) => manager.query(statement, [first, last]));
}

/**
 * A {@link fill} of one column that SQL cannot compute. `value` gets the columns of `from`; a row whose value is null
 * stays as it is. A later version must return the same `value`, because an interrupted fill continues where it stopped.
 */
export function fillColumn<From extends string>(
  name: string,
  tableName: string,
  column: string,
  from: readonly From[],
  value: (row: Readonly<Record<From, string | null>>) => string | null,
): Step {
  return fillBy(name, tableName, async (manager, first, last) => {
    const rows = await manager.query<(Record<From, string | null> & { id: number })[]>(
      `SELECT id, ${from.join(', ')} FROM ${tableName} WHERE id BETWEEN ? AND ?`,
      [first, last],
    );
    const values = rows.map((row) => ({ id: row.id, value: value(row) })).filter((row) => row.value !== null);
    if (values.length === 0) return;
    await manager.query(
      `UPDATE ${tableName} SET ${column} = CASE id ${values.map(() => 'WHEN ? THEN ?').join(' ')} END
       WHERE id IN (${placeholders(values.length)})`,
      [...values.flatMap((row) => [row.id, row.value]), ...values.map(({ id }) => id)],
    );
  });
}

/** Fills the rows with ids from the first to the last, in the transaction of the manager. */
type FillRows = (manager: EntityManager, first: number, last: number) => Promise<unknown>;

function fillBy(name: string, tableName: string, fillRows: FillRows): Step {
  return {
    name: `fill_${name}`,
    transaction: false,
    async up(queryRunner) {
      const is = columnTypes(queryRunner);
      await queryRunner.query(
        `CREATE TABLE IF NOT EXISTS fill_cursor (name ${is.code(64)} NOT NULL PRIMARY KEY, last_id ${is.id} NOT NULL)${is.tableOptions}`,
      );
      const [end] = (await queryRunner.query(`SELECT MAX(id) AS id FROM ${tableName}`)) as [{ id: number | null }];
      let tenths = 0;
      let lastId: number | null;
      do {
        lastId = await fillChunk(queryRunner, name, tableName, fillRows);
        const done = Math.floor(((lastId ?? end.id ?? 0) / (end.id ?? 1)) * 10);
        if (done > tenths) queryRunner.dataSource.logger.logMigration(`fill_${name}: ${done * 10} %`, queryRunner);
        tenths = done;
      } while (lastId !== null);
    },
    async down(queryRunner) {
      await queryRunner.query('DELETE FROM fill_cursor WHERE name = ?', [name]);
    },
  };
}

/** Returns the last id of the chunk, or null when no row is left. */
async function fillChunk(
  queryRunner: QueryRunner,
  name: string,
  tableName: string,
  fillRows: FillRows,
): Promise<number | null> {
  const upsert = new Dialect(isEmbedded(queryRunner.dataSource)).upsert(['name'], ['last_id']);
  return queryRunner.manager.transaction(async (manager) => {
    const [cursor] = await manager.query<{ id: number }[]>('SELECT last_id AS id FROM fill_cursor WHERE name = ?', [
      name,
    ]);
    const [chunk] = await manager.query<[{ first: number; last: number | null }]>(
      `SELECT MIN(id) AS first, MAX(id) AS last
       FROM (SELECT id FROM ${tableName} WHERE id > ? ORDER BY id LIMIT ${FILL_ROWS}) chunk`,
      [cursor?.id ?? 0],
    );
    if (chunk.last !== null) {
      await fillRows(manager, chunk.first, chunk.last);
      await manager.query(`INSERT INTO fill_cursor (name, last_id) VALUES (?, ?) ${upsert}`, [name, chunk.last]);
    }
    return chunk.last;
  });
}

async function changeOnce(queryRunner: QueryRunner, sql: string): Promise<void> {
  try {
    await queryRunner.query(sql);
  } catch (error) {
    if (!isDoneAlready(error)) throw error;
  }
}
