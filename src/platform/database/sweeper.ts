import { Injectable } from '@nestjs/common';
import { BackgroundTask, BackgroundTasks } from '../background-task.js';
import { Database } from './database.js';
import { placeholders, toSqlTime } from './dialect.js';
import { type Query, select, write } from './session.js';

/** How often each process looks for rows to delete. */
const INTERVAL_MS = 60_000;

/** The rows of a table to delete when they are old. */
export interface Sweep {
  readonly table: string;
  /** The primary key. */
  readonly id: string;
  /** A time with an index: rows with a time before `before()` are deleted. */
  readonly time: string;
  readonly before: () => Date;
  /** Rows deleted in one transaction: some ten milliseconds of work, so that no request waits long. */
  readonly chunk: number;
  /** A table whose rows belong to those of `table` and are deleted with them. */
  readonly parts?: { readonly table: string; readonly owner: string };
  /** Instead of deleting the rows. Those that stay must have a later time afterwards. */
  readonly sweep?: (ids: readonly (number | string)[]) => Query<unknown>;
}

/** Long work ends between two chunks once `isStopped`. */
export type Work = (isStopped: () => boolean) => Promise<void>;

/** Deletes old rows in the background, in chunks. Processes that share a database may sweep at the same time. */
@Injectable()
export class Sweeper {
  private readonly sweeps: Sweep[] = [];
  private readonly works: Work[] = [];
  private readonly task = new BackgroundTask(() => this.sweepAll(), INTERVAL_MS);

  constructor(
    private readonly database: Database,
    tasks: BackgroundTasks,
  ) {
    tasks.add(this.task, 'could not delete old rows yet');
  }

  add(sweep: Sweep): void {
    this.sweeps.push(sweep);
  }

  /** Adds deletions that a {@link Sweep} cannot describe. */
  addWork(work: Work): void {
    this.works.push(work);
  }

  /** Deletes all rows that are old now. */
  async sweepAll(): Promise<void> {
    for (const sweep of this.sweeps) await this.task.attempt(() => this.sweep(sweep));
    for (const work of this.works) await this.task.attempt(() => work(() => this.task.isStopped));
  }

  private async sweep({ table, id, time, before, chunk, parts, sweep }: Sweep): Promise<void> {
    const end = toSqlTime(before());
    const find = select<{ id: number | string }, (number | string)[]>(
      `SELECT ${id} AS id FROM ${table} WHERE ${time} < ? ORDER BY ${time} LIMIT ?`,
      [end, chunk],
      (rows) => rows.map((row) => row.id),
    );
    let ids: readonly (number | string)[];
    do {
      ids = await this.database.one(find);
      if (ids.length === 0) return;
      const deletion = (from: string, key: string) =>
        write(`DELETE FROM ${from} WHERE ${key} IN (${placeholders(ids.length)})`, ids);
      const queries = sweep
        ? [sweep(ids)]
        : [...(parts ? [deletion(parts.table, parts.owner)] : []), deletion(table, id)];
      await this.database.pipelinedTransaction((session) => session.commit(queries));
    } while (ids.length === chunk && !this.task.isStopped);
  }
}
