/** One SQL statement with its parameters. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/**
 * Statements, and how their answers become a result. It is a value: making one sends nothing. Stores return queries; a
 * caller sends those that need no answer from each other in one round trip, with {@link Session.all}.
 */
export interface Query<Result> {
  readonly statements: readonly Statement[];
  /** Gets one answer per statement: the rows of a SELECT, or the driver's summary of a write. */
  readonly read: (answers: readonly unknown[]) => Result;
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
  return {
    statements: queries.flatMap(({ statements }) => statements),
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
  return { statements: query.statements, read: (answers) => map(query.read(answers)) };
}

/** Sends queries to one connection. */
export interface Session {
  /** Sends the queries in one round trip, in their order. The first statement that fails ends it with its error. */
  all<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>>;
  one<Result>(query: Query<Result>): Promise<Result>;
}

/** A session that is a transaction. */
export interface Transaction extends Session {
  /** Sends the last queries and the COMMIT in one round trip. A transaction that ends without it is committed then. */
  commit<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>>;
}

/** Carries out statements in their order up to the first that fails, and returns one answer per statement. */
export type Send = (statements: readonly Statement[]) => Promise<unknown[]>;

/** Characters in one multi-statement query: far below the 16 MiB that MariaDB accepts by default. */
const QUERY_LENGTH_MAX = 1024 * 1024;

/**
 * A session over a connection's `send`. `begin` travels with the first queries and `end` with the last. After a failure,
 * and after the end, it sends nothing more: the transaction may be gone, and a later statement would commit by itself.
 */
export class PipelinedSession implements Transaction {
  private begin: readonly Statement[];
  private readonly end: readonly Query<void>[];
  private isUsable = true;
  private isCommitted = false;

  constructor(
    private readonly send: Send,
    { begin = [], end = [] }: { readonly begin?: readonly string[]; readonly end?: readonly string[] } = {},
  ) {
    this.begin = begin.map((sql) => ({ sql, values: [] }));
    this.end = end.map((sql) => write(sql));
  }

  /** Whether `commit` was called. */
  get hasEnded(): boolean {
    return this.isCommitted;
  }

  async all<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    return this.exchange(together(queries));
  }

  async one<Result>(query: Query<Result>): Promise<Result> {
    return this.exchange(query);
  }

  async commit<const Queries extends readonly Query<unknown>[]>(queries: Queries): Promise<Results<Queries>> {
    const [results] = await this.exchange(together([together(queries), together(this.end)]));
    this.isUsable = false;
    this.isCommitted = true;
    return results;
  }

  private async exchange<Result>({ statements, read }: Query<Result>): Promise<Result> {
    if (!this.isUsable) throw new Error('This session has ended, has failed, or waits for an answer');
    if (statements.length === 0) return read([]);
    this.isUsable = false;
    const { begin } = this;
    this.begin = [];
    const answers = await this.sendAll([...begin, ...statements]);
    this.isUsable = true;
    return read(answers.slice(begin.length));
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

function lengthOf({ sql, values }: Statement): number {
  return values.reduce<number>((sum, value) => sum + String(value).length, sql.length);
}
