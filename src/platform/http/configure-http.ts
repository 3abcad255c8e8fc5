import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import cors, { type FastifyCorsOptions } from '@fastify/cors';
import underPressure from '@fastify/under-pressure';
import type { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyRequest, LogController } from 'fastify';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import type { Config } from '../config/config.js';
import { Presence } from '../health/presence.js';
import { isWithin } from '../limits/address.js';
import { SharedCounts } from '../limits/shared-counts.js';
import { answerInTime, overloaded, PunctualAdapter } from '../limits/request-deadline.js';
import { type BodyBounds, boundBodies } from '../limits/bodies.js';
import { boundClosing } from '../limits/closing.js';
import { RequestPipe } from '../contract/request.pipe.js';
import { Metrics } from '../telemetry/metrics.js';
import { Problem } from '../problems/problem.js';
import { serveDocs } from '../contract/docs-page.js';
import { createDocument, publishable } from '../contract/document.js';
import { readJsonBodies } from './json-body.js';
import { traceRequests } from './trace-requests.js';
import { answerUnreadablePath, answerUnreadableRequest, ProblemFilter, safeError } from '../problems/problem.filter.js';
import { type ConnectionBounds, limitConnections } from '../limits/connections.js';
import { limitRates } from '../limits/rate-limits.js';
import { DATA_HEADERS } from './safe-headers.js';

