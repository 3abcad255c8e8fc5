import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { context, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { Batcher } from '../limits/batcher.js';
import { traced, tracer } from './tracing.js';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(() => provider.register());
afterAll(async () => provider.shutdown());

it('makes the span of a shared run a child of the first caller and links it with the others in both directions', async () => {
  const batcher = new Batcher<string, string>(
    async (names) => {
      await traced('inside', {}, async () => undefined);
      return names.map((result) => ({ result }));
    },
    { name: 'run', batchMax: 10, waitingMax: 10, runsMax: 1 },
  );
  await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      tracer.startActiveSpan(name, async (span) => {
        await batcher.submit(name);
        span.end();
      }),
    ),
  );

  const spans = exporter.getFinishedSpans();
  const idOf = (name: string) => spans.find((span) => span.name === name)?.spanContext().spanId;
  const [alone, shared] = spans.filter(({ name }) => name === 'run');
  const linksOf = (name: string) => spans.find((span) => span.name === name)?.links.map((link) => link.context.spanId);
  expect(alone).toMatchObject({ parentSpanContext: { spanId: idOf('a') }, links: [] });
  expect(shared).toMatchObject({ parentSpanContext: { spanId: idOf('b') }, attributes: { 'waitlist.commands': 2 } });
  expect(shared?.links.map((link) => link.context.spanId)).toEqual([idOf('c')]);
  expect(['a', 'b', 'c'].map(linksOf)).toEqual([[], [], [shared?.spanContext().spanId]]);
  const inside = spans
    .filter(({ name }) => name === 'inside')
    .map(({ parentSpanContext }) => parentSpanContext?.spanId);
  expect(inside).toEqual([alone, shared].map((span) => span?.spanContext().spanId));
});

it('records the code of a failure but not its message, which can hold personal data', async () => {
  const failure = Object.assign(new Error('canary@example.com is taken'), { code: 'ER_DUP_ENTRY' });
  const failing = tracer.startActiveSpan('request', () => traced('failing', {}, () => Promise.reject(failure)));
  await expect(failing).rejects.toBe(failure);

  const span = exporter.getFinishedSpans().find(({ name }) => name === 'failing');
  expect(span).toMatchObject({ attributes: { 'error.type': 'ER_DUP_ENTRY' }, events: [], status: { code: 2 } });
  expect(span?.status.message).toBeUndefined();
  expect(trace.getSpan(context.active())).toBeUndefined();
});

it('makes no span without an active span', async () => {
  expect(await traced('unasked', {}, async () => 'done')).toBe('done');

  expect(exporter.getFinishedSpans().filter(({ name }) => name === 'unasked')).toEqual([]);
});
