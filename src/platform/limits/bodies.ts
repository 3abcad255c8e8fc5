import { finished } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HeldByAddress } from './address.js';
import { overloaded } from './request-deadline.js';

/** Any signup of a page. Ten thousand connections that send no more are within the memory of a process. */
const SMALL_BODY_BYTES = 16 * 1024;

export interface BodyBounds {
  readonly largeBodiesMaxBytes: number;
  readonly largeBodiesPerAddressMaxBytes: number;
}

/**
 * Bounds what the large bodies of all requests under way hold together, and those of one address: a body is kept from its
 * first byte on, before anybody has shown a token, and may take its time to arrive. Beyond it: 503, at once.
 */
export function boundBodies(
  fastify: FastifyInstance,
  { largeBodiesMaxBytes, largeBodiesPerAddressMaxBytes }: BodyBounds,
): void {
  const held = new HeldByAddress();
  let total = 0;
  fastify.addHook('preParsing', (request, reply, _, done) => {
    const bytes = announcedBytes(request);
    if (bytes <= SMALL_BODY_BYTES) return done();
    const hasRoom = total + bytes <= largeBodiesMaxBytes;
    const release = hasRoom && held.take(request.ip, bytes, largeBodiesPerAddressMaxBytes);
    if (!release) {
      reply.header('connection', 'close');
      return done(overloaded());
    }
    total += bytes;
    finished(reply.raw, () => {
      total -= bytes;
      release();
    });
    done();
  });
}

/** At most: who does not say how long a body is may send what the operation takes. */
function announcedBytes({ headers, routeOptions: { bodyLimit } }: FastifyRequest): number {
  if (headers['transfer-encoding'] !== undefined) return bodyLimit;
  const bytes = Number(headers['content-length'] ?? 0);
  // Refused for its length before anything is kept.
  return bytes > bodyLimit ? 0 : bytes;
}
