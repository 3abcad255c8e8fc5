import { Injectable } from '@nestjs/common';
import { SpanKind } from '@opentelemetry/api';
import pRetry from 'p-retry';
import { DataSource, type EntityManager } from 'typeorm';
import { Problem } from '../problems/problem.js';
import { traced } from '../telemetry/tracing.js';
import {
  type Connection,
  type Connections,
  DatabaseLateError,
  EmbeddedConnection,
  inManagedTransaction,
  inPipelinedTransaction,
  OwnSnapshot,
  ServerConnections,
} from './connections.js';
import { asProblem, isAway, isLocked, reasonToRepeat } from './database-error.js';
import { Dialect, isEmbedded } from './dialect.js';
import { type Query, type Results, select, Session, type Transaction } from './session.js';
import { Table } from './table.js';

/** Failed attempts while the database is away. Together they are shorter than a probe waits. */
const AWAY_ATTEMPTS_MAX = 6;
/**
 * Attempts that the database gave up. Where several nodes of a cluster take writes, close to half of those on a busy
 * waitlist meet a certification conflict, so six in a row are common. An attempt that found a lock held does not count:
 * work waits for it until its deadline.
 */
const CONFLICTS_MAX = 10;
const BACKOFF_MIN_MS = 5;
const BACKOFF_MAX_MS = 200;
/** For one piece of work, retries included. A request may have several (see limits/overload.ts). */
const DEADLINE_MS = 4_000;
/** A bound of one day, for work that grows with the waitlist. */
export const NO_DEADLINE: RunOptions = { deadlineMs: 24 * 3_600_000 };
/** A no-op write: fails on a read-only server, and in a part of a cluster that lost its majority. */
const NO_OP_WRITE = 'UPDATE migrations SET name = name WHERE id < 0';

export interface RunOptions {
  readonly deadlineMs?: number;
  /** Called for each attempt after the first, with the database's error code. */
  readonly onRetry?: (reason: string) => void;
}

/**
 * The one way to the database. All work has a deadline, and is repeated from its start when the database gave it up (a
 * deadlock, a failover, a lost connection, a certification conflict of a cluster), so it must be safe to repeat. Each
 * method throws a Problem `DATABASE_UNAVAILABLE` while the database is away.
 */
@Injectable()
export class Database {
  readonly dialect: Dialect;
  private readonly connections: Connections;

  constructor(readonly dataSource: DataSource) {
    this.dialect = new Dialect(isEmbedded(dataSource));
    this.connections = this.dialect.isEmbedded ? new EmbeddedConnection(dataSource) : new ServerConnections(dataSource);
  }

  /** How many pieces of work can run at once. */
  get connectionsMax(): number {
    return this.connections.size;
  }

  table<Entity extends object>(entity: new () => Entity): Table<Entity> {
    return new Table(this.dataSource, entity);
  }

  /** Which database this is, and its version. */
  async describe(): Promise<Readonly<Record<string, string>>> {
    const question = this.dialect.isEmbedded
      ? `SELECT 'SQLite' AS kind, sqlite_version() AS version`
      : 'SELECT @@version_comment AS kind, VERSION() AS version';
    return this.one(select<Record<string, string>, Record<string, string>>(question, [], ([row]) => row ?? {}));
  }

  /** Reads by TypeORM's repositories; each statement sees its own moment. */
  async read<Result>(work: (manager: EntityManager) => Promise<Result>, options?: RunOptions): Promise<Result> {
    return this.run('read', ({ manager }) => work(manager), options);
  }

  /** Reads in one round trip. */
  async all<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    return this.run('read', ({ send }) => new Session(send).all(queries));
  }

  /** Reads in one round trip. */
  async one<Result>(query: Query<Result>): Promise<Result> {
    return this.run('read', ({ send }) => new Session(send).one(query));
  }

  /** All of it or nothing, at READ COMMITTED, by TypeORM's repositories and SQL. */
  async transaction<Result>(
    work: (manager: EntityManager, session: Session) => Promise<Result>,
    options?: RunOptions,
  ): Promise<Result> {
    return this.run('transaction', (connection) => inManagedTransaction(connection, work), options);
  }

  /** All of it or nothing, at READ COMMITTED, by SQL alone, in as few round trips as `work` makes. */
  async pipelinedTransaction<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    options?: RunOptions,
  ): Promise<Result> {
    return this.run('transaction', (connection) => inPipelinedTransaction(connection, 'transaction', work), options);
  }

  /** Reads that all see one moment, and block no writer. */
  async snapshot<Result>(work: (transaction: Transaction) => Promise<Result>, options?: RunOptions): Promise<Result> {
    return this.run('snapshot', (connection) => inPipelinedTransaction(connection, 'snapshot', work), options);
  }

  /** A snapshot on its own connection, for as long as the caller likes. Nothing is repeated. The caller closes it. */
  async openSnapshot(): Promise<OwnSnapshot> {
    try {
      return await OwnSnapshot.open(this.dataSource);
    } catch (error) {
      throw asProblem(error);
    }
  }

  /**
   * Throws `DATABASE_UNAVAILABLE` if the database cannot serve requests. The embedded one is only read: it refuses
   * writes during long work of the CLI, and can still serve readers. A server that answers other connections but not
   * this one in time is busy, not away: restarting replicas would not help.
   */
  async probe(deadlineMs: number): Promise<void> {
    const question = this.dialect.isEmbedded ? 'SELECT 1' : NO_OP_WRITE;
    const startedAtMs = performance.now();
    try {
      await this.read((manager) => manager.query(question), { deadlineMs });
    } catch (error) {
      const isLate = error instanceof Problem && error.cause instanceof DatabaseLateError;
      const { connections } = this;
      const isBusy = isLate && connections instanceof ServerConnections && connections.hasAnsweredSince(startedAtMs);
      if (!isBusy) throw error;
    }
  }

  private async run<Result>(
    kind: 'read' | 'transaction' | 'snapshot',
    work: (connection: Connection) => Promise<Result>,
    { deadlineMs = DEADLINE_MS, onRetry }: RunOptions = {},
  ): Promise<Result> {
    const until = Date.now() + deadlineMs;
    const attributes = { 'db.system.name': this.dialect.isEmbedded ? 'sqlite' : 'mysql' };
    return traced(`database ${kind}`, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      let failures = 0;
      try {
        return await pRetry(() => this.connections.use(work, until, deadlineMs), {
          retries: Infinity,
          maxRetryTime: deadlineMs,
          minTimeout: BACKOFF_MIN_MS,
          maxTimeout: BACKOFF_MAX_MS,
          randomize: true,
          shouldRetry: ({ error }) => {
            const reason = reasonToRepeat(error);
            if (!isLocked(error)) failures += 1;
            const failuresMax = isAway(error) ? AWAY_ATTEMPTS_MAX : CONFLICTS_MAX;
            if (reason === undefined || failures >= failuresMax || Date.now() >= until) return false;
            span.addEvent('retry', { reason });
            onRetry?.(reason);
            return true;
          },
        });
      } catch (error) {
        throw asProblem(error);
      }
    });
  }
}
