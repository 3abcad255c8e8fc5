import type { DataSource } from 'typeorm';

/** Characters that one packet may hold, a good deal less than the 16 MiB that MariaDB takes at first. */
const PACKET_LENGTH_MAX = 1024 * 1024;

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

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

interface Sent extends Statement {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How statements of an exchange reach their database. */
export interface Transport {
  readonly dataSource: DataSource;
  /** What opens the transaction, in the first packet, and what ends it, in the last; none where that is done elsewhere. */
  readonly begin: readonly string[];
  readonly end: readonly string[];
  /** Carries them out in their order up to the first that fails; gives an answer each. */
  send(packet: readonly Statement[]): Promise<unknown[]>;
}

/**
 * Gathers statements into packets (docs/decisions/packets.md). After a failure, and after the end, nothing more is sent:
 * the transaction may be gone, and what followed would commit by itself.
 */
export class PacketExchange implements Exchange {
  readonly dataSource: DataSource;
  private readonly waiting: Sent[] = [];
  private flushing: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;
  private hasEnded = false;

  constructor(private readonly transport: Transport) {
    this.dataSource = transport.dataSource;
    for (const sql of transport.begin) {
      this.waiting.push({ sql, values: [], resolve: () => undefined, reject: () => undefined });
    }
  }

  /** Whether `commit` was called. */
  get isEnded(): boolean {
    return this.hasEnded;
  }

  async query<Answer>(sql: string, values: unknown[] = []): Promise<Answer> {
    if (this.hasEnded) throw new Error('This transaction has ended');
    return this.enqueue<Answer>(sql, values);
  }

  async commit(): Promise<void> {
    this.hasEnded = true;
    await Promise.all(this.transport.end.map((sql) => this.enqueue(sql, [])));
    await this.flushing;
    if (this.failure) throw this.failure.error;
  }

  /** Sends nothing more; resolves when nothing is under way. */
  async abandon(): Promise<void> {
    this.failure ??= { error: new Error('This transaction was given up') };
    await this.flushing;
  }

  private enqueue<Answer>(sql: string, values: readonly unknown[]): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      this.waiting.push({ sql, values, resolve: resolve as Sent['resolve'], reject });
      this.flushing ??= this.flush();
    });
  }

  private async flush(): Promise<void> {
    // Whatever can be sent without waiting for the database has been by then.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    while (this.waiting.length > 0) {
      const packet = this.waiting.splice(0, this.nextPacketLength());
      try {
        if (this.failure) throw this.failure.error;
        const answers = await this.transport.send(packet);
        packet.forEach(({ resolve }, index) => resolve(answers[index]));
      } catch (error) {
        this.failure ??= { error };
        for (const { reject } of packet) reject(error);
      }
    }
    this.flushing = undefined;
  }

  private nextPacketLength(): number {
    let length = 0;
    const end = this.waiting.findIndex((statement) => (length += lengthOf(statement)) > PACKET_LENGTH_MAX);
    return end < 0 ? this.waiting.length : Math.max(1, end);
  }
}

function lengthOf({ sql, values }: Statement): number {
  return values.reduce<number>((sum, value) => sum + String(value).length, sql.length);
}
