import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Database } from '../../src/platform/database/database.js';
import type { Applicant, Page, PageRequest, Waiter } from '../../src/queue/waiter.js';
import type { Answer } from '../support/api.js';
import { applicant } from '../support/applicant.js';
import { type Earned, inOrder } from '../support/oracle.js';
import { SEED } from '../support/seed.js';
import { type Service, startService, startServices } from '../support/service.js';
import { type Queue, queueOf } from '../support/queue.js';
import { Replica } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

const RUNS = 25;
/** Cursors tried in each queue. */
const CURSORS = 15;
/** Each takes seconds, because a killed service has to start again. */
const KILLED_RUNS = Number(process.env.HISTORY_RUNS ?? 1);
/** Well above the time of a slow run: ends one that hangs. */
const KILLED_RUN_MAX_MS = 240_000;
/** A kill comes at most this long after the command was sent: from before it arrives to after its answer. */
const LIFE_MAX_MS = 100;
/** Records in the command of a kill, at least: enough that the kill finds some done and some not. */
const KILLED_CROWD_MIN = 20;

/** People are named by number; numbers that nobody has yet are skipped. */
type Command =
  | { readonly kind: 'join'; readonly referrers: readonly number[] }
  | { readonly kind: 'offboard'; readonly people: readonly number[] }
  | { readonly kind: 'spots'; readonly spots: number };

/** A command, during which a process may be killed. */
interface Step {
  readonly command: Command;
  readonly kill?: Kill;
}
interface Kill {
  readonly victim: number;
  readonly afterMs: number;
}

/** Carries out commands. An answer of null means that the command may or may not have been carried out. */
interface EntryPoint {
  /** Returns the record's uuid. */
  join(waitlist: OwnedWaitlist, guest: Applicant): Promise<string | null>;
  /** Returns the last positions. */
  offboard(waitlist: OwnedWaitlist, ids: readonly number[]): Promise<readonly (number | null)[] | null>;
  setSpots(waitlist: OwnedWaitlist, spots: number): Promise<true | null>;
  /** Resolves when the victim serves again. */
  kill(kill: Kill): Promise<void>;
}

interface Person extends Earned {
  readonly waiter: Waiter;
  readonly referrer: Person | undefined;
  referrals: number;
  active: boolean;
  /** The last position of an offboarded person. */
  lastPosition?: number;
}

const someone = fc.nat({ max: 400 });
const commandOf = (crowdMin: number): fc.Arbitrary<Command> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('join' as const),
        referrers: fc.array(someone, { minLength: crowdMin, maxLength: 60 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('offboard' as const),
        people: fc.array(someone, { minLength: crowdMin, maxLength: 30 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('spots' as const), spots: fc.constantFrom(0, 1, 3, 50, 10_000) }),
    },
  );
const step: fc.Arbitrary<Step> = fc.record({ command: commandOf(1) });
const killedStep: fc.Arbitrary<Step> = fc.record({
  command: commandOf(KILLED_CROWD_MIN),
  kill: fc.record({ victim: fc.nat(), afterMs: fc.noBias(fc.nat({ max: LIFE_MAX_MS })) }),
});
/** Two or three kills, each after some steps without one. */
const killedHistory = fc
  .array(fc.tuple(fc.array(step, { minLength: 1, maxLength: 4 }), killedStep), { minLength: 2, maxLength: 3 })
  .map((parts) => parts.flatMap(([steps, last]) => [...steps, last]));

describe('the queue against the sorted list of its facts', () => {
  describe('in one process, with one engine or two', () => {
    let running: Awaited<ReturnType<typeof startServices>>;
    let engines: Engines;
    beforeAll(async () => {
      running = await startServices();
      engines = new Engines(running.services);
    });
    afterAll(() => running.stop());

    it(`returns every position, page and total exactly after any history (seed ${SEED})`, async () => {
      const history = fc.array(step, { minLength: 3, maxLength: 12 });
      await fc.assert(fc.asyncProperty(history, (steps) => run(steps, engines, engines)), { numRuns: RUNS, seed: SEED }); // prettier-ignore
    });
  });

  describe('in processes of their own', () => {
    let observer: Service;
    let replicas: Replica[];
    beforeAll(async () => {
      observer = await startService({ isolated: true });
      // The embedded database is for one process.
      const amount = process.env.TEST_DATABASE_URL ? 2 : 1;
      const environment = { DATABASE_URL: observer.databaseUrl, OWNER_EMAIL: '' };
      replicas = Array.from({ length: amount }, () => new Replica(environment));
      await Promise.all(replicas.map((replica) => replica.start()));
    });
    afterAll(async () => {
      await Promise.all(replicas.map((replica) => replica.kill()));
      await observer.stop();
    });

    it(
      `loses and doubles nothing when processes are killed (seed ${SEED})`,
      async () => {
        const property = fc.asyncProperty(killedHistory, (steps) =>
          run(steps, new Processes(replicas), new Engines([observer])),
        );
        // Kills are not reproducible, so there is no point in shrinking the history.
        await fc.assert(property, { numRuns: KILLED_RUNS, seed: SEED, endOnFailure: true });
      },
      KILLED_RUNS * KILLED_RUN_MAX_MS,
    );
  });
});

