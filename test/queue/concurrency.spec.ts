import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import type { PersonChanges, Status, Waiter } from '../../src/queue/record/waiter.js';
import { repeatWhile } from '../support/repeat-while.js';
import { DataSource } from 'typeorm';
import { inOrder } from '../support/oracle.js';
import { openDatabase } from '../support/database.js';
import { type Service, startService, startServices } from '../support/service.js';
import { commands, FIRST_PAGE, queueOf } from '../support/queue.js';
import { until } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, i) => make(i));
const upTo = (count: number) => times(count, (index) => index);
const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);

/** Every active or every offboarded record. */
async function listAll(
  { app }: Service,
  { id }: OwnedWaitlist,
  status: Status = 'waiting',
): Promise<readonly Waiter[]> {
  const request = { ...FIRST_PAGE, order: 'queue', limit: 10_000, status } as const;
  return (await queueOf(app).pages.page(id, request)).waiters;
}

/** Compares positions, referrals and totals with the facts of all records, and audits the queue. */
async function expectExact(service: Service, waitlist: OwnedWaitlist, total: number): Promise<void> {
  const active = await listAll(service, waitlist);
  const offboarded = await listAll(service, waitlist, 'offboarded');
  const everyone = [...active, ...offboarded];
  expect([everyone.length, new Set(everyone.map(({ seq }) => seq)).size]).toEqual([total, total]);
  const erased: { readonly token: string | null }[] = await service.app
    .get(DataSource)
    .query('SELECT referred_by_token AS token FROM erased_waiter WHERE waitlist_id = ?', [waitlist.id]);
  const referrals = new Map<string | null, number>();
  for (const token of [...everyone.map(({ referredByToken }) => referredByToken), ...erased.map(({ token }) => token)])
    referrals.set(token, (referrals.get(token) ?? 0) + 1);
  for (const { creditedReferrals, referralToken } of everyone)
    expect(creditedReferrals).toBe(referrals.get(referralToken) ?? 0);
  const earned = active.map((waiter) => ({
    ...waiter,
    referrals: waiter.creditedReferrals,
    advanced: waiter.spotsAdvanced,
  }));
  expect(active.map(({ uuid, priority }) => [uuid, priority])).toEqual(
    inOrder(earned, waitlist.spots_to_move_upon_referral).map(({ uuid }, position) => [uuid, position]),
  );

  const { body } = await service.api.get(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });
  expect(body.statistics).toEqual({
    current_signups: active.length,
    offboarded_signups: offboarded.length,
    offered_signups: 0,
    total_signups: total,
    referred_signups: everyone.filter(({ referredByToken }) => referredByToken !== null).length,
    pending_signups: 0,
    withheld_signups: 0,
  });
  expect(await verify(service, waitlist)).toEqual({ records: total, findings: [], differences: 0 });
}

async function verify({ app }: Service, { id }: OwnedWaitlist) {
  return queueOf(app).auditor.verify(id, () => undefined);
}

