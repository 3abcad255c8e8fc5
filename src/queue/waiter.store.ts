import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { fromSqlTime, placeholders, toSqlTime } from '../platform/database/dialect.js';
import { RANK_BASE } from './rank-key.js';
import type { ContactKeys, PageRequest, Waiter } from './waiter.js';
import { WaiterEntity } from './waiter.entity.js';

/** A row as both drivers give it. */
type WaiterRow = Record<string, string | number | null> & {
  created_at: Date | string;
  removed_at: Date | string | null;
};

const COLUMNS = `w.id, w.waitlist_id, w.seq, w.uuid, w.email, w.email_key, w.registered_email, w.phone, w.phone_key,
  w.first_name, w.last_name, w.metadata, w.answers, w.referral_token, w.referred_by_token, w.referred, w.amount_referred,
  w.credited_referrals, w.spots_advanced, w.rank_key, w.active, w.verified, w.removed_at, w.removed_priority,
  w.removed_by, w.created_at`;

/** The place: as it was for the offboarded, else the active records ahead, where of two equal keys the later is ahead. */
const PRIORITY = `CASE WHEN w.active = 0 THEN w.removed_priority ELSE (
    SELECT COUNT(*) FROM waiter ahead
    WHERE ahead.waitlist_id = w.waitlist_id AND ahead.active = 1
      AND (ahead.rank_key < w.rank_key OR (ahead.rank_key = w.rank_key AND ahead.seq > w.seq))
  ) END AS priority`;

/** What a referral changes of the record that referred. */
export interface Standing {
  readonly id: number;
  readonly seq: number;
  readonly amountReferred: number;
  readonly creditedReferrals: number;
  readonly spotsAdvanced: number;
  readonly rankKey: number;
  readonly active: boolean;
  readonly referralToken: string;
}

/** Records and their places in SQL. Every statement names its waitlist: the sharding key, and the wall between owners. */
@Injectable()
export class WaiterStore {
  /** Each record that one of the keys matches. */
  async findByContacts(
    manager: EntityManager,
    waitlistId: number,
    contacts: readonly ContactKeys[],
  ): Promise<Waiter[]> {
    const emailKeys = contacts.flatMap(({ emailKey }) => emailKey ?? []);
    const phoneKeys = contacts.flatMap(({ phoneKey }) => phoneKey ?? []);
    const byEmail = emailKeys.length > 0 ? await this.findWhere(manager, waitlistId, 'w.email_key', emailKeys) : [];
    const byPhone = phoneKeys.length > 0 ? await this.findWhere(manager, waitlistId, 'w.phone_key', phoneKeys) : [];
    return [...byEmail, ...byPhone];
  }

  async findByIds(manager: EntityManager, waitlistId: number, ids: readonly number[]): Promise<Waiter[]> {
    return this.findWhere(manager, waitlistId, 'w.id', ids);
  }

  /** Which of these keys are taken, without places. */
  async findTaken(
    manager: EntityManager,
    waitlistId: number,
    contacts: readonly ContactKeys[],
  ): Promise<ContactKeys[]> {
    const found: ContactKeys[] = [];
    for (const column of ['email_key', 'phone_key'] as const) {
      const keys = contacts.flatMap((contact) => (column === 'email_key' ? contact.emailKey : contact.phoneKey) ?? []);
      if (keys.length === 0) continue;
      const rows: { email_key: string | null; phone_key: string | null }[] = await manager.query(
        `SELECT email_key, phone_key FROM waiter WHERE waitlist_id = ? AND ${column} IN (${placeholders(keys.length)})`,
        [waitlistId, ...keys],
      );
      found.push(...rows.map(({ email_key, phone_key }) => ({ emailKey: email_key, phoneKey: phone_key })));
    }
    return found;
  }

