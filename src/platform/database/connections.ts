import { setImmediate } from 'node:timers/promises';
import { Mutex } from 'async-mutex';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { SILENCE_MAX_SECONDS } from './data-source-options.js';
import { asProblem, isAway } from './database-error.js';
import { type Query, type Send, Session, Transaction } from './session.js';

/** Shorter than a deadline: a lock that is held for long does not mean that the server is dead. */
const LOCK_WAIT_MAX_SECONDS = 3;
/** A statement of a snapshot reads one chunk, which takes some milliseconds. */
const SNAPSHOT_STATEMENT_MS = 30_000;
/** Strict, so that no value is truncated. With backslash escapes, because the driver quotes values with them. */
const SQL_MODE = 'TRADITIONAL';

/** A connection while one piece of work has it. */
export interface Connection {
  readonly kind: 'embedded' | 'server';
  readonly manager: EntityManager;
  readonly send: Send;
}

/** Lends a connection to one piece of work at a time. */
export interface Connections {
  /** How many pieces of work can have a connection at once. */
  readonly size: number;
  /** No statement takes longer than `statementMs`. */
  use<Result>(work: (connection: Connection) => Promise<Result>, until: number, statementMs: number): Promise<Result>;
}

/**
 * The embedded database's single connection. Pieces of work take turns: a statement from elsewhere would join the open
 * transaction, see its uncommitted rows, and be rolled back with it.
 */
export class EmbeddedConnection implements Connections {
  readonly size = 1;
  private readonly turns = new Mutex();

  constructor(private readonly dataSource: DataSource) {}

  async use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    return this.turns.runExclusive(async () => {
      // The driver blocks the event loop. Let requests that arrived meanwhile be read first: they may share the commit.
      await setImmediate();
      const { manager } = this.dataSource;
      return work({ kind: 'embedded', manager, send: sendOneByOne(manager) });
    });
  }
}

interface PreparedConnection {
  readonly atMs: number;
  readonly isMariaDb: boolean;
  readonly isGalera: boolean;
  /** The limit that the server has for the connection's statements. */
  statementMs?: number;
}

/**
 * The pool of connections to a server. A dead server must not hang a request, so `use` gives up at `until`. After a
 * failure, connections made before it are not used again.
 */
export class ServerConnections implements Connections {
  private readonly prepared = new WeakMap<object, PreparedConnection>();
  private failedAtMs = -Infinity;
  private answeredAtMs = -Infinity;

  constructor(private readonly dataSource: DataSource) {}

  get size(): number {
    return this.dataSource.options.poolSize ?? 1;
  }

  /** Whether the server answered any connection, with a result or an error, since this `performance.now()`. */
  hasAnsweredSince(atMs: number): boolean {
    return this.answeredAtMs >= atMs;
  }

