/**
 * SQL in explicit round trips. To a server, a round trip costs more than most statements, so statements that do not
 * need each other's answers travel together. A signup is two round trips:
 *
 *     const [waitlist, taken] = await transaction.all([queues.lock(id), waiters.findTaken(id, keys)]);
 *     await transaction.commit([waiters.insert(joined), queues.update(waitlist)]);
 *
 * The first sends `BEGIN` and the reads, the second sends the writes and `COMMIT`. A query is a value: making one sends
 * nothing. Stores return queries, and their callers decide which ones travel together. Each `await` is one round trip.
 */

/** One SQL statement with its parameters. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Statements, and how their answers become a result. */
export interface Query<Result> {
  readonly statements: readonly Statement[];
  /** Gets one answer per statement: the rows of a SELECT, or the driver's summary of a write. */
  readonly read: (answers: readonly unknown[]) => Result;
  /** Called once the transaction in which the query was sent is committed. */
  readonly afterCommit?: (() => void) | undefined;
}

export type Results<Queries extends readonly Query<unknown>[]> = {
  [Index in keyof Queries]: Queries[Index] extends Query<infer Result> ? Result : never;
};

/** A SELECT whose rows `read` turns into a result. */
export function select<Row, Result>(
  sql: string,
  values: readonly unknown[],
  read: (rows: readonly Row[]) => Result,
): Query<Result> {
  return { statements: [{ sql, values }], read: ([rows]) => read(rows as readonly Row[]) };
}

/** A statement whose answer does not matter. */
export function write(sql: string, values: readonly unknown[] = []): Query<void> {
  return { statements: [{ sql, values }], read: () => undefined };
}

/** A result that needs no statement, such as the rows for an empty list of keys. */
export function known<Result>(result: Result): Query<Result> {
  return { statements: [], read: () => result };
}

/** Several queries as one, with the list of their results. */
export function together<const Queries extends readonly Query<unknown>[]>(queries: Queries): Query<Results<Queries>> {
  const effects = queries.flatMap(({ afterCommit }) => afterCommit ?? []);
  return {
    statements: queries.flatMap(({ statements }) => statements),
    afterCommit: effects.length > 0 ? () => effects.forEach((effect) => effect()) : undefined,
    read: (answers) => {
      let next = 0;
      return queries.map(({ statements, read }) => {
        const start = next;
        next += statements.length;
        return read(answers.slice(start, next));
      }) as Results<Queries>;
    },
  };
}

/** A query with another result. */
export function mapped<From, To>(query: Query<From>, map: (result: From) => To): Query<To> {
  return { ...query, read: (answers) => map(query.read(answers)) };
}

/** Carries out statements in their order up to the first that fails, and returns one answer per statement. */
export type Send = (statements: readonly Statement[]) => Promise<unknown[]>;

/** Characters in one multi-statement query: far below the 16 MiB that MariaDB accepts by default. */
const QUERY_LENGTH_MAX = 1024 * 1024;

/**
 * Sends queries to one connection, `begin` with the first of them. After a failure it sends nothing more: the
 * transaction may be gone, and a later statement would commit by itself.
 */
export class Session {
  protected isUsable = true;
  private begin: readonly Statement[];
  private readonly effects: (() => void)[] = [];

  constructor(
    private readonly send: Send,
    begin: readonly string[] = [],
  ) {
    this.begin = begin.map((sql) => ({ sql, values: [] }));
  }

  /** Sends the queries in one round trip, in their order. The first statement that fails ends it with its error. */
  async all<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    return this.one(together(queries));
  }

  async one<Result>({ statements, read, afterCommit }: Query<Result>): Promise<Result> {
    if (!this.isUsable) throw new Error('This session has ended, has failed, or waits for an answer');
    if (statements.length === 0) return read([]);
    this.isUsable = false;
    const { begin } = this;
    this.begin = [];
    const answers = await this.sendAll([...begin, ...statements]);
    this.isUsable = true;
    if (afterCommit) this.effects.push(afterCommit);
    return read(answers.slice(begin.length));
  }

  /** For the one who committed the session's transaction. */
  settle(): void {
    for (const effect of this.effects) effect();
  }

  /** One query of the database, or several where one would be too long. */
  private async sendAll(statements: readonly Statement[]): Promise<unknown[]> {
    const answers: unknown[] = [];
    let waiting: Statement[] = [];
    let length = 0;
    for (const statement of statements) {
      length += lengthOf(statement);
      if (length > QUERY_LENGTH_MAX && waiting.length > 0) {
        answers.push(...(await this.send(waiting)));
        waiting = [];
        length = lengthOf(statement);
      }
      waiting.push(statement);
    }
    return [...answers, ...(await this.send(waiting))];
  }
}

/** A session that is a transaction. It sends nothing after its end. */
export class Transaction extends Session {
  isCommitted = false;

  /** Sends the last queries and the COMMIT in one round trip. A transaction that ends without it is committed then. */
  async commit<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    const [results] = await this.all([together(queries), write('COMMIT')]);
    this.isUsable = false;
    this.isCommitted = true;
    return results;
  }
}

function lengthOf({ sql, values }: Statement): number {
  return values.reduce<number>((sum, value) => sum + String(value).length, sql.length);
}
