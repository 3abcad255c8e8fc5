import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { AuditEventDto } from '../../src/auth/audit.dto.js';
import type { CreatedAccountKeyDto } from '../../src/auth/account-key.dto.js';
import { OfferSweeper } from '../../src/queue/maintenance/offer-sweeper.js';
import { dayAfter, dayOf } from '../../src/queue/order/day-counts.js';
import type { OfferDto, OfferedWaiterDto } from '../../src/waiter/offer.dto.js';
import type { WaiterDto } from '../../src/waiter/waiter.dto.js';
import type { WaitlistDto } from '../../src/waitlist/waitlist.dto.js';
import type { WaitlistStatisticsDto } from '../../src/waitlist/statistics.dto.js';
import type { Answer } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person } from '../support/world.js';

const HOUR_MS = 3_600_000;
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

describe('an offer', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const post = (waitlist: OwnedWaitlist, path: string, body?: object, headers = {}) =>
    service.api.post(path, body, { token: waitlist.owner.token, headers });
  const ask = (waitlist: OwnedWaitlist, body: object, headers = {}) =>
    post(waitlist, `/api/v1/waitlist/${waitlist.id}/offer`, body, headers);
  /** Of a successful call. */
  const offer = async (waitlist: OwnedWaitlist, body: object): Promise<OfferedWaiterDto[]> =>
    done(await ask(waitlist, body)).body as OfferedWaiterDto[];
  const bringBack = (waitlist: OwnedWaitlist, people: readonly { readonly uuid: string }[], headers = {}) =>
    post(waitlist, `/api/v1/waitlist/${waitlist.id}/return`, { signups: named(people) }, headers);
  const check = (waitlist: OwnedWaitlist, code: string) => post(waitlist, '/api/v1/offer/check', { code });
  const accept = (waitlist: OwnedWaitlist, code: string, headers = {}) =>
    post(waitlist, '/api/v1/offer/accept', { code }, headers);
  const newLink = (waitlist: OwnedWaitlist, { uuid }: { readonly uuid: string }, headers = {}) =>
    post(waitlist, `/api/v1/signup/${uuid}/offer_link`, undefined, headers);
  const get = async (waitlist: OwnedWaitlist, { uuid }: { readonly uuid: string }) =>
    (await service.api.get(`/api/v1/signup/${uuid}`, { token: waitlist.owner.token })).body as WaiterDto;
  const view = async (waitlist: OwnedWaitlist) =>
    (await service.api.get(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token })).body as WaitlistDto;
  const verify = async ({ id }: OwnedWaitlist) =>
    (await queueOf(service.app).auditor.verify(id, () => undefined)).findings;
  const audit = async (waitlist: OwnedWaitlist) =>
    (
      (
        await service.api.get('/api/v1/audit', {
          token: waitlist.owner.token,
          query: { waitlist_id: waitlist.id },
        })
      ).body as AuditEventDto[]
    ).map(({ action }) => action);
  const sweep = () => service.app.get(OfferSweeper).sweep();

  async function full(count: number, settings = {}) {
    const waitlist = await service.world.waitlist(settings);
    return { waitlist, people: await service.world.signups(waitlist, count) };
  }

  describe('by POST /api/v1/waitlist/{id}/offer', () => {
    it('goes to the first of the queue, who leave it and keep their place', async () => {
      const { waitlist, people } = await full(4);

      const offered = await offer(waitlist, { count: 2 });

      expect(offered.map(({ uuid }) => uuid)).toEqual([people[0].uuid, people[1]!.uuid]);
      expect(offered.map(({ priority }) => priority)).toEqual([0, 1]);
      for (const waiter of offered)
        expect(waiter).toMatchObject({
          status: 'offered',
          removed_date: null,
          removed_priority: null,
          removed_reason: null,
          removed_from_waitlist: false,
          total_waiters_currently: 2,
          offer_expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          offer_url: expect.stringMatching(new RegExp(`/waitlist/${waitlist.id}/offer/[\\w-]{22,}$`)),
        });
      expect(new Set(offered.map(({ offer_url }) => offer_url)).size).toBe(2);
      expect(await service.world.priorityOf(people[2]!)).toBe(0);
      expect((await service.world.list(waitlist)).map(({ uuid }) => uuid)).toEqual([people[2]!.uuid, people[3]!.uuid]);
      expect((await view(waitlist)).statistics).toMatchObject({
        current_signups: 2,
        offered_signups: 2,
        offboarded_signups: 0,
        total_signups: 4,
      });
      expect(await audit(waitlist)).toContain('offers_made');
      expect(await verify(waitlist)).toEqual([]);
    });

    it('leaves a person who was referred among those who were', async () => {
      const { waitlist, people } = await full(2);
      await service.world.signup(waitlist, { referral_link: people[0].referral_link });
      const friend = (await service.world.list(waitlist)).at(-1)!;
      const referred = async () => (await view(waitlist)).statistics.referred_signups;

      await offer(waitlist, { signups: named([friend]) });

      expect(await referred()).toBe(1);
      expect(await verify(waitlist)).toEqual([]);
      await bringBack(waitlist, [friend]);
      expect(await referred()).toBe(1);
      expect(await verify(waitlist)).toEqual([]);
    });

    it('goes to those who are named and wait, in the order named', async () => {
      const { waitlist, people } = await full(4);
      const stranger = await service.world.signup(await service.world.waitlist());
      await service.world.offboard(waitlist, [await service.world.idOf(waitlist, people[0])]);

      const signups = named([people[3]!, people[0], stranger, people[1]!, people[3]!, { uuid: UNKNOWN }]);
      const offered = await offer(waitlist, { signups });

      expect(offered.map(({ uuid }) => uuid)).toEqual([people[3]!.uuid, people[1]!.uuid]);
      expect(await offer(waitlist, { signups })).toEqual([]);
      expect((await get(waitlist, people[2]!)).status).toBe('waiting');
    });

    it('shows in a dry run who would get it, and changes and records nothing', async () => {
      const { waitlist, people } = await full(3);
      const before = await audit(waitlist);

      const first = await offer(waitlist, { count: 2, dry_run: true });
      const chosen = await offer(waitlist, { signups: named([people[2]!, { uuid: UNKNOWN }]), dry_run: true });

      expect(first.map(({ uuid, status, priority }) => [uuid, status, priority])).toEqual([
        [people[0].uuid, 'waiting', 0],
        [people[1]!.uuid, 'waiting', 1],
      ]);
      expect(chosen.map(({ uuid }) => uuid)).toEqual([people[2]!.uuid]);
      expect([...first, ...chosen].some((waiter) => 'offer_url' in waiter)).toBe(false);
      expect(await audit(waitlist)).toEqual(before);
      expect((await view(waitlist)).statistics.current_signups).toBe(3);
    });

    it('holds for the hours of the call, else for those of the waitlist', async () => {
      const { waitlist } = await full(3, { offers: { hours: 5 } });
      const hoursLeft = ([waiter]: OfferedWaiterDto[]) =>
        Math.round((Date.parse(waiter!.offer_expires_at!) - Date.now()) / HOUR_MS);

      expect(hoursLeft(await offer(waitlist, { count: 1 }))).toBe(5);
      expect(hoursLeft(await offer(waitlist, { count: 1, hours: 7 }))).toBe(7);
      expect((await offer(waitlist, { count: 1, hours: null }))[0]!.offer_expires_at).toBeNull();
    });

    it.each([
      ['neither count nor signups', {}, ['count: required']],
      ['both', { count: 1, signups: [{ uuid: UNKNOWN }] }, ['signups: one_of']],
      ['no number', { count: 0 }, ['count: minimum']],
      ['too many', { count: 1_001 }, ['count: maximum']],
      ['too short a time', { count: 1, hours: 0 }, ['hours: minimum']],
      ['too long a time', { count: 1, hours: 721 }, ['hours: maximum']],
      ['nobody named', { signups: [] }, ['signups: min_items']],
      ['a name that is no uuid', { signups: [{ uuid: 'x' }] }, ['signups[0].uuid: format']],
      ['no flag', { count: 1, dry_run: 'x' }, ['dry_run: type']],
      // A misspelt name must make no offers.
      ['an unknown field', { count: 1, dryRun: true }, ['dryRun: known']],
    ])('refuses %s', async (_, body, faults) => {
      const { waitlist } = await full(1);

      const answer = await ask(waitlist, body);

      expect(answer.status).toBe(400);
      expect(faultsOf(answer)).toEqual(faults);
      expect((await view(waitlist)).statistics.offered_signups).toBe(0);
    });

    it('is made once by a repeat with an Idempotency-Key, which shows the links again to the same member only', async () => {
      const { waitlist } = await full(3);
      const key = { 'idempotency-key': randomUUID() };
      const editor = await service.world.member(waitlist.owner, 'editor');

      const first = await ask(waitlist, { count: 1 }, key);
      const repeat = await ask(waitlist, { count: 1 }, key);
      const others = await ask({ ...waitlist, owner: { ...waitlist.owner, token: editor.token } }, { count: 1 }, key);

      expect(repeat.body).toEqual(first.body);
      expect(repeat.headers['idempotent-replayed']).toBe('true');
      expect([others.status, others.body.error_code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      expect((await view(waitlist)).statistics).toMatchObject({ current_signups: 2, offered_signups: 1 });
    });

    it('goes to hundreds in one call, each with a link of its own', async () => {
      const waitlist = await service.world.waitlist();
      const people = await Promise.all(Array.from({ length: 120 }, () => service.world.signup(waitlist)));

      const offered = await offer(waitlist, { count: 1_000 });

      expect(offered.map(({ uuid }) => uuid).sort()).toEqual(people.map(({ uuid }) => uuid).sort());
      expect(new Set(offered.map(({ offer_url }) => offer_url)).size).toBe(120);
      expect(await verify(waitlist)).toEqual([]);
    });
  });

  describe('by the rules of the waitlist', () => {
    it('has defaults, and in a change the rules that are left out keep their value', async () => {
      const waitlist = await service.world.waitlist();
      const change = async (offers: object) =>
        (await service.api.patch(`/api/v1/waitlist/${waitlist.id}`, { offers }, { token: waitlist.owner.token }))
          .body as WaitlistDto;

      expect(waitlist.offers).toEqual({ hours: 48, on_expiry: 'out', url: null });
      const url = 'https://app.example.com/welcome?a=b#c';
      expect((await change({ url })).offers).toEqual({ hours: 48, on_expiry: 'out', url });
      expect((await change({ hours: null, on_expiry: 'end' })).offers).toEqual({ hours: null, on_expiry: 'end', url });
      expect((await change({ url: null })).offers).toEqual({ hours: null, on_expiry: 'end', url: null });
      expect((await view(waitlist)).offers).toEqual({ hours: null, on_expiry: 'end', url: null });
      const [offered] = await offer(waitlist, { signups: named([await service.world.signup(waitlist)]) });
      expect(offered!.offer_expires_at).toBeNull();
    });

    it('keeps them to the owner', async () => {
      const waitlist = await service.world.waitlist({ offers: { url: 'https://app.example.com/secret' } });

      const { text } = await service.api.get(`/api/v1/waitlist/${waitlist.id}`);

      expect(text).not.toContain('offers');
    });
  });

  describe('in what others see', () => {
    it('keeps the place in public answers, with the time and without the link', async () => {
      const { waitlist, people } = await full(2);
      const [offered] = await offer(waitlist, { signups: named([people[1]!]) });
      const query = { waitlist_id: waitlist.id, email: people[1]!.email };

      const { body, text } = await service.api.get('/api/v1/signup', { query });

      expect(body).toMatchObject({
        status: 'offered',
        priority: 1,
        removed_date: null,
        removed_priority: null,
        removed_reason: null,
        offer_expires_at: offered!.offer_expires_at,
      });
      expect(text).not.toContain(codeOf(offered!));
      const again = await service.api.post('/api/v1/signup', query);
      expect(again.body).toMatchObject({ status: 'offered', priority: 1 });
    });

    it('is never null in the first generation, whose apps let in whoever gets null', async () => {
      const { waitlist, people } = await full(4);
      const place = async ({ email }: Person) =>
        (
          (await service.api.post('/api/v1/users/status', { api_key: waitlist.id, email })).body as Record<
            string,
            unknown
          >
        ).current_priority;
      const offered = await offer(waitlist, { count: 3, hours: 1 });

      expect(await Promise.all(people.slice(0, 3).map(place))).toEqual([0, 1, 2]);

      await accept(waitlist, codeOf(offered[0]!));
      await ahead(2 * HOUR_MS, sweep);

      expect(await Promise.all(people.map(place))).toEqual([null, 1, 2, 0]);
      await bringBack(waitlist, [people[0]]);
      expect(await place(people[0])).toBe(0);
    });

    it('is in lists of its status only, and in those of any status that find few', async () => {
      const { waitlist, people } = await full(3);
      await service.world.signup(waitlist, { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@lists.example' });
      await offer(waitlist, { signups: named([people[0]]) });
      await service.world.offboard(waitlist, [await service.world.idOf(waitlist, people[1]!)]);
      const list = async (query: Record<string, string | number | boolean>) =>
        (await service.world.list(waitlist, query)).map(({ uuid }) => uuid);

      expect(await list({ status: 'offered' })).toEqual([people[0].uuid]);
      expect(await list({ offboarded_request: true })).toEqual([people[1]!.uuid]);
      expect(await list({ email: people[0].email })).toEqual([]);
      for (const person of people) {
        expect(await list({ status: 'any', email: person.email })).toEqual([person.uuid]);
        expect(await list({ status: 'any', uuid: person.uuid })).toEqual([person.uuid]);
        expect(await list({ status: 'any', search: person.referral_token })).toEqual([person.uuid]);
        expect(await list({ status: 'any', search: person.email.slice(0, 20) })).toEqual([person.uuid]);
      }
      const { headers } = await service.api.get('/api/v1/waiter', {
        token: waitlist.owner.token,
        query: { waitlist_id: waitlist.id, status: 'offered' },
      });
      expect(headers['x-total-count']).toBe('1');
    });

    it('is listed by name whatever the status, page by page in the order of names', async () => {
      const waitlist = await service.world.waitlist();
      const names = ['Abel', 'Abba', 'Abt', 'Abegg', 'Other', '𝒜b', 'ABe'];
      const people: Person[] = [];
      for (const last_name of names) people.push(await service.world.signup(waitlist, { first_name: 'A', last_name }));
      await offer(waitlist, { signups: named([people[0]!, people[6]!]) });
      await service.world.offboard(waitlist, [await service.world.idOf(waitlist, people[1]!)]);
      const query = { status: 'any', name: 'ab', limit: 2 };
      const pages: WaiterDto[][] = [];
      for (let after = 0; pages.at(-1)?.length !== 0; after = pages.at(-1)!.at(-1)?.id ?? 0)
        pages.push(await service.world.list(waitlist, after === 0 ? query : { ...query, after_id: after }));

      expect(pages.flat().map(({ last_name }) => last_name)).toEqual(['𝒜b', 'Abba', 'ABe', 'Abegg', 'Abel', 'Abt']);
      const newest = await service.api.get(`/api/v1/signup/waitlist/${waitlist.id}`, {
        token: waitlist.owner.token,
        query: { status: 'any', name: 'ab' },
      });
      expect((newest.body as WaiterDto[]).map(({ uuid }) => uuid)).toEqual(pages.flat().map(({ uuid }) => uuid));
    });

    it('is in the newest listing by its status, with the rules of List Waiters', async () => {
      const { waitlist, people } = await full(3);
      await offer(waitlist, { signups: named([people[1]!]) });
      const list = (query: Record<string, string | number | boolean>) =>
        service.api.get(`/api/v1/signup/waitlist/${waitlist.id}`, { token: waitlist.owner.token, query });
      const uuids = async (query: Record<string, string | number | boolean>) =>
        ((await list(query)).body as WaiterDto[]).map(({ uuid }) => uuid);

      expect(await uuids({ status: 'offered' })).toEqual([people[1]!.uuid]);
      expect(await uuids({ status: 'waiting', limit: 1 })).toEqual([people[0].uuid]);
      expect(await uuids({})).toEqual([people[0].uuid, people[2]!.uuid]);
      for (const [query, faults] of [
        [{ status: 'offered', offset: 1 }, ['offset: one_of']],
        [{ status: 'offered', order: 'queue' }, ['order: one_of']],
        [{ status: 'offered', offboarded_request: true }, ['offboarded_request: one_of']],
        [{ status: 'any' }, ['status: one_of']],
        [{ status: 'gone' }, ['status: one_of']],
      ] as const)
        expect([query, faultsOf(await list(query))]).toEqual([query, faults]);
    });

    it('is not in lists of any status that would find everybody', async () => {
      const { waitlist } = await full(1);

      const answer = await service.api.get('/api/v1/waiter', {
        token: waitlist.owner.token,
        query: { waitlist_id: waitlist.id, status: 'any', credit: 'none' },
      });

      expect([answer.status, faultsOf(answer)]).toEqual([400, ['status: one_of']]);
    });

    it('is counted by day, with what became of it, and a return takes nothing back', async () => {
      const { waitlist, people } = await full(4);
      const offered = await offer(waitlist, { count: 3, hours: 1 });
      await accept(waitlist, codeOf(offered[0]!));
      await ahead(2 * HOUR_MS, sweep);
      await bringBack(waitlist, people);

      const { body } = await service.api.get(`/api/v1/waitlist/${waitlist.id}/statistics`, {
        token: waitlist.owner.token,
        query: { to: dayAfter(dayOf(new Date()), 1) },
      });
      const sum = (field: 'offered' | 'accepted' | 'declined' | 'expired') =>
        (body as WaitlistStatisticsDto).days.reduce((total, day) => total + day[field], 0);

      expect([sum('offered'), sum('accepted'), sum('declined'), sum('expired')]).toEqual([3, 1, 0, 2]);
      expect(await verify(waitlist)).toEqual([]);
    });
  });

  describe('by its code', () => {
    it('is checked by a viewer and a key that reads, and accepted by neither', async () => {
      const { waitlist } = await full(1);
      const [offered] = await offer(waitlist, { count: 1 });
      const viewer = await service.world.member(waitlist.owner, 'viewer');
      const { key } = (await post(waitlist, '/api/v1/api_key', { name: 'Reads', scope: 'read' }))
        .body as CreatedAccountKeyDto;
      const code = codeOf(offered!);

      for (const caller of [{ token: viewer.token }, { headers: { 'api-key': key } }]) {
        const checked = await service.api.post('/api/v1/offer/check', { code }, caller);
        expect(checked.body).toMatchObject({ state: 'open', accepted_at: null, signup: { uuid: offered!.uuid } });
        expect((await service.api.post('/api/v1/offer/accept', { code }, caller)).status).toBe(403);
      }
      expect((await get(waitlist, offered!)).status).toBe('offered');
    });

    it('is accepted as often as it is asked, once', async () => {
      const { waitlist, people } = await full(3);
      const [, second] = await offer(waitlist, { count: 2 });

      const first = done(await accept(waitlist, codeOf(second!))).body as OfferDto;
      const repeat = await accept(waitlist, codeOf(second!));

      expect(first).toMatchObject({
        state: 'accepted',
        accepted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        signup: {
          uuid: people[1]!.uuid,
          status: 'offboarded',
          removed_from_waitlist: true,
          removed_priority: 1,
          removed_reason: 'accepted',
          offer_expires_at: null,
        },
      });
      expect(first.signup.removed_date).not.toBeNull();
      expect([repeat.status, repeat.body]).toEqual([200, first]);
      expect((await check(waitlist, codeOf(second!))).body).toEqual(first);
      expect((await audit(waitlist)).filter((action) => action === 'offer_accepted')).toHaveLength(1);
      expect((await view(waitlist)).statistics).toMatchObject({ offered_signups: 1, offboarded_signups: 1 });
    });

    it('has ended once its time is over, whether or not the sweep has been', async () => {
      const { waitlist, people } = await full(1);
      const [offered] = await offer(waitlist, { count: 1, hours: 1 });
      const code = codeOf(offered!);

      await ahead(HOUR_MS + 1_000, async () => {
        expect((await check(waitlist, code)).body).toMatchObject({ state: 'expired', accepted_at: null });
        for (const headers of [{ 'idempotency-key': 'late' }, { 'idempotency-key': 'late' }, {}]) {
          const answer = await accept(waitlist, code, headers);
          expect([answer.status, answer.body.error_code]).toEqual([409, 'OFFER_ENDED']);
        }
      });

      expect(await get(waitlist, people[0])).toMatchObject({
        status: 'offboarded',
        removed_reason: 'expired',
        removed_priority: 0,
      });
    });

    it('is unknown to other accounts, after an erasure, and if nobody ever got it', async () => {
      const { waitlist, people } = await full(2);
      const stranger = await service.world.waitlist();
      const offered = await offer(waitlist, { count: 2 });
      const codes = offered.map(codeOf);
      await service.api.call(
        'DELETE',
        '/api/v1/signup',
        { waitlist_id: waitlist.id, signups: named([people[1]!]) },
        { token: waitlist.owner.token },
      );

      for (const answer of [
        await check(stranger, codes[0]!),
        await accept(stranger, codes[0]!),
        await check(waitlist, codes[1]!),
        await accept(waitlist, codes[1]!),
        await check(waitlist, 'nobody-ever-got-this-code'),
        await accept(waitlist, 'nobody-ever-got-this-code'),
      ])
        expect([answer.status, answer.body.error_code]).toEqual([404, 'OFFER_NOT_FOUND']);
      expect((await get(waitlist, people[0])).status).toBe('offered');
      expect((await view(waitlist)).statistics.offered_signups).toBe(1);
    });

    it.each([
      ['no code', {}, 'code: required'],
      ['an empty one', { code: '' }, 'code: min_length'],
      ['another type', { code: 7 }, 'code: type'],
      ['control characters', { code: 'a\u0000b' }, 'code: characters'],
      ['more than a code has', { code: 'a'.repeat(101) }, 'code: max_length'],
    ])('refuses %s', async (_, body, fault) => {
      const waitlist = await service.world.waitlist();

      for (const path of ['check', 'accept']) {
        const answer = await post(waitlist, `/api/v1/offer/${path}`, body);
        expect([answer.status, faultsOf(answer)]).toEqual([400, [fault]]);
      }
    });
  });

  describe('by a new link', () => {
    it('has another code, and the one before is unknown', async () => {
      const { waitlist, people } = await full(1);
      const [offered] = await offer(waitlist, { count: 1 });

      const { offer_url } = done(await newLink(waitlist, people[0])).body as { offer_url: string };

      expect((await check(waitlist, codeOf(offered!))).body.error_code).toBe('OFFER_NOT_FOUND');
      expect((await check(waitlist, codeOf({ offer_url }))).body).toMatchObject({
        state: 'open',
        signup: { offer_expires_at: offered!.offer_expires_at },
      });
      expect(await audit(waitlist)).toContain('offer_link_made');
    });

    it('is given again by a repeat with an Idempotency-Key', async () => {
      const { waitlist, people } = await full(1);
      await offer(waitlist, { count: 1 });
      const key = { 'idempotency-key': randomUUID() };

      const first = await newLink(waitlist, people[0], key);
      const repeat = await newLink(waitlist, people[0], key);

      expect([repeat.status, repeat.body]).toEqual([200, first.body]);
    });

    it('is refused where no offer is open, and for strangers', async () => {
      const { waitlist, people } = await full(2);
      const stranger = await service.world.waitlist();
      const [offered] = await offer(waitlist, { count: 1 });
      const code = (answer: Answer) => [answer.status, answer.body.error_code as unknown];

      expect(code(await newLink(stranger, people[0]))).toEqual([404, 'NO_WAITER_FOUND']);
      expect(code(await newLink(waitlist, { uuid: UNKNOWN }))).toEqual([404, 'NO_WAITER_FOUND']);
      expect(code(await newLink(waitlist, people[1]!))).toEqual([409, 'OFFER_ENDED']);
      await accept(waitlist, codeOf(offered!));
      expect(code(await newLink(waitlist, people[0]))).toEqual([409, 'OFFER_ENDED']);
    });
  });

  describe('that the owner answers', () => {
    it('is accepted by an offboarding that names the person, by id and by uuid', async () => {
      const { waitlist, people } = await full(3);
      const offered = await offer(waitlist, { count: 2 });

      const [byId] = await service.world.offboard(waitlist, [offered[1]!.id]);
      const byUuid = await service.api.patch(
        '/api/v1/signup',
        { waitlist_id: waitlist.id, offboard_request: true, signups: named([people[0]]) },
        { token: waitlist.owner.token },
      );

      expect(byId).toMatchObject({ uuid: people[1]!.uuid, removed_reason: 'accepted', removed_priority: 1 });
      expect(byUuid.body).toMatchObject([{ uuid: people[0].uuid, removed_reason: 'accepted', removed_priority: 0 }]);
      expect((await check(waitlist, codeOf(offered[0]!))).body).toMatchObject({ state: 'accepted' });
    });

    it('is left alone by an offboarding of the first of the queue', async () => {
      const { waitlist, people } = await full(3);
      await offer(waitlist, { count: 1 });

      const { body } = await service.api.patch(
        '/api/v1/waiter',
        { waitlist_id: waitlist.id, offboard_request: true, offboard_next: 1 },
        { token: waitlist.owner.token },
      );

      expect(body).toMatchObject([{ uuid: people[1]!.uuid, removed_reason: 'by_owner' }]);
      expect((await get(waitlist, people[0])).status).toBe('offered');
    });

    it('ends with an erasure, which frees the seat', async () => {
      const { waitlist, people } = await full(2);
      await offer(waitlist, { count: 1 });

      await service.api.call(
        'DELETE',
        '/api/v1/signup',
        { waitlist_id: waitlist.id, signups: named([people[0]]) },
        { token: waitlist.owner.token },
      );

      expect((await view(waitlist)).statistics).toMatchObject({ offered_signups: 0, total_signups: 1 });
      expect(await verify(waitlist)).toEqual([]);
    });
  });

  describe('that nobody answers', () => {
    it('puts the person out of the queue, at the place when offered', async () => {
      const { waitlist, people } = await full(2);
      await offer(waitlist, { signups: named([people[1]!]), hours: 1 });

      await ahead(2 * HOUR_MS, sweep);

      expect(await get(waitlist, people[1]!)).toMatchObject({
        status: 'offboarded',
        removed_reason: 'expired',
        removed_priority: 1,
        offer_expires_at: null,
      });
      expect(await audit(waitlist)).toContain('offers_expired');
    });

    it('keeps an erased person away who was imported and went to the end, if the file comes again', async () => {
      const { waitlist } = await full(0, { offers: { on_expiry: 'end' } });
      const file = 'email\nada@imported.example\nbob@imported.example\n';
      const importFile = async (query = {}) =>
        (
          await service.api.post(`/api/v1/waitlist/${waitlist.id}/import`, undefined, {
            token: waitlist.owner.token,
            raw: file,
            headers: { 'content-type': 'text/csv' },
            query,
          })
        ).body as object;
      expect(await importFile()).toMatchObject({ imported: 2 });
      const [ada] = await service.world.list(waitlist);
      await offer(waitlist, { signups: named([ada!]), hours: 1 });
      await ahead(2 * HOUR_MS, sweep);
      const erasure = { waitlist_id: waitlist.id, signups: named([ada!]) };
      await service.api.call('DELETE', '/api/v1/signup', erasure, { token: waitlist.owner.token });

      expect(await importFile({ dry_run: true })).toMatchObject({ imported: 0, skipped: 2 });
      // A repeat that breaks off.
      const [{ file_hash: hash }] = await service.app
        .get(DataSource)
        .query<[{ file_hash: string }]>('SELECT file_hash FROM import_run WHERE waitlist_id = ?', [waitlist.id]);
      const { importer } = queueOf(service.app);
      await importer.end(await importer.begin(waitlist.id, hash), null);
      expect(await importFile()).toMatchObject({ imported: 0, skipped: 2 });
      expect((await service.world.list(waitlist)).map(({ email }) => email)).toEqual(['bob@imported.example']);
    });

    it('lets the person wait at the end where the waitlist says so, and the third time no more', async () => {
      const { waitlist, people } = await full(3, { offers: { on_expiry: 'end' } });
      // A token would expire meanwhile.
      const { key } = (await post(waitlist, '/api/v1/api_key', { name: 'Offers', scope: 'manage' }))
        .body as CreatedAccountKeyDto;
      const path = `/api/v1/waitlist/${waitlist.id}/offer`;
      const body = { signups: named([people[0]]), hours: 1 };
      const call = (address: string, sent: object) => service.api.post(address, sent, { headers: { 'api-key': key } });
      const expire = async (elapsedMs: number, find: (offered: OfferedWaiterDto) => Promise<unknown> = sweep) => {
        const { body: offered } = await ahead(elapsedMs, async () => done(await call(path, body)));
        await ahead(elapsedMs + 2 * HOUR_MS, () => find((offered as [OfferedWaiterDto])[0]));
        return get(waitlist, people[0]);
      };
      const acceptLate = (offered: OfferedWaiterDto) => call('/api/v1/offer/accept', { code: codeOf(offered) });

      const back = { status: 'waiting', priority: 2, removed_reason: null, removed_date: null };
      expect(await expire(0)).toMatchObject(back);
      expect(await expire(3 * HOUR_MS, acceptLate)).toMatchObject(back);
      expect(await expire(6 * HOUR_MS)).toMatchObject({ status: 'offboarded', removed_reason: 'expired' });
      expect(await verify(waitlist)).toEqual([]);
    });
  });
});

describe('the way back', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const post = (waitlist: OwnedWaitlist, path: string, body: object, headers = {}) =>
    service.api.post(`/api/v1/waitlist/${waitlist.id}/${path}`, body, { token: waitlist.owner.token, headers });
  const bringBack = (waitlist: OwnedWaitlist, people: readonly { readonly uuid: string }[], headers = {}) =>
    post(waitlist, 'return', { signups: named(people) }, headers);
  const queue = async (waitlist: OwnedWaitlist) =>
    (await service.world.list(waitlist, { order: 'queue' })).map(({ uuid }) => uuid);

  it('leads to exactly the place that the facts give, in the order named', async () => {
    const waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 2 });
    const people = await service.world.signups(waitlist, 5);
    await service.world.signup(waitlist, { referral_link: people[4]!.referral_link });
    const before = await queue(waitlist);
    await post(waitlist, 'offer', { count: 2 });
    await service.world.offboard(waitlist, [await service.world.idOf(waitlist, people[3]!)]);
    const gone = before.filter((uuid) => [before[0], before[1], people[3]!.uuid].includes(uuid)).reverse();

    const { status, body } = await bringBack(waitlist, [...gone, ...gone, UNKNOWN].map(asUuid));

    expect(status).toBe(200);
    const returned = body as WaiterDto[];
    expect(returned.map(({ uuid }) => uuid)).toEqual(gone);
    for (const waiter of returned)
      expect(waiter).toMatchObject({
        status: 'waiting',
        priority: before.indexOf(waiter.uuid),
        removed_date: null,
        removed_priority: null,
        removed_reason: null,
        offer_expires_at: null,
        total_waiters_currently: 6,
      });
    expect(await queue(waitlist)).toEqual(before);
    expect((await queueOf(service.app).auditor.verify(waitlist.id, () => undefined)).findings).toEqual([]);
  });

  it('withdraws offers that are open or accepted, and keeps when one was accepted', async () => {
    const waitlist = await service.world.waitlist();
    const people = await service.world.signups(waitlist, 2);
    const offered = (await post(waitlist, 'offer', { count: 2 })).body as OfferedWaiterDto[];
    const of = async (path: string, waiter: OfferedWaiterDto) =>
      (await service.api.post(`/api/v1/offer/${path}`, { code: codeOf(waiter) }, { token: waitlist.owner.token }))
        .body as OfferDto;
    const accepted = await of('accept', offered[0]!);

    await bringBack(waitlist, people);

    expect(await of('check', offered[0]!)).toMatchObject({
      state: 'withdrawn',
      accepted_at: accepted.accepted_at,
      signup: { status: 'waiting', priority: 0 },
    });
    expect(await of('check', offered[1]!)).toMatchObject({ state: 'withdrawn', accepted_at: null });
    expect(await of('accept', offered[1]!)).toMatchObject({ error_code: 'OFFER_ENDED' });
  });

  it('leaves out those who wait, are pending, erased, unknown or of another waitlist', async () => {
    const waitlist = await service.world.waitlist();
    const [waiting] = await service.world.signups(waitlist, 1);
    const other = await service.world.waitlist({}, waitlist.owner);
    const [stranger] = await service.world.signups(other, 1);
    await service.world.offboard(other, [await service.world.idOf(other, stranger)]);

    const answer = await bringBack(waitlist, [waiting, stranger, asUuid(UNKNOWN)]);

    expect([answer.status, answer.body]).toEqual([200, []]);
    expect(await service.world.list(other)).toEqual([]);
  });

  it('is taken once with an Idempotency-Key, and answered alike', async () => {
    const waitlist = await service.world.waitlist();
    const people = await service.world.signups(waitlist, 2);
    await service.world.offboard(waitlist, [await service.world.idOf(waitlist, people[0])]);
    const key = { 'idempotency-key': randomUUID() };

    const first = await bringBack(waitlist, [people[0]], key);
    const repeat = await bringBack(waitlist, [people[0]], key);

    expect(repeat.body).toEqual(first.body);
    expect(repeat.headers['idempotent-replayed']).toBe('true');
  });

  it.each([
    [{}, 'signups: required'],
    [{ signups: [] }, 'signups: min_items'],
    [{ signups: [{}] }, 'signups[0].uuid: required'],
    [{ signups: [{ uuid: 'x' }] }, 'signups[0].uuid: format'],
  ])('refuses %j', async (body, fault) => {
    const answer = await post(await service.world.waitlist(), 'return', body);

    expect([answer.status, faultsOf(answer)]).toEqual([400, [fault]]);
  });
});

