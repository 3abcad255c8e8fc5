import type { FastifyInstance } from 'fastify';
import findMyWay from 'find-my-way';

/** The router ignores a trailing slash and doubled slashes. */
export const PATH_OPTIONS = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true } as const;

/** The paths, with those below, of people and clients. The rest is for the cluster. The chart exposes these and `/`. */
const PUBLIC_PATH = /^\/*(\?|$)|^\/+(api|desk|docs|openapi\.json|openapi-legacy\.json|waitlist|widget\.js)([/?]|$)/;

/**
 * A proxy may remove the path of `PUBLIC_BASE_URL` or pass it on. If that is `/waitlist`, `/waitlist/1` comes from a
 * proxy that removed it, and `/waitlist/waitlist/1` from one that did not.
 */
export function withoutBasePath(url: string, basePath: string): string {
  const rest = url.startsWith(basePath) ? url.slice(basePath.length) : null;
  if (rest === null || !PUBLIC_PATH.test(rest)) return url;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

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

/** A second router maps each path to its methods: Fastify's cannot list them. Call it before the routes are added. */
export function collectRoutes(fastify: FastifyInstance): Routes {
  const paths = findMyWay(PATH_OPTIONS);
  const methodsByUrl = new Map<string, Methods>();
  // Without this, Fastify refuses a QUERY without a content type before it looks for a route.
  fastify.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
  fastify.addHook('onRoute', ({ url, method, config }) => {
    // `cors.ts` answers OPTIONS on every path.
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
