import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { OfferCodes } from '../../src/queue/offers/offer-codes.js';
import { dayAfter, dayOf } from '../../src/queue/order/day-counts.js';
import { makeOffers } from '../../src/queue/write/commands/make-offers.js';
import { beginOffer } from '../../src/queue/write/commands/time-offers.js';
import { returnWaiters } from '../../src/queue/write/commands/return.js';
import { weeksBefore } from '../../src/signup/estimate.js';
import type { PlaceDto } from '../../src/signup/place.dto.js';
import type { Answer, Api } from '../support/api.js';
import { queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person, World } from '../support/world.js';

const PATH = '/api/v1/signup/place';
const NIL = '00000000-0000-0000-0000-000000000000';

let service: Service;
let api: Api;
let world: World;
beforeAll(async () => {
  // Nothing is sent: the background tasks do not run.
  service = await startService({ environment: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'list@example.com' } });
  ({ api, world } = service);
});
afterAll(() => service.stop());

const get = (query: Readonly<Record<string, string | number>>): Promise<Answer> => api.get(PATH, { query });

async function placeOf({ waitlist_id, uuid }: Pick<Person, 'waitlist_id' | 'uuid'>): Promise<PlaceDto> {
  const { status, body } = await get({ waitlist_id, uuid });
  expect(status).toBe(200);
  return body as PlaceDto;
}

async function offer({ id }: OwnedWaitlist, ...people: readonly Person[]): Promise<void> {
  const codes = people.map(() => service.app.get(OfferCodes).make());
  const selection = { uuids: people.map(({ uuid }) => uuid) };
  await queueOf(service.app).writer.submit(id, makeOffers({ selection, hours: 24, codes }, operatorWrite(1)));
}

const patch = ({ id, owner }: OwnedWaitlist, { uuid }: Person, changes: object) =>
  api.patch(`/api/v1/signup/${uuid}`, { waitlist_id: id, ...changes }, { token: owner.token });

/** Of the active records: the number ahead, and with one more credited referral; in the obvious way. */
async function expectedOf({ id }: { readonly id: number }, spots: number) {
  const rows = await service.app
    .get(DataSource)
    .query<{ uuid: string; rank_key: number; seq: number }[]>(
      `SELECT uuid, rank_key, seq FROM waiter WHERE waitlist_id = ${id} AND status = 1`,
    );
  return new Map(
    rows.map(({ uuid, rank_key: key, seq }) => {
      const ahead = (own: number) =>
        rows.filter((other) => other.rank_key < own || (other.rank_key === own && other.seq > seq)).length;
      return [uuid, [ahead(key), ahead(Math.max(0, key - spots))]];
    }),
  );
}

