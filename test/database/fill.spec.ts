import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AbstractLogger, DataSource, type LogMessage } from 'typeorm';
import { addColumn, fill, fillColumn, migrationsOf, table } from '../../src/platform/database/migrations/ddl.js';
import { openDatabase, openDataSource, type TestDatabase } from '../support/database.js';

/** More than two chunks, with gaps between the ids. */
const PEOPLE = Array.from({ length: 1_250 }, (_, index) => index * 3 + 1);
/** In the second chunk. */
const FAULTY = PEOPLE[700] as number;

const FIRST = migrationsOf(1795392000000, [
  table('person', (is) => `id ${is.generatedId}, name ${is.text(20)} NULL, copies INT NOT NULL DEFAULT 0`),
]);
const SECOND = migrationsOf(1795392001000, [
  addColumn('person', 'greeting', (is) => `${is.text(40)} NOT NULL DEFAULT ''`),
  fill('person', 'person', `UPDATE person SET greeting = name, copies = copies + 1 WHERE id BETWEEN ? AND ?`),
]);

const THIRD = migrationsOf(1795392002000, [
  fillColumn('person_copies', 'person', 'copies', ['name'], ({ name }) => {
    if (name === null) throw new Error('Nobody has this name');
    return name === 'Ada' ? '7' : null;
  }),
]);

class Recorder extends AbstractLogger {
  readonly lines: unknown[] = [];

  constructor() {
    super(['migration']);
  }

  protected override writeLog(_level: unknown, message: LogMessage): void {
    this.lines.push(message.message);
  }
}

describe('a fill', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let log: Recorder;
  const migrateTo = async (migrations: typeof FIRST): Promise<void> => {
    await dataSource.destroy();
    log = new Recorder();
    dataSource = await new DataSource({ ...dataSource.options, migrations, logger: log }).initialize();
    await dataSource.runMigrations();
  };
  const countCopies = (): Promise<unknown> =>
    dataSource.query('SELECT copies, COUNT(*) AS people FROM person GROUP BY copies ORDER BY copies');
  beforeEach(async () => {
    database = await openDatabase(true);
    dataSource = await openDataSource(database.url);
    await migrateTo(FIRST);
    const rows = PEOPLE.map((id) => `(${id}, 'Ada')`).join(', ');
    await dataSource.query(`INSERT INTO person (id, name) VALUES ${rows}`);
  });
  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('fills every row once, reports its progress, and runs again only after its reverse', async () => {
    await migrateTo([...FIRST, ...SECOND]);
    expect(await countCopies()).toEqual([{ copies: 1, people: PEOPLE.length }]);
    expect(log.lines).toEqual(['fill_person: 30 %', 'fill_person: 70 %', 'fill_person: 100 %']);

    await migrateTo([...FIRST, ...SECOND]);
    expect(await countCopies()).toEqual([{ copies: 1, people: PEOPLE.length }]);

    await dataSource.undoLastMigration();
    await dataSource.runMigrations();
    expect(await countCopies()).toEqual([{ copies: 2, people: PEOPLE.length }]);
  });

  it('continues behind its last committed chunk after a failure, so that each row is filled once', async () => {
    await dataSource.query('UPDATE person SET name = NULL WHERE id = ?', [FAULTY]);
    await expect(migrateTo([...FIRST, ...SECOND])).rejects.toThrow();
    expect(await countCopies()).toEqual([
      { copies: 0, people: PEOPLE.length - 500 },
      { copies: 1, people: 500 },
    ]);

    await dataSource.query(`UPDATE person SET name = 'Bob' WHERE id = ?`, [FAULTY]);
    await migrateTo([...FIRST, ...SECOND]);

    expect(await countCopies()).toEqual([{ copies: 1, people: PEOPLE.length }]);
    expect(log.lines[0]).toBe('fill_person: 70 %');
  });

  it('computes a column by a function, and continues behind its last committed chunk too', async () => {
    await dataSource.query(`UPDATE person SET name = 'Bob' WHERE id < 10`);
    await dataSource.query('UPDATE person SET name = NULL WHERE id = ?', [FAULTY]);
    await expect(migrateTo([...FIRST, ...THIRD])).rejects.toThrow('Nobody has this name');
    expect(await countCopies()).toEqual([
      { copies: 0, people: PEOPLE.length - 497 },
      { copies: 7, people: 497 },
    ]);

    await dataSource.query(`UPDATE person SET name = 'Ada' WHERE id = ? OR id < 10`, [FAULTY]);
    await migrateTo([...FIRST, ...THIRD]);

    expect(await countCopies()).toEqual([
      { copies: 0, people: 3 },
      { copies: 7, people: PEOPLE.length - 3 },
    ]);
  });
});
