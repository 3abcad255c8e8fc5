import { Injectable } from '@nestjs/common';
import { type EntityManager, IsNull, LessThan } from 'typeorm';
import { Database } from '../platform/database/database.js';
import { RefreshTokenEntity } from './refresh-token.entity.js';

@Injectable()
export class RefreshTokenStore {
  constructor(private readonly database: Database) {}

  async insert(token: RefreshTokenEntity): Promise<void> {
    await this.database.transaction((manager) => manager.save(RefreshTokenEntity, token));
  }

  /**
   * Lets exactly one caller use a token and stores that caller's `successor`. Gives every caller the token's row as it is
   * then, and the row of the stored successor.
   */
  async use(id: string, successor: RefreshTokenEntity) {
    return this.database.transaction(async (manager) => {
      const { affected } = await manager.update(
        RefreshTokenEntity,
        { id, usedAt: IsNull(), revokedAt: IsNull() },
        { usedAt: successor.issuedAt, successorId: successor.id },
      );
      if (affected === 1) await manager.insert(RefreshTokenEntity, successor);
      const token = await find(manager, id);
      return { token, successor: token?.successorId ? await find(manager, token.successorId) : null };
    });
  }

  async findById(id: string): Promise<RefreshTokenEntity | null> {
    return this.database.read((manager) => find(manager, id));
  }

  /** Repeats until no row is left, because one update can miss a successor that is inserted behind its scan. */
  async revokeFamily(familyId: string, at: Date): Promise<void> {
    const live = { familyId, revokedAt: IsNull() };
    let isLive = true;
    while (isLive) {
      const { affected } = await this.database.transaction((manager) =>
        manager.update(RefreshTokenEntity, live, { revokedAt: at }),
      );
      isLive = affected !== 0;
    }
  }

  /** Removes the tokens of logins that have ended. */
  async deleteExpired(now: Date): Promise<void> {
    await this.database.transaction((manager) =>
      manager.delete(RefreshTokenEntity, { familyExpiresAt: LessThan(now) }),
    );
  }
}

async function find(manager: EntityManager, id: string): Promise<RefreshTokenEntity | null> {
  return manager.findOneBy(RefreshTokenEntity, { id });
}
