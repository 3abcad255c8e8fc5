import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite';

type Value = string | number | bigint | null | Uint8Array;

/** An integer that no JavaScript number holds: only somebody's own SQL stores one. */
const TOO_LARGE = 'Value is too large to be represented as a JavaScript number';

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
      all: (...values) => {
        try {
          return statement.all(...values) as unknown[];
        } catch (error) {
          if (!(error as Partial<Error>).message?.startsWith(TOO_LARGE)) throw error;
          statement.setReadBigInts(true);
          const rows = statement.all(...values) as Record<string, Value>[];
          statement.setReadBigInts(false);
          return rows.map(withLargeAsText);
        }
      },
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

/** As MySQL's driver gives them: integers as numbers, and as text where a number would not hold them. */
function withLargeAsText(row: Readonly<Record<string, Value>>): Record<string, Value> {
  const readable = (value: Value) =>
    typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, readable(value)]));
}
