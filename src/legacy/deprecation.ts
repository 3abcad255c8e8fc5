import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';

/** The date of the first version, which deprecates the earlier generations, in the form of RFC 9745. */
const DEPRECATION = `@${Date.UTC(2026, 10, 22) / 1000}`;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The path of the operation to use instead, with the names of path parameters in braces. */
    successor?: string;
  }
}

/** A public operation of an earlier generation. All its answers, refusals included, name the successor. */
export function Superseded(successor: string, config: Pick<FastifyContextConfig, 'waitsMs'> = {}) {
  return RouteConfig({ rateLimited: 'public', successor, ...config });
}

/** Call it before other hooks are added, so that their refusals have the headers too. */
export function addDeprecationHeaders(fastify: FastifyInstance, publicBaseUrl: string): void {
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
