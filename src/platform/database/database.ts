import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { SpanKind } from '@opentelemetry/api';
import { Mutex } from 'async-mutex';
import pRetry from 'p-retry';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { Problem } from '../problems/problem.js';
import { traced } from '../telemetry/tracing.js';
import { SILENCE_MAX_SECONDS } from './data-source-options.js';
import { asProblem, isAway, reasonToRepeat } from './database-error.js';
import { isEmbedded } from './dialect.js';
import { type Exchange, PacketExchange, type Session, type Transport } from './session.js';
import { SqliteConnection } from './sqlite-driver.js';

const ATTEMPTS_MAX = 6;
const BACKOFF_MIN_MS = 5;
const BACKOFF_MAX_MS = 200;
/** Of one piece of work, whatever became of the database; of a request there may be several (platform/limits/request-deadline.ts). */
const DEADLINE_MS = 4_000;
/** For work that is as long as a waitlist: it ends when it is done. */
export const UNHURRIED: Terms = { deadlineMs: 24 * 3_600_000 };
/** Refused wherever writing is, also where it would change nothing: by a read-only server, or a cluster's part that lost the rest. */
const WRITE_OF_NOTHING = 'UPDATE migrations SET name = name WHERE id < 0';
/** Below the deadline: a lock that another holds for long is no sign of a server that is dead. */
const LOCK_WAIT_MAX_SECONDS = 3;
/**
 * Whatever the server's own is: nothing is cut to fit, and a backslash escapes in a text, by which the driver keeps what people
 * send inside of it.
 */
const SQL_MODE = 'TRADITIONAL';
const MIGRATION_LOCK_WAIT_SECONDS = 600;

/** The schema is not what this version of the code works with. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

export interface Terms {
  readonly deadlineMs?: number;
  /** Told of each attempt after the first, and why it is made: a database's error code. */
  readonly onRetry?: (reason: string) => void;
}

type Work<Sessions, Result> = (session: Sessions) => Promise<Result>;
interface PreparedConnection {
  /** When it was made ready. */
  readonly atMs: number;
  /** Several statements in a query. */
  readonly takesPackets: boolean;
}
/** Which way a piece of work goes, on the embedded database and on a connection of the pool. */
interface Way<Result> {
  readonly embedded: (manager: EntityManager) => Promise<Result>;
  readonly pooled: (runner: QueryRunner, connection: PreparedConnection) => Promise<Result>;
}

/**
 * The one way to the database. A dead server must not hang a request, so all work has a deadline, and a connection that
 * failed is not used again. The embedded one has a single connection, on which a statement from elsewhere would
 * join whatever transaction is open, see it uncommitted and be rolled back with it; so there everything takes turns.
 */
@Injectable()
export class Database {
  private readonly turns?: Mutex;
  /** What is known of each connection that was used. */
  private readonly prepared = new WeakMap<object, PreparedConnection>();
  private failedAtMs = -Infinity;
  /** With a result or a refusal. */
  private answeredAtMs = -Infinity;

  constructor(readonly dataSource: DataSource) {
    if (isEmbedded(dataSource)) this.turns = new Mutex();
  }

  /** Whether this is the embedded database. */
  get isEmbedded(): boolean {
    return this.turns !== undefined;
  }

  /** How much of its work it does at once. */
  get connections(): number {
    return this.isEmbedded ? 1 : (this.dataSource.options.poolSize ?? 1);
  }

  /** The database's own words for what it is: its version, and of a server who made it. */
  async describe(): Promise<Readonly<Record<string, string>>> {
    const question = this.isEmbedded
      ? `SELECT 'SQLite' AS kind, sqlite_version() AS version`
      : 'SELECT @@version_comment AS kind, VERSION() AS version';
    const [row] = await this.read<Record<string, string>[]>((manager) => manager.query(question));
    return row ?? {};
  }

