import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isIndexThere } from '../database-error.js';
import { columnTypes, dropIndex } from '../dialect.js';

type MigrationClass = new () => MigrationInterface;
type ColumnTypes = ReturnType<typeof columnTypes>;

/** One DDL statement and its reverse. */
interface Statement {
  readonly name: string;
  readonly up: (queryRunner: QueryRunner) => Promise<void>;
  readonly down: (queryRunner: QueryRunner) => Promise<void>;
}

/**
 * A migration class for each statement, because MySQL commits each DDL statement by itself: a migrator that is killed
 * between two leaves the first noted as done, and the next migrator goes on with the second. TypeORM runs them in the
 * order of the 13 digits at the end of their names.
 */
export function migrationsOf(firstTimestamp: number, statements: readonly Statement[]): MigrationClass[] {
  return statements.map(
    ({ name, up, down }, index) =>
      class implements MigrationInterface {
        readonly name = `${name}_${firstTimestamp + index}`;
        readonly up = up;
        readonly down = down;
      },
  );
}

export function table(name: string, columns: (is: ColumnTypes) => string): Statement {
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

export function index(name: string, tableName: string, columns: string, kind = 'INDEX'): Statement {
  return {
    name: `index_${name}`,
    async up(queryRunner) {
      try {
        await queryRunner.query(`CREATE ${kind} ${name} ON ${tableName} (${columns})`);
      } catch (error) {
        // A server finishes building an index after the migrator was killed.
        if (!isIndexThere(error)) throw error;
      }
    },
    async down(queryRunner) {
      await queryRunner.query(dropIndex(queryRunner, tableName, name));
    },
  };
}
