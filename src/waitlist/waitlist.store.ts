import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Database } from '../platform/database/database.js';
import { fromSqlTime } from '../platform/database/dialect.js';
import type { Session } from '../platform/database/session.js';
import { WaitlistEntity } from './waitlist.entity.js';

/** An owner's queries carry the owner, so that another's waitlist can't be found by mistake. */
@Injectable()
export class WaitlistStore {
  constructor(private readonly database: Database) {}

  async findPublic(session: Session, id: number): Promise<WaitlistEntity | null> {
    const [waitlist] = await findWhere(session, 'id = ?', [id]);
    return waitlist ?? null;
  }

  async findOwned(accountId: number, id: number): Promise<WaitlistEntity | null> {
    return this.database.read((manager) => manager.findOneBy(WaitlistEntity, { id, accountId }));
  }

  async findOwnedByKey(session: Session, accountId: number, apiKeyHash: string): Promise<WaitlistEntity | null> {
    const [waitlist] = await findWhere(session, 'api_key_hash = ? AND account_id = ?', [apiKeyHash, accountId]);
    return waitlist ?? null;
  }

  async listOwned(accountId: number): Promise<WaitlistEntity[]> {
    return this.database.read((manager) =>
      manager.find(WaitlistEntity, { where: { accountId }, order: { id: 'ASC' } }),
    );
  }

  async insert(manager: EntityManager, waitlist: Omit<WaitlistEntity, 'id'>): Promise<WaitlistEntity> {
    return manager.save(manager.create(WaitlistEntity, waitlist));
  }

  /** Whether there was such a waitlist. */
  async update(
    manager: EntityManager,
    accountId: number,
    id: number,
    changes: Partial<WaitlistEntity>,
  ): Promise<boolean> {
    if (Object.keys(changes).length === 0) return true;
    const { affected } = await manager.update(WaitlistEntity, { id, accountId }, changes);
    return affected === 1;
  }

  /** Whether there was such a waitlist. */
  async delete(manager: EntityManager, accountId: number, id: number): Promise<boolean> {
    const { affected } = await manager.delete(WaitlistEntity, { id, accountId });
    return affected === 1;
  }
}

/** Written out, because TypeORM's own way of building and reading this statement cost a sixth of a lookup's time. */
async function findWhere(session: Session, condition: string, values: (number | string)[]): Promise<WaitlistEntity[]> {
  const rows: Record<string, number | string | Date | null>[] = await session.query(
    `SELECT id, account_id, api_key_hash, waitlist_name, waitlist_url_location, required_contact, default_region, questions,
       created_at FROM waitlist WHERE ${condition}`,
    values,
  );
  return rows.map((row) => ({
    id: row.id as number,
    accountId: row.account_id as number,
    apiKeyHash: row.api_key_hash as string,
    name: row.waitlist_name as string,
    urlLocation: row.waitlist_url_location as string,
    requiredContact: JSON.parse(row.required_contact as string) as WaitlistEntity['requiredContact'],
    defaultRegion: row.default_region as string | null,
    questions: JSON.parse(row.questions as string) as WaitlistEntity['questions'],
    createdAt: fromSqlTime(row.created_at as Date | string),
  }));
}
