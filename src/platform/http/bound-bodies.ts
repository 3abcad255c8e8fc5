import { finished } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressKey } from '../limits/address.js';
import { Problem } from '../problem.js';
import { problemEntry } from './problem-catalog.js';

/** Any signup of a page. Ten thousand connections that send no more are within the memory of a process. */
const SMALL_BODY_BYTES = 16 * 1024;
const RETRY_AFTER_SECONDS = 2;

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
  const held = new Map<string, number>();
  let total = 0;
  const hold = (key: string, bytes: number): void => {
    total += bytes;
    const own = (held.get(key) ?? 0) + bytes;
    if (own > 0) held.set(key, own);
    else held.delete(key);
  };
  fastify.addHook('preParsing', (request, reply, _, done) => {
    const bytes = announcedBytes(request);
    if (bytes <= SMALL_BODY_BYTES) return done();
    const key = addressKey(request.ip);
    if (total + bytes > largeBodiesMaxBytes || (held.get(key) ?? 0) + bytes > largeBodiesPerAddressMaxBytes) {
      reply.header('connection', 'close');
      return done(
        new Problem('unavailable', 'OVERLOADED', problemEntry('OVERLOADED').detail, {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        }),
      );
    }
    hold(key, bytes);
    finished(reply.raw, () => hold(key, -bytes));
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
