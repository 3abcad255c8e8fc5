import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { repeatWhile } from '../support/repeat-while.js';
import { inOrder } from '../support/oracle.js';
import { openDatabase } from '../support/database.js';
import { type Service, startService, startServices } from '../support/service.js';
import { queueOf } from '../support/queue.js';
import { until } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, i) => make(i));
const upTo = (count: number) => times(count, (index) => index);
const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);

/** All records, active or offboarded, read page by page. */
async function listAll({ world }: Service, waitlist: OwnedWaitlist, offboarded: boolean, order = 'joined') {
  const pages: Awaited<ReturnType<typeof world.list>> = [];
  for (;;) {
    const page = await world.list(waitlist, { offset: pages.length, offboarded_request: offboarded, order });
    pages.push(...page);
    if (page.length < 100) return pages;
  }
}

/** Expects exact positions, dense sequence numbers, right totals and an audit without findings. */
async function expectExact(service: Service, waitlist: OwnedWaitlist, total: number): Promise<void> {
  const rows: { uuid: string; seq: number }[] = await service.app
    .get(Database)
    .read((manager) => manager.query('SELECT uuid, seq FROM waiter WHERE waitlist_id = ? ORDER BY seq', [waitlist.id]));
  expect(rows.map(({ seq }) => seq)).toEqual(upTo(total));

  const line = await listAll(service, waitlist, false, 'queue');
  const gone = await listAll(service, waitlist, true);
  const referrals = new Map<string | null, number>();
  for (const { referred_by_waiter_token: by } of [...line, ...gone]) referrals.set(by, (referrals.get(by) ?? 0) + 1);
  const seqs = new Map(rows.map(({ uuid, seq }) => [uuid, seq]));
  const earned = (waiters: typeof line) =>
    waiters.map((waiter) => ({ ...waiter, seq: seqs.get(waiter.uuid)!, referrals: referrals.get(waiter.referral_token) ?? 0 })); // prettier-ignore
  const meant = inOrder(earned(line), waitlist.spots_to_move_upon_referral);
  expect(line.map(({ uuid, priority, amount_referred }) => [uuid, priority, amount_referred])).toEqual(
    meant.map((waiter, place) => [waiter.uuid, place, waiter.referrals]),
  );
  expect(gone.map(({ amount_referred }) => amount_referred)).toEqual(earned(gone).map((waiter) => waiter.referrals));

  const { body } = await service.api.get(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });
  expect(body.statistics).toEqual({
    current_signups: line.length,
    offboarded_signups: gone.length,
    total_signups: total,
    referred_signups: total - (referrals.get(null) ?? 0),
  });
  expect(await verify(service, waitlist)).toEqual({ records: total, findings: [], differences: 0 });
}

async function verify({ app }: Service, { id }: OwnedWaitlist) {
  return queueOf(app).auditor.verify(id, () => undefined);
}

