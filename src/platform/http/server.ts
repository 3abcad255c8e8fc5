import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { type FastifyRequest, LogController } from 'fastify';
import type { Config } from '../config/config.js';
import { LateReplyAdapter } from '../limits/overload.js';
import { answerUnreadablePath, answerUnreadableRequest, safeError } from '../problems/problem.filter.js';
import { BODY_MAX_BYTES } from './body-and-query.js';
import { PATH_OPTIONS } from './routes.js';

/** The bounds of one connection, and of all connections together. */
export const SERVER_BOUNDS = {
  // One packet holds the headers, and a slow mobile connection sends the largest body, 1 MiB, in half a minute.
  headersMs: 10_000,
  requestMs: 30_000,
  // How often the server checks the first.
  checkMs: 1_000,
  // Above the 60 s of most load balancers: the side that closes first must not be the one that receives requests.
  keepAliveMs: 72_000,
  // Without a byte in either direction while a request or its answer is under way, as with a client that stopped
  // reading. Longer than our slowest request.
  silenceMs: 30_000,
  // From the end of the request to its answer, even if the work still runs. Above the deadline of a single piece of
  // work, whose error says more. Below the five seconds in which every request is answered, because the network and a
  // busy event loop take their share.
  answerMs: 4_500,
  // Memory and file handles are for work, not for idle connections.
  connectionsMax: 10_000,
  // More than an office or the gateway of a mobile network opens, and few enough that ten such hosts are needed to
  // exhaust `connectionsMax`. A trusted proxy may open all of them.
  connectionsPerAddressMax: 1_000,
  // An eighth of the memory that the Helm chart grants a process.
  largeBodiesMaxBytes: 64 * 1024 * 1024,
  // Eight of the largest body. An owner's script sends one at a time.
  largeBodiesPerAddressMaxBytes: 8 * 1024 * 1024,
  // Mean delay of the event loop beyond which requests are refused. A request takes six turns of the loop: at 500 ms
  // each, the 4 s deadline of the database would fail work that succeeded.
  loopDelayMs: 500,
  // An import or an export may take hours on a slow line, but a client that stands still must not hold its place: 2 KiB/s.
  transferMs: 30_000,
  transferBytes: 64 * 1024,
  // How long after the server closes an unfinished request may still arrive. A signup is one packet, already on its way
  // by then. Less than a shutdown may take (boot/shutdown.ts).
  unsentMs: 5_000,
};
/** Tests use smaller bounds. */
export type ServerBounds = Readonly<typeof SERVER_BOUNDS>;

/** A query string inside JSON, where quotes and backslashes are escaped. */
const QUERY = /\?(?:\\.|[^\s"\\])+/g;
const CALLER_REQUEST_ID = /^[\w.-]{1,64}$/;

export interface AdapterOptions {
  readonly bounds?: ServerBounds;
  /** Receives the log line by line; standard output by default. */
  readonly log?: { write(line: string): void };
}

/** The HTTP server, without routes. */
export function createAdapter(config: Config, { bounds = SERVER_BOUNDS, log }: AdapterOptions = {}): FastifyAdapter {
  return new LateReplyAdapter({
    bodyLimit: BODY_MAX_BYTES,
    http: { headersTimeout: bounds.headersMs, connectionsCheckingInterval: bounds.checkMs },
    keepAliveTimeout: bounds.keepAliveMs,
    connectionTimeout: bounds.silenceMs,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    // HEAD would run the handler of a GET, and one of them exchanges a token.
    exposeHeadRoutes: false,
    // Serve requests that were sent before the server closed.
    return503OnClosing: false,
    routerOptions: PATH_OPTIONS,
    // The DTOs are the schemas. Without these, Fastify loads its own compilers, some hundred files.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    // `OPTIONS *` matches no route, so no hook would run for it.
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
      // Fastify's own lines (requests, errors, messages) repeat the URL with its query, which can hold personal data.
      hooks: { streamWrite: (line) => line.replaceAll(QUERY, '?…') },
      serializers: { req: ({ method }: FastifyRequest) => ({ method }), err: safeError },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    logController: new LogController({ disableRequestLogging: true }),
  });
}

function refuseSchema(): never {
  throw new Error('Routes have no Fastify schemas.');
}