describe('a place', () => {
  it('of a newcomer is where it joined, and knows what a friend would give', async () => {
    const waitlist = await world.waitlist();
    const people = await world.signups(waitlist, 5);

    expect(await placeOf(people[4]!)).toEqual({
      status: 'waiting',
      priority: 4,
      joined_priority: 4,
      referrals: { count: 0, spots: 0 },
      others: 0,
      next_referral_priority: 1,
      estimate: null,
      offer_expires_at: null,
    });
    expect(await placeOf(people[1]!)).toMatchObject({ priority: 1, next_referral_priority: 0 });
  });

  it('tells friends from others and the owner', async () => {
    const waitlist = await world.waitlist();
    const [first, second, , , ada] = await world.signups(waitlist, 6);
    await world.signup(waitlist, { referral_link: ada!.referral_link });
    expect(await placeOf(ada!)).toMatchObject({ priority: 1, referrals: { count: 1, spots: 3 }, others: 0 });

    await world.offboard(waitlist, [await world.idOf(waitlist, first)]);
    expect(await placeOf(ada!)).toMatchObject({ priority: 0, joined_priority: 4, others: 1 });

    await patch(waitlist, second!, { spots_to_advance: 100 });
    await world.signup(waitlist, { referral_link: second!.referral_link });
    expect(await placeOf(ada!)).toMatchObject({ priority: 1, others: 0, next_referral_priority: 1 });
  });

  it('counts referrals by the setting of today, and none that is withheld', async () => {
    const waitlist = await world.waitlist({ fraud: { referrals_per_hour: 1 } });
    const people = await world.signups(waitlist, 8);
    const ada = people[7]!;
    for (let count = 0; count < 2; count += 1) await world.signup(waitlist, { referral_link: ada.referral_link });

    await api.patch(`/api/v1/waitlist/${waitlist.id}`, { spots_to_move_upon_referral: 2 }, waitlist.owner);

    expect(await placeOf(ada)).toMatchObject({
      priority: 5,
      referrals: { count: 1, spots: 2 },
      others: 0,
      next_referral_priority: 3,
    });
  });

  it('of a pending person joins the queue with the click', async () => {
    const waitlist = await world.waitlist({ verification: 'required' });
    const [ada, bob] = await world.signups(waitlist, 2);
    const pending = { status: 'pending', joined_priority: null, others: null, next_referral_priority: null };
    expect(await placeOf(bob!)).toMatchObject({ ...pending, priority: 0 });

    await patch(waitlist, ada, { verified: true });
    await patch(waitlist, bob!, { verified: true });

    expect(await placeOf(bob!)).toMatchObject({ status: 'waiting', priority: 1, joined_priority: 1, others: 0 });
  });

  it('of an offered person says until when, and of one who returned where it stands', async () => {
    const waitlist = await world.waitlist({ required_contact: { email: 'optional', phone: 'optional' } as never });
    const [, ada] = await world.signups(waitlist, 2);
    // The time of an offer that is mailed has not begun.
    const bob = await world.signup(waitlist, { email: null, phone: '+14155550123' });
    await offer(waitlist, ada!, bob);
    const left = { others: null, next_referral_priority: null, estimate: null };
    // The time begins when the mail was handed over.
    await queueOf(service.app).writer.submit(waitlist.id, beginOffer(bob.uuid, new Date()));
    const offered = await placeOf(bob);

    expect(offered).toMatchObject({ ...left, status: 'offered', priority: 2, joined_priority: 2 });
    expect(Date.parse(offered.offer_expires_at!)).toBeGreaterThan(Date.now() + 23 * 3_600_000);

    await queueOf(service.app).writer.submit(waitlist.id, returnWaiters([bob.uuid], operatorWrite(1)));
    expect(await placeOf(bob)).toMatchObject({ status: 'waiting', priority: 1, others: 1, offer_expires_at: null });
  });

  it('of an offboarded person is the last one', async () => {
    const waitlist = await world.waitlist();
    const [, ada] = await world.signups(waitlist, 2);
    await world.offboard(waitlist, [await world.idOf(waitlist, ada!)]);

    expect(await placeOf(ada!)).toMatchObject({
      status: 'offboarded',
      priority: 1,
      joined_priority: 1,
      others: null,
      next_referral_priority: null,
      estimate: null,
    });
  });

  it('of an imported person knows no place where it joined', async () => {
    const waitlist = await world.waitlist();
    const options = {
      token: waitlist.owner.token,
      raw: 'email\na@b.example\n',
      headers: { 'content-type': 'text/csv' },
    };
    await api.post(`/api/v1/waitlist/${waitlist.id}/import`, undefined, options);
    const [{ uuid }] = (await world.list(waitlist)) as unknown as [Person];

    expect(await placeOf({ waitlist_id: waitlist.id, uuid })).toMatchObject({
      joined_priority: null,
      others: null,
      next_referral_priority: 0,
    });
  });

  it.each([0, 1, 3, 40, 10_000])('with one more friend is exact at %i spots, and so is every place', async (spots) => {
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: spots });
    const people: Person[] = await world.signups(waitlist, 40);
    for (const index of [39, 39, 30, 12, 35, 38, 38, 5])
      people.push(await world.signup(waitlist, { referral_link: people[index]!.referral_link }));
    const ids = await Promise.all([3, 11, 20].map((index) => world.idOf(waitlist, people[index]!)));
    await world.offboard(waitlist, ids);
    const expected = await expectedOf(waitlist, spots);

    const places = await Promise.all(people.map(placeOf));

    const waiting = people.filter((_, index) => places[index]!.status === 'waiting');
    expect(waiting).toHaveLength(45);
    for (const [index, { uuid }] of people.entries())
      if (expected.has(uuid))
        expect([places[index]!.priority, places[index]!.next_referral_priority]).toEqual(expected.get(uuid));
    const [ada, promised] = [people[33]!, places[33]!.next_referral_priority];
    await world.signup(waitlist, { referral_link: ada.referral_link });
    expect((await placeOf(ada)).priority).toBe(promised);
  });

  it('is exact where an import put very many people into one bucket', async () => {
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 1 });
    const lines = Array.from(
      { length: 700 },
      (_, index) => `u${index}@crowd.example,${Math.max(0, index - (index % 3))}`,
    );
    const options = {
      token: waitlist.owner.token,
      raw: `email,spots_advanced\n${lines.join('\n')}\n`,
      headers: { 'content-type': 'text/csv' },
    };
    expect((await api.post(`/api/v1/waitlist/${waitlist.id}/import`, undefined, options)).status).toBe(200);
    const expected = await expectedOf(waitlist, 1);
    const uuids = [...expected.keys()].filter((_, index) => index % 70 === 0);

    const places = await Promise.all(uuids.map((uuid) => placeOf({ waitlist_id: waitlist.id, uuid })));

    expect(places.map((place) => [place.priority, place.next_referral_priority])).toEqual(
      uuids.map((uuid) => expected.get(uuid)),
    );
  });
});

