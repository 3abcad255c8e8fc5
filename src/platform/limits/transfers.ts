import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { onceEnded } from '../http/once-ended.js';
import type { ServerBounds } from './server-bounds.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** An import or export: {@link requireProgress} replaces the timeouts of a request. */
    isTransfer?: boolean;
  }
}

/**
 * The transfer under way on each connection. With pipelined requests it is the latest: the earlier one ends while the
 * next arrives.
 */
const transferring = new WeakMap<Socket, IncomingMessage>();

/** Whether an import or an export is under way on a connection, so that `requestMs` does not apply. */
export function isTransferring(socket: Socket): boolean {
  return transferring.has(socket);
}

/**
 * Destroys the connection of an import or export with too slow a client. While the service waits for an upload,
 * `transferBytes` must come in any `transferMs`, and after `uploadGraceMs` of waiting, `uploadBytesPerSecond` on
 * average. An answer has four times `transferMs`: the kernel buffers megabytes of the answer at once, then takes
 * nothing until the client has received a third. The time in which the service itself works does not count.
 */
export function requireProgress(fastify: FastifyInstance, bounds: ServerBounds): void {
  const { checkMs, transferMs, transferBytes, uploadGraceMs, uploadBytesPerSecond, unsentMs } = bounds;
  const requests = new Set<IncomingMessage>();
  const watchProgress: onRequestHookHandler = ({ raw, routeOptions }, reply, done) => {
    const { socket } = raw;
    // An injected request has none.
    if (!(socket instanceof Socket)) return done();
    // Node.js would destroy a silent connection while the service works. It sets the time again for the next request.
    socket.setTimeout(0);
    const received = socket.bytesRead;
    let uploadMs = 0;
    let waitedMs = 0;
    let moved = 0;
    const check = setInterval(() => {
      const isUpload = isUploading(raw);
      const movedNow = movedBytes(socket);
      const isMoving = movedNow - moved >= transferBytes;
      if (isMoving) moved = movedNow;
      const isAwaited = isUpload || reply.raw.writableLength > 0;
      waitedMs = isMoving || !isAwaited ? 0 : waitedMs + checkMs;
      if (isUpload) uploadMs += checkMs;
      const isSlow =
        uploadMs > uploadGraceMs && socket.bytesRead - received < (uploadBytesPerSecond * uploadMs) / 1_000;
      if (waitedMs >= (isUpload ? 1 : 4) * transferMs || (isUpload && isSlow)) socket.destroy();
    }, checkMs);
    requests.add(raw);
    transferring.set(socket, raw);
    onceEnded(raw, reply.raw, () => {
      clearInterval(check);
      requests.delete(raw);
      const forget = () => transferring.get(socket) === raw && transferring.delete(socket);
      // The rest of a refused file may still arrive. Node.js would answer the request again, with 408.
      if (raw.complete || !routeOptions.config.takesCsv) forget();
      else raw.once('close', forget);
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
    setTimeout(() => requests.forEach(({ socket }) => socket.destroy()), unsentMs).unref();
    done();
  });
}

/** Whether more of the body must come, and all that came has been read. */
function isUploading({ complete, readableLength }: FastifyRequest['raw']): boolean {
  return !complete && readableLength === 0;
}

/** What came from the client, and what the kernel has taken for it. */
function movedBytes(socket: Socket): number {
  return socket.bytesRead + socket.bytesWritten - socket.writableLength;
}
