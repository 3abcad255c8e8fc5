import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WaitlistStatisticsDto } from '../../src/waitlist/statistics.dto.js';
import type { Answer, Api } from '../support/api.js';
import { queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person, World } from '../support/world.js';

type Query = Readonly<Record<string, string>>;

const DAY_MS = 86_400_000;
const NO_OFFERS = { offered: 0, accepted: 0, declined: 0, expired: 0 };
const NOTHING = { signups: 0, referred: 0, offboarded: 0, erased: 0, ...NO_OFFERS, page_views: 0 };
/** The first line is the referrer of the others; two were offboarded. */
const LINES = [
  'email,created_at,referral_token,referred_by,removed_date,removed_priority',
  'ada@example.com,2024-02-28T23:59:59.999Z,ADASTOKEN,,,',
  'bob@example.com,2024-02-29,BOBSTOKEN,ADASTOKEN,2024-03-01T12:00:00Z,0',
  'cleo@example.com,2024-02-29T10:00:00Z,CLEOSTOKEN,ADASTOKEN,,',
  'dan@example.com,2024-03-01T00:30:00+01:00,DANSTOKEN,,2024-03-02,1',
];

let service: Service;
let api: Api;
let world: World;
beforeAll(async () => {
  service = await startService();
  ({ api, world } = service);
});
afterAll(() => service.stop());

const call = ({ id, owner }: OwnedWaitlist, query?: Query): Promise<Answer> =>
  api.get(`/api/v1/waitlist/${id}/statistics`, { token: owner.token, query });
const preview = async ({ id, owner }: OwnedWaitlist, spots: number) =>
  api.get(`/api/v1/waitlist/${id}/reorder`, {
    token: owner.token,
    query: { spots_to_move_upon_referral: spots },
  });
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

async function read(waitlist: OwnedWaitlist, query?: Query): Promise<WaitlistStatisticsDto> {
  const { findings } = await queueOf(service.app).auditor.verify(waitlist.id, () => undefined);
  expect(findings).toEqual([]);
  return (await call(waitlist, query)).body as WaitlistStatisticsDto;
}

async function importLines({ id, owner }: OwnedWaitlist, lines: readonly string[]): Promise<void> {
  const headers = { 'content-type': 'text/csv' };
  const options = { token: owner.token, raw: `${lines.join('\n')}\n`, headers };
  expect((await api.post(`/api/v1/waitlist/${id}/import`, undefined, options)).status).toBe(200);
}

async function erase({ id, owner }: OwnedWaitlist, ...uuids: readonly string[]): Promise<void> {
  const body = { waitlist_id: id, signups: uuids.map((uuid) => ({ uuid })) };
  expect((await api.call('DELETE', '/api/v1/signup', body, { token: owner.token })).status).toBe(204);
}

async function refer(waitlist: OwnedWaitlist, { referral_link }: Person, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await world.signup(waitlist, { referral_link });
}