const BODY_MAX_BYTES = 256 * 1024;
/** What one connection may take of the server, and all of them; the tests have less patience. */
export interface ServerBounds extends ConnectionBounds, BodyBounds {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often those two are looked after. */
  readonly checkMs: number;
  readonly keepAliveMs: number;
  /** Without a byte in either direction, while a request or its answer is under way. */
  readonly silenceMs: number;
  /** From when all of a request is there to its answer, whatever becomes of the work. */
  readonly answerMs: number;
  /** Of the mean turn of the event loop; beyond it requests are turned away. */
  readonly loopDelayMs: number;
  /** From when the server closes to when all of a request is there; less than a stop may take (boot/shutdown.ts). */
  readonly unsentMs: number;
}
export const SERVER_BOUNDS: ServerBounds = {
  // A request that takes longer to arrive is an attack or a dead line: one packet has the headers, and a slow mobile
  // line brings the largest body, 1 MiB, in half a minute.
  headersMs: 10_000,
  requestMs: 30_000,
  checkMs: 1_000,
  // Above the 60 s of most balancers: whoever closes first must not be the one that does not send.
  keepAliveMs: 72_000,
  // Who reads no more of an answer; longer than any request of ours is at work.
  silenceMs: 30_000,
  // Above the deadline of a single piece of work, which knows better why it failed; and a request is answered within five
  // seconds, of which the way and the turns of a busy event loop take their share.
  answerMs: 4_500,
  // Memory and file handles are for the work, not for idle connections.
  connectionsMax: 10_000,
  // More than an office or the gateway of a mobile network holds here, and so few that it takes ten such hosts to keep others
  // out. A proxy that is trusted may have all.
  connectionsPerAddressMax: 1_000,
  // An eighth of the memory that the chart gives a process; and eight of the largest body from one address, of which an owner's
  // script sends one at a time.
  largeBodiesMaxBytes: 64 * 1024 * 1024,
  largeBodiesPerAddressMaxBytes: 8 * 1024 * 1024,
  // A request takes some six turns; where they add up to three seconds, the database's deadline of four ends work that
  // was answered in time, and who is turned away at once is served better.
  loopDelayMs: 500,
  // A signup is one packet, on its way when the door closed. Whoever sends more, slowly, sends it again to another process.
  unsentMs: 5_000,
};
/** Over which the turns of the event loop are averaged: one pause of the process or its machine that is shorter is no overload. */
const LOOP_SAMPLE_MS = 2_000;
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
/** Of an address, in a line of JSON, where a quote or a backslash of its own is escaped. */
const QUERY = /\?(?:\\.|[^\s"\\])+/g;
const CALLER_REQUEST_ID = /^[\w.-]{1,64}$/;

/** Whether pages of any site may call an operation: the signup operations, and the public view of a waitlist. */
const ANY_ORIGIN: readonly { readonly methods: readonly string[]; readonly path: RegExp }[] = [
  { methods: ['GET', 'POST'], path: /^\/+api\/+v1\/+signup\/*$/ },
  { methods: ['GET'], path: /^\/+api\/+v1\/+waitlist\/+\d+\/*$/ },
];

declare module 'fastify' {
  interface FastifyContextConfig {
    bodyMaxBytes?: number;
    /** What @fastify/under-pressure calls instead of turning a request away. */
    pressureHandler?: () => undefined;
    /** A JSON body stands in for query parameters that are missing. */
    bodyAsQuery?: boolean;
  }
}

/** What differs in tests: bounds that are waited for, and where the log goes, line by line; else standard output. */
export interface AdapterOptions {
  readonly bounds?: ServerBounds;
  readonly log?: { write(line: string): void };
}

/** The HTTP server, before Nest puts its routes on it. */
export function createAdapter(config: Config, { bounds = SERVER_BOUNDS, log }: AdapterOptions = {}): FastifyAdapter {
  return new PunctualAdapter({
    bodyLimit: BODY_MAX_BYTES,
    http: { headersTimeout: bounds.headersMs, connectionsCheckingInterval: bounds.checkMs },
    requestTimeout: bounds.requestMs,
    keepAliveTimeout: bounds.keepAliveMs,
    connectionTimeout: bounds.silenceMs,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    // HEAD would run the handler of a GET, and one of them exchanges a token.
    exposeHeadRoutes: false,
    // What was sent to us before we closed the door is served, not turned away.
    return503OnClosing: false,
    routerOptions: SLASHES,
    // `OPTIONS *`, of the server as a whole, is a path to no router: no hook would run for it.
    rewriteUrl: ({ url = '/' }) => url.replace(/^\*/, '/'),
    frameworkErrors: answerUnreadablePath,
    clientErrorHandler: answerUnreadableRequest,
    genReqId: ({ headers }: IncomingMessage) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && CALLER_REQUEST_ID.test(given) ? given : randomUUID();
    },
    logger: {
      stream: log,
      level: config.logLevel,
      base: undefined,
      formatters: { level: (level) => ({ level }) },
      // For the framework's own lines: its requests, errors and words repeat the address, and so the query.
      hooks: { streamWrite: (line) => line.replaceAll(QUERY, '?…') },
      serializers: { req: ({ method }: FastifyRequest) => ({ method }), err: safeError },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    logController: new LogController({ disableRequestLogging: true }),
  });
}

/** Everything that HTTP says and no room does: errors, validation, limits, headers, the document. Call before `init`. */
export async function configureHttp(
  app: NestFastifyApplication,
  config: Config,
  bounds = SERVER_BOUNDS,
): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  const routes = findMyWay(SLASHES);
  const methodsSeen = new Set<string>();

  fastify.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  // Fastify refuses a QUERY without a content type before it looks for a route; no path takes it, so each answers 405.
  fastify.addHttpMethod('QUERY', { hasBody: false, overrideExisting: true });
  readJsonBodies(fastify);
  answerInTime(fastify, bounds.answerMs);
  boundClosing(fastify, bounds.unsentMs);
  if (config.sendsTraces) traceRequests(fastify, UNREMARKABLE);
  fastify.addHook('onRequest', (request, reply, done) => {
    reply.headers(DATA_HEADERS).header('x-request-id', request.id);
    done();
  });
  const metrics = app.get(Metrics);
  limitConnections(fastify.server, bounds, isWithin(config.trustedProxies), () => metrics.connectionRefused());
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
  // After cors, so that a page may read why it was refused.
  fastify.addHook('onRequest', (request, _, done) => done(unreadableQuery(request)));
  const counts = app.get(SharedCounts);
  await counts.connect(fastify.log);
  limitRates(fastify, config, counts);
  boundBodies(fastify, bounds);
  fastify.addHook('onRoute', (route) => {
    // A restart, or a pod that leaves the others alone with the load, would make an overload worse.
    if (UNREMARKABLE.has(route.url)) route.config = { ...route.config, pressureHandler: () => undefined };
    route.bodyLimit = route.config?.bodyMaxBytes ?? route.bodyLimit;
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
  app.useGlobalPipes(new RequestPipe());
  await serveDocs(fastify, publishable(document), pathname);
  // Its hook holds for the routes above too.
  await fastify.register(underPressure, {
    maxEventLoopDelay: bounds.loopDelayMs,
    sampleInterval: LOOP_SAMPLE_MS,
    // The long turns of the start are no load. They are in the first mean that is taken after it, which holds until the next.
    pressureHandler: async () => {
      if (presence.sinceStartMs > 2 * LOOP_SAMPLE_MS) throw overloaded();
    },
  });
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

/** The router has read the path already; the query's own reader would take what is no UTF-8 as it stands. */
function unreadableQuery({ url }: FastifyRequest): Problem | undefined {
  if (!url.includes('%')) return undefined;
  const parameters = url.slice(url.indexOf('?') + 1 || url.length).split('&');
  const faults = parameters
    .filter((parameter) => !isPercentEncoded(parameter))
    .map((parameter) => ({ field: parameter.split('=', 1)[0] || 'query', message: 'must be percent-encoded UTF-8' }));
  return faults.length > 0 ? Problem.invalid(faults) : undefined;
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
