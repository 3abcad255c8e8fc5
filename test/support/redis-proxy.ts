import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { proxyUrl } from './proxy-url.js';
import { freePort } from './service-process.js';

const PROGRAM = 'redis-server';

/** Whether `TEST_REDIS_URL` is set or a server can be started. In CI a missing server fails the suite. */
export const hasRedis = process.env.TEST_REDIS_URL !== undefined || process.env.CI === 'true' || isInstalled();

function isInstalled(): boolean {
  return spawnSync(PROGRAM, ['--version']).error === undefined;
}

/** A real Redis server behind a TCP proxy whose connections can be cut. */
export class RedisProxy {
  private readonly sockets = new Set<Socket>();
  private readonly proxy: Server;
  private isSilent = false;

  private constructor(
    private readonly target: URL,
    private readonly server: ChildProcess | undefined,
    private readonly port: number,
  ) {
    this.proxy = createServer((near) => this.connect(near));
  }

  static async open(): Promise<RedisProxy> {
    const given = process.env.TEST_REDIS_URL;
    const port = await freePort();
    const server = given === undefined ? await startServer(port) : undefined;
    const opened = new RedisProxy(new URL(given ?? `redis://127.0.0.1:${port}`), server, await freePort());
    await opened.restore();
    return opened;
  }

  get url(): string {
    return proxyUrl(this.target, this.proxy);
  }

  /** Connections stay open, but nothing passes. */
  silence(): void {
    this.isSilent = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Closes all connections and refuses new ones. */
  async cut(): Promise<void> {
    const closed = once(this.proxy, 'close');
    this.proxy.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async restore(): Promise<void> {
    this.isSilent = false;
    for (const socket of this.sockets) socket.destroy();
    if (this.proxy.listening) return;
    await once(this.proxy.listen(this.port, '127.0.0.1'), 'listening');
  }

  async close(): Promise<void> {
    if (this.proxy.listening) await this.cut();
    if (!this.server) return;
    const ended = once(this.server, 'exit');
    this.server.kill('SIGKILL');
    await ended;
  }

  private connect(near: Socket): void {
    const far = connect(Number(this.target.port || 6379), this.target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.on('data', (chunk) => other.write(chunk));
      if (this.isSilent) socket.pause();
    }
  }
}

async function startServer(port: number): Promise<ChildProcess> {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`${PROGRAM} ended with ${code}`)));
    server.stdout.on('data', (chunk: Buffer) => chunk.includes('Ready to accept connections') && resolve());
  });
  return server;
}
