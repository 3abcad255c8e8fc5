import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Database } from '../../src/platform/database/database.js';
import { QueueService } from '../../src/queue/queue.service.js';
import type { Page, PageRequest, Waiter } from '../../src/queue/waiter.js';
import { applicant, noRules } from '../support/applicant.js';
import { type Earned, inOrder } from '../support/oracle.js';
import { SEED } from '../support/seed.js';
import { type Service, startServices } from '../support/service.js';

const RUNS = 25;
/** Records after which a page is asked for, through all of the line. */
const CURSORS = 15;

/** People are named by a number; what refers to nobody yet is skipped. */
type Event =
  | { readonly kind: 'join'; readonly referrers: readonly number[] }
  | { readonly kind: 'offboard'; readonly people: readonly number[] }
  | { readonly kind: 'spots'; readonly spots: number };
interface Step {
  readonly event: Event;
  /** By a replica of before the counters of LATER_AXES. */
  readonly byOlder: boolean;
}

/** How the referred are counted in the order of the line came later than the other counters. */
const LATER_AXES = 'waitlist_id = ? AND axis IN (5, 6)';

interface Person extends Earned {
  readonly waiter: Waiter;
  readonly referrer: Person | undefined;
  referrals: number;
  active: boolean;
  /** Of one who left the line, the place left. */
  placeLeft?: number;
}

const someone = fc.nat({ max: 400 });
const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('join' as const),
      referrers: fc.array(someone, { minLength: 1, maxLength: 60 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('offboard' as const),
      people: fc.array(someone, { minLength: 1, maxLength: 30 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('spots' as const), spots: fc.constantFrom(0, 1, 3, 50, 10_000) }),
  },
);
const step: fc.Arbitrary<Step> = fc.record({
  event,
  byOlder: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});

