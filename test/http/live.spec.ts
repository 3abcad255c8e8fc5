import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { fastify as createServer } from 'fastify';
import { DataSource, type Logger } from 'typeorm';
import { EventStream } from '../../src/platform/http/event-stream.js';
import { SERVER_BOUNDS } from '../../src/platform/limits/server-bounds.js';
import { Metrics } from '../../src/platform/telemetry/metrics.js';
import { PlaceReader } from '../../src/queue/read/place.reader.js';
import type { PlaceDto } from '../../src/signup/place.dto.js';
import { EventClient } from '../support/event-client.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';
import type { OwnedWaitlist, Person } from '../support/world.js';

const PATH = '/api/v1/signup/events';
/** A stream that has had a comment is older. */
const ANSWER_MS = 10_000;
const SHORT_ANSWER_MS = 2_000;
const CONNECTIONS_MAX = 4;
/** Streams of one waitlist, some batches of the updates. */
const CROWD = 800;
const PER_ADDRESS_MAX = 20;
/** So long, a slow read of places keeps the event loop busy. */
const BUSY_MS = 100;

let service: Service;
let clients: EventClient[] = [];
afterEach(() => {
  for (const client of clients) client.close();
  clients = [];
});

async function start(environment: Record<string, string> = {}, bounds: Partial<typeof SERVER_BOUNDS> = {}) {
  service = await startService({
    environment,
    bounds: { ...SERVER_BOUNDS, loopDelayMs: 0, answerMs: 60_000, ...bounds },
  });
  await service.app.listen(0, '127.0.0.1');
  service.startTasks();
}

const pathOf = ({ waitlist_id, uuid }: Person) => `${PATH}?waitlist_id=${waitlist_id}&uuid=${uuid}`;

function open(person: Person, options: { from?: string; origin?: string } = {}): EventClient {
  const client = new EventClient(service.app, pathOf(person), options);
  clients.push(client);
  return client;
}

/** A stream that has sent its first event. */
async function watch(person: Person, options?: { from?: string; origin?: string }): Promise<EventClient> {
  const client = open(person, options);
  await until(() => client.dataOf('place').length > 0);
  return client;
}

const last = (client: EventClient) => client.dataOf('place').at(-1) as PlaceDto;
const patch = ({ id, owner }: OwnedWaitlist, changes: object) =>
  service.api.patch(`/api/v1/waitlist/${id}`, changes, { token: owner.token });
const erase = ({ id, owner }: OwnedWaitlist, { uuid }: Person) =>
  service.api.call('DELETE', '/api/v1/signup', { waitlist_id: id, signups: [{ uuid }] }, { token: owner.token });

