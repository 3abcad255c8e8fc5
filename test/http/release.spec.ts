import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { ReleaseRunner } from '../../src/queue/release/release.runner.js';
import type { ReleaseDto } from '../../src/waitlist/release.dto.js';
import type { Answer, CallOptions } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { queueOf } from '../support/queue.js';
import { type Service, startServices } from '../support/service.js';
import { farFromHalfHour, until } from '../support/service-process.js';
import type { OwnedWaitlist } from '../support/world.js';

const HOUR_MS = 3_600_000;
const HOURLY = { every: 'hour', time_zone: 'UTC', count: 2 } as const;
/** More than two pieces. */
const CROWD = 2_300;

let replicas: [Service, ...Service[]];
let service: Service;
let group: Awaited<ReturnType<typeof startServices>>;
beforeAll(async () => {
  group = await startServices();
  replicas = group.services;
  [service] = replicas;
});
afterAll(() => group.stop());
beforeEach(farFromHalfHour);

const path = ({ id }: { id: number }) => `/api/v1/waitlist/${id}/release`;
const list = async (waitlist: OwnedWaitlist, query: CallOptions['query'] = {}): Promise<Answer> =>
  service.api.get(path(waitlist), { token: waitlist.owner.token, query });
const run = async (waitlist: OwnedWaitlist, body: object = {}, headers?: CallOptions['headers']): Promise<Answer> =>
  service.api.post(path(waitlist), body, { token: waitlist.owner.token, headers });
const runs = async (waitlist: OwnedWaitlist) => (await list(waitlist, { limit: 100 })).body as ReleaseDto[];
const outcomes = async (waitlist: OwnedWaitlist) =>
  (await runs(waitlist)).map(({ state, offered }) => (state === 'done' ? offered : state));
const change = async ({ id, owner }: OwnedWaitlist, settings: object) =>
  service.api.patch(`/api/v1/waitlist/${id}`, settings, { token: owner.token });
const seatsOf = async ({ id, owner }: OwnedWaitlist) =>
  (await service.api.get(`/api/v1/waitlist/${id}`, { token: owner.token })).body.release_plan.seats_taken as number;
const offered = (waitlist: OwnedWaitlist) => service.world.list(waitlist, { status: 'offered' });

async function planned(plan: object, people: number): Promise<OwnedWaitlist> {
  const waitlist = await service.world.waitlist({ release_plan: { ...HOURLY, ...plan } });
  if (people > 0) await service.world.signups(waitlist, people);
  return waitlist;
}

/** All replicas look at once, with clocks that are ahead, and end what they begin. */
async function look(hours: number, lookers: readonly Service[] = replicas): Promise<void> {
  await ahead(hours * HOUR_MS, async () => {
    await Promise.all(lookers.map(({ app }) => app.get(ReleaseRunner).look()));
    await until(async () => (await running()) === 0);
  });
}

/** How many runs are under way. */
async function running(): Promise<number> {
  const [row] = await service.app
    .get(Database)
    .read((manager) =>
      manager.query<{ total: number }[]>(`SELECT COUNT(*) AS total FROM release_run WHERE state = 'running'`),
    );
  return Number(row?.total);
}

async function expectSound({ id }: OwnedWaitlist): Promise<void> {
  expect((await queueOf(service.app).auditor.verify(id, () => undefined)).findings).toEqual([]);
}

