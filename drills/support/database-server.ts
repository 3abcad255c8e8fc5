import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';

const NAME = 'waitlist';
const run = promisify(execFile);

/** The program in an environment variable that starts servers. */
export function programFrom(variable: string): string {
  const program = process.env[variable];
  if (program === undefined)
    throw new Error(`${variable}: a program that starts servers is needed; see docs/scaling.md`);
  return program;
}

/** A MySQL or MariaDB server to break, run by the program in `DATABASE_PROGRAM` (docs/scaling.md). */
export class DatabaseServer {
  url = '';

  constructor(
    private readonly program: string,
    private readonly directory: string,
    private readonly port: number,
  ) {}

  /** Resolves when it accepts connections. Commits are durable. */
  async start(): Promise<void> {
    const { stdout } = await run(this.program, ['start', this.directory, String(this.port), NAME, NAME, NAME]);
    this.url = stdout.trim();
    await this.asRoot('SET GLOBAL innodb_flush_log_at_trx_commit = 1', 'SET GLOBAL sync_binlog = 1');
  }

  async stop(): Promise<void> {
    await run(this.program, ['stop', this.directory]);
  }

  async kill(): Promise<void> {
    await run(this.program, ['kill', this.directory]);
  }

  async wipe(): Promise<void> {
    await run(this.program, ['wipe', this.directory]);
  }

  async signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    process.kill(Number(await readFile(join(this.directory, 'pid'), 'utf8')), signal);
  }

  /** Whether it writes a binary log, as with backups or replicas. */
  async hasLog(): Promise<boolean> {
    const [row] = await this.queryAsRoot<RowDataPacket & { log: number }>('SELECT @@log_bin AS log');
    return row?.log === 1;
  }

  async connectAsRoot(): Promise<Connection> {
    return createConnection({ socketPath: join(this.directory, 's.sock'), user: 'root' });
  }

  async asRoot(...statements: string[]): Promise<void> {
    for (const statement of statements) await this.queryAsRoot(statement);
  }

  async queryAsRoot<Row extends RowDataPacket>(sql: string): Promise<Row[]> {
    const connection = await this.connectAsRoot();
    try {
      const [rows] = await connection.query<Row[]>(sql);
      return rows;
    } finally {
      await connection.end();
    }
  }
}
