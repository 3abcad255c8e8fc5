import { Injectable } from '@nestjs/common';
import { isEmbedded, placeholders, upsert } from '../platform/database/dialect.js';
import type { Session } from '../platform/database/session.js';
import { Problem } from '../platform/problems/problem.js';
import { QueueEntity } from './queue.entity.js';

const COLUMNS = 'waitlist_id, next_seq, spots_per_referral, active, offboarded, referred_active, referred_offboarded';

/** The row of each line: its lock, its sequence, its totals. */
@Injectable()
export class QueueStore {
  async open(session: Session, waitlistId: number, spotsPerReferral: number): Promise<void> {
    await session.query(`INSERT INTO queue (${COLUMNS}) VALUES (?, 0, ?, 0, 0, 0, 0)`, [waitlistId, spotsPerReferral]);
  }

  /**
   * Holds the line still until the transaction ends.
   * @throws Problem `not_found` without such a waitlist
   */
  async lock(session: Session, waitlistId: number): Promise<QueueEntity> {
    const queue = await this.findLocked(session, waitlistId);
    if (!queue) throw new Problem('WAITLIST_NOT_FOUND');
    return queue;
  }

  /** The same; null where there is no such row. */
  async findLocked(session: Session, waitlistId: number): Promise<QueueEntity | null> {
    const embedded = isEmbedded(session.dataSource);
    // It locks for who writes, and who has read before can write no more once another program has written.
    if (embedded) await session.query('UPDATE queue SET next_seq = next_seq WHERE waitlist_id = ?', [waitlistId]);
    const [row]: Record<string, number>[] = await session.query(
      `SELECT ${COLUMNS} FROM queue WHERE waitlist_id = ?${embedded ? '' : ' FOR UPDATE'}`,
      [waitlistId],
    );
    return row ? toQueue(row) : null;
  }

  async update(session: Session, queue: QueueEntity): Promise<void> {
    await session.query(
      `UPDATE queue SET next_seq = ?, spots_per_referral = ?, active = ?, offboarded = ?, referred_active = ?,
         referred_offboarded = ? WHERE waitlist_id = ?`,
      [
        queue.nextSeq,
        queue.spotsPerReferral,
        queue.active,
        queue.offboarded,
        queue.referredActive,
        queue.referredOffboarded,
        queue.waitlistId,
      ],
    );
  }

  /** Of every line, and of every waitlist, though its line be lost. */
  async listIds(session: Session): Promise<number[]> {
    const rows: { id: number }[] = await session.query(
      'SELECT id FROM waitlist UNION SELECT waitlist_id FROM queue ORDER BY id',
    );
    return rows.map(({ id }) => id);
  }

  /** Waitlists of which nothing is there but records or counters, and no mark that they are being deleted. */
  async listOrphans(session: Session): Promise<number[]> {
    const rows: { waitlist_id: number }[] = await session.query(
      // MySQL and MariaDB skip from one waitlist to the next in each index. Where the waitlist or its line stands, people are no remains.
      `SELECT waitlist_id FROM (
         SELECT DISTINCT waitlist_id FROM queue_bucket UNION SELECT DISTINCT waitlist_id FROM waiter
       ) held
       WHERE waitlist_id NOT IN (SELECT waitlist_id FROM queue) AND waitlist_id NOT IN (SELECT id FROM waitlist)
         AND waitlist_id NOT IN (SELECT waitlist_id FROM closed_queue)
       ORDER BY waitlist_id`,
    );
    return rows.map(({ waitlist_id }) => waitlist_id);
  }

  /** Whether there is such a waitlist, which has a line from its first moment to its last. */
  async isExpected(session: Session, waitlistId: number): Promise<boolean> {
    const rows: unknown[] = await session.query('SELECT id FROM waitlist WHERE id = ?', [waitlistId]);
    return rows.length > 0;
  }

  /** Ends the line, which the session has locked: what it holds is to be deleted. */
  async close(session: Session, waitlistId: number): Promise<void> {
    await session.query('DELETE FROM queue WHERE waitlist_id = ?', [waitlistId]);
    await this.markClosed(session, waitlistId);
  }

  async markClosed(session: Session, waitlistId: number): Promise<void> {
    await session.query(
      `INSERT INTO closed_queue (waitlist_id) VALUES (?) ${upsert(session.dataSource, ['waitlist_id'], ['waitlist_id'])}`,
      [waitlistId],
    );
  }

  /** Lines that were closed and hold something still. */
  async listClosed(session: Session): Promise<number[]> {
    const rows: { waitlist_id: number }[] = await session.query(
      'SELECT waitlist_id FROM closed_queue ORDER BY waitlist_id',
    );
    return rows.map(({ waitlist_id }) => waitlist_id);
  }

  /** Whether the closed line is the session's until its transaction ends: not where it is another's, or holds nothing more. */
  async lockClosed(session: Session, waitlistId: number): Promise<boolean> {
    const embedded = isEmbedded(session.dataSource);
    // As in `lock`.
    if (embedded) await session.query('UPDATE closed_queue SET waitlist_id = waitlist_id WHERE waitlist_id = ?', [waitlistId]); // prettier-ignore
    const rows: unknown[] = await session.query(
      `SELECT waitlist_id FROM closed_queue WHERE waitlist_id = ?${embedded ? '' : ' FOR UPDATE SKIP LOCKED'}`,
      [waitlistId],
    );
    return rows.length > 0;
  }

  /** It holds nothing more. */
  async forgetClosed(session: Session, waitlistId: number): Promise<void> {
    await session.query('DELETE FROM closed_queue WHERE waitlist_id = ?', [waitlistId]);
  }

  async find(session: Session, waitlistIds: readonly number[]): Promise<QueueEntity[]> {
    if (waitlistIds.length === 0) return [];
    const rows: Record<string, number>[] = await session.query(
      `SELECT ${COLUMNS} FROM queue WHERE waitlist_id IN (${placeholders(waitlistIds.length)})`,
      [...waitlistIds],
    );
    return rows.map(toQueue);
  }
}

function toQueue(row: Record<string, number>): QueueEntity {
  return {
    waitlistId: row.waitlist_id as number,
    nextSeq: row.next_seq as number,
    spotsPerReferral: row.spots_per_referral as number,
    active: row.active as number,
    offboarded: row.offboarded as number,
    referredActive: row.referred_active as number,
    referredOffboarded: row.referred_offboarded as number,
  };
}
