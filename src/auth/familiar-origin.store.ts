import { Injectable } from '@nestjs/common';
import { In, LessThan, MoreThan } from 'typeorm';
import { Database } from '../platform/database/database.js';
import { toSqlTime, upsert } from '../platform/database/dialect.js';
import { FamiliarOriginEntity } from './familiar-origin.entity.js';

@Injectable()
export class FamiliarOriginStore {
  constructor(private readonly database: Database) {}

  /** Those of these that were seen after `since`. */
  async findSeen(ids: readonly string[], since: Date): Promise<ReadonlySet<string>> {
    const seen = await this.database.read((manager) =>
      manager.findBy(FamiliarOriginEntity, { id: In([...ids]), seenAt: MoreThan(since) }),
    );
    return new Set(seen.map(({ id }) => id));
  }

  async remember(ids: readonly string[], seenAt: Date): Promise<void> {
    const time = toSqlTime(seenAt);
    await this.database.transaction((manager) =>
      manager.query(
        `INSERT INTO familiar_origin (id, seen_at) VALUES ${ids.map(() => '(?, ?)').join()} ${upsert(this.database.dataSource, ['id'], ['seen_at'])}`,
        ids.flatMap((id) => [id, time]),
      ),
    );
  }

  /** Apart from what is remembered, for what this locks lies where that is inserted. */
  async deleteSeenBefore(since: Date): Promise<void> {
    await this.database.transaction((manager) => manager.delete(FamiliarOriginEntity, { seenAt: LessThan(since) }));
  }
}
