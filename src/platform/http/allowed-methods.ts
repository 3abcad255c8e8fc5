import type { FastifyInstance } from 'fastify';
import findMyWay from 'find-my-way';

/** A trailing or doubled slash is forgiven. */
export const PATH_OPTIONS = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true } as const;

/** The methods that a path accepts; empty for an unknown path. */
export type AllowedMethods = (path: string) => readonly string[];

/**
 * Tells a wrong method (405) from an unknown path (404). Fastify's router cannot list the methods of a path, so a second
 * one maps each path to them. Call before the routes are added.
 */
export function collectAllowedMethods(fastify: FastifyInstance): AllowedMethods {
  const paths = findMyWay(PATH_OPTIONS);
  const methodsByUrl = new Map<string, string[]>();
  // Without this, Fastify refuses a QUERY without a content type before it looks for a route.
  fastify.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
  fastify.addHook('onRoute', ({ url, method }) => {
    // The CORS plugin answers OPTIONS on every path.
    if (url === '*') return;
    const methods = methodsByUrl.get(url) ?? [];
    if (methods.length === 0) {
      methodsByUrl.set(url, methods);
      paths.on('GET', url, () => undefined, methods);
    }
    methods.push(...[method].flat());
  });
  return (path) => ((paths.find('GET', path)?.store ?? []) as string[]).toSorted();
}
