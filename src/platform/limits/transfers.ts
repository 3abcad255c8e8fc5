import { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
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
  { checkMs, transferMs, transferBytes }: Pick<ServerBounds, 'checkMs' | 'transferMs' | 'transferBytes'>,
): void {
  fastify.addHook('onRoute', (route) => {
    if (route.config?.isTransfer) route.config.isLongWork = () => true;
  });
  fastify.addHook('onRequest', ({ raw, routeOptions }, reply, done) => {
    const { socket } = raw;
    // An injected request has none.
    if (!routeOptions.config.isTransfer || !(socket instanceof Socket)) return done();
    // Node.js would destroy a connection that is silent while the service works. It sets the time again for the next request.
    socket.setTimeout(0);
    let since = performance.now();
    let bytes = movedBytes(socket);
    const timer = setInterval(() => {
      const isAwaited = isUploading(raw) || reply.raw.writableLength > 0;
      if (!isAwaited || movedBytes(socket) - bytes >= transferBytes) {
        since = performance.now();
        bytes = movedBytes(socket);
      } else if (performance.now() - since >= transferMs) {
        socket.destroy();
      }
    }, checkMs);
    onceEnded(raw, reply.raw, () => clearInterval(timer));
    done();
  });
}

/** Whether more of the body must come, and all that came has been read. */
function isUploading({ complete, readableLength }: FastifyRequest['raw']): boolean {
  return !complete && readableLength === 0;
}

/** Without those that wait for the client to read. */
function movedBytes({ bytesRead, bytesWritten, writableLength }: Socket): number {
  return bytesRead + bytesWritten - writableLength;
}
