import { setTimeout } from 'node:timers/promises';
import {
  type Context,
  context,
  diag,
  DiagLogLevel,
  INVALID_SPAN_CONTEXT,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** A no-op until {@link startTracing} registers a provider. */
export const tracer = trace.getTracer('waitlist-service');

const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** An unreachable collector must not use up the grace period of a shutdown. */
const FLUSH_MAX_MS = 5_000;

/**
 * Makes a span around `work` if there is an active span, so that it costs nothing without tracing. Of an error the span
 * keeps only the code: the message can hold personal data.
 */
export async function traced<Result>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  if (trace.getActiveSpan() === undefined) return work(NO_SPAN);
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      const { code, name: kind } = error as { code?: string; name?: string };
      span.setAttribute('error.type', String(code ?? kind)).setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/**
 * Makes one span around work for several callers, each with its own trace. The span is a child of the first recorded
 * caller, and is linked with each of the others in both directions.
 */
export async function tracedTogether<Result>(
  name: string,
  callers: readonly Context[],
  work: () => Promise<Result>,
): Promise<Result> {
  const recorded = callers.filter((caller) => trace.getSpan(caller)?.isRecording());
  const others = recorded.slice(1).flatMap((caller) => trace.getSpan(caller) ?? []);
  const links = others.map((span): Link => ({ context: span.spanContext() }));
  const attributes = { 'waitlist.commands': callers.length };
  return context.with(recorded[0] ?? callers[0] ?? ROOT_CONTEXT, () =>
    traced(name, { attributes, links }, (span) => {
      for (const other of others) other.addLink({ context: span.spanContext() });
      return work();
    }),
  );
}

/**
 * Starts sending spans, as OpenTelemetry's own variables say. Resolves with a function that sends the rest and stops.
 * The SDK is loaded only here: without tracing it costs nothing.
 */
export async function startTracing(log: { warn(fields: object, message: string): void }): Promise<() => Promise<void>> {
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const warn = (reason: unknown) => log.warn({ reason: String(reason) }, 'traces are not sent');
  diag.setLogger(
    { error: warn, warn, info: () => undefined, debug: () => undefined, verbose: () => undefined },
    { logLevel: DiagLogLevel.ERROR },
  );
  const provider = new NodeTracerProvider({
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': 'waitlist-service' }))
      .merge(resources.detectResources({ detectors: [resources.envDetector, resources.serviceInstanceIdDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  return async () => {
    // Spans that the collector does not accept are lost, without failing the shutdown.
    await Promise.race([provider.shutdown().catch(warn), setTimeout(FLUSH_MAX_MS)]);
  };
}