  /**
   * Statements that need not agree with each other.
   * @throws Problem `unavailable` while the database is away
   */
  async read<Result>(work: Work<EntityManager, Result>, terms?: Terms): Promise<Result> {
    return this.perform('read', { embedded: work, pooled: ({ manager }) => work(manager) }, terms);
  }

  /**
   * The same for SQL alone, in few round trips.
   * @throws Problem `unavailable` while the database is away
   */
  async readTogether<Result>(work: Work<Session, Result>, terms?: Terms): Promise<Result> {
    const embedded = (manager: EntityManager) => work(manager);
    return this.perform('read', { ...exchangeWay(work, [], []), embedded }, terms);
  }

  /**
   * Whether the database can do our work. The embedded one is not asked to write, for it refuses while the command line
   * does long work, and readers are served all the same. A server that is late with this, and meanwhile answered others, is busy:
   * all connections may be taken, and then so are those of the other replicas.
   * @throws Problem `unavailable` while the database is away, takes no writes or does not answer in time
   */
  async probe(deadlineMs: number): Promise<void> {
    const question = this.isEmbedded ? 'SELECT 1' : WRITE_OF_NOTHING;
    const beganMs = performance.now();
    try {
      await this.read((manager) => manager.query(question), { deadlineMs });
    } catch (error) {
      const isLate = error instanceof Problem && error.cause instanceof DatabaseLateError;
      if (!isLate || this.answeredAtMs < beganMs) throw error;
    }
  }

  /**
   * All of it or nothing, at READ COMMITTED. `work` runs again from its start when the database gave the transaction
   * up (a deadlock, a failover, a lost connection, a certification conflict of a cluster), so it must be safe to repeat.
   * @throws Problem `unavailable` while the database is away
   */
  async transaction<Result>(work: Work<EntityManager, Result>, terms?: Terms): Promise<Result> {
    const way = { embedded: inTransaction(work), pooled: (runner: QueryRunner) => runManaged(runner, work) };
    return this.perform('transaction', way, terms);
  }

  /** A transaction in few round trips, for SQL alone; else as `transaction`. Commits at its end where `work` did not. */
  async exchange<Result>(work: Work<Exchange, Result>, terms?: Terms): Promise<Result> {
    return this.perform('transaction', exchangeWay(work, ['START TRANSACTION'], ['COMMIT']), terms);
  }

