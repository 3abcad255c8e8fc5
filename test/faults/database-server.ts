import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Connection, createConnection } from 'mysql2/promise';

const NAME = 'waitlist';
const run = promisify(execFile);

/** The program that a run is given to make servers with. */
export function programFrom(variable: string): string {
  const program = process.env[variable];
  if (program === undefined)
    throw new Error(`${variable}: a program that starts servers is needed; see docs/scaling.md`);
  return program;
}

/** A MySQL or MariaDB server that a test may end in any way, run by the program of `DATABASE_PROGRAM` (docs/scaling.md). */
export class DatabaseServer {
  url = '';

  constructor(
    private readonly program: string,
    private readonly directory: string,
    private readonly port: number,
  ) {}

  /** Returns when it takes connections. Commits are on the disk before they are answered. */
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

  async connectAsRoot(): Promise<Connection> {
    return createConnection({ socketPath: join(this.directory, 's.sock'), user: 'root' });
  }

  async asRoot(...statements: string[]): Promise<void> {
    const connection = await this.connectAsRoot();
    try {
      for (const statement of statements) await connection.query(statement);
    } finally {
      await connection.end();
    }
  }
}
