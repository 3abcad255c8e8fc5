import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { chunksOf, placeholders } from '../../platform/database/dialect.js';
import type { Row } from '../../platform/database/table.js';
import { mapped, type Query, select, type Statement, together, write } from '../../platform/database/session.js';
import { Problem } from '../../platform/problems/problem.js';
import type { Questions } from './questions.js';
import { SETTINGS } from './settings.js';
import type { ActiveRecords } from '../waitlist.metrics.js';
import {
  type ExplainingWaitlist,
  EXPLAINING_COLUMNS,
  LARGE_COLUMNS,
  type LeanWaitlist,
  SHOWN_COLUMNS,
  type ShownWaitlist,
  WaitlistTable,
  type WholeWaitlist,
} from './waitlist.table.js';

/** Ids in one statement. */
const IDS_MAX = 1_000;

type Without = readonly (typeof LARGE_COLUMNS)[number][];

/** The row of each waitlist: its lock, its rules and the state of its queue; and the marks of deleted waitlists. */
@Injectable()
export class QueueStore {
  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistTable,
  ) {}

  /** @throws Problem `WAITLIST_NOT_FOUND` */
  find(waitlistId: number): Query<LeanWaitlist> {
    return { statements: [this.selectOne(waitlistId, LARGE_COLUMNS)], read: ([rows]) => this.read(rows) };
  }

  /** The waitlist with the columns that the answer to a lookup needs. @throws Problem `WAITLIST_NOT_FOUND` */
  findShown(waitlistId: number): Query<ShownWaitlist> {
    const sql = `SELECT ${this.waitlists.selectOnly('w', SHOWN_COLUMNS)} FROM waitlist w WHERE w.id = ?`;
    return { statements: [{ sql, values: [waitlistId] }], read: ([rows]) => this.read(rows) };
  }

  /** The waitlist with the columns that explain places. @throws Problem `WAITLIST_NOT_FOUND` */
  findExplaining(waitlistId: number): Query<ExplainingWaitlist> {
    const sql = `SELECT ${this.waitlists.selectOnly('w', EXPLAINING_COLUMNS)}, w.revision FROM waitlist w WHERE w.id = ?`;
    return select<Row, ExplainingWaitlist>(sql, [waitlistId], (rows) =>
      Object.assign(this.read(rows), { revision: Number(rows[0]?.revision) }),
    );
  }

  /** The revisions of the waitlists, without those that do not exist. */
  findRevisions(waitlistIds: readonly number[]): Query<ReadonlyMap<number, number>> {
    const chunks = chunksOf(waitlistIds, IDS_MAX).map((some) =>
      select<{ id: number; revision: number }, [number, number][]>(
        `SELECT id, revision FROM waitlist WHERE id IN (${placeholders(some.length)})`,
        some,
        (rows) => rows.map(({ id, revision }) => [id, revision]),
      ),
    );
    return mapped(together(chunks), (found) => new Map(found.flat()));
  }

  /** The waitlist with all settings. @throws Problem `WAITLIST_NOT_FOUND` */
  findWhole(waitlistId: number): Query<WholeWaitlist> {
    return { statements: [this.selectOne(waitlistId, [])], read: ([rows]) => this.read(rows) };
  }

  /** Locks the queue until the transaction ends. @throws Problem `WAITLIST_NOT_FOUND` */
  lock(waitlistId: number): Query<LeanWaitlist> {
    return this.lockWith(waitlistId, LARGE_COLUMNS);
  }

  /** Locks the queue, and reads all settings. @throws Problem `WAITLIST_NOT_FOUND` */
  lockWhole(waitlistId: number): Query<WholeWaitlist> {
    return this.lockWith(waitlistId, []);
  }

  /**
   * Stores the state of the queue. `revision` changes the row even if no total changes, as when a record moves: writing
   * nodes conflict only where they write the same row.
   */
  update(waitlist: LeanWaitlist): Query<void> {
    const { id, nextSeq, active, offered, offboarded, seatsTaken, nextPending, nextEvent } = waitlist;
    const { referredActive, referredOffered, referredOffboarded } = waitlist;
    return write(
      `UPDATE waitlist SET next_seq = ?, active = ?, offered = ?, offboarded = ?, seats_taken = ?, referred_active = ?,
         referred_offered = ?, referred_offboarded = ?, next_pending = ?, next_event = ?, revision = revision + 1
       WHERE id = ?`,
      [
        nextSeq,
        active,
        offered,
        offboarded,
        seatsTaken,
        referredActive,
        referredOffered,
        referredOffboarded,
        nextPending,
        nextEvent,
        id,
      ],
    );
  }

  /** Raises `revision` too, because a setting can change what people see of their places. */
  updateSettings(waitlist: WholeWaitlist): Query<unknown> {
    const settings = Object.fromEntries(SETTINGS.map((setting) => [setting, waitlist[setting]]));
    return together([
      this.waitlists.update({ id: waitlist.id }, settings),
      write('UPDATE waitlist SET revision = revision + 1 WHERE id = ?', [waitlist.id]),
    ]);
  }

  updateQuestions(waitlistId: number, { questions, removedQuestions }: Questions): Query<void> {
    return write('UPDATE waitlist SET questions = ?, removed_questions = ? WHERE id = ?', [
      JSON.stringify(questions),
      JSON.stringify(removedQuestions),
      waitlistId,
    ]);
  }

  listIds(): Query<number[]> {
    return select<{ id: number }, number[]>('SELECT id FROM waitlist ORDER BY id', [], (rows) =>
      rows.map(({ id }) => id),
    );
  }

  /** The active records of each of the first waitlists, and of all together. */
  countActive(waitlistsMax: number): Query<ActiveRecords> {
    return {
      statements: [
        { sql: 'SELECT id, active FROM waitlist ORDER BY id LIMIT ?', values: [waitlistsMax] },
        { sql: 'SELECT COALESCE(SUM(active), 0) AS total FROM waitlist', values: [] },
      ],
      read: ([rows, sums]) => ({
        byWaitlist: new Map((rows as { id: number; active: number }[]).map(({ id, active }) => [id, active])),
        // MySQL adds integers up to a decimal, which the driver returns as text.
        total: Number((sums as [{ total: unknown }])[0].total),
      }),
    };
  }

  /** Waitlists that are gone and not marked as deleted, but have records or counters left. */
  listOrphans(): Query<number[]> {
    return select(
      // MySQL and MariaDB skip from one waitlist to the next in each index.
      `SELECT waitlist_id FROM (
         SELECT DISTINCT waitlist_id FROM queue_bucket UNION SELECT DISTINCT waitlist_id FROM waiter
         UNION SELECT DISTINCT waitlist_id FROM erased_waiter UNION SELECT DISTINCT waitlist_id FROM waitlist_day
       ) held
       WHERE waitlist_id NOT IN (SELECT id FROM waitlist) AND waitlist_id NOT IN (SELECT waitlist_id FROM deleted_waitlist)
       ORDER BY waitlist_id`,
      [],
      waitlistIds,
    );
  }

  /** Marks a waitlist as deleted: its records are to be deleted. */
  markDeleted(waitlistId: number): Query<void> {
    const upsert = this.database.dialect.upsert(['waitlist_id'], ['waitlist_id']);
    return write(`INSERT INTO deleted_waitlist (waitlist_id) VALUES (?) ${upsert}`, [waitlistId]);
  }

  /** Deleted waitlists that still have records or counters. */
  listDeleted(): Query<number[]> {
    return select('SELECT waitlist_id FROM deleted_waitlist ORDER BY waitlist_id', [], waitlistIds);
  }

  /** Whether this transaction has the lock on a deleted waitlist: false if another has it, or nothing is left. */
  lockDeleted(waitlistId: number): Query<boolean> {
    const mark = { sql: 'SELECT waitlist_id FROM deleted_waitlist WHERE waitlist_id = ?', values: [waitlistId] };
    const statements = this.database.dialect.lock('deleted_waitlist', 'waitlist_id', mark, 'FOR UPDATE SKIP LOCKED');
    return { statements, read: (answers) => (answers.at(-1) as unknown[]).length > 0 };
  }

  /** Removes the mark of a deleted waitlist, after its last record. */
  forgetDeleted(waitlistId: number): Query<void> {
    return write('DELETE FROM deleted_waitlist WHERE waitlist_id = ?', [waitlistId]);
  }

  private lockWith(waitlistId: number, without: Without): Query<WholeWaitlist> {
    const statements = this.database.dialect.lock('waitlist', 'id', this.selectOne(waitlistId, without));
    return { statements, read: (answers) => this.read(answers.at(-1)) };
  }

  private selectOne(waitlistId: number, without: Without): Statement {
    return {
      sql: `SELECT ${this.waitlists.select('w', without)} FROM waitlist w WHERE w.id = ?`,
      values: [waitlistId],
    };
  }

  private read(rows: unknown): WholeWaitlist {
    const [row] = rows as Row[];
    if (!row) throw new Problem('WAITLIST_NOT_FOUND');
    return this.waitlists.read(row);
  }
}

function waitlistIds(rows: readonly { readonly waitlist_id: number }[]): number[] {
  return rows.map(({ waitlist_id }) => waitlist_id);
}
