import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { proxyUrl } from './proxy-url.js';

/** A line to a database server on which the answer to a commit can be lost. */
export class DatabaseProxy {
  private readonly door: Server;
  private losing: (() => void) | undefined;

  private constructor(private readonly target: URL) {
    this.door = createServer((near) => this.lead(near));
  }

  static async open(url: string): Promise<DatabaseProxy> {
    const line = new DatabaseProxy(new URL(url));
    await once(line.door.listen(0, '127.0.0.1'), 'listening');
    return line;
  }

  get url(): string {
    return proxyUrl(this.target, this.door);
  }

  /** The next commit is carried out and its connection ends instead of an answer; resolves when that has happened. */
  async loseNextCommit(): Promise<void> {
    return new Promise((resolve) => {
      this.losing = resolve;
    });
  }

  /** Once nobody uses it any more. */
  async close(): Promise<void> {
    await once(this.door.close(), 'close');
  }

  private lead(near: Socket): void {
    const far = connect({ port: Number(this.target.port), host: this.target.hostname, allowHalfOpen: true });
    const join = () => far.on('data', (chunk) => near.write(chunk));
    join();
    near.on('data', (chunk) => {
      far.write(chunk);
      if (!this.losing || !chunk.includes('COMMIT')) return;
      const isLost = this.losing;
      this.losing = undefined;
      // The server reads on, and finds the end, when it has done what it was told.
      far.removeAllListeners('data').resume().end();
      far.once('close', isLost);
    });
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      socket.on('error', () => socket.destroy());
      socket.on('close', () => other.destroy());
    } // prettier-ignore
    far.on('end', () => far.end());
  }
}