  /** The records of these tokens that belong to this waitlist. */
  async findStandings(manager: EntityManager, waitlistId: number, tokens: readonly string[]): Promise<Standing[]> {
    if (tokens.length === 0) return [];
    const rows: Record<string, number | string>[] = await manager.query(
      `SELECT id, seq, amount_referred, credited_referrals, spots_advanced, rank_key, active, referral_token
       FROM waiter WHERE referral_token IN (${placeholders(tokens.length)}) AND waitlist_id = ?`,
      [...tokens, waitlistId],
    );
    return rows.map((row) => ({
      id: Number(row.id),
      seq: Number(row.seq),
      amountReferred: Number(row.amount_referred),
      creditedReferrals: Number(row.credited_referrals),
      spotsAdvanced: Number(row.spots_advanced),
      rankKey: Number(row.rank_key),
      active: Number(row.active) === 1,
      referralToken: String(row.referral_token),
    }));
  }

  /** Stores new records; the database gives them their ids. */
  async insert(manager: EntityManager, waiters: readonly Omit<Waiter, 'id' | 'priority'>[]): Promise<void> {
    if (waiters.length === 0) return;
    const rows = waiters.map((waiter) => [
      waiter.waitlistId,
      waiter.seq,
      waiter.uuid,
      waiter.email,
      waiter.emailKey,
      waiter.registeredEmail,
      waiter.phone,
      waiter.phoneKey,
      waiter.firstName,
      waiter.lastName,
      waiter.metadata && JSON.stringify(waiter.metadata),
      waiter.answers && JSON.stringify(waiter.answers),
      waiter.referralToken,
      waiter.referredByToken,
      waiter.referred,
      waiter.rankKey,
      toSqlTime(waiter.createdAt),
    ]);
    await manager.query(
      `INSERT INTO waiter (waitlist_id, seq, uuid, email, email_key, registered_email, phone, phone_key, first_name,
         last_name, metadata, answers, referral_token, referred_by_token, referred, rank_key, created_at)
       VALUES ${rows.map((row) => `(${placeholders(row.length)})`).join(', ')}`,
      rows.flat(),
    );
  }

  async updateStanding(manager: EntityManager, waitlistId: number, standing: Standing): Promise<void> {
    await manager.query(
      `UPDATE waiter SET amount_referred = ?, credited_referrals = ?, rank_key = ? WHERE id = ? AND waitlist_id = ?`,
      [standing.amountReferred, standing.creditedReferrals, standing.rankKey, standing.id, waitlistId],
    );
  }

  /** Takes records out of the line for good. */
  async remove(
    manager: EntityManager,
    waitlistId: number,
    removal: { readonly at: Date; readonly by: string; readonly priorities: ReadonlyMap<number, number> },
  ): Promise<void> {
    const { at, by, priorities } = removal;
    const cases = Array.from(priorities, () => 'WHEN ? THEN ?').join(' ');
    await manager.query(
      `UPDATE waiter SET active = 0, removed_at = ?, removed_by = ?, removed_priority = CASE id ${cases} END
       WHERE waitlist_id = ? AND id IN (${placeholders(priorities.size)})`,
      [toSqlTime(at), by, ...[...priorities].flat(), waitlistId, ...priorities.keys()],
    );
  }

  /** Derives the key of each record that has credit anew. */
  async rekey(manager: EntityManager, waitlistId: number, spotsPerReferral: number): Promise<void> {
    const key = '(? + seq - ? * credited_referrals - spots_advanced)';
    const values = [RANK_BASE, spotsPerReferral];
    await manager.query(
      `UPDATE waiter SET rank_key = CASE WHEN ${key} < 0 THEN 0 ELSE ${key} END
       WHERE waitlist_id = ? AND credited_referrals > 0`,
      [...values, ...values, waitlistId],
    );
  }

  async deleteAll(manager: EntityManager, waitlistId: number): Promise<void> {
    await manager.delete(WaiterEntity, { waitlistId });
  }