describe('the engine against the order as it is meant', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  let service: Service;
  let queues: QueueService[];
  beforeAll(async () => {
    running = await startServices();
    [service] = running.services;
    queues = running.services.map(({ app }) => app.get(QueueService));
  });
  afterAll(() => running.stop());

  let turns = 0;
  /** The instances take turns. */
  const next = () => queues[(turns += 1) % queues.length]!;

  it(`gives every place, page and total exactly, whatever happened (seed ${SEED})`, async () => {
    const history = fc.array(step, { minLength: 3, maxLength: 12 });
    await fc.assert(fc.asyncProperty(history, live), { numRuns: RUNS, seed: SEED });
  });

  async function live(history: readonly Step[]): Promise<void> {
    const { id } = await service.world.waitlist();
    const people: Person[] = [];
    let spots = 3;
    for (const { event, byOlder } of history) {
      const restore = byOlder ? await keepCounters(id) : undefined;
      if (event.kind === 'join') {
        const referrers = event.referrers.map((number) => people[number]);
        const joined = await Promise.all(
          referrers.map((referrer) => next().join(id, applicant(referrer?.waiter.referralToken))),
        );
        joined.forEach(({ waiter }, index) => {
          const referrer = referrers[index];
          if (referrer) referrer.referrals += 1;
          people.push({ seq: waiter.seq, waiter, referrer, referrals: 0, active: true });
        });
        people.sort((a, b) => a.seq - b.seq);
      } else if (event.kind === 'offboard') {
        const before = line(people, spots);
        const leaving = [...new Set(event.people)]
          .flatMap((number) => people[number] ?? [])
          .filter(({ active }) => active);
        const ids = await Promise.all(leaving.map((person) => idOf(id, person)));
        const removed = await next().offboard(id, ids);
        expect(removed.map((waiter) => waiter.removedPriority)).toEqual(
          leaving.map((person) => before.indexOf(person)),
        );
        for (const person of leaving) Object.assign(person, { active: false, placeLeft: before.indexOf(person) });
      } else {
        spots = event.spots;
        await service.app.get(Database).transaction((manager) => next().setSpotsPerReferral(manager, id, event.spots));
      }
      await restore?.();
    }
    expect(people.map(({ seq }) => seq)).toEqual(people.map((_, index) => index));
    const ordered = line(people, spots);
    await expectListings(id, people, spots);
    for (const [place, { waiter }] of ordered.entries()) {
      expect((await next().find(id, waiter, noRules)).waiter).toMatchObject({ uuid: waiter.uuid, priority: place });
    }
    expect(await next().verify(id, () => undefined)).toMatchObject({ records: people.length, findings: [] });
    // What an older replica has left uncounted, this counts.
    await next().rebuild(id, () => undefined);
    expect(await next().verify(id, () => undefined)).toMatchObject({ records: people.length, findings: [] });
    await expectReferred(id, people, spots);
  }

  /** All of them, and what each filter leaves of them. */
  async function expectListings(id: number, people: readonly Person[], spots: number): Promise<void> {
    const ordered = line(people, spots);
    const listed = listedIn(ordered);
    const inOrderOf = { queue: ordered, joined: people.filter(({ active }) => active) };
    const gone = people.filter(({ active }) => !active);
    const [most] = [...people].sort((a, b) => b.referrals - a.referrals);
    const filters: [PageRequest['referredBy'], (person: Person) => boolean][] = [
      [null, () => true],
      ['anyone', ({ referrer }) => referrer !== undefined],
      [{ token: most?.waiter.referralToken ?? '' }, ({ referrer }) => referrer === most],
    ];
    for (const [referredBy, shows] of filters) {
      for (const order of ['queue', 'joined'] as const)
        await expectPages(id, listed(inOrderOf[order].filter(shows)), { referredBy, order, offboarded: false });
      await expectPages(id, listed(gone.filter(shows)), { referredBy, order: 'joined', offboarded: true });
    }
  }

  /** Also after a record that nobody referred, or that has left: as far in the line as it would be. */
  async function expectReferred(id: number, people: readonly Person[], spots: number): Promise<void> {
    const everyone = inOrder(people, spots);
    const listed = listedIn(line(people, spots));
    const shown = (some: readonly Person[]) => listed(some.filter(({ active, referrer }) => active && referrer));
    const request = { ...ALL, referredBy: 'anyone', order: 'queue' } as const;
    await expectPages(id, shown(everyone), request);
    for (let index = 0; index < everyone.length; index += 1 + Math.floor(everyone.length / CURSORS)) {
      const afterId = await idOf(id, everyone[index]!);
      const { waiters, hasMore } = await next().page(id, { ...request, start: { afterId } });
      const rest = shown(everyone.slice(index + 1));
      expect(waiters.map(({ uuid, priority }) => ({ uuid, priority }))).toEqual(rest.slice(0, request.limit));
      expect(hasMore).toBe(rest.length > request.limit);
    }
  }

  /** Puts counters back as they are when this is called, whatever happens to the line until then. */
  async function keepCounters(id: number): Promise<() => Promise<void>> {
    const database = service.app.get(Database);
    const rows: Record<string, number>[] = await database.read((manager) =>
      manager.query(`SELECT * FROM queue_bucket WHERE ${LATER_AXES}`, [id]),
    );
    return () =>
      database.transaction(async (manager) => {
        await manager.query(`DELETE FROM queue_bucket WHERE ${LATER_AXES}`, [id]);
        for (const row of rows) {
          const columns = Object.keys(row);
          await manager.query(
            `INSERT INTO queue_bucket (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
            Object.values(row),
          );
        }
      });
  }

  /** The listing by small pages, by offset and by the last id, equals the list. */
  async function expectPages(
    id: number,
    expected: readonly Pick<Waiter, 'uuid' | 'priority'>[],
    listing: Pick<PageRequest, 'referredBy' | 'order' | 'offboarded'>,
  ): Promise<void> {
    const request = { ...ALL, ...listing };
    const byOffset: (typeof expected)[number][] = [];
    const byId: typeof byOffset = [];
    const shown = ({ waiters }: Page) => waiters.map(({ uuid, priority }) => ({ uuid, priority }));
    let lastId: number | undefined;
    for (let offset = 0; offset < expected.length + ALL.limit; offset += ALL.limit) {
      const page = await next().page(id, { ...request, start: { offset } });
      byOffset.push(...shown(page));
      expect(page.total).toBe(expected.length);
      const following = await next().page(id, {
        ...request,
        start: lastId === undefined ? { offset: 0 } : { afterId: lastId },
      });
      byId.push(...shown(following));
      if (following.waiters.length > 0) lastId = following.waiters.at(-1)?.id;
    }
    expect(byOffset).toEqual(expected);
    expect(byId).toEqual(expected);
  }

  async function idOf(waitlistId: number, { waiter }: Person): Promise<number> {
    return (await next().find(waitlistId, waiter, noRules)).waiter?.id ?? 0;
  }
});

const ALL: Omit<PageRequest, 'start'> = { offboarded: false, referredBy: null, order: "joined", limit: 11, withAnswers: false }; // prettier-ignore

/** What a page shows of people, beside whom this line stands. */
function listedIn(ordered: readonly Person[]) {
  return (some: readonly Person[]) =>
    some.map((person) => ({ uuid: person.waiter.uuid, priority: person.placeLeft ?? ordered.indexOf(person) }));
}

function line(people: readonly Person[], spots: number): Person[] {
  return inOrder(people.filter(({ active }) => active), spots); // prettier-ignore
}
