import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';

/** Since the first version: the current generation came with it. As RFC 9745 writes a date. */
const DEPRECATION = `@${Date.UTC(2026, 10, 22) / 1000}`;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The path of the operation to use instead, with the names of path parameters in braces. */
    successor?: string;
  }
}

/** A public operation of an earlier generation. All its answers name the successor, refusals too. */
export function Superseded(successor: string) {
  return RouteConfig({ rateLimited: 'public', successor });
}

/** The first hook, so that a refusal by a later one has the headers too. */
export function announceSuccessors(fastify: FastifyInstance, publicBaseUrl: string): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const { successor } = request.routeOptions.config;
    if (successor !== undefined) {
      const params = request.params as Readonly<Record<string, string>>;
      const path = successor.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
      reply.headers({ Deprecation: DEPRECATION, Link: `<${publicBaseUrl}${path}>; rel="successor-version"` });
    }
    done();
  });
}