describe('the statistics', () => {
  it('have every day of the last 30, today last, days without a change too', async () => {
    const first = dayAgo(0);
    const { days, top_referrers } = await read(await world.waitlist());

    // Tomorrow may have begun since then.
    const last = days.at(-1)!.date;
    expect([first, dayAgo(0)]).toContain(last);
    const expected = Array.from({ length: 30 }, (_, index) => new Date(Date.parse(last) - (29 - index) * DAY_MS));
    expect(days).toEqual(expected.map((day) => ({ date: day.toISOString().slice(0, 10), ...NOTHING })));
    expect(top_referrers).toEqual([]);
  });

  it('count signups, the referred ones, offboardings and erasures of today', async () => {
    const waitlist = await world.waitlist();
    const [ada, grace, alan] = (await world.signups(waitlist, 3)) as [Person, Person, Person];
    await refer(waitlist, ada, 2);
    await world.offboard(waitlist, [await world.idOf(waitlist, grace), await world.idOf(waitlist, ada)]);
    // A known email joins nothing.
    await world.signup(waitlist, { email: alan.email });
    const total = async () => {
      const { days } = await read(waitlist, { from: dayAgo(1), to: dayAgo(-1) });
      const sum = (field: keyof typeof NOTHING) => days.reduce((all, day) => all + day[field], 0);
      return [sum('signups'), sum('referred'), sum('offboarded'), sum('erased')];
    };
    expect(await total()).toEqual([5, 2, 2, 0]);

    await erase(waitlist, alan.uuid, grace.uuid);

    expect(await total()).toEqual([3, 2, 1, 2]);
  });

  it('count an import on the days of its file, in UTC, and an erasure takes the person out of them', async () => {
    const waitlist = await world.waitlist();
    await importLines(waitlist, LINES);
    const span = { from: '2024-02-28', to: '2024-03-02' };

    expect((await read(waitlist, span)).days).toEqual([
      { date: '2024-02-28', ...NOTHING, signups: 1 },
      { date: '2024-02-29', ...NOTHING, signups: 3, referred: 2 },
      { date: '2024-03-01', ...NOTHING, offboarded: 1 },
      { date: '2024-03-02', ...NOTHING, offboarded: 1 },
    ]);

    const offboarded = await world.list(waitlist, { offboarded_request: true });
    await erase(waitlist, offboarded.find(({ email }) => email === 'bob@example.com')!.uuid);

    const { days } = await read(waitlist, span);
    expect(days.map(({ signups, referred, offboarded: left }) => [signups, referred, left])).toEqual([
      [1, 0, 0],
      [2, 1, 0],
      [0, 0, 0],
      [0, 0, 1],
    ]);
    const today = await read(waitlist, { from: dayAgo(1) });
    expect(today.days.reduce((sum, { erased }) => sum + erased, 0)).toBe(1);
  });

  it('list the five with the most referrals, offboarded ones too, and of equal ones who joined first', async () => {
    const waitlist = await world.waitlist();
    const people = await world.signups(waitlist, 7);
    const [a, b, c, d, e, f] = people as [Person, Person, Person, Person, Person, Person];
    const phone = '+14155550123';
    const ada = await world.signup(waitlist, { phone });
    for (const [person, times] of [
      [f, 1],
      [e, 1],
      [d, 1],
      [c, 2],
      [b, 3],
      [ada, 3],
    ] as const)
      await refer(waitlist, person, times);
    await world.offboard(waitlist, [await world.idOf(waitlist, b), await world.idOf(waitlist, d)]);

    const { top_referrers } = await read(waitlist);

    const referrer = ({ uuid, email }: Person, amount_referred: number) => ({
      uuid,
      email,
      phone: null,
      amount_referred,
    });
    expect(top_referrers).toEqual([
      referrer(b, 3),
      { ...referrer(ada, 3), phone },
      referrer(c, 2),
      referrer(d, 1),
      referrer(e, 1),
    ]);
    expect(top_referrers.map(({ uuid }) => uuid)).not.toContain(a.uuid);
  });

  it('take a span of 366 days, of one day, and one that ends or begins on a given day', async () => {
    const waitlist = await world.waitlist();
    const spanOf = async (query: Query) => {
      const { days } = await read(waitlist, query);
      return [days.length, days[0]?.date, days.at(-1)?.date];
    };

    expect(await spanOf({ from: '2024-01-01', to: '2024-12-31' })).toEqual([366, '2024-01-01', '2024-12-31']);
    expect(await spanOf({ from: '2024-02-29', to: '2024-02-29' })).toEqual([1, '2024-02-29', '2024-02-29']);
    expect(await spanOf({ to: '2024-03-30' })).toEqual([30, '2024-03-01', '2024-03-30']);
    expect((await spanOf({ from: dayAgo(6) }))[1]).toBe(dayAgo(6));
  });

  it.each([
    [
      { from: '2026-02-30', to: 'yesterday' },
      [
        ['from', 'format'],
        ['to', 'format'],
      ],
    ],
    [{ from: '2026-2-1' }, [['from', 'format']]],
    [{ from: '2026-11-22T00:00:00Z' }, [['from', 'format']]],
    [{ to: '1969-12-31' }, [['to', 'format']]],
    [{ from: '2026-11-02', to: '2026-11-01' }, [['from', 'maximum']]],
    [{ from: dayAgo(-2) }, [['from', 'maximum']]],
    [{ from: '2025-01-01', to: '2026-01-02' }, [['from', 'minimum']]],
    [{ form: '2026-11-01' }, [['form', 'known']]],
  ])('refuse %j with 400, naming field and rule', async (query, faults) => {
    const { status, body } = await call(await world.waitlist(), query);

    expect(status).toBe(400);
    expect(body.errors.map(({ field, rule }: { field: string; rule: string }) => [field, rule])).toEqual(faults);
  });

  it('can be read with an account key of the scope read', async () => {
    const waitlist = await world.waitlist();
    const body = { name: 'Reader', scope: 'read' };
    const { key } = (await api.post('/api/v1/api_key', body, { token: waitlist.owner.token })).body;

    for (const path of ['statistics', 'reorder?spots_to_move_upon_referral=1']) {
      const { status } = await api.get(`/api/v1/waitlist/${waitlist.id}/${path}`, { headers: { 'api-key': key } });
      expect([path, status]).toEqual([path, 200]);
    }
  });
});

describe('the preview of a reorder', () => {
  it('gives the number that the change then gives, and changes nothing', async () => {
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 3 });
    const [a, b, c] = (await world.signups(waitlist, 4)) as [Person, Person, Person];
    for (const [person, times] of [
      [a, 1],
      [b, 2],
      [c, 1],
    ] as const)
      await refer(waitlist, person, times);
    await world.offboard(waitlist, [await world.idOf(waitlist, c)]);
    const before = await world.list(waitlist, { order: 'queue' });

    const { body } = await preview(waitlist, 5);

    expect(await world.list(waitlist, { order: 'queue' })).toEqual(before);
    const change = { spots_to_move_upon_referral: 5 };
    const changed = await api.patch(`/api/v1/waitlist/${waitlist.id}`, change, { token: waitlist.owner.token });
    expect([body, changed.body.records_moved]).toEqual([{ records_moved: 2 }, 2]);
  });

  it('is 0 for the current value', async () => {
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 3 });
    await refer(waitlist, await world.signup(waitlist), 1);

    expect((await preview(waitlist, 3)).body).toEqual({ records_moved: 0 });
  });

  it('is refused without a value that the setting could have', async () => {
    const waitlist = await world.waitlist();
    const faultOf = async (query?: Query) => {
      const path = `/api/v1/waitlist/${waitlist.id}/reorder`;
      const { status, body } = await api.get(path, { token: waitlist.owner.token, query });
      return [status, body.errors[0].field, body.errors[0].rule];
    };

    expect(await faultOf()).toEqual([400, 'spots_to_move_upon_referral', 'required']);
    const tooMany = { spots_to_move_upon_referral: '10001' };
    expect(await faultOf(tooMany)).toEqual([400, 'spots_to_move_upon_referral', 'maximum']);
  });
});
