import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pRetry from 'p-retry';
import type { Answer } from '../support/api.js';
import { hasRedis, RedisProxy } from '../support/redis-proxy.js';
import { type Service, startService } from '../support/service.js';
import { freePort, NO_OWNER, ServiceProcess, until } from '../support/service-process.js';

/** For five requests: far above the time that Redis has to answer them, even on a slow machine, and below a hang. */
const PROMPT_MS = 5_000;

/** A busy machine may stall for as long as an unavailable Redis, and then a replica counts for itself for a moment. */
const STALLS_MAX = 5;
const unlessStalled = (attempt: () => Promise<void>): Promise<void> =>
  pRetry(attempt, { retries: STALLS_MAX, minTimeout: 100 });

/** An unused address, so that earlier counts in a given Redis do not matter. */
const freshAddress = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

(hasRedis ? describe : describe.skip)('limits that replicas share by REDIS_URL', () => {
  let proxy: RedisProxy;
  beforeAll(async () => {
    proxy = await RedisProxy.open();
  });
  afterAll(() => proxy.close());

  let replicas: Service[] = [];
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()));
    await proxy.restore();
  });

  async function start(environment: Record<string, string>, count = 2): Promise<[Service, Service]> {
    const all = { REDIS_URL: proxy.url, LOG_LEVEL: 'silent', ...environment };
    replicas = [];
    for (let index = 0; index < count; index += 1) replicas.push(await startService({ environment: all }));
    return replicas as [Service, Service];
  }
  const look = ({ api }: Service, from: string, headers: Record<string, string> = {}): Promise<Answer> =>
    api.get('/api/v1/signup', { query: { waitlist_id: 1, email: 'nobody@example.com' }, from, headers });
  const logIn = ({ api }: Service, email: string, from: string): Promise<Answer> =>
    api.post('/api/v1/auth/create_tokens', { email, password: 'a wrong password' }, { from });
  const statuses = async (calls: readonly (() => Promise<Answer>)[]): Promise<number[]> => {
    const seen: number[] = [];
    for (const call of calls) seen.push((await call()).status);
    return seen;
  };
  /** With a limit of one a minute, the second lookup of a new address passes only if the replicas share nothing. */
  const areShared = async (one: Service, other: Service): Promise<boolean> => {
    const from = freshAddress();
    await look(one, from);
    return (await look(other, from)).status === 429;
  };

  it('count the requests to all replicas together, and answer with the number that is left', async () => {
    const [one, other] = await start({ RATE_LIMIT_PUBLIC: '2' });

    await unlessStalled(async () => {
      const from = freshAddress();
      const first = await look(one, from);
      const second = await look(other, from);
      const third = await look(one, from);

      expect([first, second].map(({ headers }) => headers['ratelimit-remaining'])).toEqual(['1', '0']);
      expect(third.status).toBe(429);
      expect(third.body.error_code).toBe('RATE_LIMITED');
      expect(Number(third.headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(third.headers['retry-after'])).toBeLessThanOrEqual(60);
    });
    expect((await look(other, freshAddress())).status).not.toBe(429);
  });

  it('count lookups that find nobody at any replica', async () => {
    const [one, other] = await start({ RATE_LIMIT_PUBLIC: '20' });

    await unlessStalled(async () => {
      const from = freshAddress();
      const seen = await statuses([() => look(one, from), () => look(other, from), () => look(one, from)]);

      expect(seen).toEqual([404, 404, 429]);
    });
  });

  it('count the logins at all replicas together, apart from lookups', async () => {
    const [one, other] = await start({ RATE_LIMIT_PUBLIC: '1', RATE_LIMIT_LOGIN: '1' });

    await unlessStalled(async () => {
      const from = freshAddress();
      const email = `${randomUUID()}@example.com`;
      const seen = await statuses([
        () => look(one, from),
        () => logIn(one, email, from),
        () => logIn(other, email, from),
      ]);

      expect(seen).toEqual([404, 401, 429]);
    });
  });

  it('count failed logins at all replicas together', async () => {
    const [one, other] = await start({ RATE_LIMIT_LOGIN: '1000' });

    await unlessStalled(async () => {
      const from = freshAddress();
      const email = `${randomUUID()}@example.com`;
      for (let index = 0; index < 5; index += 1) await logIn(index % 2 ? one : other, email, from);
      const slowed = [await logIn(one, email, from), await logIn(other, email, from)];

      expect(slowed.map(({ body }) => body.error_code)).toEqual(['TOO_MANY_ATTEMPTS', 'TOO_MANY_ATTEMPTS']);
      expect((await logIn(one, email, freshAddress())).status).toBe(401);
    });
  });

  it.each([
    ['hangs', async () => proxy.silence()],
    ['is gone', () => proxy.cut()],
  ])('apply in each replica alone while Redis %s, and no request waits', async (_, end) => {
    const unlimited = await startService();
    const waitlist = await unlimited.world.waitlist();
    const { databaseUrl: DATABASE_URL } = unlimited;
    const [one] = await start({ RATE_LIMIT_PUBLIC: '2', RATE_LIMIT_LOGIN: '1', DATABASE_URL }, 1);
    replicas.push(unlimited);
    const [from, email] = [freshAddress(), `${randomUUID()}@example.com`];
    await end();
    const since = performance.now();

    const signups = await statuses(
      [1, 2, 3].map(() => () => one.api.post('/api/v1/signup', { waitlist_id: waitlist.id, email }, { from })),
    );
    const logins = await statuses([1, 2].map(() => () => logIn(one, email, from)));

    expect(signups).toEqual([200, 200, 429]);
    expect(logins).toEqual([401, 429]);
    expect(performance.now() - since).toBeLessThan(PROMPT_MS);
  });

  it('are shared again when Redis is back', async () => {
    const [one, other] = await start({ RATE_LIMIT_PUBLIC: '1' });
    await until(() => areShared(one, other));
    await proxy.cut();
    expect(await areShared(one, other)).toBe(false);

    await proxy.restore();

    await until(() => areShared(one, other));
  });

  it.each([
    ['is away', async () => `redis://:canary@127.0.0.1:${await freePort()}`],
    [
      'refuses the password',
      () => Object.assign(new URL(proxy.url), { username: 'stranger', password: 'canary' }).href,
    ],
  ])(
    'do not stop a replica from starting when Redis %s: it counts for itself and logs one proxy, without the password',
    async (_, redisUrl) => {
      const service = await ServiceProcess.spawn({
        DATABASE_URL: 'sqlite::memory:',
        ...NO_OWNER,
        REDIS_URL: await redisUrl(),
        RATE_LIMIT_PUBLIC: '1',
        LOG_LEVEL: 'trace',
      });
      const look = async () => (await service.call('GET', '/api/v1/signup?waitlist_id=1&email=a@example.com')).status;
      try {
        await service.started();
        expect([await look(), await look()]).toEqual([404, 429]);
        expect(service.output.split('Redis is away')).toHaveLength(2);
        expect(service.output).not.toContain('canary');
      } finally {
        service.signal('SIGKILL');
        await service.exit;
      }
    },
  );
});
