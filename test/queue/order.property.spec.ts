import { createHash, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { QueueStatistics } from '../../src/queue/read/queue.statistics.js';
import { LeaveLinkStore } from '../../src/outbox/leave-link.store.js';
import { VerificationLinkStore } from '../../src/outbox/verification-link.store.js';
import { Database } from '../../src/platform/database/database.js';
import { toSqlTime } from '../../src/platform/database/dialect.js';
import { select, write } from '../../src/platform/database/session.js';
import { DAY_FIELDS } from '../../src/queue/order/day-counts.js';
import { RANK_BASE } from '../../src/queue/order/rank-key.js';
import { OFFER_STATES, type OfferState } from '../../src/queue/offers/offer.js';
import { dayOf } from '../../src/queue/order/day-counts.js';
import type { Applicant, Credit, Page, PageRequest, Status, Waiter } from '../../src/queue/record/waiter.js';
import { CREDITS, type RemovedReason, STATUSES } from '../../src/queue/record/waiter.entity.js';
import { ReleaseRunner } from '../../src/queue/release/release.runner.js';
import type { ReleaseRun } from '../../src/queue/release/release-run.js';
import type { OfferRules } from '../../src/queue/settings/offer-rules.js';
import { ReleaseDueTable } from '../../src/queue/settings/release-due.table.js';
import type { ReleasePlan } from '../../src/queue/settings/release-plan.js';
import { type Verification, VERIFICATIONS } from '../../src/queue/settings/waitlist.entity.js';
import type { Answer, Method } from '../support/api.js';
import { applicant } from '../support/applicant.js';
import { type Earned, inOrder } from '../support/oracle.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { commands, FIRST_PAGE, queueOf } from '../support/queue.js';
import { SEED } from '../support/seed.js';
import { type Service, startService, startServices } from '../support/service.js';
import { farFromHalfHour, NO_OWNER, Replica, until } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

const RUNS = 10;
/** Ends the search for the smallest failing history; the runs of a sound queue take some seconds. */
const SEARCH_MAX_MS = 180_000;
/** Records of a page: few, so that a listing has several pages. */
const LIMIT = 11;
/** Cursors tried in each listing. */
const CURSORS = 8;
/** Each takes seconds, because a killed service has to start again. */
const KILLED_RUNS = Number(process.env.HISTORY_RUNS ?? 1);
/** Well above the time of a slow run: ends one that hangs. */
const KILLED_RUN_MAX_MS = 240_000;
/** A kill comes at most this long after the command was sent: from before it arrives to after its answer. */
const KILL_DELAY_MAX_MS = 100;
/** Records in the command of a kill, at least: enough that the kill finds some done and some not. */
const KILLED_CROWD_MIN = 20;

/** Mails are configured, because verification needs them, but none is sent. */
const MAIL = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'test@example.com' };
/** Somebody who lets this many offers expire is out. */
const EXPIRED_MAX = 3;
const HOUR_MS = 3_600_000;
const HOURLY = { every: 'hour', weekdays: null, at: null, time_zone: 'UTC', until: null } as const;
/** A domain of throwaway mailboxes. */
const THROWAWAY = 'mailinator.com';

interface ToPeople<Kind extends string> {
  readonly kind: Kind;
  readonly people: readonly number[];
}

/** People are named by number; numbers that nobody has yet are skipped. */
type Command =
  /** `isReturn`: erased people sign up anew. */
  | {
      readonly kind: 'join';
      readonly referrers: readonly number[];
      readonly isReturn: boolean;
      /** Every so many signups come from a throwaway mailbox. */
      readonly suspiciousEvery: number;
    }
  | ToPeople<'offboard'>
  | ToPeople<'correct'>
  | ToPeople<'erase'>
  | ToPeople<'leave'>
  | ToPeople<'click'>
  | ToPeople<'confirm'>
  | ToPeople<'doubt'>
  /** `isTogether`: by one call. */
  | (ToPeople<'approve'> & { readonly isTogether: boolean })
  | (ToPeople<'refuse'> & { readonly isTogether: boolean })
  | ToPeople<'refuse all'>
  /** To the named people, or to as many of the first: by one call, or by one each. */
  | (ToPeople<'offer'> & { readonly to: 'named' | 'first' | 'first, one by one' })
  /** By the codes, every second one declines. `isDisputed`: the other answer comes at the same moment. */
  | (ToPeople<'answer'> & { readonly isDisputed: boolean })
  /** The time of their offers is over. `isLate`: they answer before the sweep comes. */
  | (ToPeople<'expire'> & { readonly isLate: boolean })
  | ToPeople<'return'>
  /** A run of a plan with this many seats more than are taken now. `isPlanned`: by its time, else by hand. */
  | {
      readonly kind: 'release';
      readonly count: number;
      readonly free: number | null;
      readonly isPlanned: boolean;
    }
  | { readonly kind: 'rule'; readonly onExpiry: OfferRules['on_expiry'] }
  | { readonly kind: 'verification'; readonly verification: Verification }
  | { readonly kind: 'advance'; readonly people: readonly number[]; readonly spots: number }
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

/** What the owner sees of an offer when it is made. */
interface Offered {
  readonly uuid: string;
  readonly place: number;
}

type Correction =
  | { readonly email: string }
  | { readonly spotsToAdvance: number }
  | { readonly verified: boolean }
  | { readonly credit: 'credited' | 'refused' };

/** Carries out commands. An answer of null means that the command may or may not have been carried out. */
interface EntryPoint {
  join(waitlist: OwnedWaitlist, guest: Applicant): Promise<Pick<Waiter, 'uuid' | 'priority'> | null>;
  /** Returns the last positions. */
  offboard(waitlist: OwnedWaitlist, ids: readonly number[]): Promise<readonly (number | null)[] | null>;
  correct(waitlist: OwnedWaitlist, uuid: string, changes: Correction): Promise<true | null>;
  erase(waitlist: OwnedWaitlist, uuids: readonly string[]): Promise<true | null>;
  /** The person leaves, by HTTP by a mailed link. */
  leave(waitlist: OwnedWaitlist, uuid: string, token: string): Promise<true | null>;
  /** Uses a link of a verification mail. */
  click(waitlist: OwnedWaitlist, token: string): Promise<true | null>;
  /** Returns the number of people whose credit changed. */
  decide(waitlist: OwnedWaitlist, uuids: readonly string[], credit: 'credited' | 'refused'): Promise<number | null>;
  /** Returns the number of referrals that changed. */
  refuseAll(waitlist: OwnedWaitlist, referralToken: string): Promise<number | null>;
  configure(
    waitlist: OwnedWaitlist,
    changes:
      | { readonly spotsPerReferral: number }
      | { readonly verification: Verification }
      | { readonly onExpiry: OfferRules['on_expiry'] },
  ): Promise<true | null>;
  /** Offers a seat to these people, or to this many of the first. */
  offer(waitlist: OwnedWaitlist, to: readonly string[] | number): Promise<readonly Offered[] | null>;
  /** Runs the release plan now, and returns the number of its offers. */
  release(waitlist: OwnedWaitlist): Promise<number | null>;
  /** Answers an offer by its code, and returns the state that it has then. */
  answer(waitlist: OwnedWaitlist, code: string, answer: 'accepted' | 'declined'): Promise<OfferState | null>;
  /** Returns the uuids of those who came back. */
  return(waitlist: OwnedWaitlist, uuids: readonly string[]): Promise<readonly string[] | null>;
}

