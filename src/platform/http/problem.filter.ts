import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { QueryFailedError } from 'typeorm';
import { Problem, type ProblemKind } from '../problem.js';
import { type ProblemCode, problemEntry, problemType } from './problem-catalog.js';
import type { ProblemDto } from './problem.dto.js';
import { DATA_HEADERS } from './safe-headers.js';

const STATUS: Record<ProblemKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rule_broken: 422,
  throttled: 429,
  unavailable: 503,
};

/** Faults that the HTTP machinery finds before any of our code runs, by status. */
const HTTP_FAULTS: Readonly<Record<number, ProblemCode>> = {
  400: 'MALFORMED_REQUEST',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  413: 'BODY_TOO_LARGE',
  414: 'PATH_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  431: 'HEADERS_TOO_LARGE',
};

/** The methods that a path takes, empty where there is no such path. */
export type AllowedMethods = (path: string) => readonly string[];

/** Writes every failure as problem details; what nobody foresaw is logged whole and answered with a bare 500. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly allowedMethods: AllowedMethods) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (error instanceof Problem) {
      this.setHeaders(reply, error);
      if (error.kind === 'unavailable')
        request.log.warn(
          { code: error.code, reason: error.details.cause && safeError(error.details.cause) },
          'unavailable',
        );
      send(request, reply, STATUS[error.kind], error.code, error.message, error.details.fields);
      return;
    }
    const status = this.statusOf(error, request, reply);
    const code = HTTP_FAULTS[status] ?? (isCallersFault(status) ? 'MALFORMED_REQUEST' : 'INTERNAL_ERROR');
    if (code === 'INTERNAL_ERROR') request.log.error({ error: safeError(error) }, 'unforeseen error');
    // RFC 9110, 12.5.3: tells a fault of coding from one of media type.
    if (status === 415 && request.headers['content-encoding']) void reply.header('Accept-Encoding', 'identity');
    send(request, reply, problemEntry(code).status, code, problemEntry(code).detail);
  }

  private statusOf(error: unknown, request: FastifyRequest, reply: FastifyReply): number {
    const status =
      error instanceof HttpException
        ? error.getStatus()
        : ((error as { statusCode?: number } | null)?.statusCode ?? 500);
    // The documentation's files refuse a path that leads out of them: there is nothing for the caller there.
    if (status === 403) return 404;
    if (status !== 404) return status;
    const allowed = this.allowedMethods(request.url.split('?', 1)[0] ?? '/');
    // A path that takes this method has nothing to show for it: a file of the documentation that is not there.
    if (allowed.length === 0 || allowed.includes(request.method)) return 404;
    void reply.header('Allow', allowed.join(', '));
    return 405;
  }

  private setHeaders(reply: FastifyReply, { kind, code, details }: Problem): void {
    if (details.retryAfterSeconds !== undefined) void reply.header('Retry-After', details.retryAfterSeconds);
    // RFC 6750, 3: no error code where the request carried no token at all.
    if (kind === 'unauthenticated')
      void reply.header('WWW-Authenticate', code === 'INVALID_TOKEN' ? 'Bearer error="invalid_token"' : 'Bearer');
  }
}

/** Answers a path that the router can't read; no hook and no filter runs for those. */
export function answerUnreadablePath(
  { statusCode = 400 }: { readonly statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const code = HTTP_FAULTS[statusCode] ?? 'MALFORMED_REQUEST';
  void reply.headers(DATA_HEADERS).header('x-request-id', request.id);
  send(request, reply, problemEntry(code).status, code, problemEntry(code).detail);
}

/** What Node.js itself can't read as HTTP; there is no request yet, so the answer is written to the socket. */
export function answerUnreadableRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const code = HTTP_FAULTS[status] ?? 'MALFORMED_REQUEST';
  const requestId = randomUUID();
  const body = JSON.stringify(problemOf(status, code, problemEntry(code).detail, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(DATA_HEADERS).map(([name, value]) => `${name}: ${String(value)}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function isCallersFault(status: number): boolean {
  return status >= 400 && status < 500;
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  code: string,
  detail: string,
  fields?: Problem['details']['fields'],
): void {
  // What fails after the request was answered without it, in time, is logged only.
  if (reply.sent) return;
  const problem = problemOf(status, code, detail, request.id, fields);
  void reply.status(status).header('Content-Type', 'application/problem+json; charset=utf-8').send(problem);
}

/** A failed query's message and parameters hold people's data, so only its code and its stack's frames are kept. */
export function safeError(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error, message: '', stack: '' };
  const isQuery = error instanceof QueryFailedError;
  const { code, errno } = (isQuery ? error.driverError : error) as { code?: string; errno?: number };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)).join('\n'); // prettier-ignore
  const message = isQuery ? '' : error.message;
  return { type: error.name, code, errno, message, stack: frames ?? '' };
}

function problemOf(
  status: number,
  code: string,
  detail: string,
  instance: string,
  fields?: Problem['details']['fields'],
): ProblemDto {
  return {
    type: problemType(code),
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail,
    instance,
    ...(fields && { errors: fields.map(({ field, message }) => ({ field, message })) }),
    error_code: code,
    error_string: detail,
    message: detail,
  };
}