describe('a release plan', () => {
  it('offers the first of the queue a seat at each of its times, once', async () => {
    const waitlist = await planned({}, 5);
    await look(0);
    expect(await runs(waitlist)).toEqual([]);

    await look(1);
    await look(1);

    const [first, ...others] = await runs(waitlist);
    expect(others).toEqual([]);
    expect(first).toEqual({
      id: expect.any(String),
      planned_at: expect.stringMatching(/:00:00\.000Z$/),
      ran_at: expect.any(String),
      count: 2,
      offered: 2,
      state: 'done',
    });
    const queue = await service.world.list(waitlist);
    expect([queue.length, (await offered(waitlist)).length, await seatsOf(waitlist)]).toEqual([3, 2, 2]);
    await look(2);
    await look(3);
    expect(await outcomes(waitlist)).toEqual([1, 2, 2]);
    await expectSound(waitlist);
  });

  it('makes no run while the account is disabled', async () => {
    const waitlist = await planned({}, 5);
    const disable = async (at: string | null) =>
      service.app
        .get(DataSource)
        .query('UPDATE account SET disabled_at = ? WHERE id = ?', [at, waitlist.owner.accountId]);
    await disable('2026-01-01 00:00:00.000');
    await look(1);
    await disable(null);
    expect(await runs(waitlist)).toEqual([]);

    await look(2);

    expect(await outcomes(waitlist)).toEqual([2]);
  });

  it('runs each time once, whatever the clocks of replicas do', async () => {
    const waitlist = await planned({ count: 1 }, 9);

    for (const hours of [1, 2, 1, 3, 0, 2, 3, 5, 4]) {
      await look(hours, [replicas[hours % replicas.length]!]);
      await look(hours);
    }

    // The fourth time was skipped by a clock that was ahead, and came in its own hour.
    expect(await outcomes(waitlist)).toEqual([1, 1, 1, 1, 1]);
    const times = (await runs(waitlist)).map(({ planned_at }) => planned_at);
    expect(new Set(times).size).toBe(5);
    expect(await offered(waitlist)).toHaveLength(5);
    await expectSound(waitlist);
  });

  it('makes up a run that is late by less than an hour, and skips those before, of an outage the newest hundred', async () => {
    const waitlist = await planned({}, 3);

    await look(500);

    const all = await runs(waitlist);
    expect(all).toHaveLength(100);
    expect(all.map(({ state, ran_at }) => [state, ran_at === null])).toEqual([
      ['done', false],
      ...Array.from({ length: 99 }, () => ['skipped', true]),
    ]);
    expect(all.map(({ planned_at }) => planned_at)).toEqual(
      all.map((_, index) => new Date(Date.parse(all[0]!.planned_at) - index * HOUR_MS).toISOString()),
    );
  });

  it('never offers more than its seats, and fills those that are given up', async () => {
    const waitlist = await planned({ count: 2, seats: 3 }, 9);
    const { id, owner } = waitlist;
    for (const hours of [1, 2, 3]) await look(hours);
    expect(await outcomes(waitlist)).toEqual([0, 1, 2]);

    const uuids = (await offered(waitlist)).map(({ uuid }) => ({ uuid }));
    await service.api.post(`/api/v1/waitlist/${id}/return`, { signups: uuids.slice(0, 1) }, { token: owner.token });
    await look(4);
    expect(await outcomes(waitlist)).toEqual([1, 0, 1, 2]);

    await service.api.post(`/api/v1/waitlist/${id}/offer`, { count: 2 }, { token: owner.token });
    await look(5);
    expect([(await outcomes(waitlist))[0], await seatsOf(waitlist)]).toEqual([0, 5]);
    await expectSound(waitlist);
  });

  it('does nothing while it is paused, once it is taken away, or after its last day', async () => {
    const paused = await planned({ is_active: false }, 1);
    const past = await planned({ until: '2026-01-01' }, 1);
    const gone = await planned({}, 1);
    await change(gone, { release_plan: null });

    await look(2);

    expect([await runs(paused), await runs(past), await runs(gone)]).toEqual([[], [], []]);
  });

  it('that is saved anew has no times before', async () => {
    const waitlist = await planned({}, 5);
    await ahead(1.5 * HOUR_MS, async () => {
      const settings = { releasePlan: { ...waitlist.release_plan!, count: 3 } };
      const { writer } = queueOf(service.app);
      await writer.configure(waitlist.id, settings, operatorWrite(waitlist.owner.accountId));
    });

    await look(1.5);

    expect(await runs(waitlist)).toEqual([]);
  });
});

