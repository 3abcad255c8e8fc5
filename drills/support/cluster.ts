import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { freePort, until } from '../../test/support/service-process.js';

const CHECK_MAX_MS = 1_000;
const run = promisify(execFile);

/** Three database servers that replicate their writes, run by a program of `drills/servers`. */
export class Cluster {
  urls: readonly string[] = [];

  constructor(
    private readonly program: string,
    private readonly directory: string,
    private readonly basePort: number,
  ) {}

  async start(): Promise<void> {
    const stdout = await this.command('start', this.directory, String(this.basePort));
    this.urls = stdout.trim().split('\n');
  }

  /**
   * Any of the program's commands for one node: `kill-node`, `restart-node`, `pause-node`, `resume-node`, `primary`…
   */
  async node(command: string, node?: number): Promise<string> {
    return this.command(command, this.directory, ...(node === undefined ? [] : [String(node)]));
  }

  /** The number of the node behind a URL. */
  async nodeAt(url: string): Promise<number> {
    const [{ port }] = await ask<{ port: number }>(url, 'SELECT @@port AS port');
    return port - this.basePort;
  }

  /** Whether all three nodes see all three. */
  async isWhole(): Promise<boolean> {
    const status = await this.node('status').catch(() => '');
    return [...status.matchAll(/ knows=3$/gm)].length === 3;
  }

  async wipe(): Promise<void> {
    await this.command('wipe', this.directory);
  }

  private async command(...args: string[]): Promise<string> {
    return (await run(this.program, args)).stdout;
  }
}

/**
 * haproxy in front of a cluster. It sends every connection to one node that takes writes, and cuts those to a node that
 * no longer does. A small HTTP server for each node tells haproxy whether it does.
 */
export class Pin {
  private constructor(
    readonly url: string,
    private readonly balancer: ChildProcess,
    private readonly checkers: readonly Server[],
  ) {}

  static async start(urls: readonly string[], directory: string): Promise<Pin> {
    const checkers = urls.map((url) =>
      createServer((_, response) => {
        void takesWrites(url).then((does) => response.writeHead(does ? 200 : 503).end());
      }).listen(0, '127.0.0.1'),
    );
    await Promise.all(checkers.map((checker) => once(checker, 'listening')));
    const url = new URL(urls[0] as string);
    url.port = String(await freePort());
    const nodes = urls.map((node, index) => ({
      port: new URL(node).port,
      checkPort: (checkers[index]?.address() as AddressInfo).port,
    }));
    const file = join(directory, 'pin.cfg');
    await writeFile(file, pinConfig(url.port, nodes));
    const balancer = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: 'inherit' });
    await until(() => takesWrites(url.href));
    return new Pin(url.href, balancer, checkers);
  }

  stop(): void {
    this.balancer.kill();
    for (const checker of this.checkers) checker.close();
  }
}

/** The first node that takes writes gets all connections; when an earlier one returns, they move back. */
function pinConfig(port: string, nodes: readonly { readonly port: string; readonly checkPort: number }[]): string {
  const server = 'inter 500ms fall 2 rise 2 on-marked-down shutdown-sessions on-marked-up shutdown-backup-sessions';
  return `
global
  maxconn 1000
defaults
  mode tcp
  timeout connect 2s
  timeout check 1s
  timeout client 1h
  timeout server 1h
frontend writers
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  option httpchk GET /
${nodes.map((node, index) => `  server n${index + 1} 127.0.0.1:${node.port} check port ${node.checkPort} ${server}${index > 0 ? ' backup' : ''}`).join('\n')}
`;
}

async function takesWrites(url: string): Promise<boolean> {
  try {
    const [{ isReadOnly }] = await ask<{ isReadOnly: number }>(url, 'SELECT @@global.read_only AS isReadOnly');
    if (isReadOnly) return false;
    const [galera] = await ask<{ Value: string } | undefined>(url, "SHOW STATUS LIKE 'wsrep_ready'");
    return galera === undefined || galera.Value === 'ON';
  } catch {
    // Any error means that it does not.
    return false;
  }
}

/** Runs one statement on a new connection and returns its rows. */
export async function ask<Row>(url: string, sql: string): Promise<[Row]> {
  const connection = await createConnection({ uri: url, connectTimeout: CHECK_MAX_MS });
  try {
    const [rows] = await connection.query({ sql, timeout: CHECK_MAX_MS });
    return rows as [Row];
  } finally {
    connection.destroy();
  }
}
