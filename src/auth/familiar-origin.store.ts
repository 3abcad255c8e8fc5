import { Injectable } from '@nestjs/common';
import { In, LessThan, MoreThan } from 'typeorm';
import { Database } from '../platform/database/database.js';
import { toSqlTime, upsert } from '../platform/database/dialect.js';
import { FamiliarOriginEntity } from './familiar-origin.entity.js';

@Injectable()
export class FamiliarOriginStore {
  constructor(private readonly database: Database) {}

  /** Whether one of these was seen after `since`. */
  async isSeen(ids: readonly string[], since: Date): Promise<boolean> {
    return this.database.read((manager) =>
      manager.existsBy(FamiliarOriginEntity, { id: In([...ids]), seenAt: MoreThan(since) }),
    );
  }

  /** Removes, too, what was last seen before `since`. */
  async remember(id: string, seenAt: Date, since: Date): Promise<void> {
    await this.database.transaction(async (manager) => {
      await manager.delete(FamiliarOriginEntity, { seenAt: LessThan(since) });
      await manager.query(
        `INSERT INTO familiar_origin (id, seen_at) VALUES (?, ?) ${upsert(this.database.dataSource, ['id'], ['seen_at'])}`,
        [id, toSqlTime(seenAt)],
      );
    });
  }
}
