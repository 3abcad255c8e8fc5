import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { placeholders, toSqlTime } from '../../platform/database/dialect.js';
import { known, mapped, type Query, select, together, write } from '../../platform/database/session.js';
import { Sweeper } from '../../platform/database/sweeper.js';
import type { Row, Table } from '../../platform/database/table.js';
import { CREDIT_CODES } from '../record/waiter.entity.js';
import type { Renaming } from './chunk.js';
import { type ImportReport, type ImportRules, ImportRunEntity } from './import-run.entity.js';

/** How long a run is kept after its last heartbeat. */
const KEPT_MS = 30 * 24 * 3_600_000;
/** A report can have some hundred kilobytes. */
const SWEEP_CHUNK = 20;
/** A referral by a token that nobody has yet has no credit, until a record brings the token. */
const COUNTED = [CREDIT_CODES.credited, CREDIT_CODES.none];

/** The runs of imports, and the queries of records that only an import needs. */
@Injectable()
export class ImportRunStore {
  private readonly runs: Table<ImportRunEntity>;

  constructor(
    private readonly database: Database,
    sweeper: Sweeper,
  ) {
    this.runs = database.table(ImportRunEntity);
    sweeper.add({
      table: 'import_run',
      id: 'id',
      time: 'heartbeat_at',
      before: () => new Date(Date.now() - KEPT_MS),
      chunk: SWEEP_CHUNK,
    });
  }

  /** The runs of a waitlist, without their reports, latest first. */
  list(waitlistId: number): Query<ImportRunEntity[]> {
    return this.find('r.waitlist_id = ?', [waitlistId], ['report']);
  }

  findLatest(waitlistId: number): Query<ImportRunEntity | null> {
    return mapped(this.find('r.waitlist_id = ?', [waitlistId], [], 'LIMIT 1'), ([run]) => run ?? null);
  }

  get(id: string): Query<ImportRunEntity | null> {
    return mapped(this.find('r.id = ?', [id], ['report']), ([run]) => run ?? null);
  }

  insert(run: ImportRunEntity): Query<void> {
    return this.runs.insert([run]);
  }

  /** A run that was done stays so, and keeps its report until the next. */
  restart({ id, runner, state, createdAt, startedAt }: ImportRunEntity): Query<void> {
    return write(
      `UPDATE import_run SET runner = ?, state = ?, ${state === 'done' ? '' : 'report = NULL,'} created_at = ?,
         started_at = ?, heartbeat_at = ?
       WHERE id = ?`,
      [runner, state, toSqlTime(createdAt), toSqlTime(startedAt), toSqlTime(startedAt), id],
    );
  }

  reserve(id: string, firstSeq: number, amount: number, rules: ImportRules): Query<void> {
    return write('UPDATE import_run SET first_seq = ?, amount = ?, rules = ? WHERE id = ?', [
      firstSeq,
      amount,
      JSON.stringify(rules),
      id,
    ]);
  }

  beat({ id, runner }: Pick<ImportRunEntity, 'id' | 'runner'>): Query<void> {
    return write('UPDATE import_run SET heartbeat_at = ? WHERE id = ? AND runner = ?', [
      toSqlTime(new Date()),
      id,
      runner,
    ]);
  }

  end({ id, runner }: Pick<ImportRunEntity, 'id' | 'runner'>, report: ImportReport | null): Query<void> {
    return write('UPDATE import_run SET state = ?, report = ?, heartbeat_at = ? WHERE id = ? AND runner = ?', [
      report ? 'done' : 'failed',
      report && JSON.stringify(report),
      toSqlTime(new Date()),
      id,
      runner,
    ]);
  }

  deleteAll(waitlistId: number): Query<void> {
    return write('DELETE FROM import_run WHERE waitlist_id = ?', [waitlistId]);
  }

  /** The tokens of records and tombstones by their `seq`, from one number to another. */
  findNumbered(waitlistId: number, from: number, to: number): Query<ReadonlyMap<number, string>> {
    const { dialect } = this.database;
    const find = (table: string, index: string) =>
      select<{ seq: number; referral_token: string }, [number, string][]>(
        `SELECT seq, referral_token FROM ${table} ${dialect.byIndex(index)}
         WHERE waitlist_id = ? AND seq >= ? AND seq <= ?`,
        [waitlistId, from, to],
        (rows) => rows.map(({ seq, referral_token }) => [seq, referral_token]),
      );
    return mapped(
      together([find('waiter', 'waiter_seq'), find('erased_waiter', 'erased_waiter_seq')]),
      (found) => new Map(found.flat()),
    );
  }

