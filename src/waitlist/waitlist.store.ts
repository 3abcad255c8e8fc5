import { Injectable } from '@nestjs/common';
import { type EntityManager, MoreThan } from 'typeorm';
import { Database } from '../platform/database/database.js';
import { type Query, select } from '../platform/database/session.js';
import type { Row, Table } from '../platform/database/table.js';
import { WaitlistEntity } from '../queue/waitlist.entity.js';

/** Owners' queries. Each names the owner, so that it cannot find another owner's waitlist. */
@Injectable()
export class WaitlistStore {
  private readonly waitlists: Table<WaitlistEntity>;

  constructor(private readonly database: Database) {
    this.waitlists = database.table(WaitlistEntity);
  }

  async findOwned(accountId: number, id: number): Promise<WaitlistEntity | null> {
    return this.database.read((manager) => manager.findOneBy(WaitlistEntity, { id, accountId }));
  }

  findOwnedByKey(accountId: number, apiKeyHash: string): Query<WaitlistEntity | null> {
    return select<Row, WaitlistEntity | null>(
      `SELECT ${this.waitlists.select('w')} FROM waitlist w WHERE w.api_key_hash = ? AND w.account_id = ?`,
      [apiKeyHash, accountId],
      ([row]) => (row ? this.waitlists.read(row) : null),
    );
  }

  /** At most `limit` waitlists, in the order of their ids. */
  async listOwned(
    accountId: number,
    { afterId, limit }: { readonly afterId: number | null; readonly limit: number },
  ): Promise<WaitlistEntity[]> {
    return this.database.read((manager) =>
      manager.find(WaitlistEntity, {
        where: { accountId, id: MoreThan(afterId ?? 0) },
        order: { id: 'ASC' },
        take: limit,
      }),
    );
  }

  async insert(manager: EntityManager, waitlist: Omit<WaitlistEntity, 'id'>): Promise<WaitlistEntity> {
    return manager.save(manager.create(WaitlistEntity, waitlist));
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
}
