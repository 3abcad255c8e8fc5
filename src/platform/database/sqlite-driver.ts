import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

type Value = string | number | bigint | null | Uint8Array;

interface PreparedStatement {
  readonly reader: boolean;
  all(...values: Value[]): unknown[];
  run(...values: Value[]): { changes: number | bigint; lastInsertRowid: number | bigint };
}

/**
 * The part of `better-sqlite3`'s API that TypeORM's driver calls, over a package with the API of `node:sqlite`, which
 * ships its binaries: an installation needs no compiler and no download.
 */
export class SqliteConnection {
  readonly isReadOnly: boolean;
  private readonly database: DatabaseSyncInstance;

  constructor(file: string, options: { timeout?: number; readonly?: boolean }) {
    this.isReadOnly = options.readonly ?? false;
    this.database = new DatabaseSync(file, { readOnly: this.isReadOnly, timeout: options.timeout });
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
