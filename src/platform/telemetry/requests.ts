import { type Context, context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { onceEnded } from '../http/once-ended.js';
import type { Metrics } from './metrics.js';
import { tracer } from './tracing.js';

/** Machines request these every few seconds: they are not traced, and logged at level `debug`. */
export const MONITORING_ROUTES: ReadonlySet<string | undefined> = new Set(['/livez', '/readyz', '/metrics']);

/** The status in logs and metrics of a request whose connection closed before its answer, as with nginx. */
const CLOSED_STATUS = 499;

/**
 * Writes one log line and one measurement per request. They hold the pattern of the route, never the path, the query, a
 * header or the address: those can hold personal data. Fastify's `onResponse` does not run for a closed connection.
 */
export function recordRequests(fastify: FastifyInstance, metrics: Metrics): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    onceEnded(request.raw, reply.raw, (isAnswered) => {
      const { log, method, routeOptions } = request;
      const { url: route = 'unknown' } = routeOptions;
      // A stream counts as answered when it opens. How long its client watches says nothing about the service.
      const { openedAfterMs } = request;
      const durationMs = openedAfterMs ?? reply.elapsedTime;
      const status = isAnswered || openedAfterMs !== undefined ? reply.statusCode : CLOSED_STATUS;
      metrics.ended(method, route, status, durationMs);
      const fields = { method, route, status, durationMs: Math.round(durationMs * 10) / 10 };
      if (MONITORING_ROUTES.has(route)) log.debug(fields, 'request');
      else log.info(fields, 'request');
    });
    done();
  });
}

/**
 * Makes a span for each request, continuing the caller's trace. The ready-made instrumentations record the path and the
 * query, which can hold personal data. See docs/decisions/traces.md.
 */
export function traceRequests(fastify: FastifyInstance): void {
  const contexts = new WeakMap<FastifyRequest, Context>();

  fastify.addHook('onRequest', (request, reply, done) => {
    const { method, routeOptions, headers } = request;
    const { url: route } = routeOptions;
    if (MONITORING_ROUTES.has(route)) return done();
    const span = tracer.startSpan(
      route === undefined ? method : `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        attributes: { 'http.request.method': method, 'url.scheme': request.protocol, 'http.route': route },
      },
      // Not `tracestate` and `baggage`: they can hold anything, and no one downstream needs them.
      propagation.extract(context.active(), { traceparent: headers.traceparent }),
    );
    onceEnded(request.raw, reply.raw, (isAnswered) => {
      const { statusCode: status } = reply.raw;
      if (isAnswered) span.setAttribute('http.response.status_code', status);
      if (isAnswered && status >= 500)
        span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    request.log = reply.log = request.log.child({ trace_id: span.spanContext().traceId });
    const requestContext = trace.setSpan(context.active(), span);
    contexts.set(request, requestContext);
    context.with(requestContext, done);
  });
  // The body arrives in the connection's context, not in that of its request.
  fastify.addHook('preValidation', (request, _reply, done) => {
    context.with(contexts.get(request) ?? context.active(), done);
  });
}
