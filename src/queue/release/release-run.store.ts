import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { placeholders, toSqlTime } from '../../platform/database/dialect.js';
import { known, mapped, type Query, select, write } from '../../platform/database/session.js';
import type { Row, Table } from '../../platform/database/table.js';
import type { PageAfter } from '../../platform/page.js';
import type { ReleaseRun } from './release-run.js';
import { ReleaseRunEntity } from './release-run.entity.js';

/** The runs of release plans. */
@Injectable()
export class ReleaseRunStore {
  private readonly runs: Table<ReleaseRunEntity>;

  constructor(private readonly database: Database) {
    this.runs = database.table(ReleaseRunEntity);
  }

  /** The runs of a waitlist, newest first. */
  list(waitlistId: number, { afterId, limit }: PageAfter<string>): Query<ReleaseRunEntity[]> {
    const [condition, values] = afterId === null ? ['', []] : ['AND r.id < ?', [afterId]];
    return this.findWhere(`r.waitlist_id = ? ${condition} ORDER BY r.id DESC LIMIT ?`, [waitlistId, ...values, limit]);
  }

  find(id: string): Query<ReleaseRunEntity | null> {
    return mapped(this.findWhere('r.id = ?', [id]), ([run]) => run ?? null);
  }

  /** Locks a run until the transaction ends; null if there is none. */
  lock(id: string): Query<ReleaseRunEntity | null> {
    const sql = `SELECT ${this.runs.select('r')} FROM release_run r WHERE r.id = ?`;
    const statements = this.database.dialect.lock('release_run', 'id', { sql, values: [id] });
    return {
      statements,
      read: (answers) => {
        const [row] = answers.at(-1) as Row[];
        return row ? this.runs.read(row) : null;
      },
    };
  }

  /** The states of those of the runs that exist. */
  findStates(ids: readonly string[]): Query<ReadonlyMap<string, ReleaseRun['state']>> {
    if (ids.length === 0) return known(new Map());
    return mapped(
      this.findWhere(`r.id IN (${placeholders(ids.length)})`, ids),
      (runs) => new Map(runs.map(({ id, state }) => [id, state])),
    );
  }

  /** Whether a run of the waitlist is under way. */
  hasRunning(waitlistId: number): Query<boolean> {
    return select(
      `SELECT 1 FROM release_run ${this.database.dialect.byIndex('release_run_state')}
       WHERE state = 'running' AND waitlist_id = ? LIMIT 1`,
      [waitlistId],
      (rows) => rows.length > 0,
    );
  }

  /** The runs in the state `running`, those with the oldest heartbeat first. */
  findRunning(limit: number): Query<ReleaseRunEntity[]> {
    return this.findWhere(`r.state = 'running' ORDER BY r.heartbeat_at LIMIT ?`, [limit]);
  }

  insert(runs: readonly ReleaseRunEntity[]): Query<void> {
    return runs.length > 0 ? this.runs.insert(runs) : known(undefined);
  }

  /** Starts a skipped run, or hands a run to another process. */
  start({ id, ranAt, count, runner, heartbeatAt }: ReleaseRunEntity): Query<void> {
    return this.runs.update({ id }, { state: 'running', ranAt, count, runner, heartbeatAt });
  }

  /** Stores a heartbeat, unless another process has taken the run over. */
  beat({ id, runner }: ReleaseRunEntity, now: Date): Query<void> {
    return write('UPDATE release_run SET heartbeat_at = ? WHERE id = ? AND runner = ?', [toSqlTime(now), id, runner]);
  }

  /** Gives a run up, so that another process continues it at once. */
  leave({ id, runner }: ReleaseRunEntity): Query<void> {
    return write('UPDATE release_run SET runner = NULL WHERE id = ? AND runner = ?', [id, runner]);
  }

  /** Stores the result of a piece, unless another process has stored it already. */
  progress({ id, state, offered, pieces }: ReleaseRun, now: Date): Query<void> {
    return write(
      `UPDATE release_run SET state = ?, offered = ?, pieces = ?, heartbeat_at = ?
       WHERE id = ? AND pieces = ? AND state = 'running'`,
      [state, offered, pieces, toSqlTime(now), id, pieces - 1],
    );
  }

  private findWhere(condition: string, values: readonly (string | number)[]): Query<ReleaseRunEntity[]> {
    return select<Row, ReleaseRunEntity[]>(
      `SELECT ${this.runs.select('r')} FROM release_run r WHERE ${condition}`,
      values,
      (rows) => rows.map((row) => this.runs.read(row)),
    );
  }
}