/** The services of one database take turns. */
describe('at the same moment', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  let service: Service;
  beforeAll(async () => {
    running = await startServices();
    [service] = running.services;
  });
  afterAll(() => running.stop());

  const turn = (index: number) => running.services[index % running.services.length]!.world;

  it('100 people and 100 repeats of one email make 101 records with successive positions', async () => {
    const waitlist = await service.world.waitlist();

    const [same, others] = await Promise.all([
      Promise.all(times(100, (index) => turn(index).signup(waitlist, { email: 'same@example.com' }))),
      Promise.all(times(100, (index) => turn(index).signup(waitlist))),
    ]);

    expect(new Set(same.map(({ uuid, priority }) => `${uuid} ${priority}`)).size).toBe(1);
    expect(new Set(others.map(({ uuid }) => uuid)).size).toBe(100);
    expect(sorted([same[0]!, ...others].map(({ priority }) => priority))).toEqual(upTo(101));
    await expectExact(service, waitlist, 101);
  });

  it('signups that share an email or a phone make no record twice', async () => {
    const waitlist = await service.world.waitlist({ required_contact: { email: 'optional' } });
    const contact = (index: number) =>
      [
        { email: 'ada@example.com', phone: '+14155550123' },
        { email: 'ada@example.com' },
        { email: null, phone: '+14155550123' },
      ][index % 3];

    await Promise.all(times(60, (index) => turn(index).signup(waitlist, contact(index))));

    const emails = (await listAll(service, waitlist)).map(({ email }) => email).sort();
    expect([['ada@example.com'], ['ada@example.com', null]]).toContainEqual(emails);
    await expectExact(service, waitlist, emails.length);
  });

  it('1,000 people sign up from 200 clients: nobody is refused, and each gets a position of their own', async () => {
    const waitlist = await service.world.waitlist();
    const client = async (index: number) => {
      const own = [];
      for (let count = 0; count < 5; count += 1) own.push(await turn(index).signup(waitlist));
      return own;
    };

    const people = (await Promise.all(times(200, client))).flat();

    expect(sorted(people.map(({ priority }) => priority))).toEqual(upTo(1_000));
    const listed = await listAll(service, waitlist);
    expect(listed.map(({ uuid }) => uuid).sort()).toEqual(people.map(({ uuid }) => uuid).sort());
    await expectExact(service, waitlist, 1_000);
  });

  it('offboards each of 600 records once while 64 clients refer new ones', async () => {
    const waitlist = await service.world.waitlist();
    const early = await Promise.all(times(720, (index) => turn(index).signup(waitlist)));
    const ids = sorted((await listAll(service, waitlist)).map(({ id }) => id));
    const leaving = ids.filter((_, index) => index % 6 > 0);
    const client = async (number: number) => {
      for (let count = 0; count < 8; count += 1) {
        const { referral_link } = early[((number * 8 + count) * 7) % early.length]!;
        await turn(number).signup(waitlist, { referral_link });
      }
    };
    const offboarder = async (number: number) => {
      const removed: number[] = [];
      for (let start = number * 150; start < (number + 1) * 150; start += 10) {
        const answer = await turn(number).offboard(waitlist, leaving.slice(start, start + 10));
        removed.push(...answer.map(({ id }) => id));
      }
      return removed;
    };

    const removing = Promise.all(times(4, offboarder));
    const audits = await repeatWhile(Promise.all([...times(64, client), removing]), () => verify(service, waitlist));

    expect(sorted((await removing).flat())).toEqual(leaving);
    expect(audits.flatMap(({ findings }) => findings)).toEqual([]);
    await expectExact(service, waitlist, 720 + 64 * 8);
  });

  it('removes each record by one of several calls that offboard it', async () => {
    const waitlist = await service.world.waitlist();
    const people = await service.world.signups(waitlist, 10);
    const ids = (await service.world.list(waitlist)).map(({ id }) => id);

    const answers = await Promise.all(times(8, (index) => turn(index).offboard(waitlist, ids)));

    expect(
      answers
        .flat()
        .map(({ uuid }) => uuid)
        .sort(),
    ).toEqual(people.map(({ uuid }) => uuid).sort());
    expect(sorted(answers.flat().map(({ removed_priority }) => removed_priority!))).toEqual(upTo(10));
    await expectExact(service, waitlist, 10);
  });

  it('corrects, advances, offboards and erases each record once while 64 clients refer new ones', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 3 });
    const early = await Promise.all(times(600, (index) => turn(index).signup(waitlist)));
    const writer = (index: number) => queueOf(running.services[index % running.services.length]!.app).writer;
    const client = async (number: number) => {
      for (let count = 0; count < 6; count += 1) {
        const { referral_link } = early[((number * 6 + count) * 7) % early.length]!;
        await turn(number).signup(waitlist, { referral_link });
      }
    };
    /** Each owner treats every fourth record, with all calls at the same moment. */
    const owner = (number: number) =>
      early
        .filter((_, index) => index % 4 === number)
        .flatMap(({ uuid, email }, index) => {
          const correct = (changes: PersonChanges) =>
            writer(index).correct(waitlist.id, uuid, changes, operatorWrite(1));
          const calls = [
            () => correct({ spotsToAdvance: 1 + (index % 40) }),
            () => correct({ email: `new-${email}` }),
            () => writer(index).submit(waitlist.id, commands.offboard({ uuids: [uuid] }, operatorWrite(1))),
            () => writer(index).submit(waitlist.id, commands.erase([uuid], operatorWrite(1))),
          ].slice(0, number + 1);
          return calls.map((call) => call().catch(ifErased));
        });
    const ifErased = (error: unknown) => expect(error).toMatchObject({ code: 'NO_WAITER_FOUND' });

    const changing = Promise.all([...times(64, client), ...times(4, owner).flat()]);
    const audits = await repeatWhile(changing, () => verify(service, waitlist));

    expect(audits.flatMap(({ findings }) => findings)).toEqual([]);
    const left = await queueOf(service.app).reader.findByUuids(
      waitlist.id,
      early.map(({ uuid }) => uuid),
    );
    const kept = early.flatMap(({ uuid, email }, index) => (index % 4 === 3 ? [] : { uuid, email, index }));
    expect(left.map(({ uuid, email, spotsAdvanced, status }) => ({ uuid, email, spotsAdvanced, status }))).toEqual(
      kept.map(({ uuid, email, index }) => ({
        uuid,
        email: index % 4 === 0 ? email : `new-${email}`,
        spotsAdvanced: 1 + (Math.floor(index / 4) % 40),
        status: index % 4 < 2 ? 'waiting' : 'offboarded',
      })),
    );
    await expectExact(service, waitlist, 450 + 64 * 6);
  });

  it('shows no queue that is half reordered while the value of a referral changes', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 0 });
    const early = await Promise.all(times(80, () => service.world.signup(waitlist)));
    await Promise.all(
      early.slice(60).map(({ referral_link }, index) => turn(index).signup(waitlist, { referral_link })),
    );
    const path = `/api/v1/waitlist/${waitlist.id}`;
    const reorder = async (spots_to_move_upon_referral: number) => {
      const { body } = await service.api.patch(path, { spots_to_move_upon_referral }, { token: waitlist.owner.token });
      expect(body.records_moved).toBe(20);
    };
    const look = async (world: Service['world']) => {
      const waiters = await world.list(waitlist, { order: 'queue' });
      return waiters.map(({ uuid, priority }) => `${priority} ${uuid}`).join('\n');
    };
    const before = await look(service.world);
    await reorder(50);
    const after = await look(service.world);

    const reordering = (async () => {
      for (let count = 0; count < 20; count += 1) await reorder(count % 2 === 0 ? 0 : 50);
    })();
    const views = await Promise.all(running.services.map(({ world }) => repeatWhile(reordering, () => look(world))));

    expect(before).not.toBe(after);
    expect(views.flat().filter((view) => view !== before && view !== after)).toEqual([]);
    await expectExact(service, { ...waitlist, spots_to_move_upon_referral: 50 }, 100);
  });
});

