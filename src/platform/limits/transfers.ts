import { existsSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { onceEnded } from '../http/once-ended.js';
import type { ServerBounds } from '../http/server.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A whole waitlist goes over the connection: {@link requireProgress} in place of the bounds of time. */
    isTransfer?: boolean;
  }
}

/**
 * Bounds how slow the client of an import or an export may be: while the service waits for it, `transferBytes` must move in
 * `transferMs`, or the connection is destroyed. The time in which the service itself works does not count.
 */
export function requireProgress(
  fastify: FastifyInstance,
  { checkMs, transferMs, transferBytes, unsentMs }: ServerBounds,
): void {
  const sockets = new Set<Socket>();
  const watchProgress: onRequestHookHandler = ({ raw }, reply, done) => {
    const { socket } = raw;
    // An injected request has none.
    if (!(socket instanceof Socket)) return done();
    // Node.js would destroy a connection that is silent while the service works. It sets the time again for the next request.
    socket.setTimeout(0);
    let isAwaited = true;
    let moved = 0;
    const watch = setInterval(() => {
      isAwaited &&= isUploading(raw) || reply.raw.writableLength > 0;
    }, checkMs);
    const check = setInterval(() => {
      const before = moved;
      moved = movedBytes(socket);
      if (isAwaited && moved - before < transferBytes) socket.destroy();
      isAwaited = true;
    }, transferMs);
    sockets.add(socket);
    onceEnded(raw, reply.raw, () => {
      clearInterval(watch);
      clearInterval(check);
      sockets.delete(socket);
    });
    done();
  };
  fastify.addHook('onRoute', (route) => {
    if (!route.config?.isTransfer) return;
    route.config.isLongWork = () => true;
    route.onRequest = watchProgress;
  });
  // Other complete requests are answered before the process ends; a transfer can take longer than a shutdown may.
  fastify.addHook('preClose', (done) => {
    setTimeout(() => sockets.forEach((socket) => socket.destroy()), unsentMs).unref();
    done();
  });
}

/** Whether more of the body must come, and all that came has been read. */
function isUploading({ complete, readableLength }: FastifyRequest['raw']): boolean {
  return !complete && readableLength === 0;
}

/** What came from the client, and what it has received. */
function movedBytes(socket: Socket): number {
  return socket.bytesRead + socket.bytesWritten - socket.writableLength - unacknowledgedBytes(socket);
}

const TCP_TABLES: Readonly<Record<string, string>> = { IPv4: '/proc/self/net/tcp', IPv6: '/proc/self/net/tcp6' };

/**
 * What the kernel has taken from the service but the client has not received yet. These can be megabytes, and the kernel
 * takes more only when a third of them is gone: without them, a slow client would seem to stand still for minutes. Only Linux
 * tells; 0 elsewhere.
 */
function unacknowledgedBytes({ localPort = 0, remotePort = 0, localFamily = '' }: Socket): number {
  const table = TCP_TABLES[localFamily];
  if (table === undefined || !existsSync(table)) return 0;
  // Columns of text: number, local address, remote address, state, bytes to send and to read.
  const row = new RegExp(`:${hexPort(localPort)} [0-9A-F]+:${hexPort(remotePort)} [0-9A-F]{2} ([0-9A-F]{8}):`);
  const [, bytes = '0'] = row.exec(readFileSync(table, 'latin1')) ?? [];
  return Number.parseInt(bytes, 16);
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