/** An offer as it is stored. */
interface OfferRow {
  readonly uuid: string;
  readonly state: OfferState;
  readonly madeDay: string;
  readonly acceptedDay: string | null;
  readonly endedDay: string | null;
}

interface Setup {
  readonly entryPoint: EntryPoint;
  /** The services that read the results, in turn. */
  readonly next: () => Service;
  /** Resolves when the victim serves again. */
  readonly kill?: (kill: Kill) => Promise<void>;
}

interface Person {
  readonly waiter: Waiter;
  readonly referrer: Person | undefined;
  email: string;
  advanced: number;
  verified: boolean;
  status: Status;
  credit: Credit;
  /** The number in the queue; that of a pending person is not known yet. */
  seq: number;
  /** The position that an offboarded person had, and that is kept for an offered one. */
  lastPosition?: number;
  /** When an offboarded person left. */
  removedAt?: Date;
  removedReason: RemovedReason | null;
  /** How many people were ahead when the person entered the queue. */
  joinedPriority: number | null;
  /** The states of the offers that the person got, one after the other. */
  readonly offers: OfferState[];
  /** The spots that their referrals had earned when the person was erased: their tombstone does not move any more. */
  erasedWithSpots?: number;
}

/** Often one of the first few, whom several then name at the same moment. */
const someone = fc.oneof(fc.nat({ max: 4 }), fc.nat({ max: 400 }));
const commandOf = (crowdMin: number): fc.Arbitrary<Command> => {
  const referrers = fc.array(someone, { minLength: crowdMin, maxLength: 60 });
  const people = fc.array(someone, { minLength: crowdMin, maxLength: 30 });
  const spots = fc.constantFrom(0, 1, 3, 50, 10_000);
  const granted = fc.oneof(fc.integer({ min: -20, max: 60 }), fc.constantFrom(-1_000_000, 1_000_000));
  return fc.oneof<fc.WeightedArbitrary<Command>[]>(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('join'),
        referrers,
        isReturn: fc.boolean(),
        suspiciousEvery: fc.constantFrom(2, 5, 1_000),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('offboard', 'correct', 'erase'), people }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave'), people }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('click', 'confirm', 'doubt'), people }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constantFrom('approve', 'refuse'), people, isTogether: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('refuse all'), people }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('offer'),
        people,
        to: fc.constantFrom('named', 'first', 'first, one by one'),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer'), people, isDisputed: fc.boolean() }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('expire'), people, isLate: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('return'), people }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('release'),
        count: fc.integer({ min: 1, max: 30 }),
        free: fc.oneof(fc.constant(null), fc.integer({ min: -2, max: 20 })),
        isPlanned: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('rule'), onExpiry: fc.constantFrom('out', 'end') }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('verification'), verification: fc.constantFrom(...VERIFICATIONS) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance'), people, spots: granted }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('spots'), spots }) },
  );
};
const step: fc.Arbitrary<Step> = fc.record({ command: commandOf(1) });
const killedStep: fc.Arbitrary<Step> = fc.record({
  command: commandOf(KILLED_CROWD_MIN),
  kill: fc.record({ victim: fc.nat(), afterMs: fc.noBias(fc.nat({ max: KILL_DELAY_MAX_MS })) }),
});
const history = fc.array(step, { minLength: 3, maxLength: 14 });
/** Two or three kills, each after some steps without one. */
const killedHistory = fc
  .array(fc.tuple(fc.array(step, { minLength: 1, maxLength: 4 }), killedStep), { minLength: 2, maxLength: 3 })
  .map((parts) => parts.flatMap(([steps, last]) => [...steps, last]));

describe('the order of the queue', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  let next: () => Service;
  beforeAll(async () => {
    running = await startServices(MAIL);
    next = inTurn(running.services);
  });
  afterAll(() => running.stop());

  it('moves a referrer past exactly three people', async () => {
    const { world } = next();
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 3 });
    const [, , , , ada] = await world.signups(waitlist, 5);

    await world.signup(waitlist, { referral_link: ada?.referral_link });

    expect(await world.priorityOf(ada!)).toBe(1);
  });

  it('earns nobody a place when somebody joins and leaves in a circle', async () => {
    const { world, app } = next();
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 1 });
    const people = await world.signups(waitlist, 4);
    const ada = people.at(-1)!;
    const email = `${randomUUID()}@example.com`;
    const positions: number[] = [];

    for (let round = 0; round < 3; round += 1) {
      const eve = await world.signup(waitlist, { email, referral_link: ada.referral_link });
      positions.push(await world.priorityOf(ada));
      await queueOf(app).writer.submit(
        waitlist.id,
        commands.leave(eve.uuid, () => true, randomUUID()),
      );
      positions.push(await world.priorityOf(ada));
    }

    expect(positions).toEqual([2, 3, 2, 3, 2, 3]);
    expect(await queueOf(app).auditor.verify(waitlist.id, () => undefined)).toMatchObject({ findings: [] });
  });

  it('reorders past referrals too when a referral becomes worth more, or nothing', async () => {
    const { world, api } = next();
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 1 });
    const [, , , ada] = await world.signups(waitlist, 4);
    await world.signup(waitlist, { referral_link: ada?.referral_link });
    const positions: number[] = [];

    for (const spots of [1, 2, 10_000, 0]) {
      await api.patch(`/api/v1/waitlist/${waitlist.id}`, { spots_to_move_upon_referral: spots }, waitlist.owner);
      positions.push(await world.priorityOf(ada!));
    }

    expect(positions).toEqual([2, 1, 0, 3]);
  });

  it.each<[string, () => EntryPoint]>([
    ['the queue module', () => queueModule(next)],
    ['HTTP', () => http((method, path, body, token) => next().api.call(method, path, body, { token }))],
  ])(`is exact after any history through %s (seed ${SEED})`, async (_, entryPointOf) => {
    const setup = { entryPoint: entryPointOf(), next };
    await fc.assert(
      fc.asyncProperty(history, (steps) => run(steps, setup)),
      { seed: SEED, numRuns: RUNS, interruptAfterTimeLimit: SEARCH_MAX_MS, markInterruptAsFailure: true },
    );
  });
});

describe('killed processes', () => {
  let observer: Service;
  let replicas: Replica[];
  beforeAll(async () => {
    observer = await startService({ isolated: true, environment: MAIL });
    // The embedded database is for one process.
    const amount = process.env.TEST_DATABASE_URL ? 2 : 1;
    const environment = { DATABASE_URL: observer.databaseUrl, ...NO_OWNER, ...MAIL };
    replicas = Array.from({ length: amount }, () => new Replica(environment));
    await Promise.all(replicas.map((replica) => replica.start()));
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    await observer.stop();
  });

  it(
    `lose no command and carry out none twice (seed ${SEED})`,
    async () => {
      const nextReplica = inTurn(replicas);
      const entryPoint = http(async (method, path, body, token) => {
        const answer = await nextReplica().process.callIfAlive(method, path, body, { token });
        // It does not tell whether the command was carried out.
        return answer?.status === 503 ? null : answer;
      });
      const kill = async ({ victim, afterMs }: Kill) => {
        await setTimeout(afterMs);
        const replica = replicas[victim % replicas.length]!;
        await replica.kill();
        await replica.start();
      };
      const setup = { entryPoint, next: () => observer, kill };
      const property = fc.asyncProperty(killedHistory, (steps) => run(steps, setup));
      // Kills are not reproducible, so there is no point in shrinking the history.
      await fc.assert(property, { numRuns: KILLED_RUNS, seed: SEED, endOnFailure: true });
    },
    KILLED_RUNS * KILLED_RUN_MAX_MS,
  );
});

