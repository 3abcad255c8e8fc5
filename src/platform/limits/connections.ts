import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Lifecycle } from '../health/lifecycle.js';
import { onceEnded } from '../http/once-ended.js';
import type { ServerBounds } from './server-bounds.js';
import { Problem } from '../problems/problem.js';
import { PerAddressQuota } from './address.js';

/** Every signup of a page fits. Ten thousand connections that each send this much fit into the memory of a process. */
const SMALL_BODY_BYTES = 16 * 1024;

/** Closes a new connection at once if there are too many. */
export function limitConnections(server: Server, { connectionsMax }: ServerBounds, onRefused: () => void): void {
  server.maxConnections = connectionsMax;
  server.on('drop', onRefused);
  server.on('connection', (socket) => {
    // Each pipelined request adds a listener for the end of the connection.
    socket.setMaxListeners(0);
    // The client has reset the connection already. Its request could still be read, but belongs to no address.
    if (socket.remoteAddress === undefined) socket.destroy();
  });
}

/**
 * Sends `100 Continue` to a client that waits for it, but only when the body is about to be read: if the request is
 * refused for its headers, the body is not sent at all.
 */
export function askForBodies({ server }: FastifyInstance): void {
  // Node.js would answer 417 by itself, which no log and no metric shows. Other expectations may be ignored (RFC 9110).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      // Node.js also reads, and drops, the body of a request that has its answer.
      if (!response.headersSent) askForBody(request);
    });
    waiting.set(request, () => response.writeContinue());
    server.emit('request', request, response);
  });
}

/** The answers `100 Continue` that were not sent yet. */
const waiting = new WeakMap<IncomingMessage, () => void>();

/** Sends `100 Continue` if the client waits for it: before the body is read in another way than by `resume`. */
export function askForBody(request: IncomingMessage): void {
  waiting.get(request)?.();
  waiting.delete(request);
}

/**
 * Bounds the bytes of large bodies in memory, of all requests and of each address, with a 503 beyond it. A body is
 * kept from its first byte, before the caller is authenticated, and may arrive slowly.
 */
export function limitLargeBodies(
  fastify: FastifyInstance,
  { largeBodiesMaxBytes, largeBodiesPerAddressMaxBytes }: ServerBounds,
): void {
  const held = new PerAddressQuota(largeBodiesPerAddressMaxBytes);
  let totalBytes = 0;
  fastify.addHook('preParsing', (request, reply, _, done) => {
    const bytes = bodyBytesMax(request);
    // A stream is not kept.
    if (bytes <= SMALL_BODY_BYTES || request.routeOptions.config.takesCsv) return done();
    const release = totalBytes + bytes <= largeBodiesMaxBytes && held.take(request.ip, bytes);
    if (!release) {
      reply.header('connection', 'close');
      return done(new Problem('OVERLOADED'));
    }
    totalBytes += bytes;
    onceEnded(request.raw, reply.raw, () => {
      totalBytes -= bytes;
      release();
    });
    done();
  });
}

/** A chunked body can be as long as the route allows. */
function bodyBytesMax({ headers, routeOptions: { bodyLimit } }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return bodyLimit;
  const bytes = Number(headers['content-length'] ?? 0);
  // Beyond the limit Fastify refuses the body before it keeps any of it.
  return bytes > bodyLimit ? 0 : bytes;
}

/**
 * Lets connections end during a shutdown. Answers carry `Connection: close`, and sockets without a complete request are
 * destroyed `unsentMs` after close(): from then on Node.js no longer enforces its timeouts for headers and requests.
 * Complete requests are answered.
 */
export function endConnectionsOnClose(fastify: FastifyInstance, lifecycle: Lifecycle, unsentMs: number): void {
  const { server } = fastify;
  const connections = new Map<Socket, Set<IncomingMessage>>();
  server.on('connection', (socket) => {
    connections.set(socket, new Set());
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (request, response) => {
    const requests = connections.get(request.socket);
    requests?.add(request);
    response.once('close', () => requests?.delete(request));
  });
  // In onSend, because requests that arrived before the signal must not keep their connections either.
  fastify.addHook('onSend', async (_, reply) => {
    if (lifecycle.isStopping) reply.header('connection', 'close');
  });
  fastify.addHook('preClose', (done) => {
    setTimeout(() => {
      for (const [socket, requests] of connections)
        if (![...requests].some(({ complete }) => complete)) socket.destroy();
    }, unsentMs).unref();
    done();
  });
}
