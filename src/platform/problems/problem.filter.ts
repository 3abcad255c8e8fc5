import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { QueryFailedError } from 'typeorm';
import { DATA_HEADERS } from '../http/headers.js';
import type { Routes } from '../http/routes.js';
import { isUnavailable, Problem } from './problem.js';
import type { ProblemCode } from './problem-catalog.js';
import { ProblemDto } from './problem.dto.js';

/** The codes of errors that Fastify and Nest raise, by status. All other 4xx are `MALFORMED_REQUEST`. */
const HTTP_FAULTS: Readonly<Record<number, ProblemCode>> = {
  413: 'BODY_TOO_LARGE',
  414: 'PATH_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};
/** The codes of errors that Node.js raises before there is a request. All others are `MALFORMED_REQUEST`. */
const SOCKET_FAULTS: Readonly<Record<string, ProblemCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
};

/** Answers every failure with problem details. An unexpected error is logged in full and answered with a bare 500. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly routes: Routes) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const problem = error instanceof Problem ? error : this.problemOf(error, request, reply);
    const { code, cause } = problem;
    if (code === 'INTERNAL_ERROR') request.log.error({ error: safeError(error) }, 'unexpected error');
    else if (isUnavailable(problem)) request.log.warn({ code, reason: cause && safeError(cause) }, 'unavailable');
    send(request, reply, problem);
  }

  private problemOf(error: unknown, request: FastifyRequest, reply: FastifyReply): Problem {
    const status =
      error instanceof HttpException
        ? error.getStatus()
        : ((error as { statusCode?: number } | null)?.statusCode ?? 500);
    if (status === 404) return this.notFound(request, reply);
    // RFC 9110, 12.5.3: tells the caller that the encoding is the fault, not the media type.
    if (status === 415 && request.headers['content-encoding']) void reply.header('Accept-Encoding', 'identity');
    return new Problem(HTTP_FAULTS[status] ?? (status >= 400 && status < 500 ? 'MALFORMED_REQUEST' : 'INTERNAL_ERROR'));
  }

  /** Tells a wrong method (405) from an unknown path (404). */
  private notFound(request: FastifyRequest, reply: FastifyReply): Problem {
    const allowed = this.routes.methodsOf(request.url.split('?', 1)[0] ?? '/');
    if (allowed.length === 0) return new Problem('NOT_FOUND');
    void reply.header('Allow', allowed.join(', '));
    return new Problem('METHOD_NOT_ALLOWED');
  }
}

/** Answers a path that the router cannot read; no hook or filter runs for it. */
export function answerUnreadablePath(
  { statusCode = 400 }: { readonly statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  void reply.headers(DATA_HEADERS).header('x-request-id', request.id);
  send(request, reply, new Problem(HTTP_FAULTS[statusCode] ?? 'MALFORMED_REQUEST'));
}

/** Answers malformed HTTP. There is no request yet, so the answer is written to the socket. */
export function answerUnreadableRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const problem = new Problem(SOCKET_FAULTS[error.code ?? ''] ?? 'MALFORMED_REQUEST');
  const requestId = randomUUID();
  const body = JSON.stringify(ProblemDto.from(problem, requestId));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(DATA_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function send(request: FastifyRequest, reply: FastifyReply, problem: Problem): void {
  // The request deadline may have answered already.
  if (reply.sent) return;
  const { status, code, retryAfterSeconds } = problem;
  if (retryAfterSeconds !== undefined) void reply.header('Retry-After', retryAfterSeconds);
  // RFC 6750, 3: no error code if the request has no token.
  if (status === 401)
    void reply.header('WWW-Authenticate', code === 'INVALID_TOKEN' ? 'Bearer error="invalid_token"' : 'Bearer');
  void reply
    .status(status)
    .header('Content-Type', 'application/problem+json; charset=utf-8')
    .send(ProblemDto.from(problem, request.id));
}

/** The parts of an error that may be logged. The message and parameters of a failed query hold personal data. */
export function safeError(error: unknown) {
  if (!(error instanceof Error)) return { type: typeof error, message: '', stack: '' };
  const isQuery = error instanceof QueryFailedError;
  const { code, errno } = (isQuery ? error.driverError : error) as { code?: string; errno?: number };
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  const message = isQuery ? '' : error.message;
  // The bundled class has another name.
  return { type: isQuery ? 'QueryFailedError' : error.name, code, errno, message, stack: frames.join('\n') };
}
