import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { SqliteConnection } from '../../src/platform/database/sqlite-driver.js';
import { SERVER_BOUNDS } from '../../src/platform/limits/server-bounds.js';
import { Metrics } from '../../src/platform/telemetry/metrics.js';
import type { Answer } from '../support/api.js';
import { countTableWaits, openDatabase, type TestDatabase, withDataSource } from '../support/database.js';
import { queueOf } from '../support/queue.js';
import { freshFolder } from '../support/program.js';
import { type Service, startService } from '../support/service.js';
import { NO_OWNER, ServiceProcess, until } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

/** Longer than the time over which the delay of the event loop is averaged. */
const STALL_MS = 2_200;
const MONITORING = ['/livez', '/readyz', '/metrics'];
const SOMAXCONN = '/proc/sys/net/core/somaxconn';
/** The first mean can include the start of the process, so one stall may not be enough. */
const STALLS_MAX = 10;

/** Stops this thread, and leaves the processor to the other suites. */
function stall(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}

describe('an overloaded process', () => {
  let service: Service;
  afterEach(() => service.stop());

  it('answers 503, still serves health checks and metrics, and recovers', async () => {
    service = await startService({ bounds: SERVER_BOUNDS });
    const { api } = service;
    const signup = () => api.post('/api/v1/signup', {});
    await until(async () => (await signup()).status === 400);

    let refused: Answer | undefined;
    for (let stalls = 0; refused?.status !== 503; stalls += 1) {
      expect(stalls).toBeLessThan(STALLS_MAX);
      stall(STALL_MS);
      // Let the sampling timer run.
      await setTimeout();
      refused = await signup();
    }
    const monitored = await Promise.all(MONITORING.map((path) => api.get(path)));

    const { headers, body } = refused;
    expect(body).toMatchObject({ error_code: 'OVERLOADED' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(monitored.filter(({ body: probe }) => probe?.error_code === 'OVERLOADED')).toEqual([]);

    await until(async () => (await signup()).status === 400);
  });

  it('refuses streams of live places first', async () => {
    const loopDelayMs = 1_000;
    service = await startService({ bounds: { ...SERVER_BOUNDS, loopDelayMs } });
    const { api } = service;
    const signup = async () => (await api.post('/api/v1/signup', {})).status;
    const stream = async () =>
      (await api.get('/api/v1/signup/events', { query: { waitlist_id: 1, uuid: 'x' } })).status;
    /** What is asked between two signups with the same answer finds the same delay as they. */
    const askAfter = async (delayMs: number) => {
      // One whole mean of this delay.
      for (let stalledMs = 0; stalledMs < 2 * STALL_MS; stalledMs += delayMs) {
        stall(delayMs);
        await setImmediate();
      }
      return [await signup(), await stream(), await signup()].join();
    };
    // From then on, the start is over, in which signups are answered whatever the delay.
    await until(async () => (await askAfter(2 * loopDelayMs)) === '503,503,503');

    let delayMs = 0.75 * loopDelayMs;
    let answers = '';
    for (let stalls = 0; stalls < STALLS_MAX && answers !== '400,503,400'; stalls += 1) {
      answers = await askAfter(delayMs);
      // A slow machine stalls for longer.
      delayMs *= answers.startsWith('503') ? 0.8 : 1.1;
    }

    expect(answers).toBe('400,503,400');
    await until(async () => (await stream()) === 400);
  });
});

describe('a paused process', () => {
  /** More than the 511 that Node.js requests by default, and fewer than one address may open. */
  const CLIENTS = 900;
  /** The bound of Linux, which may be lower. Other systems keep theirs elsewhere. */
  const KERNEL_MAX = existsSync(SOMAXCONN) ? Number(readFileSync(SOMAXCONN, 'utf8')) : 0;
  let folder: Awaited<ReturnType<typeof freshFolder>>;
  let service: ServiceProcess;
  beforeAll(async () => {
    folder = await freshFolder();
    const DATABASE_URL = `sqlite:${join(folder.path, 'waitlist.sqlite')}`;
    service = await ServiceProcess.spawn({ DATABASE_URL, ...NO_OWNER, RATE_LIMIT_PUBLIC: '1000' });
    await service.started();
  });
  afterAll(async () => {
    service.signal('SIGKILL');
    await service.exit;
    await folder.remove();
  });

  (KERNEL_MAX >= CLIENTS ? it : it.skip)(
    `loses no connection that is opened during the pause (needs ${SOMAXCONN} ≥ ${CLIENTS})`,
    async () => {
      service.signal('SIGSTOP');
      const sockets = Array.from({ length: CLIENTS }, () => connect(service.port, '127.0.0.1'));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      service.signal('SIGCONT');

      const answers = await Promise.all(
        sockets.map((socket) => text(socket.end('GET /livez HTTP/1.1\r\nHost: service\r\n\r\n'))),
      );

      expect(answers.filter((answer) => !answer.startsWith('HTTP/1.1 200 '))).toEqual([]);
    },
  );

  it('serves no request, and logs no error, of a connection that was reset during the pause', async () => {
    service.signal('SIGSTOP');
    const sockets = Array.from({ length: 20 }, () => connect(service.port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const sent = (socket: Socket) =>
      new Promise((resolve) => socket.write('GET /api/v1/signup HTTP/1.1\r\nHost: service\r\n\r\n', resolve));
    await Promise.all(sockets.map(sent));
    for (const socket of sockets) socket.resetAndDestroy();
    service.signal('SIGCONT');

    // Connections are accepted in the order of their arrival.
    const answer = await service.call('GET', '/api/v1/signup?waitlist_id=1&email=nobody@example.com');

    expect(answer.status).toBe(404);
    expect(service.output).not.toContain('unexpected error');
  });
});

describe('a service whose database is locked by another program', () => {
  // Shorter than the deadline of the database.
  const bounds = { ...SERVER_BOUNDS, loopDelayMs: 0, answerMs: 500 };
  let folder: Awaited<ReturnType<typeof freshFolder>>;
  let patient: Service;
  let service: Service;
  let waitlist: OwnedWaitlist;
  let other: SqliteConnection;
  beforeAll(async () => {
    folder = await freshFolder();
    const file = join(folder.path, 'waitlist.sqlite');
    const environment = { DATABASE_URL: `sqlite:${file}` };
    // Without the short deadline: a busy machine needs longer to log in.
    patient = await startService({ environment });
    waitlist = await patient.world.waitlist();
    service = await startService({ environment, bounds });
    other = new SqliteConnection(file, {});
  });
  afterAll(async () => {
    other.close();
    await service.stop();
    await patient.stop();
    await folder.remove();
  });

  /** Repeats a call until it is not answered 503: a slow disk can also exceed the short deadline. */
  async function retryUntilServed(call: () => Promise<Answer>): Promise<Answer> {
    let answer = await call();
    await until(async () => answer.status !== 503 || (answer = await call()).status !== 503);
    return answer;
  }

  it('answers lookups and probes at once, and signups when the lock is released', async () => {
    const { api, world } = patient;
    const { email, waitlist_id } = await world.signup(await world.waitlist({}, waitlist.owner));
    const joined: OwnedWaitlist[] = [];
    while (joined.length < 10) joined.push(await world.waitlist({}, waitlist.owner));
    const reads: number[] = [];
    let signupsAnswered = 0;
    other.exec('BEGIN IMMEDIATE');
    const signups = joined.map((each) => world.signup(each).finally(() => (signupsAnswered += 1)));

    while (reads.length < 30) {
      reads.push((await api.get('/api/v1/signup', { query: { email, waitlist_id } })).status);
      for (const path of ['/livez', '/readyz']) reads.push((await api.get(path)).status);
    }
    const answeredBefore = signupsAnswered;
    other.exec('ROLLBACK');

    expect(new Set(reads)).toEqual(new Set([200]));
    expect(answeredBefore).toBe(0);
    expect((await Promise.all(signups)).map(({ priority }) => priority)).toEqual(joined.map(() => 0));
  });

  it('answers a signup with 503 in time, and a repetition makes no second record', async () => {
    const { api } = service;
    const signup = { waitlist_id: waitlist.id, email: 'patient@example.com' };
    other.exec('BEGIN IMMEDIATE');
    const { status, headers, body } = await api.post('/api/v1/signup', signup);
    other.exec('ROLLBACK');

    expect({ status, code: body.error_code }).toEqual({ status: 503, code: 'OVERLOADED' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    const again = await retryUntilServed(() => api.post('/api/v1/signup', signup));
    expect(again.body.priority).toBe(0);
    const { body: waiters } = await retryUntilServed(() =>
      api.get('/api/v1/waiter', { token: waitlist.owner.token, query: { api_key: waitlist.api_key } }),
    );
    expect(waiters).toHaveLength(1);
  });

  it('bounds the number of waiting changes that reorder a waitlist', async () => {
    const { api } = patient;
    const { id, owner } = waitlist;
    other.exec('BEGIN IMMEDIATE');
    // One runs and 64 wait.
    const changes = Array.from({ length: 66 }, (_, index) =>
      api.patch(`/api/v1/waitlist/${id}`, { spots_to_move_upon_referral: 10 + index }, owner),
    );
    const refused = await Promise.race(changes);
    other.exec('ROLLBACK');

    expect(refused.body.error_code).toBe('QUEUE_FULL');
    expect((await Promise.all(changes)).filter(({ status }) => status === 200)).toHaveLength(65);
  });

  it('completes work that grows with the waitlist', async () => {
    const { api } = service;
    const { token } = waitlist.owner;
    const path = `/api/v1/waitlist/${waitlist.id}`;
    other.exec('BEGIN IMMEDIATE');
    const reordering = api.patch(path, { spots_to_move_upon_referral: 7 }, { token });
    const renaming = await api.patch(path, { waitlist_name: 'Another' }, { token });
    other.exec('ROLLBACK');

    expect(renaming.status).toBe(503);
    expect((await reordering).body.spots_to_move_upon_referral).toBe(7);
  });

  it('completes an offboarding of many people', async () => {
    const { api } = service;
    const { id, owner } = waitlist;
    const signups = Array.from({ length: 501 }, () => ({ uuid: randomUUID() }));
    const next = (offboard_next: number) =>
      api.patch('/api/v1/waiter', { waitlist_id: id, offboard_request: true, offboard_next }, owner);
    other.exec('BEGIN IMMEDIATE');
    const many = [next(501), api.patch('/api/v1/signup', { waitlist_id: id, offboard_request: true, signups }, owner)];
    const few = await next(1);
    other.exec('ROLLBACK');

    expect(few.status).toBe(503);
    expect((await Promise.all(many)).map(({ status }) => status)).toEqual([200, 200]);
  });
});

const onServer = process.env.TEST_DATABASE_URL ? describe : describe.skip;

onServer('a service without a free connection (needs TEST_DATABASE_URL: SQLite has only one)', () => {
  let database: TestDatabase;
  let service: Service;
  beforeEach(async () => {
    database = await openDatabase(true);
    const url = new URL(database.url);
    url.searchParams.set('connectionLimit', '2');
    service = await startService({ environment: { DATABASE_URL: url.href } });
  });
  afterEach(async () => {
    await service.stop();
    await database.drop();
  });

  it('is ready while it answers any request, and not ready otherwise', async () => {
    const { api, app } = service;
    const releases: (() => void)[] = [];
    const hold = () =>
      app.get(Database).read(() => new Promise<void>((resolve) => void releases.push(resolve)), { deadlineMs: 60_000 });
    const held = [hold(), hold()];
    await until(() => releases.length === 2);
    held.push(hold());

    const probe = api.get('/readyz');
    // Alone: other metrics are read from the database, and would wait too.
    const waiting = () => app.get(Metrics).registry.getSingleMetricAsString('waitlist_database_waiting');
    await until(async () => (await waiting()).includes('waitlist_database_waiting 2'));
    releases[0]?.();

    expect((await probe).status).toBe(200);
    // The result of a probe is reused for a second.
    await until(async () => (await api.get('/readyz')).status === 503);
    for (const release of releases) release();
    await Promise.all(held);
    await until(async () => (await api.get('/readyz')).status === 200);
  });

  it('leaves no statement running in the server after its deadline, and lets long work run', async () => {
    const { app, api, world } = service;
    const waitlist = await world.waitlist();
    const { email } = await world.signup(waitlist);
    await withDataSource(database.url, async (dataSource) => {
      const holder = dataSource.createQueryRunner();
      await holder.query('LOCK TABLES waiter WRITE');
      const audit = queueOf(app).auditor.verify(waitlist.id, () => undefined);
      const lookup = api.get('/api/v1/signup', { query: { email, waitlist_id: waitlist.id } });
      await until(async () => (await countTableWaits(dataSource)) === 2);

      expect((await lookup).body.error_code).toBe('DATABASE_UNAVAILABLE');
      await until(async () => (await countTableWaits(dataSource)) === 1);

      await holder.query('UNLOCK TABLES');
      expect((await audit).records).toBe(1);
      await holder.release();
    });
  });

  const VIEWS = 20;

  /**
   * Makes calls that wait for the table of records; `view` reads only waitlists. Counts its successes, up to {@link
   * VIEWS}.
   */
  async function viewDuring(slowCalls: () => Promise<Answer>[], view: () => Promise<Answer>) {
    return withDataSource(database.url, async (dataSource) => {
      const holder = dataSource.createQueryRunner();
      await holder.query('LOCK TABLES waiter WRITE');
      const calls = slowCalls();
      await until(async () => (await countTableWaits(dataSource)) > 0);
      let views = 0;
      while (views < VIEWS && (await view()).status === 200) views += 1;
      const { status: readiness } = await service.api.get('/readyz');
      await holder.query('UNLOCK TABLES');
      await holder.release();
      return { views, readiness, answers: await Promise.all(calls) };
    });
  }

  it('keeps connections for other requests during slow pages of a listing', async () => {
    const { api, world } = service;
    const waitlist = await world.waitlist();
    const query = { api_key: waitlist.api_key };
    const page = () => api.get('/api/v1/waiter', { token: waitlist.owner.token, query });

    const { views } = await viewDuring(
      () => Array.from({ length: 4 }, page),
      () => api.get(`/api/v1/waitlist/${waitlist.id}`, { query }),
    );

    expect(views).toBe(VIEWS);
  });

  it('keeps connections for other requests while a waitlist is reordered again and again', async () => {
    const { api, app, world } = service;
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 100 });
    const other = await world.waitlist({}, waitlist.owner);
    await queueOf(app).seeder.seed(waitlist.id, 3_000, () => undefined);
    const reorder = (_: unknown, spots_to_move_upon_referral: number) =>
      api.patch(`/api/v1/waitlist/${waitlist.id}`, { spots_to_move_upon_referral }, waitlist.owner);

    const { views, readiness, answers } = await viewDuring(
      () => Array.from({ length: 12 }, reorder),
      () => api.get(`/api/v1/waitlist/${other.id}`),
    );

    expect({ views, readiness }).toEqual({ views: VIEWS, readiness: 200 });
    expect(answers.map(({ status, body }) => [status, body.spots_to_move_upon_referral])).toEqual(
      answers.map((_, spots) => [200, spots]),
    );
    expect(await queueOf(app).auditor.verify(waitlist.id, () => undefined)).toMatchObject({ differences: 0 });
  });
});
