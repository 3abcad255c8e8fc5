import { setTimeout } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  context,
  diag,
  DiagLogLevel,
  INVALID_SPAN_CONTEXT,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** OpenTelemetry's own no-op until {@link startTracing} puts something behind it. */
export const tracer = trace.getTracer('waitlist-service');

const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** A collector that is away must not use up the grace of a process that is told to stop. */
const FLUSH_MAX_MS = 5_000;

interface TracedOptions {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  readonly links?: Link[];
}

/**
 * A span around `work`, where a request that is traced asks for it: with tracing off this costs nothing. Of an error it keeps
 * the code alone: its message can hold what a person sent.
 */
export async function traced<Result>(
  name: string,
  options: TracedOptions,
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
 * One piece of work for several callers, each with its own trace: a span beneath the first of them that is recorded, and
 * a link between it and every other, both ways.
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
 * Sends spans where OpenTelemetry's own variables say; resolves with what sends the rest and ends it. The SDK is loaded
 * here and nowhere else, so that without tracing it costs neither time nor memory.
 */
export async function startTracing(log: { warn(fields: object, message: string): void }): Promise<() => Promise<void>> {
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const complain = (reason: unknown) => log.warn({ reason: String(reason) }, 'traces are not sent');
  diag.setLogger(
    { error: complain, warn: complain, info: () => undefined, debug: () => undefined, verbose: () => undefined },
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
    // What a collector does not take is lost; that is no failure of this process.
    await Promise.race([provider.shutdown().catch(complain), setTimeout(FLUSH_MAX_MS)]);
  };
}
