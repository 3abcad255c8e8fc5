import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SqliteConnection } from '../../src/platform/database/sqlite-driver.js';
import { callAt } from '../support/api.js';
import { openMigratedDatabase, type TestDatabase } from '../support/database.js';
import { Metrics } from '../../src/platform/telemetry/metrics.js';
import { type Service, startService } from '../support/service.js';
import { freePort, NO_OWNER, ServiceProcess, until } from '../support/service-process.js';

const CANARY = 'canary.person';
const PHONE = '+14155550123';
const OWNER = { email: `${CANARY}.owner@example.com`, password: `${CANARY} vnqzt rowkd jhx` };

describe('the logs and metrics of a process', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let secrets: string[];
  let welcome: string;

  beforeAll(async () => {
    database = await openMigratedDatabase();
    service = await ServiceProcess.spawn({
      DATABASE_URL: database.url,
      LOG_LEVEL: 'trace',
      SHUTDOWN_DELAY: '0',
      RATE_LIMIT_PUBLIC: '5',
      OWNER_EMAIL: OWNER.email,
      OWNER_PASSWORD: OWNER.password,
    });
    await service.started();
    welcome = service.output;

    const login = await service.call('POST', '/api/v1/auth/create_tokens', OWNER);
    expect(login.status).toBe(200);
    const tokens = login.body as { access_token: string; refresh_token: string };
    secrets = [CANARY, PHONE, encodeURIComponent(PHONE), tokens.access_token, tokens.refresh_token];
    const person = { waitlist_id: 1, email: `${CANARY}@example.com`, phone: PHONE, first_name: CANARY };
    await service.call('POST', '/api/v1/signup', person);
    await service.call('POST', '/api/v1/signup', { ...person, metadata: CANARY });
    await service.call(
      'GET',
      `/api/v1/signup?waitlist_id=1&email=${CANARY}@example.com&phone=${encodeURIComponent(PHONE)}`,
    );
    await service.call('GET', `/${CANARY}?api_key=${CANARY}`);
    await service.call('GET', `/%zz${CANARY}`);
    await until(() => service.output.includes('"route":"unknown"'));
    service.output = service.output.slice(welcome.length);
  });
  afterAll(async () => {
    service.signal('SIGKILL');
    await service.exit;
    await database.drop();
  });

  it('have one log line per request, with the pattern of its route and its id', async () => {
    const sent = service.begin('GET', '/api/v1/signup?waitlist_id=1&email=nobody@example.com', {
      'x-request-id': 'the-caller-s-own',
    });
    sent.end();
    const { headers } = await ServiceProcess.answerOf(sent);
    await until(() => service.output.includes('the-caller-s-own'));

    const line = service.output.split('\n').find((text) => text.includes('"reqId":"the-caller-s-own"')) ?? '';
    expect(JSON.parse(line)).toMatchObject({ level: 'info', method: 'GET', route: '/api/v1/signup', msg: 'request' });
    expect(headers['x-request-id']).toBe('the-caller-s-own');
  });

  it('have one line, with status 499, per request of a client that hung up before the answer', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.write('GET /livez HTTP/1.1\r\nHost: service\r\n\r\n');
    await once(socket, 'data');
    service.signal('SIGSTOP');
    const body = JSON.stringify({ email: 'nobody@example.com', password: 'wrong' });
    // The hash of the password takes longer than the news that the client hung up.
    const logInAs = (id: string) =>
      `POST /api/v1/auth/create_tokens HTTP/1.1\r\nHost: service\r\nX-Request-Id: ${id}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    // The second request waits for the answer to the first.
    await new Promise((resolve) => socket.write(logInAs('gone-1') + logInAs('gone-2'), resolve));
    socket.resetAndDestroy();
    service.signal('SIGCONT');

    const linesOf = (id: string) => service.output.split('\n').filter((line) => line.includes(`"reqId":"${id}"`));
    await until(() => linesOf('gone-1').length > 0 && linesOf('gone-2').length > 0);
    const lines = [...linesOf('gone-1'), ...linesOf('gone-2')];
    expect(lines.map((line) => (JSON.parse(line) as { status: number }).status)).toEqual([499, 499]);
    expect((await service.call('GET', '/metrics')).text).toMatch(
      /^http_request_duration_seconds_count\{method="POST",route="\/api\/v1\/auth\/create_tokens",status="499"\} 2$/m,
    );
  });

  it('hold no personal data and no secrets', async () => {
    const metrics = (await service.call('GET', '/metrics')).text;

    expect(secrets.filter((secret) => service.output.includes(secret) || metrics.includes(secret))).toEqual([]);
    expect(service.output).toContain('"route":"/api/v1/signup"');
    expect(metrics).toContain('route="/api/v1/signup"');
  });

  it('name the kind and version of the database once, at the start', async () => {
    const lines = welcome.split('\n').filter((line) => line.includes('"msg":"database"'));

    const version = database.url.startsWith('sqlite:') ? /^3\./ : /^\d+\.\d+\.\d+/;
    expect(lines.map((line) => (JSON.parse(line) as { database: unknown }).database)).toEqual([
      { kind: expect.stringMatching(/./), version: expect.stringMatching(version) },
    ]);
  });

  it('count the connections to a database server', async () => {
    const metrics = async () => (await service.call('GET', '/metrics')).text;

    if (database.url.startsWith('sqlite:')) expect(await metrics()).not.toContain('waitlist_database_');
    else await until(async () => /waitlist_database_connections\{state="idle"\} [1-9]/.test(await metrics()));
  });

  it.each(['/livez', '/readyz', '/docs'])('answer HEAD of %s like GET, without a body', async (path) => {
    const { status, headers } = await service.call('GET', path);
    const head = await service.call('HEAD', path);

    expect(head.text).toBe('');
    expect([head.status, head.headers['content-type'], head.headers['content-length']]).toEqual([
      status,
      headers['content-type'],
      headers['content-length'],
    ]);
  });

  it('serve /metrics without a rate limit and outside of the contract', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.call('GET', '/metrics')));
    const contract = JSON.parse((await service.call('GET', '/openapi.json')).text) as { paths: object };

    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(Object.keys(contract.paths).filter((path) => !path.startsWith('/api/'))).toEqual([]);
  });
});

describe('METRICS_PORT', () => {
  const METRICS_PORT = '9464';
  const metricsOf = async ({ app }: Service) => app.get(Metrics).registry.metrics();

  it('moves /metrics to a port of its own, which serves nothing else', async () => {
    const database = await openMigratedDatabase();
    const port = await freePort();
    const service = await ServiceProcess.spawn({
      DATABASE_URL: database.url,
      ...NO_OWNER,
      METRICS_PORT: String(port),
      SHUTDOWN_DELAY: '0',
    });
    try {
      await service.started();
      const base = `http://127.0.0.1:${port}`;
      const metrics = await callAt(base, 'GET', '/metrics');

      expect((await service.call('GET', '/metrics')).status).toBe(404);
      expect([metrics.status, metrics.headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/plain;/)]);
      expect(metrics.text).toContain('# TYPE waitlist_active_signups gauge');
      for (const path of ['/', '/livez', '/docs', '/api/v1/signup']) {
        // Not held to the contract, which this port does not serve.
        const [other] = (await once(get(`${base}${path}`), 'response')) as [IncomingMessage];
        expect([path, other.resume().statusCode]).toEqual([path, 404]);
      }
      expect(await service.stop()).toBe(0);
    } finally {
      service.signal('SIGKILL');
      await service.exit;
      await database.drop();
    }
  });

  it('adds metrics of each waitlist: new, referred, offboarded and active records', async () => {
    const service = await startService({ environment: { METRICS_PORT } });
    const { world } = service;
    const waitlist = await world.waitlist();
    const [first] = await world.signups(waitlist, 2);
    await world.signup(waitlist, { referral_link: first.referral_link });
    await world.signup(waitlist, { email: first.email });
    await world.offboard(waitlist, [await world.idOf(waitlist, first)]);
    const metrics = await metricsOf(service);
    await service.stop();

    const lines = metrics.split('\n').filter((line) => line.includes(`waitlist_id="${waitlist.id}"`));
    expect(lines.map((line) => line.replace(/\{.*\}/, '')).sort()).toEqual([
      'waitlist_active_signups 2',
      'waitlist_offboarded_signups_total 1',
      'waitlist_referred_signups_total 1',
      'waitlist_signups_total 3',
    ]);
  });

  it('must be set for metrics that name a waitlist', async () => {
    const service = await startService();
    await service.world.signup(await service.world.waitlist());
    const metrics = await metricsOf(service);
    await service.stop();

    expect(metrics).not.toMatch(/waitlist_id|waitlist_signups/);
  });
});

