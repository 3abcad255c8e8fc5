import type { MigrationInterface, QueryRunner } from 'typeorm';
import { isIndexThere } from '../database-error.js';
import * as accounts from './1763683200000-accounts.js';
import * as waitlists from './1763683200100-waitlists.js';
import * as queues from './1763683200200-queues.js';
import * as counters from './1763690000000-counters.js';
import * as closures from './1763710000000-closures.js';

type MigrationClass = new () => MigrationInterface;

/** All migrations; TypeORM runs them in the order of the timestamps in their names. */
export const migrations = [accounts, waitlists, queues, counters, closures]
  .flatMap((module) => Object.values<MigrationClass>(module))
  .map(resumable);

/** A server builds an index to its end though the migrator was killed, and nobody notes it: the next one finds it there. */
function resumable(Migration: MigrationClass): MigrationClass {
  return class extends Migration {
    override async up(queryRunner: QueryRunner): Promise<void> {
      try {
        await super.up(queryRunner);
      } catch (error) {
        if (!isIndexThere(error)) throw error;
      }
    }
  };
}
