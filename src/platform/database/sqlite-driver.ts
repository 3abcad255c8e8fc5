import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

type Value = string | number | bigint | null | Uint8Array;

interface PreparedStatement {
  readonly reader: boolean;
  all(...values: Value[]): unknown[];
  run(...values: Value[]): { changes: number | bigint; lastInsertRowid: number | bigint };
}

/**
 * The face of `better-sqlite3` that TypeORM's driver of that name calls, over `node:sqlite`'s API in a package that
 * ships its binaries: no compiler and no download at install.
 */
export class SqliteConnection {
  private readonly database: DatabaseSyncInstance;

  constructor(file: string, options: { timeout?: number; readonly?: boolean }) {
    this.database = new DatabaseSync(file, { readOnly: options.readonly ?? false, timeout: options.timeout });
  }

  prepare(sql: string): PreparedStatement {
    const statement = this.database.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (...values) => statement.all(...values) as unknown[],
      run: (...values) => statement.run(...values),
    };
  }

  pragma(text: string): unknown[] {
    return this.database.prepare(`PRAGMA ${text}`).all() as unknown[];
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  close(): void {
    this.database.close();
  }
}
