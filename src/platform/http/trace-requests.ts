import { type Context, context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { tracer } from '../telemetry/tracing.js';

/**
 * A span for each request but those of `silentRoutes`, continuing the caller's trace. It has the pattern of the route
 * and never the path, the query, a header or the address: they can hold what a person typed, or who they are. That is
 * why the ready-made instrumentations are not used. See docs/decisions/traces.md.
 */
export function traceRequests(fastify: FastifyInstance, silentRoutes: ReadonlySet<string>): void {
  const contexts = new WeakMap<FastifyRequest, Context>();

  fastify.addHook('onRequest', (request, reply, done) => {
    const { method, routeOptions, headers } = request;
    const { url: route } = routeOptions;
    if (route !== undefined && silentRoutes.has(route)) {
      done();
      return;
    }
    const span = tracer.startSpan(
      route === undefined ? method : `${method} ${route}`,
      {
        kind: SpanKind.SERVER,
        attributes: { 'http.request.method': method, 'url.scheme': request.protocol, 'http.route': route },
      },
      // Not `tracestate` nor `baggage`, which can hold anything, and which nobody further on needs.
      propagation.extract(context.active(), { traceparent: headers.traceparent }),
    );
    // Also where the caller goes away before the answer.
    reply.raw.once('close', () => {
      const { statusCode: status, writableFinished } = reply.raw;
      if (writableFinished) span.setAttribute('http.response.status_code', status);
      if (writableFinished && status >= 500)
        span.setAttribute('error.type', String(status)).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    request.log = reply.log = request.log.child({ trace_id: span.spanContext().traceId });
    const own = trace.setSpan(context.active(), span);
    contexts.set(request, own);
    context.with(own, done);
  });
  // A body arrives on the connection, outside the context of the request that it belongs to.
  fastify.addHook('preValidation', (request, _reply, done) => {
    context.with(contexts.get(request) ?? context.active(), done);
  });
}
