import type { MigrationInterface } from 'typeorm';
import * as accounts from './1763683200000-accounts.js';
import * as waitlists from './1763683200100-waitlists.js';
import * as queues from './1763683200200-queues.js';
import * as counters from './1763690000000-counters.js';

/** All migrations; TypeORM runs them in the order of the timestamps in their names. */
export const migrations: (new () => MigrationInterface)[] = [accounts, waitlists, queues, counters].flatMap((module) =>
  Object.values<new () => MigrationInterface>(module),
);