/** On a server, two services work on one database, and calls alternate between them. */
describe('concurrency', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  let service: Service;
  beforeAll(async () => {
    running = await startServices();
    [service] = running.services;
  });
  afterAll(() => running.stop());

  const turn = (index: number) => running.services[index % running.services.length]!.world;

  it('makes one record an email when 200 people sign up at once, half of them with the same one', async () => {
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

  it('makes one record of two signups of the same person that two processes take', async () => {
    const waitlist = await service.world.waitlist();

    const signups = await Promise.all(
      times(200, (index) => turn(index).signup(waitlist, { email: `person-${index >> 1}@example.com` })),
    );

    for (const [index, { uuid }] of signups.entries()) expect(uuid).toBe(signups[index & ~1]!.uuid);
    await expectExact(service, waitlist, 100);
  });

  it('makes no second record when signups share an email or a phone', async () => {
    const waitlist = await service.world.waitlist({ required_contact: { email: 'optional' } });
    const contact = (index: number) => [
      { email: 'ada@example.com', phone: '+14155550123' },
      { email: 'ada@example.com' },
      { email: null, phone: '+14155550123' },
    ][index % 3]; // prettier-ignore

    await Promise.all(times(60, (index) => turn(index).signup(waitlist, contact(index))));

    const emails = (await listAll(service, waitlist, false)).map(({ email }) => email).sort();
    expect([['ada@example.com'], ['ada@example.com', null]]).toContainEqual(emails);
    await expectExact(service, waitlist, emails.length);
  });

  it('answers 5,000 signups at once, each with a position of its own', async () => {
    const waitlist = await service.world.waitlist();

    const people = await Promise.all(times(5_000, (index) => turn(index).signup(waitlist)));

    expect(sorted(people.map(({ priority }) => priority))).toEqual(upTo(5_000));
    const listed = await listAll(service, waitlist, false);
    expect(listed.map(({ uuid }) => uuid).sort()).toEqual(people.map(({ uuid }) => uuid).sort());
    await expectExact(service, waitlist, 5_000);
  });

  it('moves a referrer by exactly 180 when 180 people name them at once', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 1 });
    await Promise.all(times(200, () => service.world.signup(waitlist)));
    const ada = await service.world.signup(waitlist);

    await Promise.all(times(180, (index) => turn(index).signup(waitlist, { referral_link: ada.referral_link })));

    expect(await service.world.priorityOf(ada)).toBe(20);
    await expectExact(service, waitlist, 381);
  });

  it('offboards each of 1,000 people once while 64 clients sign up and refer', async () => {
    const waitlist = await service.world.waitlist();
    const early = await Promise.all(times(1_200, (index) => turn(index).signup(waitlist)));
    const ids = (await listAll(service, waitlist, false)).map(({ id }) => id);
    const leaving = ids.filter((_, index) => index % 6 > 0);
    const client = async (number: number) => {
      for (let count = 0; count < 8; count += 1) {
        const { referral_link } = early[(number * 8 + count) * 7 % early.length]!; // prettier-ignore
        await turn(number).signup(waitlist, { referral_link });
      }
    };
    const offboarder = async (number: number) => {
      const removed: number[] = [];
      for (let start = number * 250; start < (number + 1) * 250; start += 10) {
        const answer = await turn(number).offboard(waitlist, leaving.slice(start, start + 10));
        removed.push(...answer.map(({ id }) => id));
      }
      return removed;
    };

    const removing = Promise.all(times(4, offboarder));
    const audits = await repeatWhile(Promise.all([...times(64, client), removing]), () => verify(service, waitlist));

    expect(sorted((await removing).flat())).toEqual(leaving);
    expect(audits.flatMap(({ findings }) => findings)).toEqual([]);
    await expectExact(service, waitlist, 1_200 + 64 * 8);
  });

  it('offboards a person by one of several concurrent calls', async () => {
    const waitlist = await service.world.waitlist();
    const people = await service.world.signups(waitlist, 10);
    const ids = (await service.world.list(waitlist)).map(({ id }) => id);

    const answers = await Promise.all(times(8, (index) => turn(index).offboard(waitlist, ids)));

    expect(answers.flat().map(({ uuid }) => uuid).sort()).toEqual(people.map(({ uuid }) => uuid).sort()); // prettier-ignore
    expect(sorted(answers.flat().map(({ removed_priority }) => removed_priority!))).toEqual(upTo(10));
    await expectExact(service, waitlist, 10);
  });

  it('shows no half-reordered queue while the owner changes spots_to_move_upon_referral', async () => {
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
      const line = await world.list(waitlist, { order: 'queue' });
      return line.map(({ uuid, priority }) => `${priority} ${uuid}`).join('\n');
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

  it('refresh one token at once to the same pair', async () => {
    const { refreshToken } = await running.services[0].world.owner();
    const refresh = ({ api }: Service) => api.get('/api/v1/auth/refresh_access_token', { token: refreshToken });

    const answers = await Promise.all(running.services.flatMap((service) => times(10, () => refresh(service))));

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(200);
  });

  /** Last, because Passport's strategies are global: those of the newest instance would serve the other tests. */
  it('start together on an empty database', async () => {
    const empty = await openDatabase(true);
    const services = await Promise.all(times(2, () => startService({ environment: { DATABASE_URL: empty.url } })));

    for (const { api } of services) await until(async () => (await api.get('/readyz')).status === 200);

    for (const service of services) await service.stop();
    await empty.drop();
  });
});
