import type { FastifyInstance } from 'fastify';
import findMyWay from 'find-my-way';

/** The router ignores a trailing slash and doubled slashes. */
export const PATH_OPTIONS = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true } as const;

/** Which methods each path accepts. */
export interface Routes {
  /** Empty for an unknown path. */
  methodsOf(path: string): readonly string[];
  /** Whether the rate limit of public operations applies to an operation with this path and method. */
  arePublic(path: string, method: string): boolean;
}

interface Methods {
  readonly all: Set<string>;
  readonly public: Set<string>;
}

/**
 * Fastify's router cannot list the methods of a path, so a second router maps each path to its methods. Call it before the
 * routes are added.
 */
export function collectRoutes(fastify: FastifyInstance): Routes {
  const paths = findMyWay(PATH_OPTIONS);
  const methodsByUrl = new Map<string, Methods>();
  // Without this, Fastify refuses a QUERY without a content type before it looks for a route.
  fastify.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
  fastify.addHook('onRoute', ({ url, method, config }) => {
    // The CORS plugin answers OPTIONS on every path.
    if (url === '*') return;
    let methods = methodsByUrl.get(url);
    if (!methods) {
      methodsByUrl.set(url, (methods = { all: new Set(), public: new Set() }));
      paths.on('GET', url, () => undefined, methods);
    }
    for (const name of [method].flat()) {
      methods.all.add(name);
      if (config?.rateLimited === 'public') methods.public.add(name);
    }
  });
  const find = (path: string) => paths.find('GET', path)?.store as Methods | undefined;
  return {
    methodsOf: (path) => [...(find(path)?.all ?? [])].sort(),
    arePublic: (path, method) => find(path)?.public.has(method) ?? false,
  };
}
