import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { type FastifyRequest, LogController } from 'fastify';
import type { Config } from '../config/config.js';
import { LateReplyAdapter } from '../limits/overload.js';
import { SERVER_BOUNDS, type ServerBounds } from '../limits/server-bounds.js';
import { isTransferring } from '../limits/transfers.js';
import { answerUnreadablePath, answerUnreadableRequest, safeError } from '../problems/problem.filter.js';
import { BODY_MAX_BYTES } from './body-and-query.js';
import { PATH_OPTIONS, withoutBasePath } from './routes.js';

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
    requestTimeout: bounds.requestMs,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    // HEAD would run the handler of a GET, and one of them exchanges a token.
    exposeHeadRoutes: false,
    // Serve requests that were sent before the server closed.
    return503OnClosing: false,
    routerOptions: PATH_OPTIONS,
    // The DTOs are the schemas. Without these, Fastify loads its own compilers, some hundred files.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    // `OPTIONS *` matches no route, so no hook would run for it.
    rewriteUrl: ({ url = '/' }) => withoutBasePath(url.replace(/^\*/, '/'), config.basePath),
    frameworkErrors: answerUnreadablePath,
    clientErrorHandler: (error, socket) => {
      const isLateTransfer = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isTransferring(socket);
      if (!isLateTransfer) answerUnreadableRequest(error, socket);
    },
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