function inTurn<Item>(items: readonly Item[]): () => Item {
  let turns = 0;
  return () => items[(turns += 1) % items.length]!;
}

function queueModule(next: () => Service): EntryPoint {
  const writer = () => queueOf(next().app).writer;
  return {
    join: async ({ id }, guest) => (await writer().join(id, guest)).waiter,
    offboard: async ({ id }, ids) => {
      const { uuids } = await writer().submit(id, commands.offboard({ ids }, operatorWrite(1)));
      const removed = await queueOf(next().app).reader.findByUuids(id, uuids);
      return removed.map(({ removedPriority }) => removedPriority);
    },
    correct: async ({ id }, uuid, changes) => {
      expect(await writer().correct(id, uuid, changes, operatorWrite(1))).toEqual({ uuids: [uuid] });
      return true;
    },
    erase: async ({ id }, uuids) => {
      expect(await writer().submit(id, commands.erase(uuids, operatorWrite(1)))).toEqual({ uuids });
      return true;
    },
    leave: async ({ id }, uuid) => {
      expect(
        await writer().submit(
          id,
          commands.leave(uuid, () => true, randomUUID()),
        ),
      ).toEqual({ uuids: [uuid] });
      return true;
    },
    click: async ({ id }, token) => {
      await writer().submit(id, commands.verify(hashOf(token)));
      return true;
    },
    decide: async ({ id }, uuids, credit) => {
      const decision = commands.decideReferrals(uuids, credit, operatorWrite(1));
      return (await writer().submit(id, decision)).uuids.length;
    },
    refuseAll: async ({ id }, token) =>
      (await writer().submit(id, commands.refuseReferrals(token, operatorWrite(1)))).refused,
    configure: async ({ id }, changes) => {
      const settings = 'onExpiry' in changes ? { offers: { on_expiry: changes.onExpiry } } : changes;
      await writer().configure(id, settings, operatorWrite(1));
      return true;
    },
    offer: async ({ id }, to) => {
      const queue = queueOf(next().app);
      const amount = typeof to === 'number' ? to : to.length;
      const codes = Array.from({ length: amount }, () => queue.codes.make());
      const selection = typeof to === 'number' ? { next: to } : { uuids: to };
      const { uuids } = await writer().submit(id, commands.makeOffers({ selection, codes }, operatorWrite(1)));
      const found = await queue.reader.findByUuids(id, uuids);
      const places = new Map(found.map(({ uuid, priority }) => [uuid, priority]));
      return uuids.map((uuid) => ({ uuid, place: places.get(uuid)! }));
    },
    release: async ({ id }) => {
      const run = await next().app.get(ReleaseRunner).runNow(id, operatorWrite(1));
      return run.offered;
    },
    answer: async ({ id }, code, answer) => {
      const command = commands.answerOffer(hashOf(code), answer, { requestId: randomUUID() });
      return (await writer().submit(id, command)).state;
    },
    return: async ({ id }, uuids) => (await writer().submit(id, commands.returnWaiters(uuids, operatorWrite(1)))).uuids,
  };
}

function http(
  call: (method: Method, path: string, body: object, token?: string) => Promise<Answer | null>,
): EntryPoint {
  const ask: typeof call = async (...request) => {
    const [method, path] = request;
    const answer = await call(...request);
    const usual = method === 'DELETE' ? [204] : /\/(?:verify|leave)\//.test(path) ? [303] : [200];
    // An offer that has ended is answered with a page.
    if (answer)
      expect(path.startsWith('/waitlist/') && path.includes('/offer/') ? [200, 303] : usual).toContain(answer.status);
    return answer;
  };
  return {
    join: async ({ id }, { email, referrerTokens: [token] }) => {
      const link = token === undefined ? {} : { referral_link: `https://example.com/?ref_id=${token}` };
      const answer = await ask('POST', '/api/v1/signup', { waitlist_id: id, email, ...link });
      return answer && answer.body;
    },
    offboard: async ({ api_key, owner: { token } }, ids) => {
      const body = { api_key, offboard_request: true, waiters: ids.map((id) => ({ id })) };
      const answer = await ask('PATCH', '/api/v1/waiter', body, token);
      return answer && answer.body.map(({ removed_priority }: { removed_priority: number }) => removed_priority);
    },
    correct: async ({ owner: { token } }, uuid, changes) => {
      const body = 'spotsToAdvance' in changes ? { spots_to_advance: changes.spotsToAdvance } : changes;
      const answer = await ask('PATCH', `/api/v1/signup/${uuid}`, body, token);
      if (answer) expect(answer.body).toMatchObject({ uuid });
      return answer && true;
    },
    erase: async ({ id, owner: { token } }, uuids) => {
      const body = { waitlist_id: id, signups: uuids.map((uuid) => ({ uuid })) };
      const answer = await ask('DELETE', '/api/v1/signup', body, token);
      return answer && true;
    },
    leave: async ({ id }, _, token) => (await ask('POST', `/waitlist/${id}/leave/${token}`, {})) && true,
    click: async ({ id }, token) => (await ask('POST', `/waitlist/${id}/verify/${token}`, {})) && true,
    decide: async ({ id, owner: { token } }, uuids, credit) => {
      const body = { credit, signups: uuids.map((uuid) => ({ uuid })) };
      const answer = await ask('POST', `/api/v1/waitlist/${id}/decide_referrals`, body, token);
      return answer && answer.body.changed;
    },
    refuseAll: async ({ id, owner: { token } }, referral_token) => {
      const answer = await ask('POST', `/api/v1/waitlist/${id}/refuse_referrals`, { referral_token }, token);
      return answer && answer.body.refused;
    },
    configure: async ({ id, owner: { token } }, changes) => {
      const body =
        'verification' in changes
          ? changes
          : 'onExpiry' in changes
            ? { offers: { on_expiry: changes.onExpiry } }
            : { spots_to_move_upon_referral: changes.spotsPerReferral };
      return (await ask('PATCH', `/api/v1/waitlist/${id}`, body, token)) && true;
    },
    offer: async ({ id, owner: { token } }, to) => {
      const body = typeof to === 'number' ? { count: to } : { signups: to.map((uuid) => ({ uuid })) };
      const answer = await ask('POST', `/api/v1/waitlist/${id}/offer`, body, token);
      const made: readonly { readonly uuid: string; readonly priority: number }[] | null = answer && answer.body;
      return made && made.map(({ uuid, priority }) => ({ uuid, place: priority }));
    },
    release: async ({ id, owner: { token } }) => {
      const answer = await ask('POST', `/api/v1/waitlist/${id}/release`, {}, token);
      return answer && answer.body.offered;
    },
    answer: async ({ id, owner: { token } }, code, wanted) => {
      const path = `/waitlist/${id}/offer/${code}/${wanted === 'accepted' ? 'accept' : 'decline'}`;
      const page = await ask('POST', path, {});
      const answer = page && (await ask('POST', '/api/v1/offer/check', { code }, token));
      return answer && answer.body.state;
    },
    return: async ({ id, owner: { token } }, uuids) => {
      const body = { signups: uuids.map((uuid) => ({ uuid })) };
      const answer = await ask('POST', `/api/v1/waitlist/${id}/return`, body, token);
      return answer && answer.body.map(({ uuid }: { uuid: string }) => uuid);
    },
  };
}