describe('a run of a release plan', () => {
  it.each([{ is_active: false }, { until: '2026-01-01' }])('can be had now, even with %j', async (plan) => {
    const waitlist = await planned(plan, 3);

    const { status, body } = await run(waitlist);

    const now = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect([status, body]).toEqual([
      200,
      { id: expect.any(String), planned_at: now, ran_at: now, count: 2, offered: 2, state: 'done' },
    ]);
    expect(await runs(waitlist)).toEqual([body]);
    const query = { waitlist_id: waitlist.id };
    const { body: events } = await service.api.get('/api/v1/audit', { token: waitlist.owner.token, query });
    const offeredTo = (await offered(waitlist)).map(({ uuid }) => uuid);
    const of = (action: string) => (events as { action: string }[]).filter((event) => event.action === action);
    expect(of('release_ran')).toMatchObject([{ member: waitlist.owner.id, uuids: [] }]);
    expect(of('offers_made')).toMatchObject([{ member: waitlist.owner.id, uuids: expect.arrayContaining(offeredTo) }]);
  });

  it('shows in a dry run what it would offer, and changes nothing', async () => {
    const waitlist = await planned({ count: 5, seats: 4 }, 3);

    const first = await run(waitlist, { dry_run: true });
    await run(waitlist);
    await service.world.signups(waitlist, 3);
    const second = await run(waitlist, { dry_run: true });

    const dry = { id: null, ran_at: null, count: 5, state: 'done', planned_at: expect.any(String) };
    expect([first.body, second.body]).toEqual([
      { ...dry, offered: 3 },
      { ...dry, offered: 1 },
    ]);
    expect(await outcomes(waitlist)).toEqual([3]);
  });

  it('with an Idempotency-Key that was used before is the same run', async () => {
    const waitlist = await planned({}, 5);
    const headers = { 'idempotency-key': 'release-1' };

    const answers = [await run(waitlist, {}, headers), await run(waitlist, {}, headers)];

    expect(answers[1]!.body).toEqual(answers[0]!.body);
    expect(await outcomes(waitlist)).toEqual([2]);
  });

  it('needs a plan', async () => {
    const waitlist = await service.world.waitlist();

    for (const body of [{}, { dry_run: true }])
      expect(await run(waitlist, body)).toMatchObject({ status: 409, body: { error_code: 'NO_RELEASE_PLAN' } });
    expect((await list(waitlist)).body).toEqual([]);
  });

  it('of many people goes on in pieces after the answer', async () => {
    const waitlist = await planned({ count: CROWD }, 0);
    await queueOf(service.app).seeder.seed(waitlist.id, CROWD + 5, () => undefined);

    const { body } = await run(waitlist);

    expect(body).toMatchObject({ state: 'running', offered: 1_000 });
    await until(async () => (await runs(waitlist))[0]?.state === 'done');
    expect(await outcomes(waitlist)).toEqual([CROWD]);
    expect(await seatsOf(waitlist)).toBe(CROWD);
    await expectSound(waitlist);
  });

  it('whose process died is alone until another goes on with it, which repeats no piece', async () => {
    const waitlist = await planned({ count: CROWD }, 0);
    await queueOf(service.app).seeder.seed(waitlist.id, CROWD + 5, () => undefined);
    await run(waitlist);
    await until(async () => (await running()) === 0);
    const [{ id }] = (await runs(waitlist)) as [ReleaseDto];

    // As if the process had died after the commit of the third piece, before it noted it.
    await service.app.get(Database).dataSource.query(
      `UPDATE release_run SET state = 'running', offered = 2000, pieces = 2, runner = 'gone',
         heartbeat_at = '2026-01-01 00:00:00' WHERE id = ?`,
      [id],
    );
    for (const body of [{}, { dry_run: true }])
      expect(await run(waitlist, body)).toMatchObject({ status: 409, body: { error_code: 'RELEASE_RUNNING' } });
    await look(0);

    expect(await outcomes(waitlist)).toEqual([CROWD]);
    expect(await seatsOf(waitlist)).toBe(CROWD);
    await expectSound(waitlist);
  });

  it('is listed newest first, in pages', async () => {
    const waitlist = await planned({ count: 1 }, 3);
    for (let count = 0; count < 3; count += 1) await run(waitlist);
    const all = await runs(waitlist);

    const first = await list(waitlist, { limit: 2 });
    const second = await list(waitlist, { limit: 2, after_id: first.body[1].id });

    expect([first.body, second.body]).toEqual([all.slice(0, 2), all.slice(2)]);
    expect(all.map(({ planned_at }) => planned_at)).toEqual(
      all
        .map(({ planned_at }) => planned_at)
        .sort()
        .reverse(),
    );
    expect([first.headers.link, second.headers.link]).toEqual([expect.stringContaining(all[1]!.id!), undefined]);
  });

  it('is for editors, the list for viewers, and neither for others', async () => {
    const waitlist = await planned({}, 0);
    const viewer = await service.world.member(waitlist.owner, 'viewer');
    const stranger = await service.world.owner();
    const { api } = service;

    expect((await api.get(path(waitlist), { token: viewer.token })).status).toBe(200);
    expect((await api.post(path(waitlist), {}, { token: viewer.token })).body.error_code).toBe('INSUFFICIENT_ROLE');
    for (const answer of [
      await api.get(path(waitlist), { token: stranger.token }),
      await api.post(path(waitlist), {}, { token: stranger.token }),
    ])
      expect(answer.body.error_code).toBe('WAITLIST_NOT_FOUND');
    expect((await api.post(path(waitlist), {}, {})).status).toBe(401);
  });
});