describe('an offer of a service that sends mail', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ environment: { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'test@example.com' } });
  });
  afterAll(() => service.stop());

  const offer = async (waitlist: OwnedWaitlist, body: object) =>
    done(await service.api.post(`/api/v1/waitlist/${waitlist.id}/offer`, body, { token: waitlist.owner.token }))
      .body as OfferedWaiterDto[];

  it('never goes to somebody who is pending', async () => {
    const waitlist = await service.world.waitlist({ verification: 'required' });
    const person = await service.world.signup(waitlist);

    expect(person.status).toBe('pending');
    expect(await offer(waitlist, { count: 1 })).toEqual([]);
    expect(await offer(waitlist, { signups: named([person]) })).toEqual([]);
    expect(await offer(waitlist, { signups: named([person]), dry_run: true })).toEqual([]);
  });

  it('has no time before its mail, unless the person has no email, and can be accepted', async () => {
    const waitlist = await service.world.waitlist({ required_contact: { email: 'optional', phone: 'optional' } });
    await service.world.signup(waitlist);
    await service.api.post('/api/v1/signup', { waitlist_id: waitlist.id, phone: '+14155550123' });

    const [byMail, byPhone] = await offer(waitlist, { count: 2 });

    expect(byMail!.offer_expires_at).toBeNull();
    expect(byPhone!.offer_expires_at).not.toBeNull();
    const body = { code: codeOf(byMail!) };
    const answer = await service.api.post('/api/v1/offer/accept', body, { token: waitlist.owner.token });
    expect(answer.body).toMatchObject({ state: 'accepted', signup: { removed_reason: 'accepted' } });
  });
});

function done(answer: Answer): Answer {
  expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
  return answer;
}

function named(people: readonly { readonly uuid: string }[]) {
  return people.map(({ uuid }) => ({ uuid }));
}

function asUuid(uuid: string | undefined) {
  return { uuid: uuid as string };
}

function codeOf({ offer_url }: { readonly offer_url?: string }): string {
  return offer_url!.split('/').at(-1)!;
}

function faultsOf({ body }: Answer): string[] {
  const { errors = [] } = body as { errors?: { field: string; rule: string }[] };
  return errors.map(({ field, rule }) => `${field}: ${rule}`);
}
