import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Api } from '../support/api.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person, World } from '../support/world.js';

let service: Service;
let api: Api;
let world: World;
beforeAll(async () => {
  service = await startService();
  ({ api, world } = service);
});
afterAll(() => service.stop());

const read = async ({ id }: { readonly id: number }, query: Record<string, string | number> = {}) =>
  (await api.get(`/api/v1/waitlist/${id}/leaderboard`, { query })).body.leaderboard as Record<string, unknown>[];

async function refer(waitlist: OwnedWaitlist, { referral_link }: Person, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await world.signup(waitlist, { referral_link });
}

describe('the leaderboard', () => {
  let waitlist: OwnedWaitlist;
  let ada: Person;
  beforeAll(async () => {
    waitlist = await world.waitlist({ uses_leaderboard: true, leaderboard_length: 3 });
    const names = { first_name: 'Ada', last_name: 'Lovelace', phone: '+14155550123' };
    ada = await world.signup(waitlist, { ...names, email: ' Ada@Engine.Example.COM ' });
    const [first, second, third, offboarded] = (await world.signups(waitlist, 4)) as [Person, Person, Person, Person];
    await refer(waitlist, second, 2);
    await refer(waitlist, first, 1);
    await refer(waitlist, third, 1);
    await refer(waitlist, ada, 2);
    await refer(waitlist, offboarded, 4);
    await world.offboard(waitlist, [await world.idOf(waitlist, offboarded)]);
  });

  it('has the active people with the most referrals first, and of equal ones who joined first', async () => {
    const leaders = await read(waitlist, { total_signups: 100 });

    expect(leaders.map(({ amount_referred }) => amount_referred)).toEqual([2, 2, 1, 1]);
    expect(leaders[0]).toMatchObject({ first_name: 'Ada', priority: await world.priorityOf(ada) });
    const { length } = await world.list(waitlist);
    const priorities = leaders.map(({ priority }) => priority as number);
    expect(new Set(priorities).size).toBe(4);
    expect(Math.max(...priorities)).toBeLessThan(length);
  });

  it('does not refuse an owner a listing, however many ask for it at the same moment', async () => {
    const listing = async () => {
      const { token } = waitlist.owner;
      return (await api.get('/api/v1/waiter', { token, query: { api_key: waitlist.api_key } })).status;
    };
    const boards = Array.from({ length: 200 }, () => api.get(`/api/v1/waitlist/${waitlist.id}/leaderboard`));
    const listings = await Promise.all(Array.from({ length: 20 }, listing));

    expect((await Promise.all(boards)).map(({ status }) => status)).toContain(503);
    expect(listings).toEqual(listings.map(() => 200));
  });

  it('shortens names and contact data', async () => {
    const [leader] = await read(waitlist);

    expect(leader).toEqual({
      amount_referred: 2,
      priority: expect.any(Number),
      first_name: 'Ada',
      last_name: 'L',
      email: 'a***@e***.com',
      phone: '***123',
    });
  });

  it.each([
    ['zoë@müller.example', 'z***@m***.example'],
    ['x@почта.рф', 'x***@п***.рф'],
    ['😀grin@a.b.co.uk', '😀***@a***.uk'],
  ])('shows of %s only %s', async (email, masked) => {
    const list = await world.waitlist({ uses_leaderboard: true });
    await refer(list, await world.signup(list, { email }), 1);

    expect(await read(list)).toMatchObject([{ email: masked, phone: null, first_name: '', last_name: '' }]);
  });

  it('has the length that the request gives, or the waitlist', async () => {
    expect(await read(waitlist)).toHaveLength(3);
    expect(await read(waitlist, { total_signups: '1' })).toHaveLength(1);
    expect(await read(waitlist, { total_waiters: 1 })).toHaveLength(3);
  });

  it.each(['0', '101', 'all', '-1', '1.5'])('refuses a length of %s', async (length) => {
    const { status, body } = await api.get(`/api/v1/waitlist/${waitlist.id}/leaderboard?total_signups=${length}`);

    expect([status, body.errors[0].field]).toEqual([400, 'total_signups']);
  });

  it('is empty unless the waitlist uses it', async () => {
    const list = await world.waitlist();
    await refer(list, await world.signup(list), 1);

    expect(await read(list)).toEqual([]);
  });

  it('is not there for a waitlist that is not public, even to its owner, or does not exist', async () => {
    const { id, owner } = await world.waitlist({ uses_leaderboard: true, is_public: false });

    for (const path of [`/api/v1/waitlist/${id}/leaderboard`, '/api/v1/waitlist/9007199254740991/leaderboard'])
      for (const options of [{}, { token: owner.token }])
        expect((await api.get(path, options)).body.error_code).toBe('WAITLIST_NOT_FOUND');
  });
});
