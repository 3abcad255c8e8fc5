import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TraceCollector, type SeenSpan } from '../support/trace-collector.js';
import { openMigratedDatabase, openOwnedDatabase, type TestDatabase } from '../support/database.js';
import { NO_OWNER, OWNER, ServiceProcess, until } from '../support/service-process.js';

const CANARY = 'canary.person';
const PHONE = '+14155550123';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLERS_SPAN_ID = '00f067aa0ba902b7';
const CROWD = 60;

describe('a process with OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  let database: TestDatabase;
  let collector: TraceCollector;
  let service: ServiceProcess;
  let spans: readonly SeenSpan[];
  const signup = { name: 'POST /api/v1/signup' };

  beforeAll(async () => {
    database = await openOwnedDatabase();
    collector = await TraceCollector.start();
    service = await ServiceProcess.spawn({
      DATABASE_URL: database.url,
      LOG_LEVEL: 'info',
      SHUTDOWN_DELAY: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=trial',
      // Longer than the suite runs, so that all spans are sent by the shutdown.
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    });
    await service.started();

    const { text } = await service.call('POST', '/api/v1/auth/create_tokens', OWNER);
    const { access_token: token } = JSON.parse(text) as { access_token: string };
    const owned = service.begin('POST', '/api/v1/waitlist', {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    });
    owned.end(JSON.stringify({ waitlist_name: CANARY, waitlist_url_location: `https://example.com/${CANARY}` }));
    const { id, api_key } = JSON.parse((await ServiceProcess.answerOf(owned)).text) as { id: number; api_key: string };

    const person = { waitlist_id: id, email: `${CANARY}@example.com`, phone: PHONE, first_name: CANARY };
    const traced = service.begin('POST', `/api/v1/signup?email=${CANARY}`, {
      'content-type': 'application/json',
      traceparent: `00-${TRACE_ID}-${CALLERS_SPAN_ID}-01`,
      tracestate: `${CANARY.replace('.', '-')}=${CANARY}`,
      baggage: `name=${CANARY}`,
      'user-agent': CANARY,
    });
    traced.end(JSON.stringify(person));
    expect((await ServiceProcess.answerOf(traced)).status).toBe(200);
    await service.call('GET', `/api/v1/signup?waitlist_id=${id}&email=${CANARY}@example.com`);
    await service.call('GET', `/${CANARY}?api_key=${CANARY}`);
    const listing = service.begin('GET', `/api/v1/waiter?api_key=${api_key}`, { authorization: `Bearer ${token}` });
    listing.end();
    await ServiceProcess.answerOf(listing);
    await service.call('POST', '/api/v1/signup', { ...person, metadata: CANARY });
    const agent = new Agent({ keepAlive: true });
    await Promise.all(
      Array.from({ length: CROWD }, (_, index) =>
        service.call('POST', '/api/v1/signup', { waitlist_id: id, email: `${index}.${CANARY}@example.com` }, { agent }),
      ),
    );
    agent.destroy();

    service.signal('SIGTERM');
    expect(await service.exit).toBe(0);
    spans = collector.spans;
    secrets.push(api_key, token);
  });
  afterAll(async () => {
    service.signal('SIGKILL');
    await collector.stop();
    await database.drop();
  });
  const secrets = [CANARY, PHONE, encodeURIComponent(PHONE)];

  const childrenOf = (parent: SeenSpan | undefined, name: string) =>
    spans.filter(({ name: own, parentSpanId }) => own === name && parentSpanId === parent?.spanId);

  it('continues the trace of the caller down to the transaction', () => {
    const [request] = spans.filter(({ traceId, kind }) => traceId === TRACE_ID && kind === 'SERVER');
    const [batch] = childrenOf(request, 'write queue');
    const [transaction] = childrenOf(batch, 'database transaction');

    expect(request).toMatchObject({
      ...signup,
      parentSpanId: CALLERS_SPAN_ID,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/v1/signup',
        'http.response.status_code': 200,
        'url.scheme': 'http',
      },
    });
    expect(batch).toMatchObject({ traceId: TRACE_ID, kind: 'INTERNAL', attributes: { 'waitlist.commands': 1 } });
    expect(transaction).toMatchObject({
      traceId: TRACE_ID,
      kind: 'CLIENT',
      attributes: { 'db.system.name': database.url.startsWith('sqlite:') ? 'sqlite' : 'mysql' },
    });
  });

  it('connects every signup with its one transaction, as a child or by a link', () => {
    const batches = spans.filter(({ name }) => name === 'write queue');
    const requests = spans.filter(
      ({ name, attributes }) => name === signup.name && attributes['http.response.status_code'] === 200,
    );
    const isIn = (batch: SeenSpan, request: SeenSpan) =>
      batch.parentSpanId === request.spanId ||
      (batch.links.some(({ spanId }) => spanId === request.spanId) &&
        request.links.some(({ spanId }) => spanId === batch.spanId));

    expect(requests).toHaveLength(CROWD + 1);
    expect(requests.filter((request) => batches.filter((batch) => isIn(batch, request)).length !== 1)).toEqual([]);
  });

  it('sends no path, no query and no personal data', () => {
    expect(secrets.filter((secret) => collector.bodies.some((body) => body.includes(secret)))).toEqual([]);
    expect(spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['GET', 'GET /api/v1/signup', 'GET /api/v1/waiter']),
    );
    expect(new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)))).toEqual(
      new Set([
        'db.system.name',
        'http.request.method',
        'http.response.status_code',
        'http.route',
        'url.scheme',
        'waitlist.commands',
      ]),
    );
  });

  it('does not trace probes', () => {
    expect(spans.filter(({ attributes }) => attributes['http.route'] === '/readyz')).toEqual([]);
  });

  it('names the service and its resource attributes', () => {
    expect(collector.resource).toMatchObject({
      'service.name': 'waitlist-service',
      'deployment.environment.name': 'trial',
    });
    expect([...collector.contentTypes]).toEqual(['application/x-protobuf']);
  });

  it('adds the trace id to its log lines', () => {
    const lines = service.output.split('\n').filter((line) => line.includes(TRACE_ID));

    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ msg: 'request', route: '/api/v1/signup', trace_id: TRACE_ID }),
    ]);
  });
});

it('serves and stops normally if the collector is unreachable, and logs that', async () => {
  const database = await openMigratedDatabase();
  const service = await ServiceProcess.spawn({
    DATABASE_URL: database.url,
    ...NO_OWNER,
    SHUTDOWN_DELAY: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '10',
  });
  try {
    await service.started();
    expect((await service.call('GET', '/api/v1/signup?waitlist_id=1&email=a@example.com')).status).toBe(404);
    await until(() => service.output.includes('traces are not sent'));
    expect((await service.call('GET', '/api/v1/signup?waitlist_id=1&email=a@example.com')).status).toBe(404);

    service.signal('SIGTERM');

    expect(await service.exit).toBe(0);
  } finally {
    service.signal('SIGKILL');
    await database.drop();
  }
});
