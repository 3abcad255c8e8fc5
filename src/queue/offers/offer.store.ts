import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { chunksOf, fromSqlTime, placeholders, toSqlTime } from '../../platform/database/dialect.js';
import { known, mapped, type Query, select, together, write } from '../../platform/database/session.js';
import type { Row, Table } from '../../platform/database/table.js';
import { OFFER_STATES, type Offer } from './offer.js';
import { OfferEntity } from './offer.entity.js';

/** Rows in one statement: SQLite takes 32,766 parameters. */
const ROWS_MAX = 500;
/** The states that commands ask for: withdrawn and declined offers decide nothing more about their person. */
const COUNTING = (['open', 'accepted', 'expired'] as const).map((state) => OFFER_STATES.indexOf(state)).join(', ');
const OPEN = OFFER_STATES.indexOf('open');

/** An offer whose time begins or ends. */
export interface DueOffer extends Pick<Offer, 'id' | 'waitlistId' | 'waiterUuid'> {
  /** As it is stored. */
  readonly dueAt: string;
}

/** How many offers were made, or reached a state, on a day in UTC. */
export interface OfferCount {
  readonly field: 'offered' | 'accepted' | 'declined' | 'expired';
  readonly day: string;
  readonly count: number;
}

/** Offers change only under the lock of their queue. */
@Injectable()
export class OfferStore {
  private readonly offers: Table<OfferEntity>;

  constructor(private readonly database: Database) {
    this.offers = database.table(OfferEntity);
  }

  /** The offers of these records that are open, accepted or expired. */
  findOf(waitlistId: number, uuids: readonly string[]): Query<Offer[]> {
    if (uuids.length === 0) return known([]);
    return this.findWhere(
      `o.waitlist_id = ? AND o.waiter_uuid IN (${placeholders(uuids.length)}) AND o.state IN (${COUNTING})`,
      [waitlistId, ...uuids],
      this.database.dialect.byIndex('offer_waiter'),
    );
  }

  /** The open offers of these records, by their uuids. */
  findOpen(waitlistId: number, uuids: readonly string[]): Query<ReadonlyMap<string, Offer>> {
    return mapped(this.findOf(waitlistId, uuids), (offers) => {
      const open = offers.filter(({ state }) => state === 'open');
      return new Map(open.map((offer) => [offer.waiterUuid, offer]));
    });
  }

  /** The offers of a waitlist with these hashes of codes. */
  findByHashes(waitlistId: number, hashes: readonly string[]): Query<Offer[]> {
    if (hashes.length === 0) return known([]);
    return this.findWhere(
      `o.code_hash IN (${placeholders(hashes.length)}) AND o.waitlist_id = ?`,
      [...hashes, waitlistId],
      // For many codes, SQLite would read all offers of the waitlist.
      this.database.dialect.byIndex('offer_code'),
    );
  }

  /** The offer with this hash of its code, of any waitlist; null without one. */
  findByHash(hash: string): Query<Offer | null> {
    return mapped(
      this.findWhere('o.code_hash = ?', [hash], this.database.dialect.byIndex('offer_code')),
      ([offer]) => offer ?? null,
    );
  }

  /** Offers whose time begins or ends, the longest due first, starting after `after`. */
  findDue(until: Date, after: DueOffer | null, limit: number): Query<DueOffer[]> {
    const values = after ? [after.dueAt, after.dueAt, after.id] : [];
    return select<Readonly<Record<'id' | 'waiter_uuid' | 'due', string> & Record<'waitlist_id', number>>, DueOffer[]>(
      `SELECT id, waitlist_id, waiter_uuid, CAST(due_at AS CHAR) AS due
       FROM offer ${this.database.dialect.byIndex('offer_due')}
       WHERE due_at <= ? ${after ? 'AND due_at >= ? AND (due_at > ? OR id > ?)' : ''} ORDER BY due_at, id LIMIT ?`,
      [toSqlTime(until), ...values, limit],
      (rows) =>
        rows.map(({ id, waitlist_id: waitlistId, waiter_uuid: waiterUuid, due: dueAt }) => ({
          id,
          waitlistId,
          waiterUuid,
          dueAt,
        })),
    );
  }

  /** When the next offer is due, past or future; null if none will be. */
  findFirstDue(): Query<Date | null> {
    return select<{ due_at: Date | string }, Date | null>(
      `SELECT due_at FROM offer ${this.database.dialect.byIndex('offer_due')}
       WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
      [],
      ([row]) => (row ? fromSqlTime(row.due_at) : null),
    );
  }

  insert(offers: readonly Offer[]): Query<unknown> {
    return together(chunksOf(offers, ROWS_MAX).map((some) => this.offers.insert(some)));
  }

  /** Stores what commands change in offers. */
  update(offers: readonly Offer[]): Query<unknown> {
    return together(
      offers.map(({ id, state, codeHash, sealedCode, renewedAt, expiresAt, dueAt, acceptedAt, endedAt }) =>
        this.offers.update({ id }, { state, codeHash, sealedCode, renewedAt, expiresAt, dueAt, acceptedAt, endedAt }),
      ),
    );
  }

  /** Withdraws the open offers of erased people, and deletes all their codes. */
  forget(waitlistId: number, uuids: readonly string[], at: Date): Query<unknown> {
    return together(
      chunksOf(uuids, ROWS_MAX).map((some) =>
        write(
          `UPDATE offer ${this.database.dialect.byIndex('offer_waiter')}
           SET ended_at = CASE WHEN state = ${OPEN} THEN ? ELSE ended_at END,
             state = CASE WHEN state = ${OPEN} THEN ${OFFER_STATES.indexOf('withdrawn')} ELSE state END,
             code_hash = NULL, sealed_code = NULL, due_at = NULL
           WHERE waitlist_id = ? AND waiter_uuid IN (${placeholders(some.length)})`,
          [toSqlTime(at), waitlistId, ...some],
        ),
      ),
    );
  }

  /** How many offers were made, accepted, declined and expired, by day in UTC. */
  countDays(waitlistId: number): Query<OfferCount[]> {
    const count = (field: OfferCount['field'], time: string, condition: string) =>
      select<{ day: string; total: number }, OfferCount[]>(
        `SELECT SUBSTR(${time}, 1, 10) AS day, COUNT(*) AS total FROM offer ${this.database.dialect.byIndex('offer_waiter')}
         WHERE waitlist_id = ? AND ${condition} GROUP BY SUBSTR(${time}, 1, 10)`,
        [waitlistId],
        (rows) => rows.map(({ day, total }) => ({ field, day, count: Number(total) })),
      );
    const ended = (state: 'declined' | 'expired') => count(state, 'ended_at', `state = ${OFFER_STATES.indexOf(state)}`);
    const counts = together([
      count('offered', 'made_at', '1 = 1'),
      count('accepted', 'accepted_at', 'accepted_at IS NOT NULL'),
      ended('declined'),
      ended('expired'),
    ]);
    return mapped(counts, (found) => found.flat());
  }

  private findWhere(condition: string, values: readonly (string | number)[], hint = ''): Query<Offer[]> {
    return select<Row, Offer[]>(
      `SELECT ${this.offers.select('o')} FROM offer o ${hint} WHERE ${condition}`,
      [...values],
      (rows) => rows.map((row) => this.offers.read(row)),
    );
  }
}
