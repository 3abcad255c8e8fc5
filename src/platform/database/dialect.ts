import type { DataSource, QueryRunner } from 'typeorm';
import type { Statement } from './session.js';

/**
 * Column types for hand-written migrations, where MySQL and SQLite name them differently. SQLite compares text byte by
 * byte by default; MySQL needs to be told.
 */
export function columnTypes({ dataSource }: QueryRunner) {
  const embedded = isEmbedded(dataSource);
  return {
    generatedId: embedded ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY',
    id: 'BIGINT',
    /** Machine-made ASCII, compared byte by byte: hashes, tokens, UUIDs. */
    code: (length: number) => `VARCHAR(${length})${embedded ? '' : ' CHARACTER SET ascii COLLATE ascii_bin'}`,
    /** People's text that identifies, compared byte by byte. */
    key: (length: number) => `VARCHAR(${length})${embedded ? '' : ' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'}`,
    text: (length: number) => `VARCHAR(${length})${embedded ? '' : ' CHARACTER SET utf8mb4'}`,
    /** A JSON text, given back byte for byte: MySQL's JSON type would reorder its keys. */
    json: embedded ? 'TEXT' : 'MEDIUMTEXT CHARACTER SET utf8mb4',
    /** UTC with milliseconds. */
    time: embedded ? 'DATETIME' : 'DATETIME(3)',
    flag: 'TINYINT',
    tableOptions: embedded ? '' : ' ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4',
  };
}

/** TypeORM's own way reads the table first, which on SQLite fails where a column is generated. */
export function dropIndex({ dataSource }: QueryRunner, table: string, index: string): string {
  return isEmbedded(dataSource) ? `DROP INDEX ${index}` : `DROP INDEX ${index} ON ${table}`;
}

/** A time as both databases accept and store it: `2026-11-21 04:05:06.789`, UTC. */
export function toSqlTime(moment: Date): string {
  return moment.toISOString().slice(0, -1).replace('T', ' ');
}

/** A time as a raw query returns it: MySQL's driver returns a Date, SQLite's the stored text. */
export function fromSqlTime(value: Date | string): Date {
  return typeof value === 'string' ? new Date(`${value.replace(' ', 'T')}Z`) : value;
}

/** `?, ?, ?` for a list of values. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}

/** Lists of at most `size` items: a statement has a limit on its parameters. */
export function chunksOf<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

export function isEmbedded({ options }: DataSource): boolean {
  return options.type === 'better-sqlite3';
}

/** SQL that SQLite and MySQL or MariaDB write differently. */
export class Dialect {
  constructor(readonly isEmbedded: boolean) {}

  /** The end of an INSERT that overwrites `columns` of a row that has the same `key`. */
  upsert(key: readonly string[], columns: readonly string[]): string {
    return this.isEmbedded
      ? `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`
      : `ON DUPLICATE KEY UPDATE ${columns.map((column) => `${column} = VALUES(${column})`).join(', ')}`;
  }

  /** The end of an INSERT that adds to `columns` of a row that has the same `key`. */
  upsertSum(key: readonly string[], columns: readonly string[]): string {
    return this.isEmbedded
      ? `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${columns.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`
      : `ON DUPLICATE KEY UPDATE ${columns.map((column) => `${column} = ${column} + VALUES(${column})`).join(', ')}`;
  }

  /** After a table's alias: use this index, where the optimizer's statistics mislead it. */
  byIndex(index: string): string {
    return this.isEmbedded ? `INDEXED BY ${index}` : `FORCE INDEX (${index})`;
  }

  /**
   * An UPDATE of the row whose `id` a SELECT of the same table finds; more conditions may follow. SQLite has no JOIN
   * here, and MariaDB reads the whole table for an id from a subquery.
   */
  updateFound(table: string, found: Statement, column: string, value: unknown): Statement {
    return this.isEmbedded
      ? { sql: `UPDATE ${table} SET ${column} = ? WHERE id = (${found.sql})`, values: [value, ...found.values] }
      : {
          sql: `UPDATE ${table} JOIN (${found.sql}) n ON n.id = ${table}.id SET ${column} = ? WHERE TRUE`,
          values: [...found.values, value],
        };
  }

  /** At the end of a SELECT: locks the rows. SQLite has one writer at a time, and no row locks. */
  get forUpdate(): string {
    return this.isEmbedded ? '' : 'FOR UPDATE';
  }

  /** At the end of a SELECT: locks the rows that nobody has locked. SQLite has a single writer, and no row locks. */
  get skipLocked(): string {
    return this.isEmbedded ? '' : 'FOR UPDATE SKIP LOCKED';
  }

  /** After a table's alias: read rows by their ids, even where SQLite estimates that an index is better. */
  byId(): string {
    return this.isEmbedded ? 'NOT INDEXED' : 'FORCE INDEX (PRIMARY)';
  }

  /** After a table's alias: read by the primary key, however small the table is. SQLite needs no hint. */
  byPrimaryKey(): string {
    return this.isEmbedded ? '' : 'FORCE INDEX (PRIMARY)';
  }

  /**
   * The start of a DELETE by primary key. MySQL takes a hint only in this form. A scan would wait for rows that other
   * transactions are inserting.
   */
  deleteByPrimaryKey(table: string): string {
    return this.isEmbedded ? `DELETE FROM ${table}` : `DELETE ${table} FROM ${table} ${this.byPrimaryKey()}`;
  }

  /**
   * Statements of which the first locks and the last reads. SQLite has no FOR UPDATE. A no-op UPDATE takes the write
   * lock first: a read lock cannot be upgraded after another process's write (SQLITE_BUSY_SNAPSHOT).
   */
  lock(table: string, column: string, select: Statement, locking = 'FOR UPDATE'): Statement[] {
    if (!this.isEmbedded) return [{ sql: `${select.sql} ${locking}`, values: select.values }];
    const touch = `UPDATE ${table} SET ${column} = ${column} WHERE ${column} = ?`;
    return [{ sql: touch, values: select.values }, select];
  }
}
