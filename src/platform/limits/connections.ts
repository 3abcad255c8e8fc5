import type { Server } from 'node:http';
import { HeldByAddress } from './address.js';

export interface ConnectionBounds {
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
}

/**
 * Closes at once the connections beyond a bound: of all, and of each remote address, so that one host alone keeps nobody
 * out. Behind a proxy that is trusted are many people; it bounds what each of them takes.
 */
export function limitConnections(
  server: Server,
  { connectionsMax, connectionsPerAddressMax }: ConnectionBounds,
  isTrusted: (address: string) => boolean,
  refused: () => void,
): void {
  const open = new HeldByAddress();
  server.maxConnections = connectionsMax;
  server.on('drop', refused);
  server.on('connection', (socket) => {
    const { remoteAddress } = socket;
    // Without one it has ended already.
    if (remoteAddress === undefined || isTrusted(remoteAddress)) return;
    const release = open.take(remoteAddress, 1, connectionsPerAddressMax);
    if (release) {
      socket.once('close', release);
    } else {
      refused();
      socket.destroy();
    }
  });
}
