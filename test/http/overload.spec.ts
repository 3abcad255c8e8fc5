import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { SqliteConnection } from '../../src/platform/database/sqlite-driver.js';
import { SERVER_BOUNDS } from '../../src/platform/http/server.js';
import type { Answer } from '../support/api.js';
import { isTableAwaited, openDatabase, type TestDatabase, withDataSource } from '../support/database.js';
import { type Service, startService } from '../support/service.js';
import { ServiceProcess, until } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

/** Longer than the time over which the turns of the event loop are averaged. */
const STALL_MS = 2_200;
const UNREMARKABLE = ['/livez', '/readyz', '/metrics'];
const SOMAXCONN = '/proc/sys/net/core/somaxconn';
/** Of one stall the mean may have turns of the start in it; a regression should not look like a slow machine. */
const STALLS_MAX = 10;

describe('a process that cannot keep up', () => {
  let service: Service;
  afterEach(() => service.stop());

  it('turns requests away with 503, answers for its health and its metrics, and goes on when it can', async () => {
    service = await startService({ bounds: SERVER_BOUNDS });
    const { api } = service;
    const signup = () => api.post('/api/v1/signup', {});
    await until(async () => (await signup()).status === 400);

    let turnedAway: Answer | undefined;
    for (let stalls = 0; turnedAway?.status !== 503; stalls += 1) {
      expect(stalls).toBeLessThan(STALLS_MAX);
      const since = performance.now();
      while (performance.now() - since < STALL_MS);
      // Then the mean is taken.
      await setTimeout();
      turnedAway = await signup();
    }
    const unremarkable = await Promise.all(UNREMARKABLE.map((path) => api.get(path)));

    const { headers, body } = turnedAway;
    expect(body).toMatchObject({ error_code: 'OVERLOADED', instance: headers['x-request-id'] });
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(unremarkable.filter(({ body: told }) => told?.error_code === 'OVERLOADED')).toEqual([]);

    await until(async () => (await signup()).status === 400);
  });
});

describe('a process that has no turn for a while', () => {
  /** More than the 511 for which Node.js asks by itself, and less than one address may have. */
  const COMERS = 900;
  /** Linux's own bound, which may be set lower; others have theirs elsewhere. */
  const KERNEL_MAX = existsSync(SOMAXCONN) ? Number(readFileSync(SOMAXCONN, 'utf8')) : 0;
  let directory: string;
  let service: ServiceProcess;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'waitlist-test-'));
    service = await ServiceProcess.spawn({ DATABASE_URL: `sqlite:${join(directory, 'waitlist.sqlite')}` });
    await service.started();
  });
  afterAll(async () => {
    service.signal('SIGKILL');
    await service.exit;
    await rm(directory, { recursive: true });
  });

  (KERNEL_MAX >= COMERS ? it : it.skip)(
    `loses none of those who connect meanwhile (needs ${SOMAXCONN} ≥ ${COMERS})`,
    async () => {
      service.signal('SIGSTOP');
      const sockets = Array.from({ length: COMERS }, () => connect(service.port, '127.0.0.1'));
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
      service.signal('SIGCONT');

      const answers = await Promise.all(
        sockets.map((socket) => text(socket.end('GET /livez HTTP/1.1\r\nHost: service\r\n\r\n'))),
      );

      expect(answers.filter((answer) => !answer.startsWith('HTTP/1.1 200 '))).toEqual([]);
    },
  );
});

describe('while another program holds the database up', () => {
  // Less than the service tries for until it gives the database up.
  const bounds = { ...SERVER_BOUNDS, loopDelayMs: 0, answerMs: 500 };
  let directory: string;
  let service: Service;
  let waitlist: OwnedWaitlist;
  let other: SqliteConnection;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'waitlist-test-'));
    const file = join(directory, 'waitlist.sqlite');
    const environment = { DATABASE_URL: `sqlite:${file}` };
    // Made without haste: to log in takes a busy machine longer than that.
    const unhurried = await startService({ environment });
    waitlist = await unhurried.world.waitlist();
    await unhurried.stop();
    service = await startService({ environment, bounds });
    other = new SqliteConnection(file, {});
  });
  afterAll(async () => {
    other.close();
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  });

  /** The first answer that is not that it took too long: for the disk too, what is in time is the machine's pace. */
  async function patiently(call: () => Promise<Answer>): Promise<Answer> {
    let answer = await call();
    await until(async () => answer.status !== 503 || (answer = await call()).status !== 503);
    return answer;
  }

  it('a request is answered in time, and the same again when it is over finds one record', async () => {
    const { api } = service;
    const signup = { waitlist_id: waitlist.id, email: 'patient@example.com' };
    other.exec('BEGIN IMMEDIATE');
    const { status, headers, body } = await api.post('/api/v1/signup', signup);
    other.exec('ROLLBACK');

    expect({ status, code: body.error_code }).toEqual({ status: 503, code: 'OVERLOADED' });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    const again = await patiently(() => api.post('/api/v1/signup', signup));
    expect(again.body.priority).toBe(0);
    const { body: waiters } = await patiently(() =>
      api.get('/api/v1/waiter', { token: waitlist.owner.token, query: { api_key: waitlist.api_key } }),
    );
    expect(waiters).toHaveLength(1);
  });

  it('work that is as long as a waitlist goes on', async () => {
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
});

const onServer = process.env.TEST_DATABASE_URL ? describe : describe.skip;

onServer('where all connections are taken (needs TEST_DATABASE_URL: the embedded database has one)', () => {
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

  it('a process is ready while anybody is answered, and is not when nobody is', async () => {
    const { api, app } = service;
    const letGo: (() => void)[] = [];
    const hold = () =>
      app.get(Database).read(() => new Promise<void>((resolve) => void letGo.push(resolve)), { deadlineMs: 60_000 });
    const held = [hold(), hold()];
    await until(() => letGo.length === 2);
    held.push(hold());

    const asked = api.get('/readyz');
    await until(async () => (await api.get('/metrics')).text.includes('waitlist_database_waiting 2'));
    letGo[0]?.();

    expect((await asked).status).toBe(200);
    // The first to ask after a second is told what was found anew.
    await until(async () => (await api.get('/readyz')).status === 503);
    for (const release of letGo) release();
    await Promise.all(held);
    await until(async () => (await api.get('/readyz')).status === 200);
  });

  it('pages that take long leave connections to everybody else', async () => {
    const { api, world } = service;
    const waitlist = await world.waitlist();
    const query = { api_key: waitlist.api_key };
    const view = async () => (await api.get(`/api/v1/waitlist/${waitlist.id}`, { query })).status;
    const VIEWS = 20;
    let served = 0;
    await withDataSource(database.url, async (dataSource) => {
      const holder = dataSource.createQueryRunner();
      // A page is read from there, a waitlist's own view is not.
      await holder.query('LOCK TABLES waiter WRITE');
      const pages = Array.from({ length: 4 }, () => api.get('/api/v1/waiter', { token: waitlist.owner.token, query }));
      await until(() => isTableAwaited(dataSource));

      while (served < VIEWS && (await view()) === 200) served += 1;

      await holder.query('UNLOCK TABLES');
      await Promise.all(pages);
      await holder.release();
    });

    expect(served).toBe(VIEWS);
  });
});