  async findPage(manager: EntityManager, waitlistId: number, page: PageRequest): Promise<Waiter[]> {
    const filter = filterOf(waitlistId, page);
    const byPlace = page.order === 'queue' && !page.offboarded;
    const order = byPlace ? 'w.rank_key, w.seq DESC' : 'w.seq';
    const after =
      'afterId' in page.start ? await this.findAfter(manager, waitlistId, page.start.afterId, byPlace) : null;
    const offset = 'offset' in page.start ? page.start.offset : 0;
    const rows: WaiterRow[] = await manager.query(
      `SELECT ${COLUMNS}, ${PRIORITY} FROM waiter w WHERE ${filter.sql}${after ? ` AND ${after.sql}` : ''}
       ORDER BY ${order} LIMIT ? OFFSET ?`,
      [...filter.values, ...(after?.values ?? []), page.limit, offset],
    );
    return rows.map(toWaiter);
  }

  async countMatching(manager: EntityManager, waitlistId: number, page: PageRequest): Promise<number> {
    const filter = filterOf(waitlistId, page);
    const [row]: { total: number }[] = await manager.query(
      `SELECT COUNT(*) AS total FROM waiter w WHERE ${filter.sql}`,
      filter.values,
    );
    return Number(row?.total);
  }

  private async findAfter(manager: EntityManager, waitlistId: number, id: number, byPlace: boolean) {
    const [row]: { seq: number; rank_key: number }[] = await manager.query(
      'SELECT seq, rank_key FROM waiter WHERE id = ? AND waitlist_id = ?',
      [id, waitlistId],
    );
    if (!row) return { sql: 'w.id > ?', values: [id] };
    return byPlace
      ? { sql: '(w.rank_key > ? OR (w.rank_key = ? AND w.seq < ?))', values: [row.rank_key, row.rank_key, row.seq] }
      : { sql: 'w.seq > ?', values: [row.seq] };
  }

  private async findWhere(
    manager: EntityManager,
    waitlistId: number,
    column: string,
    values: readonly (string | number)[],
  ): Promise<Waiter[]> {
    const rows: WaiterRow[] = await manager.query(
      `SELECT ${COLUMNS}, ${PRIORITY} FROM waiter w WHERE w.waitlist_id = ? AND ${column} IN (${placeholders(values.length)})`,
      [waitlistId, ...values],
    );
    return rows.map(toWaiter);
  }
}

function filterOf(waitlistId: number, { offboarded, referredBy }: PageRequest) {
  const base = {
    sql: 'w.waitlist_id = ? AND w.active = ?',
    values: [waitlistId, offboarded ? 0 : 1] as (string | number)[],
  };
  if (referredBy === null) return base;
  if (referredBy === 'anyone') return { sql: `${base.sql} AND w.referred = 1`, values: base.values };
  return { sql: `${base.sql} AND w.referred_by_token = ?`, values: [...base.values, referredBy.token] };
}

function toWaiter(row: WaiterRow): Waiter {
  return {
    id: row.id as number,
    waitlistId: row.waitlist_id as number,
    seq: row.seq as number,
    uuid: row.uuid as string,
    email: row.email as string | null,
    emailKey: row.email_key as string | null,
    registeredEmail: row.registered_email as string | null,
    phone: row.phone as string | null,
    phoneKey: row.phone_key as string | null,
    firstName: row.first_name as string | null,
    lastName: row.last_name as string | null,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata as string) as WaiterEntity['metadata']),
    answers: row.answers === null ? null : (JSON.parse(row.answers as string) as WaiterEntity['answers']),
    referralToken: row.referral_token as string,
    referredByToken: row.referred_by_token as string | null,
    referred: row.referred === 1,
    amountReferred: row.amount_referred as number,
    creditedReferrals: row.credited_referrals as number,
    spotsAdvanced: row.spots_advanced as number,
    rankKey: row.rank_key as number,
    active: row.active === 1,
    verified: row.verified === 1,
    removedAt: row.removed_at === null ? null : fromSqlTime(row.removed_at),
    removedPriority: row.removed_priority as number | null,
    removedBy: row.removed_by as string | null,
    createdAt: fromSqlTime(row.created_at),
    priority: row.priority as number,
  };
}