describe('a live place', () => {
  // Streams last longer than an answer may take, and do not count as connections.
  beforeAll(() => start({}, { answerMs: ANSWER_MS, connectionsMax: CONNECTIONS_MAX }));
  afterAll(() => service.stop());

  it('comes at once, to a page of any origin, past proxies that would keep it', async () => {
    const waitlist = await service.world.waitlist();
    const [, ada] = await service.world.signups(waitlist, 2);

    const client = await watch(ada!, { origin: 'https://example.com' });

    expect(client.status).toBe(200);
    expect(client.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
    });
    expect(client.headers).not.toHaveProperty('content-encoding');
    const { body } = await service.api.get('/api/v1/signup/place', {
      query: { waitlist_id: waitlist.id, uuid: ada!.uuid },
    });
    expect(client.dataOf('place')).toEqual([body]);
  });

  it('comes again when a friend, others, the owner or a setting changed it, and only then', async () => {
    const waitlist = await service.world.waitlist();
    const people = await service.world.signups(waitlist, 8);
    const [first, bob, ada] = [people[0], people[6]!, people[7]!];
    const client = await watch(ada);
    const follows = async (expected: Partial<PlaceDto>) => {
      await until(() =>
        Object.entries(expected).every(([name, value]) => last(client)[name as keyof PlaceDto] === value),
      );
    };

    await service.world.signup(waitlist, { referral_link: ada.referral_link });
    await follows({ priority: 4, others: 0 });
    await service.world.signup(waitlist, { referral_link: bob.referral_link });
    await follows({ priority: 5, others: -1, next_referral_priority: 1 });
    await service.world.offboard(waitlist, [await service.world.idOf(waitlist, first)]);
    await follows({ priority: 4, others: 0 });
    await patch(waitlist, { spots_to_move_upon_referral: 2 });
    await follows({ priority: 5, others: 0, next_referral_priority: 2 });
    await service.world.offboard(waitlist, [await service.world.idOf(waitlist, ada)]);
    await follows({ status: 'offboarded', others: null });
    // A place that stayed the same was not sent again.
    const sent = client.dataOf('place').map((data) => JSON.stringify(data));
    expect(new Set(sent).size).toBe(sent.length);
    expect(client.isClosed).toBe(false);
  });

  it('says nothing when someone joins behind', async () => {
    const waitlist = await service.world.waitlist();
    const [ada, bob] = await service.world.signups(waitlist, 2);
    const [quiet, witness] = [await watch(ada), await watch(bob!)];

    await service.world.signup(waitlist);
    await service.world.signup(waitlist, { referral_link: bob!.referral_link });
    await until(() => last(witness).priority === 0);
    await until(() => quiet.dataOf('place').length > 1);

    expect(quiet.dataOf('place')).toHaveLength(2);
    expect(last(quiet)).toMatchObject({ priority: 1, others: -1 });
  });

  it('ends when the person is erased or the list deleted', async () => {
    const waitlist = await service.world.waitlist();
    const [ada, bob] = await service.world.signups(waitlist, 2);
    const [erased, left] = [await watch(ada), await watch(bob!)];

    await erase(waitlist, ada);
    await until(() => erased.isClosed);
    expect(erased.dataOf('end')).toEqual([{}]);
    await until(() => last(left).priority === 0);

    await service.api.delete(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });
    await until(() => left.isClosed);
    expect(left.dataOf('end')).toEqual([{}]);
  });

  it('does not count as a connection, and is shown in the metrics', async () => {
    const waitlist = await service.world.waitlist();
    const people = await service.world.signups(waitlist, 2 * CONNECTIONS_MAX);
    for (const person of people) await watch(person);

    const socket = connect({ port: (service.app.getHttpServer().address() as AddressInfo).port, host: '127.0.0.1' });
    socket.end('GET /livez HTTP/1.1\r\nHost: service\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);

    const metrics = await service.app.get(Metrics).registry.metrics();
    expect(metrics).toContain(`waitlist_live_connections ${people.length}\n`);
    for (const client of clients) client.close();
    await until(async () =>
      (await service.app.get(Metrics).registry.metrics()).includes('waitlist_live_connections 0\n'),
    );
    const durations =
      /http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/signup\/events",status="(\d+)"/g;
    const statuses = [...(await service.app.get(Metrics).registry.metrics()).matchAll(durations)].map(
      ([, status]) => status,
    );
    expect(statuses).toEqual(['200']);
  });

  it('is kept open by comments', async () => {
    const waitlist = await service.world.waitlist();
    const client = await watch(await service.world.signup(waitlist));

    await until(() => client.text.includes('\n\n:\n\n'));
    expect(client.isClosed).toBe(false);
  });

  it.each([
    ['nobody', '00000000-0000-0000-0000-000000000000', 404, 'NO_WAITER_FOUND'],
    ['no uuid', 'x', 400, 'INVALID_REQUEST'],
  ])('of %s is refused', async (_, uuid, status, code) => {
    const { id } = await service.world.waitlist();

    const answer = await service.api.get(PATH, { query: { waitlist_id: id, uuid } });

    expect([answer.status, answer.body.error_code]).toEqual([status, code]);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  });
});

describe('the updates of live places', () => {
  beforeAll(() => start());
  afterAll(() => service.stop());

  /** Makes each read of places keep the process busy. Returns when they began, and what ends it. */
  function slowReads() {
    const dataSource = service.app.get(DataSource);
    const { logger } = dataSource;
    const atMs: number[] = [];
    dataSource.logger = Object.assign(Object.create(logger) as Logger, {
      logQuery: (sql: string) => {
        // Only places are read with the counters of days.
        if (!/ FROM waitlist_day WHERE .* ORDER BY day/.test(sql)) return;
        atMs.push(performance.now());
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
      },
    });
    return { atMs, end: () => void (dataSource.logger = logger) };
  }

  it('take at most a tenth of the time of the process, and come later rather than take more', async () => {
    const lists = await Promise.all(
      [1, 2].map(async () => {
        const waitlist = await service.world.waitlist();
        const people = await service.world.signups(waitlist, 4);
        return { waitlist, people, client: await watch(people[3]!) };
      }),
    );
    const reads = slowReads();

    for (let round = 0; round < 3; round += 1) {
      for (const { waitlist, people } of lists) await service.world.offboardPeople(waitlist, people[round]!);
      await until(() => lists.every(({ client }) => last(client).priority === 2 - round));
    }
    reads.end();

    const gapsMs = reads.atMs.slice(1).map((atMs, index) => atMs - reads.atMs[index]!);
    expect(gapsMs.length).toBeGreaterThanOrEqual(5);
    // A timer may be early by a part of a millisecond.
    expect(Math.min(...gapsMs)).toBeGreaterThan(10 * BUSY_MS - 1);
  });

  it('reach the people of a waitlist before all of a crowd that watches another, and then the rest of the crowd', async () => {
    const [quiet, crowded] = [await service.world.waitlist(), await service.world.waitlist()];
    const [first, ada] = await service.world.signups(quiet, 2);
    const [front, ben] = await service.world.signups(crowded, 2);
    const adas = await watch(ada!);
    const crowd = await Promise.all(
      Array.from({ length: CROWD }, async (_, index) =>
        watch(ben!, { from: `127.0.1.${Math.floor(index / PER_ADDRESS_MAX) + 1}` }),
      ),
    );
    const isTold = (client: EventClient) => client.dataOf('place').length > 1;
    const reads = slowReads();

    await service.world.offboardPeople(crowded, front);
    await until(() => crowd.some(isTold));
    await service.world.offboardPeople(quiet, first);
    await until(() => isTold(adas));

    expect(crowd.every(isTold)).toBe(false);
    reads.end();
    await until(() => crowd.every(isTold));
  });
});

