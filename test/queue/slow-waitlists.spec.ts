import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDatabase, type TestDatabase } from '../support/database.js';
import { DatabaseProxy } from '../support/database-proxy.js';
import { type Queue, queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { Person } from '../support/world.js';

const onServer = process.env.TEST_DATABASE_URL ? describe : describe.skip;
const CONNECTIONS = 10;
/** Batches of lookups that may run at once; and those that count in crowded buckets. */
const RUNS = 5;
const CROWDED_RUNS = 2;
/** More records than a lookup counts in a shared batch. */
const CROWD = 1_050;
/** More lookups than a batch has. */
const LOOKUPS = 320;
const PAUSE_MS = 150;
const LISTS = 100;

/** Somebody's waitlist and contact. */
interface Target {
  readonly id: number;
  readonly emailKey: string;
}

onServer(
  'a waitlist whose lookups are slow (needs TEST_DATABASE_URL: the embedded database has one connection)',
  () => {
    let database: TestDatabase;
    let proxy: DatabaseProxy;
    let service: Service;
    let queue: Queue;
    /** More than connections, each with one crowded bucket. */
    let crowds: number[];
    /** In the first of them, but in another bucket. */
    let neighbor: Target;
    let other: Target;
    beforeAll(async () => {
      database = await openDatabase(true);
      proxy = await DatabaseProxy.open(database.url);
      const url = new URL(proxy.url);
      url.searchParams.set('connectionLimit', String(CONNECTIONS));
      service = await startService({ environment: { DATABASE_URL: url.href } });
      queue = queueOf(service.app);
      other = await newTarget();
      crowds = [];
      for (let count = 0; count <= CONNECTIONS; count += 1) crowds.push(await newCrowd());
      neighbor = await join(crowds[0] as number);
    });
    afterAll(async () => {
      proxy.release();
      await service.stop();
      await proxy.close();
      await database.drop();
    });

    async function join(id: number): Promise<Target> {
      const person: Person = await service.world.signup({ id });
      return { id, emailKey: person.email };
    }

    const newTarget = async () => join((await service.world.waitlist()).id);

    /** All have the same rank key. */
    async function newCrowd(): Promise<number> {
      const { id, owner } = await service.world.waitlist();
      const lines = Array.from({ length: CROWD }, (_, index) => `u${index}@crowd.example,${index}\n`);
      const { status } = await service.api.post(`/api/v1/waitlist/${id}/import`, undefined, {
        token: owner.token,
        raw: `email,spots_advanced\n${lines.join('')}`,
        headers: { 'content-type': 'text/csv' },
      });
      expect(status).toBe(200);
      return id;
    }

    const inCrowd = (id: number): Target => ({ id, emailKey: 'u0@crowd.example' });

    async function positionOf({ id, emailKey }: Target): Promise<number | undefined> {
      return (await queue.reader.find(id, { emailKey, phoneKey: null })).waiter?.priority;
    }

    /** Resolves when so many queries are held back. */
    async function held(count: number): Promise<void> {
      while (proxy.heldCount < count) await new Promise((resolve) => setImmediate(resolve));
    }

    /** Holds back the queries that count in a crowded bucket. */
    const holdCounts = () => proxy.hold((query) => query.includes('MIN(seq)'));

    it('delays no lookup of another, and none in its other buckets, however many there are', async () => {
      holdCounts();
      const waiting = crowds.map((id) => positionOf(inCrowd(id)));
      await held(CROWDED_RUNS);

      expect(await positionOf(other)).toBe(0);
      expect(await positionOf(neighbor)).toBe(CROWD);
      expect(proxy.heldCount).toBe(CROWDED_RUNS);

      proxy.release();
      expect(await Promise.all(waiting)).toEqual(crowds.map(() => CROWD - 1));
    });

    it('answers all of its own lookups, however many wait', async () => {
      holdCounts();
      const [crowd, second] = crowds as [number, number];
      const answers = Array.from({ length: LOOKUPS }, () => positionOf(inCrowd(crowd)));
      const inSecond = positionOf(inCrowd(second));
      await held(CROWDED_RUNS);

      expect(await positionOf(other)).toBe(0);
      expect(await positionOf(neighbor)).toBe(CROWD);

      proxy.release();
      expect(await inSecond).toBe(CROWD - 1);
      expect(new Set(await Promise.all(answers))).toEqual(new Set([CROWD - 1]));
    });

    it('is not one that only waited, for the event loop or for one of many connections', async () => {
      holdCounts();
      const targets: Target[] = [];
      while (targets.length < LISTS) targets.push(await newTarget());
      const positions = targets.map(positionOf);
      setImmediate(() => {
        for (const end = Date.now() + PAUSE_MS; Date.now() < end;);
      });

      expect(await Promise.all(positions)).toEqual(targets.map(() => 0));
      expect(await Promise.all(targets.map(positionOf))).toEqual(targets.map(() => 0));
    });

    it('leaves signups half of the connections, whatever lookups do', async () => {
      const targets = await Promise.all(Array.from({ length: CONNECTIONS + 1 }, newTarget));
      proxy.hold((query) => targets.some(({ emailKey }) => query.includes(emailKey)));
      const positions = targets.map(positionOf);
      await held(RUNS);

      await join(other.id);
      expect(proxy.heldCount).toBe(RUNS);

      proxy.release();
      expect(await Promise.all(positions)).toEqual(targets.map(() => 0));
    });
  },
);
