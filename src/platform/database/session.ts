import type { DataSource, QueryRunner } from 'typeorm';

/** Through what statements are sent. */
export interface Session {
  readonly dataSource: DataSource;
  /** Rows of a SELECT; of another statement, what the driver says of it. */
  query<Answer>(sql: string, values?: unknown[]): Promise<Answer>;
}

/**
 * A transaction whose statements share round trips. Statements that need no answer from each other, and so are sent
 * without waiting between, travel in one packet, in the order in which they were sent.
 */
export interface Exchange extends Session {
  /** Ends the transaction, in the packet of what was sent just before. */
  commit(): Promise<void>;
}

interface Sent {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * An exchange with MySQL: several statements in a query (docs/decisions/packets.md). The server stops at the first that
 * fails, and after one nothing more is sent: the transaction may be gone, and what followed would commit by itself.
 */
export class PacketExchange implements Exchange {
  readonly dataSource: DataSource;
  private readonly waiting: Sent[] = [];
  private isFlushing = false;
  private failure: { readonly error: unknown } | undefined;
  private isEnding = false;
  private isDone = false;

  /** `begin` opens the transaction, in the first packet. */
  constructor(
    private readonly runner: QueryRunner,
    begin: readonly string[],
  ) {
    this.dataSource = runner.dataSource;
    for (const sql of begin) this.waiting.push({ sql, values: [], resolve: () => undefined, reject: () => undefined });
  }

  get isCommitted(): boolean {
    return this.isDone;
  }

  async query<Answer>(sql: string, values: unknown[] = []): Promise<Answer> {
    // Behind the COMMIT it would be a transaction of its own.
    if (this.isEnding) throw new Error('This transaction has ended');
    return new Promise<Answer>((resolve, reject) => {
      this.waiting.push({ sql, values, resolve: resolve as Sent['resolve'], reject });
      if (!this.isFlushing) void this.flush();
    });
  }

  async commit(): Promise<void> {
    const committed = this.query('COMMIT');
    this.isEnding = true;
    await committed;
    this.isDone = true;
  }

  private async flush(): Promise<void> {
    this.isFlushing = true;
    // Whatever can be sent without waiting for the database has been by then.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    while (this.waiting.length > 0) {
      const packet = this.waiting.splice(0);
      try {
        if (this.failure) throw this.failure.error;
        const sql = packet.map((sent) => sent.sql).join(STATEMENT_END);
        const answer: unknown = await this.runner.query(sql, packet.flatMap(({ values }) => values)); // prettier-ignore
        const answers = packet.length === 1 ? [answer] : (answer as unknown[]);
        packet.forEach(({ resolve }, index) => resolve(answers[index]));
      } catch (error) {
        this.failure = { error };
        for (const { reject } of packet) reject(error);
      }
    }
    this.isFlushing = false;
  }
}

export const STATEMENT_END = ';\n';
