import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Earned, inOrder } from '../support/oracle.js';
import { SEED } from '../support/seed.js';
import { type Service, startService } from '../support/service.js';
import type { Owner, OwnedWaitlist, Person } from '../support/world.js';

describe('the order of the queue', () => {
  let service: Service;
  let owner: Owner;
  beforeAll(async () => {
    service = await startService();
    owner = await service.world.owner();
  });
  afterAll(() => service.stop());

  it('moves a referrer past exactly three people', async () => {
    const { world } = service;
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 3 });
    const [, , , , ada] = await world.signups(waitlist, 5);

    await world.signup(waitlist, { referral_link: ada?.referral_link });

    expect(await world.priorityOf(ada!)).toBe(1);
  });

  it('reorders past referrals too when a referral becomes worth more, or nothing', async () => {
    const { world } = service;
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 1 }, owner);
    const [, , , ada] = await world.signups(waitlist, 4);
    await world.signup(waitlist, { referral_link: ada?.referral_link });
    const positions: number[] = [];

    for (const spots of [1, 2, 10_000, 0]) {
      await setSpots(waitlist, spots);
      positions.push(await world.priorityOf(ada!));
    }

    expect(positions).toEqual([2, 1, 0, 3]);
  });

  const HISTORIES = 20;
  const EVENTS_MAX = 30;
  /** Ends the search for the smallest failing history; a passing run takes some seconds. */
  const TIME_MAX_MS = 120_000;

  it(`follows from the facts alone after any history (seed ${SEED})`, async () => {
    await fc.assert(fc.asyncProperty(history, run), {
      seed: SEED,
      numRuns: HISTORIES,
      interruptAfterTimeLimit: TIME_MAX_MS,
      markInterruptAsFailure: true,
    });
  });

  type Event =
    | { readonly kind: 'signup'; readonly referrer: number | null }
    | { readonly kind: 'again'; readonly who: number; readonly referrer: number | null }
    | { readonly kind: 'offboard'; readonly who: readonly number[] }
    | { readonly kind: 'spots'; readonly spots: number };

  /** One of the people who joined so far: an index modulo their number. */
  const someone = fc.nat({ max: 999 });
  const referrer = fc.option(someone, { freq: 3 });
  const history = fc.array(
    fc.oneof<fc.WeightedArbitrary<Event>[]>(
      { weight: 10, arbitrary: fc.record({ kind: fc.constant('signup'), referrer }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('again'), who: someone, referrer }) },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('offboard'), who: fc.array(someone, { minLength: 1, maxLength: 4 }) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('spots'), spots: fc.constantFrom(0, 1, 2, 3, 5, 10_000) }),
      },
    ),
    { minLength: 5, maxLength: EVENTS_MAX },
  );

  /** The facts that decide positions, kept by the test itself. */
  interface Facts extends Earned {
    readonly person: Person;
    readonly id: number;
    referrals: number;
    removedAt: number | null;
  }

  function positionsOf(everyone: readonly Facts[], spots: number): Map<string, number> {
    const active = everyone.filter(({ removedAt }) => removedAt === null);
    return new Map(inOrder(active, spots).map(({ person }, position) => [person.uuid, position]));
  }

  /** Runs a history through HTTP, and compares each answer and the result with the oracle. */
  async function run(events: readonly Event[]): Promise<void> {
    const { world } = service;
    let spots = 3;
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: spots }, owner);
    const everyone: Facts[] = [];
    const pick = (number: number | null) => (number === null ? undefined : everyone[number % everyone.length]);

    for (const event of events) {
      if (event.kind === 'signup') {
        const by = pick(event.referrer);
        const person = await world.signup(waitlist, { referral_link: by?.person.referral_link });
        if (by) by.referrals += 1;
        const id = await world.idOf(waitlist, person);
        everyone.push({ person, id, seq: everyone.length, referrals: 0, removedAt: null });
        expect(person.priority).toBe(positionsOf(everyone, spots).get(person.uuid));
      } else if (event.kind === 'again') {
        const who = pick(event.who);
        if (!who) continue;
        const referral_link = pick(event.referrer)?.person.referral_link;
        const found = await world.signup(waitlist, { email: who.person.email.toUpperCase(), referral_link });
        expect(found.uuid).toBe(who.person.uuid);
        expect(found.priority).toBe(who.removedAt ?? positionsOf(everyone, spots).get(who.person.uuid));
      } else if (event.kind === 'offboard') {
        const named = event.who.flatMap((number) => pick(number) ?? []);
        const leaving = [...new Set(named)].filter(({ removedAt }) => removedAt === null);
        if (named.length === 0) continue;
        const before = positionsOf(everyone, spots);
        const removed = await world.offboard(waitlist, named.map(({ id }) => id)); // prettier-ignore
        for (const facts of leaving) facts.removedAt = before.get(facts.person.uuid)!;
        expect(removed.map(({ uuid, removed_priority }) => [uuid, removed_priority])).toEqual(
          leaving.map(({ person, removedAt }) => [person.uuid, removedAt]),
        );
      } else {
        spots = event.spots;
        await setSpots(waitlist, spots);
      }
    }

    const positions = positionsOf(everyone, spots);
    const listed = await world.list(waitlist);
    const standing = everyone.filter(({ removedAt }) => removedAt === null);
    expect(listed.map(({ uuid, priority, amount_referred }) => [uuid, priority, amount_referred])).toEqual(
      standing.map(({ person, referrals }) => [person.uuid, positions.get(person.uuid), referrals]),
    );
    const inQueue = await world.list(waitlist, { order: 'queue' });
    expect(inQueue.map(({ uuid }) => uuid)).toEqual([...positions.keys()]);
    const gone = await world.list(waitlist, { offboarded_request: true });
    expect(
      gone.map(({ uuid, removed_priority, amount_referred }) => [uuid, removed_priority, amount_referred]),
    ).toEqual(
      everyone.flatMap(({ person, removedAt, referrals }) => (removedAt === null ? [] : [[person.uuid, removedAt, referrals]])), // prettier-ignore
    );
    for (const { person, removedAt } of everyone) {
      expect(await world.priorityOf(person)).toBe(removedAt ?? positions.get(person.uuid));
    }
  }

  async function setSpots({ id, owner: { token } }: OwnedWaitlist, spots: number): Promise<void> {
    const answer = await service.api.patch(`/api/v1/waitlist/${id}`, { spots_to_move_upon_referral: spots }, { token });
    expect(answer.status).toBe(200);
  }
});
