import type { FastifyInstance } from 'fastify';
import { Problem } from '../problems/problem.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The fields of a JSON body stand in for missing query parameters. */
    bodyAsQuery?: boolean;
  }
}

/** Some existing scripts send the parameters of a GET in a JSON body. The query wins. */
export function readQueryFromBody(fastify: FastifyInstance): void {
  // Fastify ignores the body of a GET unless told otherwise.
  fastify.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  fastify.addHook('preValidation', async (request) => {
    if (request.routeOptions.config.bodyAsQuery)
      request.query = { ...(request.body as object | undefined), ...(request.query as object) };
  });
}

/** Refuses a query that is not percent-encoded UTF-8. The router checks the path, but the query parser accepts anything. */
export function requireReadableQuery(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ url }, _, done) => {
    const start = url.indexOf('?');
    if (start < 0 || !url.includes('%', start)) return done();
    const faults = url
      .slice(start + 1)
      .split('&')
      .filter((parameter) => !isPercentEncoded(parameter))
      .map((parameter) => ({ field: parameter.split('=', 1)[0] || 'query', message: 'must be percent-encoded UTF-8' }));
    done(faults.length > 0 ? Problem.invalid(faults) : undefined);
  });
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch (error) {
    if (error instanceof URIError) return false;
    throw error;
  }
}
