import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { openDatabase, type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person } from '../support/world.js';

const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, i) => make(i));
const upTo = (count: number) => times(count, (index) => index);

/** Everyone who is, or was, in line, by page. */
async function listAll({ world }: Service, waitlist: OwnedWaitlist, offboarded: boolean, order = 'joined') {
  const pages: Awaited<ReturnType<typeof world.list>> = [];
  for (;;) {
    const page = await world.list(waitlist, { offset: pages.length, offboarded_request: offboarded, order });
    pages.push(...page);
    if (page.length < 100) return pages;
  }
}

/** The line agrees with itself: dense places in the order of the line, dense sequence numbers, and the totals. */
async function expectWhole(service: Service, waitlist: OwnedWaitlist, total: number): Promise<void> {
  const line = await listAll(service, waitlist, false, 'queue');
  const gone = await listAll(service, waitlist, true);
  expect(line.map(({ priority }) => priority)).toEqual(upTo(line.length));
  expect(line.length + gone.length).toBe(total);

  const path = `/api/v1/waitlist/${waitlist.id}`;
  const { body } = await service.api.get(path, { token: waitlist.owner.token });
  expect(body.statistics).toEqual({
    current_signups: line.length,
    offboarded_signups: gone.length,
    total_signups: total,
    referred_signups: [...line, ...gone].filter((waiter) => waiter.referred_by_waiter_token !== null).length,
  });

  const rows: { seq: number }[] = await service.app
    .get(Database)
    .read((manager) => manager.query('SELECT seq FROM waiter WHERE waitlist_id = ? ORDER BY seq', [waitlist.id]));
  expect(rows.map(({ seq }) => seq)).toEqual(upTo(total));
}

/** Signs up, and offboards whoever is in line meanwhile; each id must be removed by one call only. */
async function offboardWhile(services: readonly Service[], waitlist: OwnedWaitlist, joining: Promise<unknown>) {
  let isOver = false;
  const over = joining.finally(() => (isOver = true));
  const removers = services.map(async (service) => {
    const removed: string[] = [];
    while (!isOver) {
      const page = await service.world.list(waitlist, { limit: 10 });
      // Calls without a port are answered within one turn of the event loop; the others must get theirs.
      await setImmediate();
      if (page.length === 0) continue;
      const answer = await service.world.offboard(waitlist, page.map(({ id }) => id)); // prettier-ignore
      removed.push(...answer.map(({ uuid }) => uuid));
    }
    return removed;
  });
  const [, ...removed] = await Promise.all([over, ...removers]);
  return removed.flat();
}

describe('at the same time', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('200 people sign up, half of them one and the same: a record an email, dense places, no error', async () => {
    const { world } = service;
    const waitlist = await world.waitlist();

    const [same, others] = await Promise.all([
      Promise.all(times(100, () => world.signup(waitlist, { email: 'same@example.com' }))),
      Promise.all(times(100, () => world.signup(waitlist))),
    ]);

    expect(new Set(same.map(({ uuid }) => uuid)).size).toBe(1);
    expect(new Set(others.map(({ uuid }) => uuid)).size).toBe(100);
    expect([...new Set([...same, ...others].map(({ priority }) => priority))].sort((a, b) => a - b)).toEqual(upTo(101));
    await expectWhole(service, waitlist, 101);
  });

  it('an email and a phone that meet in many calls give no record twice', async () => {
    const { world } = service;
    const waitlist = await world.waitlist({ required_contact: { email: 'optional' } });
    const contact = (index: number) => [
      { email: 'ada@example.com', phone: '+14155550123' },
      { email: 'ada@example.com' },
      { email: null, phone: '+14155550123' },
    ][index % 3]; // prettier-ignore

    await Promise.all(times(60, (index) => world.signup(waitlist, contact(index))));

    const emails = (await listAll(service, waitlist, false)).map(({ email }) => email).sort();
    expect([['ada@example.com'], ['ada@example.com', null]]).toContainEqual(emails);
    await expectWhole(service, waitlist, emails.length);
  });

  it('64 clients sign up while others are offboarded: nobody is lost, nobody removed twice', async () => {
    const { world } = service;
    const waitlist = await world.waitlist();
    const client = async () => {
      const people: Person[] = [];
      for (let count = 0; count < 4; count += 1) {
        people.push(await world.signup(waitlist, { referral_link: people.at(-1)?.referral_link }));
      }
      return people;
    };

    const joining = Promise.all(times(64, client));
    const removed = await offboardWhile([service], waitlist, joining);

    const joined = (await joining).flat().map(({ uuid }) => uuid);
    const gone = await listAll(service, waitlist, true);
    expect(removed.length).toBeGreaterThan(0);
    expect([...removed].sort()).toEqual(gone.map(({ uuid }) => uuid).sort());
    const left = await listAll(service, waitlist, false);
    expect([...left, ...gone].map(({ uuid }) => uuid).sort()).toEqual(joined.sort());
    await expectWhole(service, waitlist, 256);
  });

  it('180 people name one referrer, who passes exactly 180', async () => {
    const { world } = service;
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 1 });
    await Promise.all(times(200, () => world.signup(waitlist)));
    const ada = await world.signup(waitlist);

    await Promise.all(times(180, () => world.signup(waitlist, { referral_link: ada.referral_link })));

    const [first] = await world.list(waitlist, { order: 'queue', offset: 20, limit: 1 });
    expect(first).toMatchObject({ uuid: ada.uuid, priority: 20, amount_referred: 180 });
    await expectWhole(service, waitlist, 381);
  });

  it('callers offboard the same people, and each is removed by one of them', async () => {
    const { world } = service;
    const waitlist = await world.waitlist();
    const people = await world.signups(waitlist, 10);
    const ids = (await world.list(waitlist)).map(({ id }) => id);

    const answers = await Promise.all(times(8, () => world.offboard(waitlist, ids)));

    expect(answers.flat().map(({ uuid }) => uuid).sort()).toEqual(people.map(({ uuid }) => uuid).sort()); // prettier-ignore
    expect(answers.flat().map(({ removed_priority }) => removed_priority).sort()).toEqual(upTo(10)); // prettier-ignore
    await expectWhole(service, waitlist, 10);
  });
});