/** Engines of this process, which take turns. They also read the results of every history. */
class Engines implements EntryPoint {
  private turns = 0;

  constructor(readonly services: readonly Service[]) {}

  next(): Queue {
    return queueOf(this.services[(this.turns += 1) % this.services.length]!.app);
  }

  async join({ id }: OwnedWaitlist, guest: Applicant): Promise<string> {
    return (await this.next().writer.join(id, guest)).waiter.uuid;
  }

  async offboard({ id }: OwnedWaitlist, ids: readonly number[]): Promise<readonly (number | null)[]> {
    return (await this.next().writer.offboard(id, ids)).map(({ removedPriority }) => removedPriority);
  }

  async setSpots({ id }: OwnedWaitlist, spots: number): Promise<true> {
    const { app } = this.services[0]!;
    await app.get(Database).transaction((_, session) => this.next().writer.setSpotsPerReferral(session, id, spots));
    return true;
  }

  kill(): never {
    throw new Error('This process is the test itself.');
  }
}

/** Services that take turns, and can be killed. */
class Processes implements EntryPoint {
  private turns = 0;

  constructor(private readonly replicas: readonly Replica[]) {}

  async join({ id }: OwnedWaitlist, { email, referrerTokens: [token] }: Applicant): Promise<string | null> {
    const link = token === undefined ? {} : { referral_link: `https://example.com/?ref_id=${token}` };
    const answer = await this.ask('POST', '/api/v1/signup', { waitlist_id: id, email, ...link });
    return answer && answer.body.uuid;
  }

  async offboard({ api_key, owner: { token } }: OwnedWaitlist, ids: readonly number[]): Promise<number[] | null> {
    const body = { api_key, offboard_request: true, waiters: ids.map((id) => ({ id })) };
    const answer = await this.ask('PATCH', '/api/v1/waiter', body, token);
    return answer && answer.body.map(({ removed_priority }: { removed_priority: number }) => removed_priority);
  }

  async setSpots({ id, owner: { token } }: OwnedWaitlist, spots: number): Promise<true | null> {
    const answer = await this.ask('PATCH', `/api/v1/waitlist/${id}`, { spots_to_move_upon_referral: spots }, token);
    return answer && true;
  }

  async kill({ victim, afterMs }: Kill): Promise<void> {
    await setTimeout(afterMs);
    const replica = this.replicas[victim % this.replicas.length]!;
    await replica.kill();
    await replica.start();
  }

  private async ask(method: string, path: string, body: object, token?: string): Promise<Answer | null> {
    const { process } = this.replicas[(this.turns += 1) % this.replicas.length]!;
    const answer = await process.callIfAlive(method, path, body, { token });
    if (answer) expect([200, 503]).toContain(answer.status);
    return answer?.status === 200 ? answer : null;
  }
}

