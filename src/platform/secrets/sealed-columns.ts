import { Injectable } from '@nestjs/common';
import { Database, NO_DEADLINE } from '../database/database.js';
import { select, write } from '../database/session.js';
import { Secrets } from './secrets.js';

/** Rows read at once. */
const CHUNK_SIZE = 200;

export interface SealedColumn {
  readonly table: string;
  /** The primary key: text or a number. */
  readonly id: string;
  readonly column: string;
}

interface SealedRow {
  readonly id: string | number;
  readonly sealed: string;
}

/** All columns that hold text encrypted by {@link Secrets}. */
@Injectable()
export class SealedColumns {
  private readonly columns: SealedColumn[] = [];

  constructor(
    private readonly database: Database,
    private readonly secrets: Secrets,
  ) {}

  add(column: SealedColumn): void {
    this.columns.push(column);
  }

  /**
   * Encrypts text under an older listed secret with the current one. After all instances have started once, the older
   * one can leave JWT_SECRET. Returns the number of rows under unlisted secrets, which another instance may list.
   */
  async reseal(): Promise<number> {
    let unavailable = 0;
    for (const column of this.columns) unavailable += await this.resealColumn(column);
    return unavailable;
  }

  private async resealColumn({ table, id, column }: SealedColumn): Promise<number> {
    let unavailable = 0;
    let after: SealedRow['id'] | undefined;
    for (;;) {
      // SQLite sorts every number before any text, so there is no value below all ids of either kind.
      const [start, values] = after === undefined ? ['', []] : [`${id} > ? AND`, [after]];
      const query = select<SealedRow, readonly SealedRow[]>(
        `SELECT ${id} AS id, ${column} AS sealed FROM ${table}
         WHERE ${start} ${column} IS NOT NULL AND ${column} NOT LIKE ? ORDER BY ${id} LIMIT ?`,
        [...values, `${this.secrets.currentId}.%`, CHUNK_SIZE],
        (found) => found,
      );
      // Usually no row is left, so it reads the whole table.
      const rows = await this.database.snapshot((session) => session.one(query), NO_DEADLINE);
      for (const { id: key, sealed } of rows) {
        const text = this.secrets.open(sealed);
        if (text === null) unavailable += 1;
        else
          // Unless another instance has changed the row meanwhile.
          await this.database.one(
            write(`UPDATE ${table} SET ${column} = ? WHERE ${id} = ? AND ${column} = ?`, [
              this.secrets.seal(text),
              key,
              sealed,
            ]),
          );
      }
      if (rows.length < CHUNK_SIZE) return unavailable;
      after = rows.at(-1)?.id;
    }
  }
}