const onServer = process.env.TEST_DATABASE_URL ? describe : describe.skip;

onServer('two instances on one database (needs TEST_DATABASE_URL: the embedded database is for one process)', () => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let one: Service;
  let two: Service;
  beforeAll(async () => {
    database = await openDatabase(true);
    one = await startService({ environment: { DATABASE_URL: database.url } });
    two = await startService({ environment: { DATABASE_URL: database.url } });
  });
  afterAll(async () => {
    await one.stop();
    await two.stop();
    await database.drop();
  });

  const both = () => [one, two] as const;

  it('are told the same emails at once, and keep one record of each', async () => {
    const waitlist = await one.world.waitlist();
    const emails = times(100, (index) => `person-${index}@example.com`);

    const [fromOne, fromTwo] = await Promise.all(
      both().map(({ world }) => Promise.all(emails.map((email) => world.signup(waitlist, { email })))),
    );

    expect(fromOne!.map(({ uuid }) => uuid)).toEqual(fromTwo!.map(({ uuid }) => uuid));
    await expectWhole(two, waitlist, 100);
  });

  it('credit one referrer, and lose no referral', async () => {
    const waitlist = await one.world.waitlist({ spots_to_move_upon_referral: 1 });
    await Promise.all(times(200, () => one.world.signup(waitlist)));
    const ada = await one.world.signup(waitlist);

    await Promise.all(
      both().flatMap(({ world }) => times(90, () => world.signup(waitlist, { referral_link: ada.referral_link }))),
    );

    const [place] = await two.world.list(waitlist, { order: 'queue', offset: 20, limit: 1 });
    expect(place).toMatchObject({ uuid: ada.uuid, priority: 20, amount_referred: 180 });
    await expectWhole(one, waitlist, 381);
  });

  it('sign up and offboard together, and nobody is lost or removed twice', async () => {
    const waitlist = await one.world.waitlist();
    const client = async ({ world }: Service) => {
      const [person] = await world.signups(waitlist, 3);
      await world.signup(waitlist, { referral_link: person.referral_link });
    };

    const joining = Promise.all(both().flatMap((service) => times(32, () => client(service))));
    const removed = await offboardWhile(both(), waitlist, joining);

    const gone = await listAll(one, waitlist, true);
    expect(removed.length).toBeGreaterThan(0);
    expect([...removed].sort()).toEqual(gone.map(({ uuid }) => uuid).sort());
    await expectWhole(two, waitlist, 256);
  });

  it('are given one refresh token at once, and leave one live pair', async () => {
    const { refreshToken } = await one.world.owner();
    const refresh = ({ api }: Service) => api.get('/api/v1/auth/refresh_access_token', { token: refreshToken });

    const answers = await Promise.all(both().flatMap((service) => times(10, () => refresh(service))));

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(200);
  });

  /** The last here: Passport's strategies belong to the process, and those of the instance made last decide. */
  it('start together on an empty database', async () => {
    const empty = await openDatabase(true);
    const services = await Promise.all(times(2, () => startService({ environment: { DATABASE_URL: empty.url } })));

    for (const { api } of services) expect((await api.get('/readyz')).status).toBe(200);

    for (const service of services) await service.stop();
    await empty.drop();
  });
});