describe('a place that is found too late', () => {
  beforeAll(() => start({}, { answerMs: SHORT_ANSWER_MS }));
  afterAll(() => service.stop());

  it('is not sent after the answer of the deadline, which is no fault of the service', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    const places = service.app.get(PlaceReader);
    const find = places.find.bind(places);
    const late = jest.spyOn(places, 'find').mockImplementationOnce(async (...sought) => {
      await until(() => client.status === 503);
      return find(...sought);
    });

    const client = open(ada);
    expect((await client.answered()).status).toBe(503);
    await late.mock.results[0]?.value;
    await until(async () =>
      (await service.app.get(Metrics).registry.metrics()).includes('waitlist_live_connections 0\n'),
    );
    await setImmediate();

    expect(service.logged('unexpected error')).toEqual([]);
  });
});

describe('the number of live places', () => {
  afterEach(() => service.stop());

  it('is bounded for the process', async () => {
    await start({ LIVE_CONNECTIONS: '2' });
    const waitlist = await service.world.waitlist();
    const people = await service.world.signups(waitlist, 3);
    const [one] = [await watch(people[0]), await watch(people[1]!)];

    const refused = await open(people[2]!).answered();
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('30');
    await until(() => refused.text.includes('"LIVE_CONNECTIONS_FULL"'));

    one.close();
    await until(async () => (await open(people[2]!).answered()).status === 200);
  });

  it('is 20 for an address', async () => {
    await start({ RATE_LIMIT_EXEMPT: '127.0.0.2' });
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);
    await Promise.all(Array.from({ length: 20 }, () => watch(ada)));

    const refused = await open(ada).answered();
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('60');
    await until(() => refused.text.includes('"TOO_MANY_LIVE_CONNECTIONS"'));

    expect((await watch(ada, { from: '127.0.0.3' })).status).toBe(200);
    await Promise.all(Array.from({ length: 21 }, () => watch(ada, { from: '127.0.0.2' })));
  });

  it('can be 0: then there is nothing at the path', async () => {
    await start({ LIVE_CONNECTIONS: '0' });
    const waitlist = await service.world.waitlist();
    const { uuid } = await service.world.signup(waitlist);

    const { status, body } = await service.api.get(PATH, { query: { waitlist_id: waitlist.id, uuid } });

    expect([status, body.error_code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('a process that shuts down', () => {
  it('tells each stream when to come back, and does not wait for it', async () => {
    await start();
    const waitlist = await service.world.waitlist();
    const people = await service.world.signups(waitlist, 3);
    const streams = await Promise.all(people.map((person) => watch(person)));

    await service.stop();

    await until(() => streams.every(({ isClosed }) => isClosed));
    for (const stream of streams) {
      const retryMs = Number(/\nretry: (\d+)\n\n$/.exec(stream.text)?.[1]);
      expect(retryMs).toBeGreaterThanOrEqual(1_000);
      expect(retryMs).toBeLessThanOrEqual(10_000);
    }
  });
});

describe('a stream', () => {
  it('ends when its client does not read, and keeps little for it', async () => {
    const server = createServer();
    let waitedMax = 0;
    const ended = new Promise<void>((resolve) => {
      server.get('/', async (_, reply) => {
        const stream = EventStream.open(reply);
        const state = { isClosed: false };
        stream.onceClosed(() => (state.isClosed = true));
        while (!state.isClosed) {
          stream.send('place', 'x'.repeat(1_000));
          waitedMax = Math.max(waitedMax, reply.raw.writableLength);
          await setImmediate();
        }
        resolve();
      });
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect({ port: (server.server.address() as AddressInfo).port, host: '127.0.0.1' });
    socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: service\r\n\r\n');
    await once(socket, 'connect');
    socket.pause();

    await ended;

    expect(waitedMax).toBeLessThan(64 * 1024);
    socket.destroy();
    await server.close();
  });

  it('can end twice: when the person is erased, and when the process ends before a slow client has read that', async () => {
    const server = createServer();
    const errors: Error[] = [];
    server.get('/', async (_, reply) => {
      reply.raw.on('error', (error) => errors.push(error));
      const stream = EventStream.open(reply);
      stream.close();
      stream.close(1_000);
      await setImmediate();
    });
    await server.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect({ port: (server.server.address() as AddressInfo).port, host: '127.0.0.1' });
    socket.end('GET / HTTP/1.1\r\nHost: service\r\n\r\n');

    expect(await text(socket)).not.toContain('retry');
    expect(errors).toEqual([]);
    await server.close();
  });
});