  async use<Result>(
    work: (connection: Connection) => Promise<Result>,
    until: number,
    statementMs: number,
  ): Promise<Result> {
    const runner = await this.checkOut(until);
    try {
      const result = await inTime(
        this.prepare(runner, statementMs).then(({ isGalera }) => work(connectionOf(runner, isGalera))),
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
   * A connection made after the last failure. Older ones lead to the same dead server, or to a former primary; trying
   * them one by one would fail as many requests.
   */
  private async checkOut(until: number): Promise<QueryRunner> {
    for (;;) {
      const runner = this.dataSource.createQueryRunner();
      const connecting = runner.connect() as Promise<object>;
      let connection: object;
      try {
        connection = await inTime(connecting, until);
      } catch (error) {
        // A connection that arrives too late goes back to the pool, where other work waits for it.
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

  private async prepare(runner: QueryRunner, statementMs: number): Promise<PreparedConnection> {
    const connection = (await runner.connect()) as object;
    const prepared = this.prepared.get(connection) ?? (await setUp(runner));
    this.prepared.set(connection, prepared);
    // Almost all work has the same deadline, so this is rarely a round trip.
    if (prepared.statementMs !== statementMs) {
      await limitStatements(runner, prepared.isMariaDb, statementMs);
      prepared.statementMs = statementMs;
    }
    return prepared;
  }
}

/** Sets READ COMMITTED for the connection's session, so that transactions need not ask for it. */
async function setUp(runner: QueryRunner): Promise<PreparedConnection> {
  await runner.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  await runner.query(
    `SET SESSION wait_timeout = ${SILENCE_MAX_SECONDS}, SESSION innodb_lock_wait_timeout = ${LOCK_WAIT_MAX_SECONDS}, SESSION sql_mode = '${SQL_MODE}'`,
  );
  const variables = (await runner.query(
    "SHOW VARIABLES WHERE Variable_name IN ('max_statement_time', 'wsrep_on')",
  )) as Record<'Variable_name' | 'Value', string>[];
  const values = new Map(variables.map(({ Variable_name: name, Value: value }) => [name, value]));
  return {
    atMs: performance.now(),
    isMariaDb: values.has('max_statement_time'),
    isGalera: values.get('wsrep_on') === 'ON',
  };
}

/**
 * Without this limit, a statement given up at its deadline would run on in the server, even without its connection.
 * MySQL limits only SELECT; other statements wait at most {@link LOCK_WAIT_MAX_SECONDS} for each row lock.
 */
async function limitStatements(runner: QueryRunner, isMariaDb: boolean, statementMs: number): Promise<void> {
  const limit = isMariaDb ? `max_statement_time = ${statementMs / 1000}` : `max_execution_time = ${statementMs}`;
  await runner.query(`SET SESSION ${limit}`);
}

/**
 * Runs `work` in a transaction of pipelined SQL: BEGIN travels with its first queries. Commits at the end, unless
 * `work` sent the COMMIT itself. All reads of a snapshot see one moment.
 */
export async function inPipelinedTransaction<Result>(
  connection: Connection,
  kind: 'transaction' | 'snapshot',
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  // SQLite has only this level: a transaction is a snapshot from its first read on.
  const mustIsolate = kind === 'snapshot' && connection.kind === 'server';
  const isolation = mustIsolate ? ['SET TRANSACTION ISOLATION LEVEL REPEATABLE READ'] : [];
  const transaction = new Transaction(connection.send, [...isolation, 'BEGIN']);
  try {
    const result = await work(transaction);
    if (!transaction.isCommitted) await transaction.commit([]);
    transaction.settle();
    return result;
  } catch (error) {
    await rollBack(connection, error, () => connection.send([{ sql: 'ROLLBACK', values: [] }]));
    throw error;
  }
}

/** Reads that all see one moment, on a connection of their own. */
export class OwnSnapshot {
  private constructor(
    private readonly session: Session,
    readonly close: () => Promise<void>,
  ) {}

  /** Connects to the same database as `shared`. A file is opened for reading only. */
  static async open(shared: DataSource): Promise<OwnSnapshot> {
    const { options } = shared;
    const isEmbedded = options.type === 'better-sqlite3';
    // No other connection sees a database in memory, so its chunks are not of one moment.
    if (options.database === ':memory:')
      return new OwnSnapshot(new Session(sendOneByOne(shared.manager)), () => Promise.resolve());
    // Entities and migrations belong to the shared connections.
    const own = new DataSource({
      ...options,
      entities: [],
      migrations: [],
      ...(isEmbedded ? { readonly: true } : { poolSize: 1 }),
    } as typeof options);
    await inTime(own.initialize(), Date.now() + SNAPSHOT_STATEMENT_MS);
    if (isEmbedded) return new OwnSnapshot(new Session(sendOneByOne(own.manager), ['BEGIN']), () => own.destroy());
    const runner = own.createQueryRunner();
    const close = async () => {
      await destroy(runner);
      await own.destroy();
    };
    try {
      await limitStatements(runner, (await setUp(runner)).isMariaDb, SNAPSHOT_STATEMENT_MS);
      const begin = ['SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', 'BEGIN'];
      return new OwnSnapshot(new Session(sendOneByOne(runner.manager), begin), close);
    } catch (error) {
      await close();
      throw error;
    }
  }

  /** @throws Problem `DATABASE_UNAVAILABLE` */
  async one<Result>(query: Query<Result>, until = Date.now() + SNAPSHOT_STATEMENT_MS): Promise<Result> {
    try {
      return await inTime(this.session.one(query), until);
    } catch (error) {
      throw asProblem(error);
    }
  }
}

/** Runs `work` in a transaction of TypeORM's, for repositories. */
export async function inManagedTransaction<Result>(
  connection: Connection,
  work: (manager: EntityManager, session: Session) => Promise<Result>,
): Promise<Result> {
  // Its manager's own `transaction` would hide a rollback that failed.
  const runner = connection.manager.queryRunner ?? connection.manager.dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    const session = new Session(sendOneByOne(runner.manager));
    const result = await work(runner.manager, session);
    await runner.commitTransaction();
    session.settle();
    return result;
  } catch (error) {
    await rollBack(connection, error, () => runner.rollbackTransaction());
    throw error;
  }
}

/** Servers roll back lost connections. One whose rollback fails may still be in its transaction. */
async function rollBack({ kind, manager }: Connection, error: unknown, roll: () => Promise<unknown>): Promise<void> {
  if (isAway(error)) return;
  try {
    await roll();
  } catch {
    if (kind === 'server') throw new TransactionInDoubtError('The rollback failed', { cause: error });
    // SQLite has rolled back by itself, for instance on a full disk. TypeORM's one runner would count its transaction
    // as open, and never commit the next one: make it create another runner.
    (manager.dataSource.driver as { queryRunner?: unknown }).queryRunner = undefined;
  }
}

/** ECONNRESET makes `use` destroy the connection. */
class TransactionInDoubtError extends Error {
  readonly code = 'ECONNRESET';
}

/** Separates the statements of a query. */
export const STATEMENT_END = ';\n';

function connectionOf(runner: QueryRunner, isGalera: boolean): Connection {
  const { manager } = runner;
  return { kind: 'server', manager, send: isGalera ? sendOneByOne(manager) : sendAsOneQuery(manager) };
}

/** For a server that stops at the first statement of a query that fails. */
function sendAsOneQuery(manager: EntityManager): Send {
  return async (statements) => {
    const sql = statements.map((statement) => statement.sql).join(STATEMENT_END);
    const values = statements.flatMap((statement) => statement.values);
    const answer: unknown = await manager.query(sql, values);
    return statements.length === 1 ? [answer] : (answer as unknown[]);
  };
}

/**
 * For the embedded database, which has no round trips, and for a Galera cluster: if another node's write wins during a
 * multi-statement query, MariaDB drops the transaction and silently goes on with the next statement, so that an
 * acknowledged signup could be lost.
 */
function sendOneByOne(manager: EntityManager): Send {
  return async (statements) => {
    const answers: unknown[] = [];
    for (const { sql, values } of statements) answers.push(await manager.query(sql, [...values]));
    return answers;
  };
}

/** The code is the system's own for a peer that does not answer. */
export class DatabaseLateError extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The result of `work`, or an error when it is not there at `until`. The work itself cannot be canceled. */
async function inTime<Result>(work: Promise<Result>, until: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseLateError()), until - Date.now());
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    // Otherwise a late failure would be an unhandled rejection.
    work.catch(() => undefined);
  }
}

/** Closes the connection, which removes it from the pool; what still runs on it fails. */
async function destroy(runner: QueryRunner): Promise<void> {
  const connection = (await runner.connect()) as { destroy(): void };
  connection.destroy();
}
