import { Injectable } from '@nestjs/common';
import { Mutex } from 'async-mutex';
import pRetry from 'p-retry';
import { DataSource, type EntityManager } from 'typeorm';
import { asProblem, isWorthRepeating } from './database-error.js';
import { isEmbedded } from './dialect.js';

const ATTEMPTS_MAX = 6;
const BACKOFF_MIN_MS = 5;
const BACKOFF_MAX_MS = 200;
const MIGRATION_LOCK = 'waitlist-service/migrate';
const MIGRATION_LOCK_WAIT_SECONDS = 600;

/** The schema is not what this version of the code works with. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/**
 * The one way to the database. The embedded one has a single connection, on which a statement from elsewhere would
 * join whatever transaction is open, see it uncommitted and be rolled back with it; so there everything takes turns.
 */
@Injectable()
export class Database {
  private readonly turns?: Mutex;

  constructor(readonly dataSource: DataSource) {
    if (isEmbedded(dataSource)) this.turns = new Mutex();
  }

  /** Whether this is the embedded database. */
  get isEmbedded(): boolean {
    return this.turns !== undefined;
  }

  /**
   * Statements that need not agree with each other.
   * @throws Problem `unavailable` while the database is away
   */
  async read<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.inTurn(() => work(this.dataSource.manager));
  }

  /**
   * Reads that all see one moment, and hold up no writer.
   * @throws Problem `unavailable` while the database is away
   */
  async snapshot<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    // The embedded database has one level, which is a snapshot from the first read on.
    return this.inTurn(() =>
      this.isEmbedded ? this.dataSource.transaction(work) : this.dataSource.transaction('REPEATABLE READ', work),
    );
  }

  /**
   * All of it or nothing, at READ COMMITTED. `work` runs again from its start when the database gave the transaction
   * up (a deadlock, a failover, a lost connection, a certification conflict of a cluster), so it must be safe to repeat.
   * @throws Problem `unavailable` while the database is away
   */
  async transaction<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    return this.inTurn(() =>
      pRetry(() => this.dataSource.transaction(work), {
        retries: ATTEMPTS_MAX - 1,
        minTimeout: BACKOFF_MIN_MS,
        maxTimeout: BACKOFF_MAX_MS,
        randomize: true,
        shouldRetry: ({ error }) => isWorthRepeating(error),
      }),
    );
  }

  /**
   * The embedded database is brought to the newest schema; a shared one is not, for a replica must not change what
   * others work with.
   * @throws SchemaError where a shared database is behind
   */
  async prepareSchema(): Promise<void> {
    if (this.isEmbedded) await this.migrate();
    else if (await this.dataSource.showMigrations())
      throw new SchemaError('The database is not at the newest schema: run `npm run cli -- migrate` first.');
  }

  /** Brings the schema to the newest, one migrator at a time; gives the names of what was run. */
  async migrate(): Promise<string[]> {
    const lock = this.isEmbedded ? null : this.dataSource.createQueryRunner();
    try {
      await lock?.query('SELECT GET_LOCK(?, ?)', [MIGRATION_LOCK, MIGRATION_LOCK_WAIT_SECONDS]);
      const done = await this.dataSource.runMigrations();
      return done.map(({ name }) => name);
    } finally {
      await lock?.query('SELECT RELEASE_LOCK(?)', [MIGRATION_LOCK]);
      await lock?.release();
    }
  }

  private async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await (this.turns ? this.turns.runExclusive(work) : work());
    } catch (error) {
      throw asProblem(error);
    }
  }
}
