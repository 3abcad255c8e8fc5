import type { DataSource, QueryRunner } from 'typeorm';

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

/** A moment as both databases take and keep it: `2026-11-21 04:05:06.789`, UTC. */
export function toSqlTime(moment: Date): string {
  return moment.toISOString().slice(0, -1).replace('T', ' ');
}

/** A moment as read by a raw query: MySQL's driver gives a Date, the embedded one its text. */
export function fromSqlTime(value: Date | string): Date {
  return typeof value === 'string' ? new Date(`${value.replace(' ', 'T')}Z`) : value;
}

/** `?, ?, ?` for a list of values; `rows` of them give `(?, ?), (?, ?)`. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => '?').join(', ');
}

/** What one statement can't take goes in several. */
export function chunksOf<Item>(items: readonly Item[], size: number): (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size)); // prettier-ignore
}

export function isEmbedded({ options }: DataSource): boolean {
  return options.type === 'better-sqlite3';
}

/** The end of an INSERT that overwrites `columns` of a row that has the same `key`. */
export function upsert(dataSource: DataSource, key: readonly string[], columns: readonly string[]): string {
  return isEmbedded(dataSource)
    ? `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`
    : `ON DUPLICATE KEY UPDATE ${columns.map((column) => `${column} = VALUES(${column})`).join(', ')}`;
}

/** Behind a table's alias: the one index to use, where the optimiser's statistics lead it astray. */
export function byIndex(dataSource: DataSource, index: string): string {
  return isEmbedded(dataSource) ? `INDEXED BY ${index}` : `FORCE INDEX (${index})`;
}

/** Behind a table's alias: its rows by their ids, though SQLite may think that there are fewer than ids. */
export function byId(dataSource: DataSource): string {
  return isEmbedded(dataSource) ? 'NOT INDEXED' : 'FORCE INDEX (PRIMARY)';
}