/** How many of the people joined, joined as referred ones and were offboarded, on each day. */
function daysOf(people: readonly Person[]): (string | number)[][] {
  const days = people.flatMap(({ waiter, removedAt }) => [waiter.createdAt, removedAt ?? []].flat().map(dayOf));
  return [...new Set(days)].sort().map((day) => {
    const joined = people.filter(({ waiter }) => dayOf(waiter.createdAt) === day);
    const referred = joined.filter(({ referrer }) => referrer !== undefined);
    return [
      day,
      joined.length,
      referred.length,
      people.filter(({ removedAt }) => removedAt && dayOf(removedAt) === day).length,
    ];
  });
}

const newToken = () => randomUUID().replaceAll('-', '').padEnd(43, 'x');
const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Runs a history and compares each answer, and at the end everything stored, with the sorted list of the facts. */
async function run(steps: readonly Step[], { entryPoint, next, kill }: Setup): Promise<void> {
  let spots = 3;
  let verification: Verification = 'off';
  let onExpiry: OfferRules['on_expiry'] = 'out';
  /** How often somebody left the queue, by an offer or by the owner. */
  let departures = 0;
  const fraud = { referrals_per_hour: null, referrals_per_network_per_hour: null };
  const waitlist = await next().world.waitlist({ spots_to_move_upon_referral: spots, fraud });
  const { id } = waitlist;
  const queue = () => queueOf(next().app);
  const find = async ({ email }: Pick<Waiter, 'email'>) =>
    (await queue().reader.find(id, { emailKey: email, phoneKey: null })).waiter;
  const findByUuid = async ({ waiter: { uuid } }: Person) => (await queue().reader.findByUuids(id, [uuid]))[0]!;
  const people: Person[] = [];
  /** Those who were in the queue once, in the order in which they took their places. */
  const entered: Person[] = [];
  const earned = () => {
    const referrals = new Map<Person | undefined, number>();
    for (const { referrer, credit } of people)
      if (credit === 'credited') referrals.set(referrer, (referrals.get(referrer) ?? 0) + 1);
    return (person: Person): Earned & { readonly person: Person } => {
      const { seq, advanced, erasedWithSpots } = person;
      // The tombstone of an erased person stays where they were, whatever a referral is worth now.
      if (erasedWithSpots !== undefined) return { person, seq, referrals: 0, advanced: advanced + erasedWithSpots };
      return { person, seq, referrals: referrals.get(person) ?? 0, advanced };
    };
  };
  const ordered = (some: readonly Person[]) => inOrder(some.map(earned()), spots).map(({ person }) => person);
  const active = () => ordered(people.filter(({ status }) => status === 'waiting'));
  const isErased = ({ erasedWithSpots }: Person) => erasedWithSpots !== undefined;
  /** Those of the numbered people who are not erased, each once. */
  const named = (numbers: readonly number[]) =>
    [...new Set(numbers)].flatMap((number) => people[number] ?? []).filter((person) => !isErased(person));
  const mustVerify = ({ status }: Person) => verification !== 'off' || status === 'pending';
  /** People who wait since this step take their places at the end, also those who had one before. */
  const enter = (arriving: readonly Person[]) => {
    const ahead = active().filter((person) => !arriving.includes(person)).length;
    for (const [index, person] of [...arriving].sort((a, b) => a.seq - b.seq).entries()) {
      const before = entered.indexOf(person);
      if (before >= 0) entered.splice(before, 1);
      entered.push(person);
      person.joinedPriority = ahead + index;
    }
  };
  /** Of an erased person. */
  const withdraw = ({ offers }: Person) => {
    if (offers.at(-1) === 'open') offers[offers.length - 1] = 'withdrawn';
  };
  const endOffer = (person: Person, state: OfferState, waiter: Waiter) => {
    person.offers[person.offers.length - 1] = state;
    const expired = person.offers.filter((other) => other === 'expired').length;
    if (state === 'expired' && onExpiry === 'end' && expired < EXPIRED_MAX) {
      delete person.lastPosition;
      Object.assign(person, { status: 'waiting', seq: waiter.seq });
    } else Object.assign(person, { status: 'offboarded', removedReason: state, removedAt: waiter.removedAt });
  };

  for (const { command, kill: planned } of steps) {
    const killing = planned && kill?.(planned);
    /** Takes the queue's lock: the server may still carry out a transaction of a killed process. */
    const settle = async () => {
      await killing;
      await queue().writer.submit(id, commands.offboard({ ids: [] }, operatorWrite(1)));
    };
    if (command.kind === 'join') {
      const taken = new Set(people.filter((person) => !isErased(person)).map(({ email }) => email));
      const gone = new Set(
        command.isReturn ? people.map(({ email }) => email).filter((email) => !taken.has(email)) : [],
      );
      const calls = command.referrers.map(async (number, index) => {
        const referrer = people[number];
        const guest = applicant(referrer?.waiter.referralToken);
        const isSuspicious = index % command.suspiciousEvery === 1;
        const own = isSuspicious ? guest.email!.replace('example.com', THROWAWAY) : guest.email!;
        const [email = own] = gone;
        gone.delete(email);
        const signals = { ...guest.trust.signals, isDisposable: email.endsWith(THROWAWAY) };
        const answer = await entryPoint.join(
          waitlist,
          applicant(referrer?.waiter.referralToken, { email, trust: { ...guest.trust, signals } }),
        );
        // The token of an erased person refers nobody.
        return { referrer: referrer && !isErased(referrer) ? referrer : undefined, email, answer };
      });
      const answered = await Promise.all(calls);
      await settle();
      const found = await Promise.all(answered.map(async (call) => ({ ...call, waiter: await find(call) })));
      expect(found.filter(({ answer, waiter }) => answer && !waiter)).toEqual([]);
      const joined = found.flatMap(({ waiter, ...call }) => (waiter ? { ...call, waiter } : []));
      for (const { referrer, email, answer, waiter } of joined.sort((a, b) => a.waiter.seq - b.waiter.seq)) {
        // Nobody is behind the newest record.
        if (answer) expect(answer).toMatchObject({ uuid: waiter.uuid, priority: active().length });
        expect(waiter.referredByToken).toBe(referrer?.waiter.referralToken ?? null);
        const earns = verification === 'off' ? 'credited' : 'awaiting_verification';
        const credit = !referrer ? 'none' : email.endsWith(THROWAWAY) ? 'withheld' : earns;
        const status = verification === 'required' ? 'pending' : 'waiting';
        expect(waiter).toMatchObject({ credit, status, verified: false });
        const person: Person = {
          waiter,
          email,
          referrer,
          advanced: 0,
          verified: false,
          status,
          credit,
          seq: waiter.seq,
          removedReason: null,
          joinedPriority: null,
          offers: [],
        };
        people.push(person);
        if (status === 'waiting') enter([person]);
      }
    } else if (command.kind === 'offboard') {
      const before = active();
      const leaving = named(command.people).filter(({ status }) => status === 'waiting' || status === 'offered');
      const positions = leaving.map((person) => person.lastPosition ?? before.indexOf(person));
      const removed =
        leaving.length > 0
          ? await entryPoint.offboard(
              waitlist,
              leaving.map(({ waiter }) => waiter.id),
            )
          : [];
      await settle();
      const found = await Promise.all(leaving.map(find));
      const isDone = removed !== null || found.some((waiter) => waiter?.status === 'offboarded');
      if (removed !== null) expect(removed).toEqual(positions);
      // All of them or none.
      expect(found.map((waiter) => [waiter?.status, waiter?.removedPriority])).toEqual(
        leaving.map((person, index) =>
          isDone ? ['offboarded', positions[index]] : [person.status, person.lastPosition ?? null],
        ),
      );
      if (!isDone) continue;
      for (const [index, person] of leaving.entries()) {
        const reason = person.status === 'offered' ? 'accepted' : 'by_owner';
        if (reason === 'by_owner') departures += 1;
        if (reason === 'accepted') person.offers[person.offers.length - 1] = 'accepted';
        Object.assign(person, {
          status: 'offboarded',
          lastPosition: positions[index],
          removedAt: found[index]!.removedAt!,
          removedReason: reason,
        });
      }
    } else if (command.kind === 'offer') {
      const before = active();
      const { length } = command.people;
      const chosen =
        command.to === 'named'
          ? named(command.people).filter(({ status }) => status === 'waiting')
          : before.slice(0, length);
      const places = chosen.map((person) => (command.to === 'first, one by one' ? 0 : before.indexOf(person)));
      const uuids = named(command.people).map(({ waiter }) => waiter.uuid);
      const calls =
        command.to === 'named'
          ? uuids.length > 0
            ? [entryPoint.offer(waitlist, uuids)]
            : []
          : command.to === 'first'
            ? [entryPoint.offer(waitlist, length)]
            : command.people.map(async () => entryPoint.offer(waitlist, 1));
      const answers = await Promise.all(calls);
      await settle();
      const stored = await Promise.all(chosen.map(findByUuid));
      const made = stored.filter(({ status }) => status === 'offered').length;
      // Nobody is skipped: those who got no offer are behind those who got one, and one call is all or nothing.
      expect(stored.map(({ status, priority }) => [status, status === 'offered' ? priority : null])).toEqual(
        chosen.map((_, index) => (index < made ? ['offered', places[index]] : ['waiting', null])),
      );
      if (calls.length === 1 && made > 0) expect(made).toBe(chosen.length);
      const told = answers.flatMap((answer) => answer ?? []);
      const expected = chosen.map(({ waiter: { uuid } }, index) => ({ uuid, place: places[index] }));
      const inAnyOrder = (some: readonly { readonly uuid: string }[]) => some.map((one) => JSON.stringify(one)).sort();
      if (calls.length > 1) expect(inAnyOrder(expected)).toEqual(expect.arrayContaining(inAnyOrder(told)));
      else if (told.length > 0) expect(told).toEqual(expected);
      if (answers.every((answer) => answer !== null))
        expect([made, told.length]).toEqual([chosen.length, chosen.length]);
      departures += made;
      for (const [index, person] of chosen.slice(0, made).entries()) {
        Object.assign(person, { status: 'offered', lastPosition: places[index] });
        person.offers.push('open');
      }
    } else if (command.kind === 'release') {
      const before = active();
      const { count, free, isPlanned } = command;
      const taken = people.filter(
        (person) => !isErased(person) && (person.status === 'offered' || person.removedReason === 'accepted'),
      ).length;
      const seats = free === null ? null : Math.max(1, taken + free);
      const earlier = new Set((await runs()).map((run) => run.id));
      await plan({ ...HOURLY, count, seats, is_active: isPlanned });
      const answer = isPlanned ? await runPlanned() : await entryPoint.release(waitlist);
      await settle();
      await endRuns();
      await plan(null);
      const ran = (await runs()).filter((run) => !earlier.has(run.id));
      const made = Math.min(before.length, count * ran.length, seats === null ? Infinity : Math.max(0, seats - taken));
      if (!isPlanned) expect(answer === null ? [0, 1] : [1]).toContain(ran.length);
      if (answer !== null) expect(answer).toBe(made);
      expect(ran.map(({ state }) => state)).toEqual(ran.map(() => 'done'));
      expect(ran.reduce((sum, { offered }) => sum + offered, 0)).toBe(made);
      const stored = await Promise.all(before.map(findByUuid));
      expect(stored.map(({ status, priority }) => [status, status === 'offered' ? priority : null])).toEqual(
        before.map((_, index) => (index < made ? ['offered', index % count] : ['waiting', null])),
      );
      departures += made;
      for (const [index, person] of before.slice(0, made).entries()) {
        Object.assign(person, { status: 'offered', lastPosition: index % count });
        person.offers.push('open');
      }
    } else if (command.kind === 'answer') {
      const asked = named(command.people).filter(({ status }) => status === 'offered');
      const codes = await codesOf(asked);
      const answered = await Promise.all(
        asked.map(async (person, index) => {
          const wanted = index % 2 === 0 ? (['accepted', 'declined'] as const) : (['declined', 'accepted'] as const);
          const given = wanted.slice(0, command.isDisputed ? 2 : 1);
          const code = codes.get(person)!;
          return {
            person,
            given,
            answers: await Promise.all(given.map((one) => entryPoint.answer(waitlist, code, one))),
          };
        }),
      );
      await settle();
      for (const { person, given, answers } of answered) {
        const waiter = await findByUuid(person);
        const told = answers.filter((answer) => answer !== null);
        if (waiter.status === 'offered') {
          expect(told).toEqual([]);
          continue;
        }
        expect(waiter).toMatchObject({ status: 'offboarded', removedPriority: person.lastPosition });
        expect(given).toContain(waiter.removedReason);
        // Whoever was first: both are told the same.
        expect([...new Set(told)]).toEqual(told.length > 0 ? [waiter.removedReason] : []);
        endOffer(person, waiter.removedReason as 'accepted' | 'declined', waiter);
      }
    } else if (command.kind === 'expire') {
      const late = named(command.people).filter(({ status }) => status === 'offered');
      const codes = await codesOf(late);
      const ends = new Date(Date.now() - HOUR_MS);
      await endTime(late, ends);
      const answers = command.isLate
        ? await Promise.all(late.map((person) => entryPoint.answer(waitlist, codes.get(person)!, 'accepted')))
        : [];
      expect(answers.filter((answer) => answer !== null && answer !== 'expired')).toEqual([]);
      await settle();
      await Promise.all([queue().sweeper.sweep(), queue().sweeper.sweep()]);
      const back: Person[] = [];
      for (const person of late) {
        const waiter = await findByUuid(person);
        endOffer(person, 'expired', waiter);
        if (person.status === 'waiting') back.push(person);
        else expect(waiter.removedAt).toEqual(ends);
      }
      enter(back);
    } else if (command.kind === 'return') {
      const gone = named(command.people).filter(({ status }) => status === 'offered' || status === 'offboarded');
      const uuids = named(command.people).map(({ waiter }) => waiter.uuid);
      const answer = uuids.length > 0 ? await entryPoint.return(waitlist, uuids) : [];
      await settle();
      const stored = await Promise.all(gone.map(findByUuid));
      const isDone = answer !== null || stored.some(({ status }) => status === 'waiting');
      // All of them or none, at the place that their facts give: the end of the history looks at all places.
      expect(stored.map(({ status }) => status)).toEqual(gone.map(({ status }) => (isDone ? 'waiting' : status)));
      if (answer !== null) expect(answer).toEqual(gone.map(({ waiter }) => waiter.uuid));
      if (!isDone) continue;
      for (const person of gone) {
        const last = person.offers.length - 1;
        if (person.offers[last] === 'open' || person.offers[last] === 'accepted') person.offers[last] = 'withdrawn';
        delete person.lastPosition;
        delete person.removedAt;
        Object.assign(person, { status: 'waiting', removedReason: null });
      }
    } else if (command.kind === 'correct' || command.kind === 'advance') {
      const corrected = await Promise.all(
        named(command.people).map(async (person) => {
          const email = `${randomUUID()}@example.com`;
          const changes = command.kind === 'correct' ? { email } : { spotsToAdvance: command.spots };
          return { person, email, answer: await entryPoint.correct(waitlist, person.waiter.uuid, changes) };
        }),
      );
      await settle();
      for (const { person, email, answer } of corrected) {
        const waiter = await findByUuid(person);
        const { email: before, advanced } = person;
        person.email = waiter.email!;
        person.advanced = waiter.spotsAdvanced;
        // A new email is not verified.
        if (person.email !== before) person.verified = false;
        const after = command.kind === 'correct' ? [email, advanced] : [before, Math.max(0, advanced + command.spots)];
        expect(answer ? [after] : [after, [before, advanced]]).toContainEqual([person.email, person.advanced]);
      }
    } else if (command.kind === 'click' || command.kind === 'confirm' || command.kind === 'doubt') {
      const { kind } = command;
      const verified = kind !== 'doubt';
      const changed = await Promise.all(
        named(command.people).map(async (person) => {
          const { uuid } = person.waiter;
          if (kind !== 'click') return { person, answer: await entryPoint.correct(waitlist, uuid, { verified }) };
          return { person, answer: await entryPoint.click(waitlist, await mailLink(person)) };
        }),
      );
      await settle();
      const arriving: Person[] = [];
      for (const { person, answer } of changed) {
        const waiter = await findByUuid(person);
        expect(answer ? [verified] : [verified, person.verified]).toContain(waiter.verified);
        person.verified = waiter.verified;
        if (!person.verified) continue;
        if (person.credit === 'awaiting_verification') person.credit = 'credited';
        if (person.status === 'pending') arriving.push(Object.assign(person, { status: 'waiting', seq: waiter.seq }));
      }
      enter(arriving);
    } else if (command.kind === 'approve' || command.kind === 'refuse') {
      const credit = command.kind === 'approve' ? 'credited' : 'refused';
      const addressed = named(command.people);
      const referred = addressed.filter((person) => person.credit !== 'none');
      const creditAfter = (person: Person): Credit =>
        credit === 'refused' || person.credit === 'credited' || person.verified || !mustVerify(person)
          ? credit
          : 'awaiting_verification';
      const after = referred.map(creditAfter);
      const before = referred.map((person) => person.credit);
      if (command.isTogether) {
        const uuids = addressed.map(({ waiter }) => waiter.uuid);
        const answer = uuids.length > 0 ? await entryPoint.decide(waitlist, uuids, credit) : 0;
        await settle();
        const stored = (await Promise.all(referred.map(findByUuid))).map((waiter) => waiter.credit);
        // All of them or none.
        expect(answer === null ? [before, after] : [after]).toContainEqual(stored);
        if (answer !== null) expect(answer).toBe(after.filter((_, index) => after[index] !== before[index]).length);
      } else {
        const answers = await Promise.all(
          referred.map(({ waiter }) => entryPoint.correct(waitlist, waiter.uuid, { credit })),
        );
        await settle();
        const stored = (await Promise.all(referred.map(findByUuid))).map((waiter) => waiter.credit);
        for (const [index, answer] of answers.entries())
          expect(answer ? [after[index]] : [after[index], before[index]]).toContain(stored[index]);
      }
      for (const person of referred) person.credit = (await findByUuid(person)).credit;
    } else if (command.kind === 'refuse all') {
      const refused = await Promise.all(
        named(command.people).map(async (referrer) => ({
          referrer,
          answer: await entryPoint.refuseAll(waitlist, referrer.waiter.referralToken),
        })),
      );
      await settle();
      for (const { referrer, answer } of refused) {
        const referrals = people.filter((person) => person.referrer === referrer);
        const left = referrals.filter((person) => !isErased(person));
        const stored = await Promise.all(left.map(findByUuid));
        const isDone =
          stored.every(({ credit }) => credit === 'refused') && (await findByUuid(referrer)).creditedReferrals === 0;
        if (answer !== null) {
          expect(isDone).toBe(true);
          expect(answer).toBe(left.filter(({ credit }) => credit !== 'refused').length);
        }
        if (isDone) for (const person of referrals) person.credit = 'refused';
      }
    } else if (command.kind === 'erase') {
      const leaving = named(command.people);
      const answer =
        leaving.length > 0
          ? await entryPoint.erase(
              waitlist,
              leaving.map(({ waiter }) => waiter.uuid),
            )
          : true;
      await settle();
      const left = await queue().reader.findByUuids(
        id,
        leaving.map(({ waiter }) => waiter.uuid),
      );
      // All of them or none.
      expect(answer ? [0] : [0, leaving.length]).toContain(left.length);
      if (left.length > 0) continue;
      const earnings = earned();
      for (const { person, referrals } of leaving.map(earnings))
        Object.assign(person, { status: 'offboarded', erasedWithSpots: spots * referrals });
      for (const person of leaving) withdraw(person);
    } else if (command.kind === 'leave') {
      const leaving = named(command.people);
      const answers = await Promise.all(
        leaving.map(async (person) => entryPoint.leave(waitlist, person.waiter.uuid, await leaveLink(person))),
      );
      await settle();
      const earnedBefore = earned();
      const before = new Map(leaving.map((person) => [person, earnedBefore(person).referrals]));
      const left = await queue().reader.findByUuids(
        id,
        leaving.map(({ waiter }) => waiter.uuid),
      );
      const gone = leaving.filter(({ waiter }) => !left.some(({ uuid }) => uuid === waiter.uuid));
      for (const [index, person] of leaving.entries()) if (answers[index]) expect(gone).toContain(person);
      for (const person of gone) if (person.credit === 'credited') person.credit = 'refused';
      for (const person of gone) {
        const wasInQueue = person.status !== 'pending';
        // Somebody whom the person had referred may have left at the same moment, a little earlier or later.
        const most = before.get(person)!;
        const spotsLeft = wasInQueue ? await spotsOfTombstone(person) : spots * most;
        const few = earned()(person).referrals;
        expect(Array.from({ length: most - few + 1 }, (_, more) => spots * (few + more))).toContain(spotsLeft);
        Object.assign(person, { status: 'offboarded', erasedWithSpots: spotsLeft });
        withdraw(person);
      }
    } else if (command.kind === 'rule') {
      const answer = await entryPoint.configure(waitlist, { onExpiry: command.onExpiry });
      await settle();
      const stored = (await queue().reader.getWaitlist(id)).offers?.on_expiry ?? 'out';
      expect(answer ? [command.onExpiry] : [command.onExpiry, onExpiry]).toContain(stored);
      onExpiry = stored;
    } else {
      const changes =
        command.kind === 'spots' ? { spotsPerReferral: command.spots } : { verification: command.verification };
      const answer = await entryPoint.configure(waitlist, changes);
      await settle();
      const before = command.kind === 'spots' ? { spotsPerReferral: spots } : { verification };
      const stored = await queue().reader.getWaitlist(id);
      expect(answer ? [changes] : [before, changes]).toContainEqual(
        command.kind === 'spots'
          ? { spotsPerReferral: stored.spotsPerReferral }
          : { verification: stored.verification },
      );
      spots = stored.spotsPerReferral;
      verification = stored.verification;
    }
  }

  // Numbers may be missing, but each is above all that were given before.
  expect(entered.map(({ seq }) => seq)).toEqual([...new Set(entered.map(({ seq }) => seq))].sort((a, b) => a - b));
  const inQueue = active();
  const remaining = people.filter((person) => !isErased(person));
  const pending = remaining.filter(({ status }) => status === 'pending');
  const positionOf = (person: Person) =>
    person.status === 'pending' ? inQueue.length : (person.lastPosition ?? inQueue.indexOf(person));
  await Promise.all(
    remaining.map(async (person) => {
      const again = applicant(people[0]?.waiter.referralToken, { email: person.email.toUpperCase() });
      const answer = await entryPoint.join(waitlist, again);
      if (answer) expect(answer).toMatchObject({ uuid: person.waiter.uuid, priority: positionOf(person) });
    }),
  );
  expect(await queue().auditor.verify(id, () => undefined)).toMatchObject({ records: remaining.length, findings: [] });

  await expectOffers();
  const readDays = async () => {
    const { days } = await next().app.get(QueueStatistics).read(id, { from: '1970-01-01', to: '9999-12-31' });
    // Erasures and returns leave days with zeros.
    return days.filter((counts) => DAY_FIELDS.some((field) => counts[field] !== 0));
  };
  const days = await readDays();
  // Returns and erasures take no departure back.
  expect(days.reduce((sum, { departed }) => sum + departed, 0)).toBe(departures);
  expect(await queue().auditor.rebuild(id, () => undefined)).toBe(0);
  expect(await queue().auditor.verify(id, () => undefined)).toMatchObject({ findings: [] });
  expect(await readDays()).toEqual(days);

  const counted = days.map(({ day, signups, referred, offboarded }) => [day, signups, referred, offboarded]);
  expect(counted.filter(([, ...counts]) => counts.some((count) => count !== 0))).toEqual(
    daysOf(remaining.filter(({ status }) => status !== 'pending')),
  );
  expect(days.reduce((sum, { erased }) => sum + erased, 0)).toBe(entered.filter(isErased).length);

  const earnings = earned();
  const referralsOf = (person: Person) => earnings(person).referrals;
  const mostReferring = [...people].sort((a, b) => referralsOf(b) - referralsOf(a));
  type Filter = [PageRequest['referredBy'], (person: Person) => boolean];
  const filters: Filter[] = [
    [null, () => true],
    ['anyone', ({ referrer }) => referrer !== undefined],
    ...[1, 3].map((count): Filter => {
      const some = mostReferring.slice(0, count);
      const tokens = ['', ...some.map(({ waiter }) => waiter.referralToken)];
      return [{ tokens }, ({ referrer }) => referrer !== undefined && some.includes(referrer)];
    }),
  ];
  for (const [referredBy, isListed] of filters) {
    const listing = { ...FIRST_PAGE, limit: LIMIT, referredBy };
    for (const [everyone, order] of [
      [ordered(entered), 'queue'],
      [entered, 'joined'],
    ] as const)
      await expectListing({ ...listing, order }, everyone, (person) => person.status === 'waiting' && isListed(person));
    // The referrals of erased people are unknown: after one, this order starts again.
    const byReferrals = entered.filter((person) => !isErased(person)).sort((a, b) => referralsOf(b) - referralsOf(a));
    await expectListing(
      { ...listing, order: 'referrals' },
      byReferrals,
      (person) => person.status === 'waiting' && isListed(person),
    );
    await expectListing(
      { ...listing, status: 'offboarded' },
      entered,
      (person) => person.status === 'offboarded' && !isErased(person) && isListed(person),
    );
  }
  for (const status of STATUSES)
    for (const credit of [null, ...CREDITS])
      await expectById(
        { status, credit },
        remaining.filter((person) => person.status === status && (credit === null || person.credit === credit)),
      );
  expect(pending.map(({ credit }) => credit)).not.toContain('credited');

  /** The spots that referrals had earned an erased person. */
  async function spotsOfTombstone({ waiter, seq, advanced }: Person): Promise<number> {
    const key = await next()
      .app.get(Database)
      .one(
        select<{ rank_key: number }, number>(
          'SELECT rank_key FROM erased_waiter WHERE id = ?',
          [waiter.id],
          ([row]) => row!.rank_key,
        ),
      );
    return RANK_BASE + seq - advanced - key;
  }

  /** A link to leave that was mailed to a person. */
  async function leaveLink(person: Person): Promise<string> {
    const token = newToken();
    const { uuid: waiterUuid, emailKey } = await findByUuid(person);
    const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
    const link = { tokenHash: hashOf(token), waitlistId: id, waiterUuid, emailKey: emailKey!, createdAt, expiresAt };
    await next().app.get(Database).one(next().app.get(LeaveLinkStore).insert(link));
    return token;
  }

  /** A link that was mailed to a person. */
  async function mailLink(person: Person): Promise<string> {
    const token = newToken();
    const { uuid, emailKey } = await findByUuid(person);
    const link = { tokenHash: hashOf(token), waitlistId: id, waiterUuid: uuid, emailKey: emailKey! };
    const now = new Date();
    const times = { createdAt: now, expiresAt: new Date(now.getTime() + 3_600_000), usedAt: null };
    await next()
      .app.get(Database)
      .one(
        next()
          .app.get(VerificationLinkStore)
          .insert({ ...link, ...times }),
      );
    return token;
  }

  /** Compares what is stored of offers: all of them, those that are open, the seats that they take and their days. */
  async function expectOffers(): Promise<void> {
    const rows = await next()
      .app.get(Database)
      .one(
        select<Record<'waiter_uuid' | 'state' | `${'made' | 'accepted' | 'ended'}_day`, string>, OfferRow[]>(
          `SELECT waiter_uuid, state, SUBSTR(made_at, 1, 10) AS made_day, SUBSTR(accepted_at, 1, 10) AS accepted_day,
             SUBSTR(ended_at, 1, 10) AS ended_day
           FROM offer WHERE waitlist_id = ? ORDER BY made_at, id`,
          [id],
          (found) =>
            found.map((row) => ({
              uuid: row.waiter_uuid,
              state: OFFER_STATES[Number(row.state)]!,
              madeDay: row.made_day,
              acceptedDay: row.accepted_day,
              endedDay: row.ended_day,
            })),
        ),
      );
    for (const { waiter, offers } of people)
      expect(rows.filter(({ uuid }) => uuid === waiter.uuid).map(({ state }) => state)).toEqual(offers);
    const open = remaining.filter(({ status }) => status === 'offered');
    expect(
      rows
        .filter(({ state }) => state === 'open')
        .map(({ uuid }) => uuid)
        .sort(),
    ).toEqual(open.map(({ waiter }) => waiter.uuid).sort());
    expect(await queue().reader.getWaitlist(id)).toMatchObject({
      active: inQueue.length,
      offered: open.length,
      seatsTaken: open.length + remaining.filter(({ removedReason }) => removedReason === 'accepted').length,
    });
    const stored = await Promise.all(remaining.map(findByUuid));
    expect(
      stored.map(({ status, removedReason, joinedPriority, offerExpiresAt }) => ({
        status,
        removedReason,
        joinedPriority,
        isTimed: offerExpiresAt !== null,
      })),
    ).toEqual(
      remaining.map(({ status, removedReason, joinedPriority }) => ({
        status,
        removedReason,
        joinedPriority,
        isTimed: false,
      })),
    );
    const { days } = await next().app.get(QueueStatistics).read(id, { from: '1970-01-01', to: '9999-12-31' });
    const on = (day: string, field: 'madeDay' | 'acceptedDay' | 'endedDay', state?: OfferState) =>
      rows.filter((row) => row[field] === day && (state === undefined || row.state === state)).length;
    expect(days.map(({ offered, accepted, declined, expired }) => [offered, accepted, declined, expired])).toEqual(
      days.map(({ day }) => [
        on(day, 'madeDay'),
        on(day, 'acceptedDay'),
        on(day, 'endedDay', 'declined'),
        on(day, 'endedDay', 'expired'),
      ]),
    );
    const counted = days.reduce((sum, { offered }) => sum + offered, 0);
    expect(counted).toBe(people.reduce((sum, { offers }) => sum + offers.length, 0));
  }

  async function runs(): Promise<readonly ReleaseRun[]> {
    return (await next().app.get(ReleaseRunner).list(id, { afterId: null, limit: 100 })).runs;
  }

  /** Replaces the release plan. */
  async function plan(releasePlan: ReleasePlan | null): Promise<void> {
    await queue().writer.configure(id, { releasePlan }, operatorWrite(1));
  }

  /** Lets the last full hour come: as if the plan had been saved before it. */
  async function runPlanned(): Promise<null> {
    await farFromHalfHour();
    const { app } = next();
    const saved = new Date(Date.now() - HOUR_MS + 1);
    const { releasePlan } = await queue().reader.getWaitlist(id);
    const older = { ...releasePlan!, saved_at: saved.toISOString() };
    const database = app.get(Database);
    await database.all([
      write('UPDATE waitlist SET release_plan = ? WHERE id = ?', [JSON.stringify(older), id]),
      app.get(ReleaseDueTable).note(id, older, saved),
    ]);
    await Promise.all([next().app.get(ReleaseRunner).look(), next().app.get(ReleaseRunner).look()]);
    return null;
  }

  /** Other processes go on with the runs of a process that may be killed, or still at work. */
  async function endRuns(): Promise<void> {
    const silent = write("UPDATE release_run SET heartbeat_at = ? WHERE waitlist_id = ? AND state = 'running'", [
      toSqlTime(new Date(0)),
      id,
    ]);
    await until(async () => {
      if ((await runs()).every(({ state }) => state !== 'running')) return true;
      await next().app.get(Database).one(silent);
      await next().app.get(ReleaseRunner).look();
      return false;
    });
  }

  /** The codes of the open offers of people. */
  async function codesOf(some: readonly Person[]): Promise<ReadonlyMap<Person, string>> {
    const uuids = some.map(({ waiter }) => waiter.uuid);
    const open = await next().app.get(Database).one(queue().offers.findOpen(id, uuids));
    return new Map(some.map((person) => [person, queue().codes.open(open.get(person.waiter.uuid)!)!]));
  }

  /** Lets the time of open offers be over since then. */
  async function endTime(some: readonly Person[], since: Date): Promise<void> {
    for (const { waiter } of some)
      await next()
        .app.get(Database)
        .one(
          write('UPDATE offer SET expires_at = ?, due_at = ? WHERE waitlist_id = ? AND waiter_uuid = ? AND state = 0', [
            toSqlTime(since),
            toSqlTime(since),
            id,
            waiter.uuid,
          ]),
        );
  }

  /** Compares all pages that are sorted by id. */
  async function expectById(filter: Pick<PageRequest, 'status' | 'credit'>, listed: readonly Person[]): Promise<void> {
    const found: (readonly [string, number])[] = [];
    for (let afterId: number | null = 0; afterId !== null;) {
      const page: Page = await queue().pages.page(id, {
        ...FIRST_PAGE,
        ...filter,
        limit: LIMIT,
        order: 'id',
        start: { afterId },
      });
      found.push(...page.waiters.map(({ uuid, priority }) => [uuid, priority] as const));
      afterId = page.nextAfterId;
    }
    const sorted = [...listed].sort((a, b) => a.waiter.id - b.waiter.id);
    expect(found).toEqual(sorted.map((person) => [person.waiter.uuid, positionOf(person)]));
  }

  /** Compares all pages by offset, and pages after some of the records, whether the listing has them or not. */
  async function expectListing(
    listing: Omit<PageRequest, 'start'>,
    everyone: readonly Person[],
    isListed: (person: Person) => boolean,
  ): Promise<void> {
    const total = everyone.filter(isListed).length;
    const expectPage = async (start: PageRequest['start'], following: readonly Person[]) => {
      const page = await queue().pages.page(id, { ...listing, start });
      const listed = following.filter(isListed);
      expect(page.waiters.map(({ uuid, priority, creditedReferrals }) => [uuid, priority, creditedReferrals])).toEqual(
        listed.slice(0, listing.limit).map((person) => [person.waiter.uuid, positionOf(person), referralsOf(person)]),
      );
      expect(page).toMatchObject({ total, active: inQueue.length });
      expect(page.nextAfterId !== null).toBe(listed.length > listing.limit);
    };
    for (let offset = 0; offset <= total; offset += listing.limit)
      await expectPage({ offset }, everyone.filter(isListed).slice(offset));
    for (let index = 0; index < everyone.length; index += 1 + Math.floor(everyone.length / CURSORS))
      await expectPage({ afterId: everyone[index]!.waiter.id }, everyone.slice(index + 1));
  }
}