  /**
   * Reads that all see one moment, in few round trips, and hold up no writer.
   * @throws Problem `unavailable` while the database is away
   */
  async snapshot<Result>(work: Work<Exchange, Result>, terms?: Terms): Promise<Result> {
    const begin = ['SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', 'START TRANSACTION'];
    return this.perform('snapshot', exchangeWay(work, begin, ['COMMIT']), terms);
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

  /**
   * Brings the schema to the newest, one migrator at a time; gives the names of what was run.
   * @throws SchemaError where another migrator does not come to its end
   */
  async migrate(): Promise<string[]> {
    return this.isEmbedded ? this.migrateFile() : this.migrateServer();
  }

  private async migrateServer(): Promise<string[]> {
    const lock = this.dataSource.createQueryRunner();
    const name = migrationLock(String(this.dataSource.options.database));
    try {
      const [row] = (await lock.query('SELECT GET_LOCK(?, ?) AS isMine', [name, MIGRATION_LOCK_WAIT_SECONDS])) as {
        isMine: number | null;
      }[];
      if (row?.isMine !== 1) {
        throw new SchemaError('Another program is changing the schema: try again when it is done.');
      }
      const names = await this.runMigrations();
      await lock.query('SELECT RELEASE_LOCK(?)', [name]);
      return names;
    } finally {
      await lock.release();
    }
  }

  /** SQLite's own lock, on a file beside the database: unlike the file it ends with the process that holds it. */
  private async migrateFile(): Promise<string[]> {
    const file = String(this.dataSource.options.database);
    if (file === ':memory:') return this.runMigrations();
    const lock = new SqliteConnection(`${file}-migrate`, { timeout: MIGRATION_LOCK_WAIT_SECONDS * 1000 });
    try {
      lock.exec('BEGIN EXCLUSIVE');
      return await this.runMigrations();
    } finally {
      lock.close();
    }
  }

  private async runMigrations(): Promise<string[]> {
    const done = await this.dataSource.runMigrations();
    return done.map(({ name }) => name);
  }

  private async perform<Result>(
    kind: 'read' | 'transaction' | 'snapshot',
    way: Way<Result>,
    { deadlineMs = DEADLINE_MS, onRetry }: Terms = {},
  ): Promise<Result> {
    const until = Date.now() + deadlineMs;
    const attributes = { 'db.system.name': this.isEmbedded ? 'sqlite' : 'mysql' };
    return traced(`database ${kind}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      try {
        return await pRetry(
          () => (this.turns ? this.turns.runExclusive(() => this.takeTurn(way)) : this.attempt(way, until)),
          {
            retries: ATTEMPTS_MAX - 1,
            minTimeout: BACKOFF_MIN_MS,
            maxTimeout: BACKOFF_MAX_MS,
            randomize: true,
            shouldRetry: ({ error }) => {
              const reason = reasonToRepeat(error);
              if (reason === undefined || Date.now() >= until) return false;
              span.addEvent('retry', { reason });
              onRetry?.(reason);
              return true;
            },
          },
        );
      } catch (error) {
        throw asProblem(error);
      }
    });
  }

  /**
   * The embedded driver works in the event loop's own thread, so whoever asks would be served before the next is heard:
   * with a pause, those who came meanwhile are heard first, and may share a commit.
   */
  private async takeTurn<Result>({ embedded }: Way<Result>): Promise<Result> {
    await setImmediate();
    return embedded(this.dataSource.manager);
  }

  /** One try on a connection of its own, which goes back to the pool only if it is sound. */
  private async attempt<Result>({ pooled }: Way<Result>, until: number): Promise<Result> {
    const runner = await this.checkOut(until);
    try {
      const result = await inTime(
        this.prepare(runner).then((connection) => pooled(runner, connection)),
        until,
      );
      this.answeredAtMs = performance.now();
      await runner.release();
      return result;
    } catch (error) {
      if (isAway(error)) {
        this.failedAtMs = performance.now();
        await destroy(runner);
      } else {
        this.answeredAtMs = performance.now();
        await runner.release();
      }
      throw error;
    }
  }

  /**
   * A connection that was made since one last failed. Those that lay in the pool then lead to the same server, which is
   * dead, or another is the primary now: tried one by one, they would cost as many requests.
   */
  private async checkOut(until: number): Promise<QueryRunner> {
    for (;;) {
      const runner = this.dataSource.createQueryRunner();
      const connecting = runner.connect() as Promise<object>;
      let connection: object;
      try {
        connection = await inTime(connecting, until);
      } catch (error) {
        // One that comes too late for this work is as good as any for those who wait behind it.
        connecting.then(
          () => runner.release(),
          () => undefined,
        );
        throw error;
      }
      if ((this.prepared.get(connection)?.atMs ?? Infinity) > this.failedAtMs) return runner;
      await destroy(runner);
    }
  }

  /** READ COMMITTED is the sessions' own, so that transactions need not ask for it. */
  private async prepare(runner: QueryRunner): Promise<PreparedConnection> {
    const connection = (await runner.connect()) as object;
    const known = this.prepared.get(connection);
    if (known) return known;
    await runner.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
    await runner.query(
      `SET SESSION wait_timeout = ${SILENCE_MAX_SECONDS}, SESSION innodb_lock_wait_timeout = ${LOCK_WAIT_MAX_SECONDS}, SESSION sql_mode = '${SQL_MODE}'`,
    );
    const cluster = (await runner.query(
      "SHOW VARIABLES WHERE Variable_name = 'wsrep_on' AND Value = 'ON'",
    )) as unknown[];
    const prepared = { atMs: performance.now(), takesPackets: cluster.length === 0 };
    this.prepared.set(connection, prepared);
    return prepared;
  }
}

/** A name of a lock is the whole server's, and has 64 characters at most, as many as the name of a database alone may have. */
function migrationLock(database: string): string {
  return `waitlist-service/migrate/${createHash('sha256').update(database).digest('hex').slice(0, 32)}`;
}

/** The embedded database has one level, at which a transaction is a snapshot from its first read on. */
function inTransaction<Result>(work: Work<EntityManager, Result>): Way<Result>['embedded'] {
  return (manager) => manager.transaction(work);
}

async function runManaged<Result>(runner: QueryRunner, work: Work<EntityManager, Result>): Promise<Result> {
  await runner.startTransaction();
  try {
    const result = await work(runner.manager);
    await runner.commitTransaction();
    return result;
  } catch (error) {
    await rollBack(error, () => runner.rollbackTransaction());
    throw error;
  }
}

function exchangeWay<Result>(
  work: Work<Exchange, Result>,
  begin: readonly string[],
  end: readonly string[],
): Way<Result> {
  const carryOut = async (exchange: PacketExchange) => {
    try {
      const result = await work(exchange);
      if (!exchange.isEnded) await exchange.commit();
      return result;
    } catch (error) {
      await exchange.abandon();
      throw error;
    }
  };
  return {
    embedded: inTransaction((manager) => carryOut(new PacketExchange(oneByOne(manager, [], [])))),
    pooled: async (runner, { takesPackets }) => {
      const send = takesPackets ? inPackets : oneByOne;
      try {
        return await carryOut(new PacketExchange(send(runner, begin, end)));
      } catch (error) {
        await rollBack(error, () => runner.query('ROLLBACK'));
        throw error;
      }
    },
  };
}

/** To a server that stops at the first statement of a query that fails. */
function inPackets(runner: QueryRunner, begin: readonly string[], end: readonly string[]): Transport {
  return {
    dataSource: runner.dataSource,
    begin,
    end,
    send: async (packet) => {
      const sql = packet.map((statement) => statement.sql).join(STATEMENT_END);
      const answer: unknown = await runner.query(sql, packet.flatMap(({ values }) => values)); // prettier-ignore
      return packet.length === 1 ? [answer] : (answer as unknown[]);
    },
  };
}

/**
 * To the embedded database, whose transaction its caller opens and ends. And to a Galera cluster: where another node's write
 * wins amidst a query of several statements, it drops the transaction and goes on with the next statement as if
 * nothing were, so that what was answered could be lost.
 */
function oneByOne(to: Session, begin: readonly string[], end: readonly string[]): Transport {
  return {
    dataSource: to.dataSource,
    begin,
    end,
    send: async (packet) => {
      const answers: unknown[] = [];
      for (const { sql, values } of packet) answers.push(await to.query(sql, [...values]));
      return answers;
    },
  };
}

/** A connection that is lost is rolled back by its server; one whose rollback fails may still be in its transaction. */
async function rollBack(error: unknown, roll: () => Promise<void>): Promise<void> {
  if (isAway(error)) return;
  try {
    await roll();
  } catch {
    throw new TransactionInDoubtError('The rollback failed', { cause: error });
  }
}

/** The code makes its connection one that is not used again. */
class TransactionInDoubtError extends Error {
  readonly code = 'ECONNRESET';
}

/** Between the statements of a packet. */
export const STATEMENT_END = ';\n';

/** The code is the system's own for a peer that does not answer. */
class DatabaseLateError extends Error {
  readonly code = 'ETIMEDOUT';
}

/** What the work gives, or the error of a database that does not answer; the work itself can't be called off. */
async function inTime<Result>(work: Promise<Result>, until: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseLateError()), until - Date.now());
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // Past its time nobody waits for it any more.
    work.catch(() => undefined);
  }
}

/** Closes the connection, which leaves the pool by that; what still runs on it fails. */
async function destroy(runner: QueryRunner): Promise<void> {
  const connection = (await runner.connect()) as { destroy(): void };
  connection.destroy();
}