  /** Those of the tokens that tombstones of the waitlist have. */
  findErasedTokens(waitlistId: number, tokens: readonly string[]): Query<ReadonlySet<string>> {
    if (tokens.length === 0) return known(new Set());
    return select<{ referral_token: string }, ReadonlySet<string>>(
      `SELECT referral_token FROM erased_waiter ${this.database.dialect.byIndex('erased_waiter_token')}
       WHERE waitlist_id = ? AND referral_token IN (${placeholders(tokens.length)})`,
      [waitlistId, ...tokens],
      (rows) => new Set(rows.map((row) => row.referral_token)),
    );
  }

  /** Those of the uuids that records of any waitlist have. */
  findUuids(uuids: readonly string[]): Query<ReadonlySet<string>> {
    if (uuids.length === 0) return known(new Set());
    return select<{ uuid: string }, ReadonlySet<string>>(
      `SELECT uuid FROM waiter ${this.database.dialect.byIndex('waiter_uuid')} WHERE uuid IN (${placeholders(uuids.length)})`,
      uuids,
      (rows) => new Set(rows.map(({ uuid }) => uuid)),
    );
  }

  /**
   * How many records and tombstones name each of the tokens as their referrer's, and are credited; those too that
   * {@link creditWaiting} credits.
   */
  countReferrals(waitlistId: number, tokens: readonly string[]): Query<ReadonlyMap<string, number>> {
    if (tokens.length === 0) return known(new Map());
    return this.countByToken(waitlistId, tokens, `credit IN (${COUNTED.join(', ')})`);
  }

  /** Credits the referrals that waited for a record with one of these tokens. */
  creditWaiting(waitlistId: number, tokens: readonly string[]): Query<unknown> {
    if (tokens.length === 0) return known(undefined);
    return together(
      this.referred.map((table) =>
        write(
          `UPDATE ${table} SET credit = ${CREDIT_CODES.credited} WHERE waitlist_id = ?
           AND referred_by_token IN (${placeholders(tokens.length)}) AND credit = ${CREDIT_CODES.none}`,
          [waitlistId, ...tokens],
        ),
      ),
    );
  }

  /** The number of credited records and tombstones per referrer's token, with a `seq` from `from` to below `to`. */
  countNaming(
    waitlistId: number,
    tokens: readonly string[],
    from: number,
    to: number,
  ): Query<ReadonlyMap<string, number>> {
    const condition = `seq >= ? AND seq < ? AND credit = ${CREDIT_CODES.credited}`;
    return this.countByToken(waitlistId, tokens, condition, [from, to]);
  }

  /** Replaces the referrer's token in the records and tombstones of these numbers. */
  rename(waitlistId: number, renaming: Renaming, from: number, to: number): Query<unknown> {
    return together(
      this.referred.map((table) =>
        write(
          `UPDATE ${table} SET referred_by_token = ? WHERE waitlist_id = ? AND referred_by_token = ? AND seq >= ? AND seq < ?`,
          [renaming.to, waitlistId, renaming.from, from, to],
        ),
      ),
    );
  }

  /** The tables with referrers, read by the index of those: SQLite would take the range of numbers for a short one. */
  private get referred(): string[] {
    return ['waiter', 'erased_waiter'].map((table) => `${table} ${this.database.dialect.byIndex(`${table}_referrer`)}`);
  }

  /** How many records and tombstones name each of the tokens as their referrer's, and meet a condition. */
  private countByToken(
    waitlistId: number,
    tokens: readonly string[],
    condition: string,
    values: readonly unknown[] = [],
  ): Query<ReadonlyMap<string, number>> {
    const counts = this.referred.map((table) =>
      select<{ token: string; total: number }, readonly { token: string; total: number }[]>(
        `SELECT referred_by_token AS token, COUNT(*) AS total FROM ${table}
         WHERE waitlist_id = ? AND referred_by_token IN (${placeholders(tokens.length)}) AND ${condition}
         GROUP BY referred_by_token`,
        [waitlistId, ...tokens, ...values],
        (rows) => rows,
      ),
    );
    return mapped(together(counts), (found) => {
      const totals = new Map<string, number>();
      for (const { token, total } of found.flat()) totals.set(token, (totals.get(token) ?? 0) + Number(total));
      return totals;
    });
  }

  private find(
    condition: string,
    values: readonly unknown[],
    without: readonly (keyof ImportRunEntity)[],
    limit = '',
  ): Query<ImportRunEntity[]> {
    return select<Row, ImportRunEntity[]>(
      `SELECT ${this.runs.select('r', without)} FROM import_run r WHERE ${condition}
       ORDER BY r.started_at DESC, r.id DESC ${limit}`,
      values,
      (rows) => rows.map((row) => this.runs.read(row)),
    );
  }
}
