import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * `unsentMs` after the server has closed its door, ends the connections on which no whole request has come. They would keep it
 * from its end: from then on Node.js holds them to no time. Whoever has asked is answered.
 */
export function boundClosing(fastify: FastifyInstance, unsentMs: number): void {
  const { server } = fastify;
  const connections = new Set<Socket>();
  const asked = new Set<IncomingMessage>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', (request, response) => {
    asked.add(request);
    response.once('close', () => asked.delete(request));
  });
  fastify.addHook('preClose', (done) => {
    setTimeout(() => {
      const awaiting = new Set([...asked].filter(({ complete }) => complete).map(({ socket }) => socket));
      for (const socket of connections) if (!awaiting.has(socket)) socket.destroy();
    }, unsentMs).unref();
    done();
  });
}