const onServer = process.env.TEST_DATABASE_URL ? describe : describe.skip;

onServer('two services on one database (needs TEST_DATABASE_URL: the embedded database is for one process)', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  beforeAll(async () => {
    running = await startServices();
  });
  afterAll(() => running.stop());

  it('answer parallel uses of one refresh token with the same pair', async () => {
    const { refreshToken } = await running.services[0].world.owner();
    const refresh = ({ api }: Service) => api.get('/api/v1/auth/refresh_access_token', { token: refreshToken });

    const answers = await Promise.all(running.services.flatMap((service) => times(10, () => refresh(service))));

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(200);
  });

  it('give one answer to a deletion that both get with one Idempotency-Key', async () => {
    const [{ world }] = running.services;
    for (let round = 0; round < 5; round += 1) {
      const { id, owner } = await world.waitlist();
      const headers = { 'idempotency-key': `deletion-${round}` };
      const remove = ({ api }: Service) => api.delete(`/api/v1/waitlist/${id}`, { token: owner.token, headers });

      const answers = await Promise.all(running.services.map(remove));

      expect(answers.map(({ status }) => status)).toEqual([204, 204]);
    }
  });

  /** The last test here: Passport's strategies belong to the process, and the instance made last replaces them. */
  it('start together on an empty database', async () => {
    const empty = await openDatabase(true);
    const services = await Promise.all(times(2, () => startService({ environment: { DATABASE_URL: empty.url } })));

    for (const { api } of services) await until(async () => (await api.get('/readyz')).status === 200);

    for (const service of services) await service.stop();
    await empty.drop();
  });
});
