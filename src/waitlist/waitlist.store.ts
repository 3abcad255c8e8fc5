import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../platform/database/database.js';
import { type Query, select, type Session, together, write } from '../platform/database/session.js';
import type { Row } from '../platform/database/table.js';
import type { PageAfter } from '../platform/page.js';
import { type Reach, within } from '../platform/reach.js';
import { WaitlistEntity } from '../queue/settings/waitlist.entity.js';
import { WaitlistTable, type WholeWaitlist } from '../queue/settings/waitlist.table.js';

/** Of a waitlist `w`. */
const COLUMNS = { account: 'w.account_id', waitlist: 'w.id' };

/** A name that a deleted waitlist had. */
export interface FormerName {
  readonly name: string;
  readonly accountId: number;
  /** Whether records of that waitlist are left. */
  readonly isBeingDeleted: boolean;
}

export type NewWaitlist = Omit<WaitlistEntity, 'id'> & { readonly id: number | undefined };

/** Queries for members and keys take their reach, so that they cannot find another account's waitlist. */
@Injectable()
export class WaitlistStore {
  constructor(
    private readonly database: Database,
    private readonly waitlists: WaitlistTable,
  ) {}

  findOwned(reach: Reach, id: number): Query<WholeWaitlist | null> {
    const owned = within(reach, COLUMNS);
    return this.findOne(`w.id = ? AND ${owned.sql}`, [id, ...owned.values]);
  }

  findOwnedByKey(reach: Reach, apiKeyHash: string): Query<WholeWaitlist | null> {
    const owned = within(reach, COLUMNS);
    return this.findOne(`w.api_key_hash = ? AND ${owned.sql}`, [apiKeyHash, ...owned.values]);
  }

  /** A waitlist of any owner. */
  find(id: number): Query<WholeWaitlist | null> {
    return this.findOne('w.id = ?', [id]);
  }

  /** A waitlist of any owner that has a public view. */
  findPublic(id: number): Query<WholeWaitlist | null> {
    return this.findOne('w.id = ? AND w.is_public = 1', [id]);
  }

  /** The public waitlist of any owner that has or had this slug. */
  findBySlug(slug: string): Query<WholeWaitlist | null> {
    return this.findOne('w.id = (SELECT waitlist_id FROM waitlist_slug WHERE slug = ?) AND w.is_public = 1', [slug]);
  }

  /** Reserves the slug of a new waitlist. @throws Problem `SLUG_TAKEN`, `TOO_MANY_SLUGS` */
  async claimSlug(session: Session, waitlist: WholeWaitlist): Promise<void> {
    await this.waitlists.claimSlug(session, waitlist);
  }

  /** At most `limit` waitlists, in the order of their ids. */
  listOwned(reach: Reach, { afterId, limit }: PageAfter<number>): Query<WholeWaitlist[]> {
    const owned = within(reach, COLUMNS);
    return select<Row, WholeWaitlist[]>(
      `SELECT ${this.waitlists.select('w')} FROM waitlist w WHERE ${owned.sql} AND w.id > ? ORDER BY w.id LIMIT ?`,
      [...owned.values, afterId ?? 0, limit],
      (rows) => rows.map((row) => this.waitlists.read(row)),
    );
  }

  /** The id of the waitlist of any owner that has this public key, or this hash of its secret key. */
  findId(key: { readonly publicKey: string } | { readonly apiKeyHash: string }): Query<number | null> {
    const [column, value] = 'publicKey' in key ? ['public_key', key.publicKey] : ['api_key_hash', key.apiKeyHash];
    return select<{ id: number }, number | null>(
      `SELECT id FROM waitlist WHERE ${column} = ?`,
      [value],
      ([row]) => row?.id ?? null,
    );
  }

  /** Whether a waitlist of any owner has this id now. */
  hasId(id: number): Query<boolean> {
    return select('SELECT id FROM waitlist WHERE id = ?', [id], (rows) => rows.length > 0);
  }

  /** Generates the id if there is none. */
  async insert(manager: EntityManager, waitlist: NewWaitlist): Promise<void> {
    // Not `save`, which would overwrite the waitlist that has the id.
    await manager.insert(WaitlistEntity, waitlist as object);
  }

  /** The given names that deleted waitlists of any owner had. */
  findFormer(names: readonly [id: string, publicKey: string]): Query<FormerName[]> {
    return select<{ name: string; account_id: number; left_id: number | null }, FormerName[]>(
      `SELECT t.name, t.account_id, d.waitlist_id AS left_id
       FROM taken_name t LEFT JOIN deleted_waitlist d ON d.waitlist_id = t.waitlist_id WHERE t.name IN (?, ?)`,
      names,
      (rows) =>
        rows.map(({ name, account_id: accountId, left_id }) => ({ name, accountId, isBeingDeleted: left_id !== null })),
    );
  }

  /** Reserves the names of a waitlist for its owner. Run it before the waitlist is deleted. */
  keepNames(accountId: number, id: number): Query<unknown> {
    const upsert = this.database.dialect.upsert(['name'], ['account_id', 'waitlist_id']);
    const keep = (name: string) =>
      write(
        `INSERT INTO taken_name (name, account_id, waitlist_id)
         SELECT ${name}, account_id, id FROM waitlist WHERE id = ? AND account_id = ? ${upsert}`,
        [id, accountId],
      );
    return together([keep('CAST(id AS CHAR)'), keep('public_key')]);
  }

  /** Returns whether the waitlist exists. */
  async replaceApiKey(manager: EntityManager, accountId: number, id: number, apiKeyHash: string): Promise<boolean> {
    const { affected } = await manager.update(WaitlistEntity, { id, accountId }, { apiKeyHash });
    return affected === 1;
  }

  /** Returns whether the waitlist exists. */
  async delete(manager: EntityManager, accountId: number, id: number): Promise<boolean> {
    const { affected } = await manager.delete(WaitlistEntity, { id, accountId });
    return affected === 1;
  }

  private findOne(condition: string, values: readonly unknown[]): Query<WholeWaitlist | null> {
    return select<Row, WholeWaitlist | null>(
      `SELECT ${this.waitlists.select('w')} FROM waitlist w WHERE ${condition}`,
      values,
      ([row]) => (row ? this.waitlists.read(row) : null),
    );
  }
}