describe('the estimate', () => {
  it('goes by those who left the queue, and no return or erasure takes one back', async () => {
    const waitlist = await world.waitlist();
    const people = await world.signups(waitlist, 12);
    const today = dayOf(new Date());
    const { from } = weeksBefore(today);
    /** As if today had been that day. */
    const move = async (day: string) =>
      service.app
        .get(DataSource)
        .query('UPDATE waitlist_day SET day = ? WHERE waitlist_id = ? AND day = ?', [day, waitlist.id, today]);
    const leftOn = async (day: string, ...left: readonly Person[]) => {
      await world.offboard(waitlist, await Promise.all(left.map((person) => world.idOf(waitlist, person))));
      await move(day);
    };
    expect((await placeOf(people[11]!)).estimate).toBeNull();
    await move('1999-12-31');
    await leftOn(dayAfter(from, 3), people[0], people[1]!);
    expect((await placeOf(people[11]!)).estimate).toBeNull();

    await leftOn(dayAfter(from, 20), people[2]!, people[3]!, people[4]!, people[5]!);
    const estimate = { from: dayAfter(today, Math.ceil((6 / 4) * 7)), to: dayAfter(today, Math.ceil((6 / 2) * 7)) };
    expect((await placeOf(people[11]!)).estimate).toEqual(estimate);

    const erasure = { waitlist_id: waitlist.id, signups: [{ uuid: people[0].uuid }] };
    await api.call('DELETE', '/api/v1/signup', erasure, { token: waitlist.owner.token });
    expect((await placeOf(people[11]!)).estimate).toEqual(estimate);
    const back = { signups: [{ uuid: people[2]!.uuid }] };
    await api.post(`/api/v1/waitlist/${waitlist.id}/return`, back, { token: waitlist.owner.token });
    const later = { from: dayAfter(today, Math.ceil((7 / 4) * 7)), to: dayAfter(today, Math.ceil((7 / 2) * 7)) };
    expect((await placeOf(people[11]!)).estimate).toEqual(later);
    const { auditor } = queueOf(service.app);
    await auditor.rebuild(waitlist.id, () => undefined);
    expect((await placeOf(people[11]!)).estimate).toEqual(later);
    expect((await auditor.verify(waitlist.id, () => undefined)).findings).toEqual([]);
  });
});

describe('a place that is not there', () => {
  it('is 404 as a lookup is', async () => {
    const waitlist = await world.waitlist();
    const other = await world.waitlist();
    const ada = await world.signup(waitlist);
    const code = async (query: Readonly<Record<string, string | number>>) => {
      const { status, body } = await get(query);
      return [status, body.error_code];
    };

    expect(await code({ waitlist_id: waitlist.id, uuid: NIL })).toEqual([404, 'NO_WAITER_FOUND']);
    expect(await code({ waitlist_id: other.id, uuid: ada.uuid })).toEqual([404, 'NO_WAITER_FOUND']);
    expect(await code({ waitlist_id: 2 ** 40, uuid: ada.uuid })).toEqual([404, 'WAITLIST_NOT_FOUND']);
    expect((await get({ waitlist_id: waitlist.public_key, uuid: ada.uuid.toUpperCase() })).status).toBe(200);
    expect((await get({ api_key: waitlist.public_key, uuid: ada.uuid })).status).toBe(200);
    const erasure = { waitlist_id: waitlist.id, signups: [{ uuid: ada.uuid }] };
    await api.call('DELETE', '/api/v1/signup', erasure, { token: waitlist.owner.token });
    expect(await code({ waitlist_id: waitlist.id, uuid: ada.uuid })).toEqual([404, 'NO_WAITER_FOUND']);
  });

  it.each([
    [{}, ['waitlist_id', 'uuid']],
    [{ waitlist_id: 1 }, ['uuid']],
    [{ waitlist_id: 0, uuid: 'x' }, ['waitlist_id', 'uuid']],
    [{ uuid: NIL }, ['waitlist_id']],
  ])('names the faults of %j', async (query, fields) => {
    const { status, body } = await get(query);

    expect(status).toBe(400);
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual(fields);
  });

  it('counts as an unsuccessful lookup', async () => {
    const limited = await startService({ environment: { RATE_LIMIT_PUBLIC: '20' } });
    try {
      const waitlist = await limited.world.waitlist();
      const ask = async () => {
        const answer = await limited.api.get(PATH, { query: { waitlist_id: waitlist.id, uuid: NIL } });
        return answer.body.error_code as string;
      };
      expect([await ask(), await ask(), await ask()]).toEqual([
        'NO_WAITER_FOUND',
        'NO_WAITER_FOUND',
        'TOO_MANY_MISSES',
      ]);
    } finally {
      await limited.stop();
    }
  });
});
