import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { proxyUrl } from './proxy-url.js';

/** A TCP proxy to a database server that can lose the answer to a commit, and hold back queries. */
export class DatabaseProxy {
  private readonly proxy: Server;
  private onLost: (() => void) | undefined;
  private isHeld: ((query: Buffer) => boolean) | undefined;
  private readonly held: (() => void)[] = [];

  private constructor(private readonly target: URL) {
    this.proxy = createServer((near) => this.connect(near));
  }

  static async open(url: string): Promise<DatabaseProxy> {
    const opened = new DatabaseProxy(new URL(url));
    await once(opened.proxy.listen(0, '127.0.0.1'), 'listening');
    return opened;
  }

  get url(): string {
    return proxyUrl(this.target, this.proxy);
  }

  /**
   * The server carries out the next commit, but the client's connection ends without an answer; resolves after that.
   */
  async loseNextCommit(): Promise<void> {
    return new Promise((resolve) => {
      this.onLost = resolve;
    });
  }

  /** Holds back the queries that `isHeld` picks, until {@link release}. */
  hold(isHeld: (query: Buffer) => boolean): void {
    this.isHeld = isHeld;
  }

  /** How many queries are held back. */
  get heldCount(): number {
    return this.held.length;
  }

  /** Passes on the queries that were held back, and holds back no more. */
  release(): void {
    this.isHeld = undefined;
    for (const pass of this.held.splice(0)) pass();
  }

  /** Call it after all clients have disconnected. */
  async close(): Promise<void> {
    await once(this.proxy.close(), 'close');
  }

  private connect(near: Socket): void {
    const far = connect({ port: Number(this.target.port), host: this.target.hostname, allowHalfOpen: true });
    const join = () => far.on('data', (chunk) => near.write(chunk));
    join();
    near.on('data', (chunk) => {
      if (this.isHeld?.(chunk)) {
        this.held.push(() => far.write(chunk));
        return;
      }
      far.write(chunk);
      if (!this.onLost || !chunk.includes('COMMIT')) return;
      const isLost = this.onLost;
      this.onLost = undefined;
      // The server finds the end of the connection after it has carried out the commit.
      far.removeAllListeners('data').resume().end();
      far.once('close', isLost);
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => socket.destroy());
      socket.on('close', () => other.destroy());
    }
    far.on('end', () => far.end());
  }
}
