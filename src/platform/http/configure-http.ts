import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import cors, { type FastifyCorsOptions } from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyInstance, type FastifyRequest, LogController, type RouteOptions } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { Config } from '../config/config.js';
import { Presence } from '../health/presence.js';
import { Problem } from '../problem.js';
import { ContractPipe } from './contract.pipe.js';
import { Metrics } from '../telemetry/metrics.js';
import { serveDocs } from './docs-page.js';
import { createDocument, publishable } from './document.js';
import { readJsonBodies } from './json-body.js';
import { answerUnreadablePath, answerUnreadableRequest, ProblemFilter } from './problem.filter.js';
import { safeHeaders } from './safe-headers.js';

const BODY_MAX_BYTES = 256 * 1024;
/** A request, headers and body, that takes longer to arrive is an attack or a dead line. */
const REQUEST_TIMEOUT_MS = 30_000;
/** For answers that are data: a browser that shows one as a page runs nothing of it. The pages of `/docs` have their own. */
const DATA_HEADERS = safeHeaders({});
const EXPOSED_HEADERS = [
  'Link',
  'X-Total-Count',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'x-request-id',
];
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;
const SLASHES = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true } as const;
/** Asked every few seconds by machines. */
const UNREMARKABLE: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics']);
const CALLER_REQUEST_ID = /^[\w.-]{1,64}$/;

/** Whether pages of any site may call an operation: the signup operations, and the public view of a waitlist. */
const ANY_ORIGIN: readonly { readonly methods: readonly string[]; readonly path: RegExp }[] = [
  { methods: ['GET', 'POST'], path: /^\/+api\/+v1\/+signup\/*$/ },
  { methods: ['GET'], path: /^\/+api\/+v1\/+waitlist\/+\d+\/*$/ },
];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Which of the configured limits holds for the route. */
    rateLimited?: 'public' | 'login';
    bodyMaxBytes?: number;
    /** A JSON body stands in for query parameters that are missing. */
    bodyAsQuery?: boolean;
  }
}

/** The HTTP server, before Nest puts its routes on it. */
export function createAdapter(config: Config): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    // HEAD would run the handler of a GET, and one of them exchanges a token.
    exposeHeadRoutes: false,
    // What was sent to us before we closed the door is served, not turned away.
    return503OnClosing: false,
    routerOptions: SLASHES,
    frameworkErrors: answerUnreadablePath,
    clientErrorHandler: answerUnreadableRequest,
    genReqId: ({ headers }: IncomingMessage) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && CALLER_REQUEST_ID.test(given) ? given : randomUUID();
    },
    logger: {
      level: config.logLevel,
      base: undefined,
      formatters: { level: (level) => ({ level }) },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    logController: new LogController({ disableRequestLogging: true }),
  });
}

/** Everything that HTTP says and no room does: errors, validation, limits, headers, the document. Call before `init`. */
export async function configureHttp(app: NestFastifyApplication, config: Config): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const routes = findMyWay(SLASHES);
  const methodsSeen = new Set<string>();

  fastify.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  // Fastify refuses a QUERY without a content type before it looks for a route; no path takes it, so each answers 405.
  fastify.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
  readJsonBodies(fastify);
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(DATA_HEADERS).header('x-request-id', request.id).header('Cache-Control', 'no-store');
    done();
  });
  const metrics = app.get(Metrics);
  // Never the path, the query, a header or the address: they can hold what a person typed, or who they are.
  fastify.addHook('onResponse', async ({ log, method, routeOptions: { url: route = 'unknown' } }, reply) => {
    const { statusCode: status, elapsedTime: durationMs } = reply;
    metrics.answered(method, route, status, durationMs);
    const line = { method, route, status, durationMs: Math.round(durationMs * 10) / 10 };
    if (UNREMARKABLE.has(route)) log.debug(line, 'request');
    else log.info(line, 'request');
  });
  const presence = app.get(Presence);
  // When the answer goes out, for the requests under way at the signal must not keep their connections either.
  fastify.addHook('onSend', async (_, reply) => {
    if (presence.isLeaving) reply.header('connection', 'close');
  });
  fastify.addHook('preValidation', async (request) => {
    if (request.routeOptions.config.bodyAsQuery && isObject(request.body))
      request.query = { ...request.body, ...(request.query as object) };
  });
  const corsFor = corsOptions(config);
  await fastify.register(cors, { delegator: (request, done) => done(null, corsFor(request)) });
  await fastify.register(rateLimit, {
    global: false,
    enableDraftSpec: true,
    errorResponseBuilder: (_, { ttl }) => tooMany(ttl),
  });
  const limits = limitHooks(fastify, config);
  fastify.addHook('onRoute', (route) => {
    applyRouteConfig(route, limits);
    for (const method of [route.method].flat()) {
      methodsSeen.add(method);
      if (route.url !== '*' && !routes.hasRoute(method as HTTPMethod, route.url))
        routes.on(method as HTTPMethod, route.url, () => undefined);
    }
  });

  app.useGlobalFilters(
    new ProblemFilter((path) => [...methodsSeen].filter((method) => routes.find(method as HTTPMethod, path) !== null)),
  );
  const { pathname } = new URL(config.publicBaseUrl);
  const document = createDocument(app, pathname);
  app.useGlobalPipes(new ContractPipe(document));
  await serveDocs(fastify, publishable(document), pathname);
}

/** One hook a limit, for a hook holds the counts: what shares a limit shares its hook. */
function limitHooks(fastify: FastifyInstance, { rateLimits }: Config) {
  const hookOf = (max: number, exempt: readonly string[]) =>
    max === 0 ? undefined : fastify.rateLimit({ max, timeWindow: '1 minute', allowList: isWithin(exempt) });
  return { public: hookOf(rateLimits.public, rateLimits.exempt), login: hookOf(rateLimits.login, []) };
}

function applyRouteConfig(route: RouteOptions, limits: ReturnType<typeof limitHooks>): void {
  const { rateLimited, bodyMaxBytes } = route.config ?? {};
  if (bodyMaxBytes !== undefined) route.bodyLimit = bodyMaxBytes;
  const limit = rateLimited && limits[rateLimited];
  if (limit) route.onRequest = [route.onRequest ?? [], limit].flat();
}

/** Whether the address of a request is one of these addresses or in one of these networks. */
function isWithin(networks: readonly string[]): (request: FastifyRequest) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return ({ ip }) => list.check(ip, familyOf(ip));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

function corsOptions({ corsOrigins }: Config): (request: FastifyRequest) => FastifyCorsOptions {
  const common: FastifyCorsOptions = {
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['content-type', 'authorization', 'api-key'],
    exposedHeaders: EXPOSED_HEADERS.join(', '),
    credentials: false,
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    strictPreflight: false,
  };
  const forAll = { ...common, origin: '*' };
  const forOwn = { ...common, origin: [...corsOrigins] };
  return ({ headers, method, url }) => {
    const asked = headers['access-control-request-method'] ?? method;
    const [path = ''] = url.split('?', 1);
    return ANY_ORIGIN.some((rule) => rule.methods.includes(asked) && rule.path.test(path)) ? forAll : forOwn;
  };
}

function tooMany(ttlMs: number): Problem {
  return new Problem('throttled', 'RATE_LIMITED', 'Too many requests from this address; wait before the next.', {
    retryAfterSeconds: Math.ceil(ttlMs / 1000),
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