it('counts retried transactions by the error code of the database', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'waitlist-test-'));
  const file = join(directory, 'waitlist.sqlite');
  const service = await startService({ environment: { DATABASE_URL: `sqlite:${file}` } });
  try {
    const waitlist = await service.world.waitlist();
    const other = new SqliteConnection(file, {});
    other.exec('BEGIN IMMEDIATE');
    const signUp = () => service.api.post('/api/v1/signup', { waitlist_id: waitlist.id, email: 'patient@example.com' });
    const first = signUp();
    await until(async () =>
      /retries_total\{reason="SQLITE_BUSY"\} [1-9]/.test((await service.api.get('/metrics')).text),
    );
    other.exec('ROLLBACK');
    other.close();

    // On a slow machine it may have failed meanwhile.
    await first;
    expect((await signUp()).status).toBe(200);
  } finally {
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  }
});

it('has a runbook section and a test for each alert, and for no others', async () => {
  const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
  const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name).sort();
  const alerts = found(await read('deploy/chart/files/alerts.yaml'), /- alert: (\w+)/g);

  expect(alerts).not.toEqual([]);
  const tested = found(await read('deploy/chart/files/alerts.test.yaml'), /- alertname: (\w+)\n/g);
  const quiet = found(await read('deploy/chart/files/alerts.test.yaml'), /- \{ alertname: (\w+),/g);
  expect([[...new Set(tested)], quiet]).toEqual([alerts, alerts]);
  expect(found(await read('docs/operations.md'), /^### (Waitlist\w+)$/gm)).toEqual(alerts);
});
