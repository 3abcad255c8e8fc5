import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Database } from '../../src/platform/database/database.js';
import { QueueService } from '../../src/queue/queue.service.js';
import type { Page, Waiter } from '../../src/queue/waiter.js';
import { applicant, noRules } from '../support/applicant.js';
import { type Earned, inOrder } from '../support/oracle.js';
import { SEED } from '../support/seed.js';
import { type Service, startServices } from '../support/service.js';

const RUNS = 25;

/** People are named by a number; what refers to nobody yet is skipped. */
type Step =
  | { readonly kind: 'join'; readonly referrers: readonly number[] }
  | { readonly kind: 'offboard'; readonly people: readonly number[] }
  | { readonly kind: 'spots'; readonly spots: number };

interface Person extends Earned {
  readonly waiter: Waiter;
  referrals: number;
  active: boolean;
  /** Of one who left the line, the place left. */
  placeLeft?: number;
}

const someone = fc.nat({ max: 400 });
const step: fc.Arbitrary<Step> = fc.oneof(
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
    for (const event of history) {
      if (event.kind === 'join') {
        const referrers = event.referrers.map((number) => people[number]);
        const joined = await Promise.all(
          referrers.map((referrer) => next().join(id, applicant(referrer?.waiter.referralToken))),
        );
        joined.forEach(({ waiter }, index) => {
          const referrer = referrers[index];
          if (referrer) referrer.referrals += 1;
          people.push({ seq: waiter.seq, waiter, referrals: 0, active: true });
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
    }
    expect(people.map(({ seq }) => seq)).toEqual(people.map((_, index) => index));
    const ordered = line(people, spots);
    const listed = (some: readonly Person[]) =>
      some.map((person) => ({ uuid: person.waiter.uuid, priority: person.placeLeft ?? ordered.indexOf(person) }));
    await expectPages(id, listed(ordered), 'queue');
    await expectPages(id, listed(people.filter(({ active }) => active)), 'joined');
    await expectPages(id, listed(people.filter(({ active }) => !active)), 'joined', true);
    for (const [place, { waiter }] of ordered.entries()) {
      expect((await next().find(id, waiter, noRules)).waiter).toMatchObject({ uuid: waiter.uuid, priority: place });
    }
    expect(await next().verify(id, () => undefined)).toMatchObject({ records: people.length, findings: [] });
  }

  /** The listing by small pages, by offset and by the last id, equals the list. */
  async function expectPages(
    id: number,
    expected: readonly Pick<Waiter, 'uuid' | 'priority'>[],
    order: 'joined' | 'queue',
    offboarded = false,
  ): Promise<void> {
    const request = { offboarded, referredBy: null, order, limit: 7, withAnswers: false } as const;
    const byOffset: (typeof expected)[number][] = [];
    const byId: typeof byOffset = [];
    const shown = ({ waiters }: Page) => waiters.map(({ uuid, priority }) => ({ uuid, priority }));
    let lastId: number | undefined;
    for (let offset = 0; offset < expected.length + 7; offset += 7) {
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

function line(people: readonly Person[], spots: number): Person[] {
  return inOrder(people.filter(({ active }) => active), spots); // prettier-ignore
}