/** Runs a history through an entry point, reads the result of each step, and compares everything at the end. */
async function run(history: readonly Step[], entryPoint: EntryPoint, engines: Engines): Promise<void> {
  const [service] = engines.services;
  const waitlist = await service!.world.waitlist();
  const { id } = waitlist;
  const find = async ({ email }: Pick<Waiter, 'email'>) =>
    (await engines.next().reader.find(id, { emailKey: email, phoneKey: null })).waiter;
  const people: Person[] = [];
  let spots = 3;
  for (const { command, kill } of history) {
    const killing = kill && entryPoint.kill(kill);
    /** Takes the queue's lock, so that a transaction of a killed process has ended: the server may still have run it. */
    const settle = async () => {
      await killing;
      await engines.next().writer.offboard(id, []);
    };
    if (command.kind === 'join') {
      const guests = command.referrers.map((number) => {
        const referrer = people[number];
        return { referrer, ...applicant(referrer?.waiter.referralToken) };
      });
      const answers = await Promise.all(guests.map((guest) => entryPoint.join(waitlist, guest)));
      await settle();
      const found = await Promise.all(guests.map(find));
      for (const [index, waiter] of found.entries()) {
        if (answers[index] !== null) expect(waiter?.uuid).toBe(answers[index]);
        if (!waiter) continue;
        const { referrer } = guests[index]!;
        if (referrer) referrer.referrals += 1;
        people.push({ seq: waiter.seq, waiter, referrer, referrals: 0, active: true });
      }
      people.sort((a, b) => a.seq - b.seq);
    } else if (command.kind === 'offboard') {
      const before = line(people, spots);
      const leaving = [...new Set(command.people)].flatMap((number) => people[number] ?? []).filter(({ active }) => active); // prettier-ignore
      const places = leaving.map((person) => before.indexOf(person));
      const removed = leaving.length > 0 ? await entryPoint.offboard(waitlist, leaving.map(({ waiter }) => waiter.id)) : []; // prettier-ignore
      await settle();
      const found = await Promise.all(leaving.map(({ waiter }) => find(waiter)));
      const isDone = found.some((waiter) => !waiter?.active);
      if (removed !== null) expect([isDone, removed]).toEqual([leaving.length > 0, places]);
      // All of them or none.
      expect(found.map((waiter) => waiter?.removedPriority)).toEqual(places.map((place) => (isDone ? place : null)));
      if (isDone)
        leaving.forEach((person, index) => Object.assign(person, { active: false, lastPosition: places[index] }));
    } else {
      const answer = await entryPoint.setSpots(waitlist, command.spots);
      await settle();
      const { spotsPerReferral } = await engines.next().reader.waitlist(id);
      expect(answer ? [command.spots] : [spots, command.spots]).toContain(spotsPerReferral);
      spots = spotsPerReferral;
    }
  }
  expect(people.map(({ seq }) => seq)).toEqual(people.map((_, index) => index));
  await expectListings(engines, id, people, spots);
  for (const [place, { waiter }] of line(people, spots).entries())
    expect(await find(waiter)).toMatchObject({ uuid: waiter.uuid, priority: place });
  expect(await engines.next().auditor.verify(id, () => undefined)).toMatchObject({
    records: people.length,
    findings: [],
  });
  await expectReferred(engines, id, people, spots);
}

/** Every listing: each filter in each order. */
async function expectListings(engines: Engines, id: number, people: readonly Person[], spots: number): Promise<void> {
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
      await expectPages(engines, id, listed(inOrderOf[order].filter(shows)), { referredBy, order, offboarded: false });
    await expectPages(engines, id, listed(gone.filter(shows)), { referredBy, order: 'joined', offboarded: true });
  }
}

/** Pages of the referred in queue order, also after records that are not referred or no longer in the queue. */
async function expectReferred(engines: Engines, id: number, people: readonly Person[], spots: number): Promise<void> {
  const everyone = inOrder(people, spots);
  const listed = listedIn(line(people, spots));
  const shown = (some: readonly Person[]) => listed(some.filter(({ active, referrer }) => active && referrer));
  const request = { ...ALL, referredBy: 'anyone', order: 'queue' } as const;
  await expectPages(engines, id, shown(everyone), request);
  for (let index = 0; index < everyone.length; index += 1 + Math.floor(everyone.length / CURSORS)) {
    const afterId = everyone[index]!.waiter.id;
    const { waiters, nextAfterId } = await engines.next().pages.page(id, { ...request, start: { afterId } });
    const rest = shown(everyone.slice(index + 1));
    expect(waiters.map(({ uuid, priority }) => ({ uuid, priority }))).toEqual(rest.slice(0, request.limit));
    expect(nextAfterId !== null).toBe(rest.length > request.limit);
  }
}

/** Small pages, by offset and by cursor, add up to the list. */
async function expectPages(
  engines: Engines,
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
    const page = await engines.next().pages.page(id, { ...request, start: { offset } });
    byOffset.push(...shown(page));
    expect(page.total).toBe(expected.length);
    const following = await engines.next().pages.page(id, {
      ...request,
      start: lastId === undefined ? { offset: 0 } : { afterId: lastId },
    });
    byId.push(...shown(following));
    if (following.waiters.length > 0) lastId = following.waiters.at(-1)?.id;
  }
  expect(byOffset).toEqual(expected);
  expect(byId).toEqual(expected);
}

function line(people: readonly Person[], spots: number): Person[] {
  return inOrder(people.filter(({ active }) => active), spots); // prettier-ignore
}

const ALL: Omit<PageRequest, 'start'> = { offboarded: false, referredBy: null, order: 'joined', limit: 11, withAnswers: false }; // prettier-ignore

/** What a page shows of people, given the queue in order. */
function listedIn(ordered: readonly Person[]) {
  return (some: readonly Person[]) =>
    some.map((person) => ({ uuid: person.waiter.uuid, priority: person.lastPosition ?? ordered.indexOf(person) }));
}
