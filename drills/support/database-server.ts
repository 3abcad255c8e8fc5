import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';

const run = promisify(execFile);

/** The path of a program in `drills/servers`. */
export function serverProgram(name: string): string {
  return fileURLToPath(new URL(`../servers/${name}`, import.meta.url));
}

/** A MySQL server to break, or one of the program in `DATABASE_PROGRAM` (docs/scaling.md). */
export class DatabaseServer {
  static readonly program = process.env.DATABASE_PROGRAM ?? serverProgram('mysql');
  url = '';

  constructor(
    private readonly directory: string,
    private readonly port: number,
  ) {}

  /** Resolves when it accepts connections. Commits are durable. */
  async start(): Promise<void> {
    this.url = (await this.command('start', String(this.port))).trim();
    await this.asRoot('SET GLOBAL innodb_flush_log_at_trx_commit = 1', 'SET GLOBAL sync_binlog = 1');
  }

  async stop(): Promise<void> {
    await this.command('stop');
  }

  async kill(): Promise<void> {
    await this.command('kill');
  }

  async wipe(): Promise<void> {
    await this.command('wipe');
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

  private async command(name: string, ...args: string[]): Promise<string> {
    return (await run(DatabaseServer.program, [name, this.directory, ...args])).stdout;
  }
}
