import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { proxyUrl } from './proxy-url.js';
import { freePort } from './service-process.js';

const PROGRAM = 'redis-server';

/** Whether there is the server of `TEST_REDIS_URL`, or a program to start one. In CI a missing one is a failure. */
export const hasRedis = process.env.TEST_REDIS_URL !== undefined || process.env.CI === 'true' || isInstalled();

function isInstalled(): boolean {
  return spawnSync(PROGRAM, ['--version']).error === undefined;
}

/** A real server, and a line to it that can be cut. */
export class RedisProxy {
  private readonly sockets = new Set<Socket>();
  private readonly door: Server;
  private isSilent = false;

  private constructor(
    private readonly target: URL,
    private readonly server: ChildProcess | undefined,
    private readonly port: number,
  ) {
    this.door = createServer((near) => this.lead(near));
  }

  static async open(): Promise<RedisProxy> {
    const given = process.env.TEST_REDIS_URL;
    const port = await freePort();
    const server = given === undefined ? await startServer(port) : undefined;
    const line = new RedisProxy(new URL(given ?? `redis://127.0.0.1:${port}`), server, await freePort());
    await line.restore();
    return line;
  }

  get url(): string {
    return proxyUrl(this.target, this.door);
  }

  /** Connections stand, and nothing passes. */
  silence(): void {
    this.isSilent = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Connections end, and new ones are refused. */
  async cut(): Promise<void> {
    const closed = once(this.door, 'close');
    this.door.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  async restore(): Promise<void> {
    this.isSilent = false;
    for (const socket of this.sockets) socket.destroy();
    if (this.door.listening) return;
    await once(this.door.listen(this.port, '127.0.0.1'), 'listening');
  }

  async close(): Promise<void> {
    if (this.door.listening) await this.cut();
    if (!this.server) return;
    const ended = once(this.server, 'exit');
    this.server.kill('SIGKILL');
    await ended;
  }

  private lead(near: Socket): void {
    const far = connect(Number(this.target.port || 6379), this.target.hostname);
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.on('data', (chunk) => other.write(chunk));
      if (this.isSilent) socket.pause();
    } // prettier-ignore
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
