import { once } from 'node:events';
import { get as request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import type { DetailedWaiterDto } from '../../src/waiter/detailed-waiter.dto.js';
import type { CallOptions } from '../support/api.js';
import { applicant } from '../support/applicant.js';
import { commands, queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Owner, Person } from '../support/world.js';

const UNKNOWN_ID = Number.MAX_SAFE_INTEGER;
const UNKNOWN_UUID = '00000000-0000-7000-8000-000000000000';

type Waiter = DetailedWaiterDto;

const uuids = (records: readonly { readonly uuid: string }[]) => records.map(({ uuid }) => uuid);
const pathOf = ({ id }: { readonly id: number }) => `/api/v1/signup/waitlist/${id}`;

describe('the records of a waitlist, by their uuids', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const ask = (waitlist: OwnedWaitlist, query: CallOptions['query'] = {}) =>
    service.api.get(pathOf(waitlist), { token: waitlist.owner.token, query });
  const list = async (waitlist: OwnedWaitlist, query: CallOptions['query'] = {}) => {
    const { status, body } = await ask(waitlist, query);
    expect(status).toBe(200);
    return body as Waiter[];
  };
  const get = ({ token }: Owner, uuid: string) => service.api.get(`/api/v1/signup/${uuid}`, { token });
  const offboard = async (waitlist: OwnedWaitlist, people: readonly Person[]) =>
    service.world.offboard(waitlist, await Promise.all(people.map((person) => service.world.idOf(waitlist, person))));

  describe('in a listing', () => {
    /** Seven people: the first referred the fourth and the fifth, the second the sixth; the seventh is offboarded. */
    let waitlist: OwnedWaitlist;
    let people: Person[];
    beforeAll(async () => {
      const { world, api } = service;
      waitlist = await world.waitlist({ questions: [{ question_value: 'Why?' }, { question_value: 'How?' }] });
      people = await world.signups(waitlist, 3);
      const answers = [
        { question_value: 'Why?', answer_value: 'Because' },
        { question_value: 'How?', answer_value: 'So' },
      ];
      for (const referrer of [people[0], people[0], people[1], undefined])
        people.push(await world.signup(waitlist, { referral_link: referrer?.referral_link, answers }));
      await offboard(waitlist, people.slice(6));
      const path = `/api/v1/waitlist/${waitlist.id}`;
      await api.patch(path, { questions: [{ question_value: 'Why?' }] }, { token: waitlist.owner.token });
    });

    const pick = (...indexes: number[]) => indexes.map((index) => people[index]!.uuid);

    it('are the active ones, lowest priority first', async () => {
      const { body, headers } = await ask(waitlist);

      expect(uuids(body)).toEqual(pick(0, 1, 2, 3, 4, 5));
      expect(body.map(({ priority }: Waiter) => priority)).toEqual([0, 1, 2, 3, 4, 5]);
      expect([Number(headers['x-total-count']), headers.link]).toEqual([6, undefined]);
    });

    it('are Waiters with both names of the referring token, and with all answers, those to removed questions too', async () => {
      const [waiter] = await service.world.list(waitlist, { waitlist_id: waitlist.id, referral_token: true });
      const listed = (await list(waitlist))[3]!;

      expect(listed).toEqual({
        ...waiter,
        waitlist_api_key: null,
        referred_by_signup_token: people[0]!.referral_token,
        join_order: 3,
        spots_advanced: 0,
        answers: [
          { id: 1, question_value: 'Why?', optional: true, answer_value: 'Because', soft_deleted: false },
          { id: 2, question_value: 'How?', optional: true, answer_value: 'So', soft_deleted: true },
        ],
      });
      expect((await list(waitlist))[0]).toMatchObject({
        referred_by_signup_token: null,
        answers: [{ answer_value: null }],
      });
    });

    it('have questions and answers side by side with questions_request=true', async () => {
      expect((await list(waitlist, { questions_request: true }))[3]).toMatchObject({
        question_1: 'Why?',
        answer_1: 'Because',
      });
    });

    it('have their referrers with include_referrer=true', async () => {
      const listed = await list(waitlist, { include_referrer: true });

      const { uuid, email, referral_token } = people[0]!;
      expect(listed.map(({ referrer }) => referrer?.uuid ?? null)).toEqual([null, null, null, ...pick(0, 0, 1)]);
      expect(listed[3]!.referrer).toEqual({ uuid, email, referral_token });
      expect((await list(waitlist))[3]).not.toHaveProperty('referrer');
    });

    it('are those with a name, or sorted by referrals', async () => {
      const berg = await service.world.waitlist();
      for (const last_name of ['Bergmann', 'Other', 'Berg']) await service.world.signup(berg, { last_name });

      const found = await list(berg, { name: 'berg' });

      expect(found.map(({ last_name }) => last_name)).toEqual(['Berg', 'Bergmann']);
      expect(uuids(await list(waitlist, { order: 'referrals' }))).toEqual(pick(0, 1, 2, 3, 4, 5));
      expect(uuids(await list(waitlist, { order: 'referrals', offset: 2 }))).toEqual(pick(2, 3, 4, 5));
      for (const [field, value] of [
        ['offset', 1],
        ['order', 'queue'],
        ['order', 'referrals'],
      ] as const)
        expect((await ask(waitlist, { name: 'berg', [field]: value })).body.errors).toMatchObject([
          { field, rule: 'one_of' },
        ]);
      const offboarded = await ask(waitlist, { order: 'referrals', offboarded_request: true });
      expect(offboarded.body.errors).toMatchObject([{ field: 'order', rule: 'one_of' }]);
    });

    it('are the offboarded ones with offboarded_request=true', async () => {
      expect(uuids(await list(waitlist, { offboarded_request: true }))).toEqual(pick(6));
    });

    it('are those that one, some or all referred', async () => {
      const [one, two] = people.map(({ referral_token }) => referral_token) as [string, string];

      expect(uuids(await list(waitlist, { referral_token: one }))).toEqual(pick(3, 4));
      expect(uuids(await list(waitlist, { referral_token: true }))).toEqual(pick(3, 4, 5));
      expect(uuids(await list(waitlist, { referral_tokens: `${two},unknown-token,${one}` }))).toEqual(pick(3, 4, 5));
      expect(uuids(await list(waitlist, { referral_tokens: two }))).toEqual(pick(5));
      expect(uuids(await list(waitlist, { referral_tokens: `${two},${one}`, referral_token: one }))).toEqual(
        pick(3, 4),
      );
      expect(await list(waitlist, { referral_tokens: two, referral_token: one })).toEqual([]);
      const { body, headers } = await ask(waitlist, { referral_tokens: `${one},${two}`, offset: 1, limit: 1 });
      expect([uuids(body), Number(headers['x-total-count'])]).toEqual([pick(4), 3]);
    });

    it('are covered exactly once by following the links, whose path names the waitlist', async () => {
      const found: Waiter[] = [];
      let url: string | undefined = `${pathOf(waitlist)}?limit=4&questions_request=1`;
      while (url !== undefined) {
        const answer = await service.api.get(url, { token: waitlist.owner.token });
        found.push(...(answer.body as Waiter[]));
        const [, next] = /^<http:\/\/[^/]+([^>]+)>; rel="next"$/.exec(String(answer.headers.link)) ?? [];
        if (next !== undefined)
          expect(next).toBe(`${pathOf(waitlist)}?limit=4&questions_request=1&after_id=${found.at(-1)!.id}`);
        url = next;
      }

      expect(uuids(found)).toEqual(pick(0, 1, 2, 3, 4, 5));
    });

    it.each<[CallOptions['query'], string]>([
      [{ limit: 1001 }, 'limit maximum'],
      [{ offset: -1 }, 'offset minimum'],
      [{ referral_tokens: Array(101).fill('000000000000').join(',') }, 'referral_tokens format'],
      [{ referral_tokens: '' }, 'referral_tokens format'],
      [{ refferal_token: 'x' }, 'refferal_token known'],
      [{ api_key: 'x' }, 'api_key known'],
    ])('are refused to the query %j', async (query, fault) => {
      const { status, body } = await ask(waitlist, query);

      expect([status, body.errors.map(({ field, rule }: Record<string, string>) => `${field} ${rule}`)]).toEqual([
        400,
        [fault],
      ]);
    });

    it('are not found for an unknown waitlist and for that of another account', async () => {
      const stranger = await service.world.owner();

      for (const [owner, id] of [
        [stranger, waitlist.id],
        [waitlist.owner, UNKNOWN_ID],
      ] as const) {
        const { status, body } = await service.api.get(pathOf({ id }), { token: owner.token });
        expect([status, body.error_code]).toEqual([404, 'WAITLIST_NOT_FOUND']);
      }
      expect((await service.api.get(pathOf({ id: 0 }), { token: stranger.token })).status).toBe(400);
    });

    it('are a thousand a page at most, and more than a hundred are sent in parts', async () => {
      const long = await service.world.waitlist({ questions: [{ question_value: 'Why?' }] });
      const { writer } = queueOf(service.app);
      const answers = [{ question_value: 'Why?', answer_value: 'Because' }];
      const metadata = { text: 'é😀'.repeat(20) };
      const count = 1_003;
      await Promise.all(
        Array.from({ length: count }, () => writer.join(long.id, { ...applicant(), metadata, answers })),
      );

      const page = await ask(long, { limit: 1000 });
      const rest = await ask(long, { limit: 1000, offset: 1000 });
      const usual = await ask(long);

      const all = [...(page.body as Waiter[]), ...(rest.body as Waiter[])];
      expect(all.map(({ priority }) => priority)).toEqual(Array.from({ length: count }, (_, index) => index));
      expect(new Set(uuids(all)).size).toBe(count);
      expect(new Set(all.map((waiter) => waiter.metadata?.text))).toEqual(new Set([metadata.text]));
      expect(new Set(all.map((waiter) => waiter.answers[0]!.answer_value))).toEqual(new Set(['Because']));
      expect(page.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' });
      expect(page.headers).not.toHaveProperty('content-length');
      expect([page, rest, usual].map(({ headers }) => headers.link !== undefined)).toEqual([true, false, true]);
      expect([rest.body.length, usual.body.length]).toEqual([3, 100]);
    });

    it('are read as their reader takes them: who is erased meanwhile is not in the rest of a long page', async () => {
      const { world, app } = service;
      const long = await world.waitlist();
      const { writer } = queueOf(app);
      const metadata = { text: 'x'.repeat(16_000) };
      await Promise.all(Array.from({ length: 1_000 }, () => writer.join(long.id, { ...applicant(), metadata })));
      await app.listen(0, '127.0.0.1');
      const { port } = app.getHttpServer().address() as AddressInfo;
      const headers = { authorization: `Bearer ${long.owner.token}` };
      const call = request({ port, path: `${pathOf(long)}?limit=1000`, headers, agent: false });
      const [response] = (await once(call, 'response')) as [IncomingMessage];
      const last = { offset: 999, limit: 1 };
      const [{ uuid }] = (await list(long, last)) as [Waiter];

      await writer.submit(long.id, commands.erase([uuid], operatorWrite(1)));
      const body = JSON.parse(await text(response)) as Waiter[];

      expect([response.headers['content-type'], body.length]).toEqual(['application/json; charset=utf-8', 999]);
      expect(uuids(body)).not.toContain(uuid);
    });
  });

  describe('as one', () => {
    it('are the same as in the listing, active or offboarded, in any notation of the uuid', async () => {
      const { world } = service;
      const waitlist = await world.waitlist({ questions: [{ question_value: 'Why?' }] });
      const [ada, grace] = await world.signups(waitlist, 2);
      await world.signup(waitlist, { referral_link: grace!.referral_link });
      await offboard(waitlist, [ada]);

      const active = await get(waitlist.owner, grace!.uuid.toUpperCase());
      const offboarded = await get(waitlist.owner, ada.uuid);

      expect(active.body).toEqual((await list(waitlist, { include_referrer: true }))[0]);
      expect(active.body).toMatchObject({ priority: 0, amount_referred: 1, total_waiters_currently: 2 });
      expect([offboarded.body]).toEqual(await list(waitlist, { offboarded_request: true, include_referrer: true }));
    });

    it('have what made their position: the number in the order of joining, the granted spots, and the referrer', async () => {
      const { world, api } = service;
      const waitlist = await world.waitlist();
      const { token } = waitlist.owner;
      const [erased, ada] = (await world.signups(waitlist, 2)) as [Person, Person];
      const grace = await world.signup(waitlist, { referral_link: ada.referral_link });
      const signups = [{ uuid: erased.uuid }];
      await api.call('DELETE', '/api/v1/signup', { waitlist_id: waitlist.id, signups }, { token });
      await api.patch(`/api/v1/signup/${grace.uuid}`, { spots_to_advance: 5 }, { token });

      const { uuid, email, referral_token } = ada;
      expect((await get(waitlist.owner, grace.uuid)).body).toMatchObject({
        join_order: 2,
        spots_advanced: 5,
        referrer: { uuid, email, referral_token },
      });
      expect((await get(waitlist.owner, ada.uuid)).body).toMatchObject({
        join_order: 1,
        spots_advanced: 0,
        referrer: null,
      });
    });

    it('are not found by an unknown uuid, nor by another account', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const { uuid } = await world.signup(waitlist);

      for (const [owner, asked] of [
        [waitlist.owner, UNKNOWN_UUID],
        [await world.owner(), uuid],
      ] as const) {
        const { status, body } = await get(owner, asked);
        expect([status, body.error_code]).toEqual([404, 'NO_WAITER_FOUND']);
      }
      expect((await get(waitlist.owner, 'x')).status).toBe(400);
    });

    it('are gone with their waitlist', async () => {
      const { world, api } = service;
      const waitlist = await world.waitlist();
      const { uuid } = await world.signup(waitlist);
      await api.delete(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });

      expect((await get(waitlist.owner, uuid)).status).toBe(404);
    });
  });

  describe('in a correction', () => {
    const correct = ({ owner }: OwnedWaitlist, uuid: string, body: object, headers?: Record<string, string>) =>
      service.api.patch(`/api/v1/signup/${uuid}`, body, { token: owner.token, headers });

    it('have the new data in the answer, the listing, the lookup and the record; the first email stays', async () => {
      const { world, api } = service;
      const waitlist = await world.waitlist({ default_region: 'US' });
      const [, ada] = (await world.signups(waitlist, 2)) as [Person, Person];
      const changes = {
        email: 'Ada@New.example',
        phone: '(415) 555-0123',
        first_name: 'Ada',
        last_name: 'Lovelace',
        metadata: { plan: 'team' },
        verified: true,
      };

      const { status, body } = await correct(waitlist, ada.uuid, changes);

      expect(status).toBe(200);
      expect(body).toMatchObject({ ...changes, uuid: ada.uuid, priority: 1, registered_email: ada.email });
      expect((await get(waitlist.owner, ada.uuid)).body).toEqual(body);
      expect((await list(waitlist, { include_referrer: true }))[1]).toEqual(body);
      const lookUp = (contact: Record<string, string>) =>
        api.get('/api/v1/signup', { query: { waitlist_id: waitlist.id, ...contact } });
      expect((await lookUp({ email: 'ada@new.example' })).body).toMatchObject({
        uuid: ada.uuid,
        priority: 1,
        verified: true,
      });
      expect((await lookUp({ phone: '+14155550123' })).body).toMatchObject({ uuid: ada.uuid });
      expect((await lookUp({ email: ada.email })).status).toBe(404);
    });

    it('stay as they are without fields, and lose what is null or blank', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const { uuid } = await world.signup(waitlist, { phone: '+14155550123', first_name: 'Ada', metadata: { a: 1 } });
      const before = (await get(waitlist.owner, uuid)).body as Waiter;

      expect((await correct(waitlist, uuid, {})).body).toEqual(before);
      const { body } = await correct(waitlist, uuid, { email: null, first_name: ' ', metadata: null, unknown: 1 });

      expect(body).toEqual({ ...before, email: null, first_name: '', metadata: null });
    });

    it.each([1, 2, 4])('move past exactly as many people as spots_to_advance says: %d of 4', async (spots) => {
      const waitlist = await service.world.waitlist();
      const people = await service.world.signups(waitlist, 5);
      const last = people[4]!;

      const { body } = await correct(waitlist, last.uuid, { spots_to_advance: spots });

      expect((body as Waiter).priority).toBe(4 - spots);
      const others = people.slice(0, 4);
      expect(uuids(await list(waitlist))).toEqual(
        uuids([...others.slice(0, 4 - spots), last, ...others.slice(4 - spots)]),
      );
      expect(await service.world.priorityOf(last)).toBe(4 - spots);
    });

    it('move by the sum of what was granted, which is never below zero', async () => {
      const waitlist = await service.world.waitlist();
      const people = await service.world.signups(waitlist, 5);
      const last = people[4]!;
      const advance = async (spots: number) =>
        ((await correct(waitlist, last.uuid, { spots_to_advance: spots })).body as Waiter).priority;

      expect([await advance(1), await advance(2), await advance(-1)]).toEqual([3, 1, 2]);
      expect([await advance(-1_000_000), await advance(1), await advance(1_000_000)]).toEqual([4, 3, 0]);
    });

    it('move once, however often a write with one Idempotency-Key is repeated', async () => {
      const waitlist = await service.world.waitlist();
      const [, , ada] = (await service.world.signups(waitlist, 3)) as [Person, Person, Person];
      const send = () => correct(waitlist, ada.uuid, { spots_to_advance: 1 }, { 'idempotency-key': 'once' });

      const [first, repeat] = [await send(), await send()];

      expect(repeat.body).toEqual(first.body);
      expect([first, repeat].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true']);
      expect(await service.world.priorityOf(ada)).toBe(1);
    });

    it('are refused the email or phone of another record, and free their own', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const ada = await world.signup(waitlist, { phone: '+14155550123' });
      const grace = await world.signup(waitlist);

      for (const [field, value] of [
        ['email', ada.email.toUpperCase()],
        ['phone', '+1 415 555 0123'],
      ] as const) {
        const { status, body } = await correct(waitlist, grace.uuid, { [field]: value });
        expect([status, body.error_code]).toEqual([409, 'CONTACT_TAKEN']);
        expect(body.errors).toMatchObject([{ field, rule: 'unique' }]);
      }
      await correct(waitlist, ada.uuid, { email: 'other@example.com' });
      expect((await correct(waitlist, grace.uuid, { email: ada.email })).status).toBe(200);
    });

    it.each([
      [{ spots_to_advance: 1_000_001, verified: 'maybe' }, 400, ['spots_to_advance', 'verified']],
      [{ spots_to_advance: 0.5 }, 400, ['spots_to_advance']],
      [{ email: 'nobody', metadata: [] }, 400, ['metadata', 'email']],
      [{ phone: '030 901820' }, 400, ['phone']],
      [{ email: null }, 422, ['email']],
    ])('are refused %j', async (body, status, fields) => {
      const waitlist = await service.world.waitlist();
      const { uuid } = await service.world.signup(waitlist);

      const answer = await correct(waitlist, uuid, body);

      expect([answer.status, answer.body.errors.map(({ field }: { field: string }) => field)]).toEqual([
        status,
        fields,
      ]);
    });

    it('are not found by an unknown uuid, nor by another account', async () => {
      const [waitlist, other] = [await service.world.waitlist(), await service.world.waitlist()];
      const { uuid } = await service.world.signup(waitlist);

      for (const [owned, asked] of [
        [waitlist, UNKNOWN_UUID],
        [other, uuid],
      ] as const) {
        const { status, body } = await correct(owned, asked, { first_name: 'Ada' });
        expect([status, body.error_code]).toEqual([404, 'NO_WAITER_FOUND']);
      }
    });
  });

  describe.each(['PATCH', 'DELETE'] as const)('named in a %s', (method) => {
    const send = ({ owner }: OwnedWaitlist, body: object) =>
      service.api.call(method, '/api/v1/signup', { offboard_request: true, ...body }, { token: owner.token });
    const signups = [{ uuid: UNKNOWN_UUID }];

    it('are ignored if they are unknown or of another waitlist', async () => {
      const { world } = service;
      const [waitlist, sibling] = [await world.waitlist(), await world.waitlist()];
      const foreign = await world.signup(sibling);

      const { status, body } = await send(waitlist, {
        waitlist_id: String(waitlist.id),
        signups: [{ uuid: foreign.uuid, email: foreign.email }, ...signups],
      });

      expect([status, body]).toEqual(method === 'PATCH' ? [200, []] : [204, undefined]);
      expect(uuids(await list(sibling))).toEqual([foreign.uuid]);
    });

    it('are not found on the waitlist of another account', async () => {
      const [waitlist, other] = [await service.world.waitlist(), await service.world.waitlist()];

      for (const waitlist_id of [other.id, UNKNOWN_ID]) {
        const { status, body } = await send(waitlist, { waitlist_id, signups });
        expect([status, body.error_code]).toEqual([404, 'WAITLIST_NOT_FOUND']);
      }
    });

    it.each<[object, string]>([
      [{ signups }, 'waitlist_id'],
      [{ waitlist_id: 1 }, 'signups'],
      [{ waitlist_id: 1, signups: [] }, 'signups'],
      [{ waitlist_id: 1, signups: Array(1_001).fill(signups[0]) }, 'signups'],
      [{ waitlist_id: 1, signups: [{ uuid: 'x' }] }, 'signups[0].uuid'],
    ])('are refused in the body of case %#', async (body, field) => {
      const answer = await send(await service.world.waitlist(), body);

      expect([answer.status, answer.body.errors.map((fault: { field: string }) => fault.field)]).toEqual([
        400,
        [field],
      ]);
    });

    it('may stand in a body of a mebibyte', async () => {
      const waitlist = await service.world.waitlist();
      const note = 'x'.repeat(900);

      const { status } = await send(waitlist, {
        waitlist_id: waitlist.id,
        signups: Array.from({ length: 1_000 }, () => ({ uuid: UNKNOWN_UUID, note })),
      });

      expect(status).toBeLessThan(300);
    });
  });

  describe('in an offboarding', () => {
    it('are removed in the order given, active ones only and each once, and shown as the listing shows them', async () => {
      const { world, api } = service;
      const waitlist = await world.waitlist({ questions: [{ question_value: 'Why?' }] });
      const [gone, ada, grace, kept] = (await world.signups(waitlist, 4)) as [Person, Person, Person, Person];
      await offboard(waitlist, [gone]);
      const named = [grace, gone, { uuid: ada.uuid.toUpperCase() }, grace];

      const body = { waitlist_id: waitlist.id, offboard_request: true, signups: named.map(({ uuid }) => ({ uuid })) };
      const answer = await api.patch('/api/v1/signup', body, { token: waitlist.owner.token });

      expect(uuids(answer.body)).toEqual(uuids([grace, ada]));
      expect(answer.body[0]).toMatchObject({
        removed_priority: 1,
        total_waiters_currently: 1,
        answers: [{ answer_value: null }],
      });
      expect(answer.body[1]).toMatchObject({ removed_priority: 0 });
      const offboarded = await list(waitlist, { offboarded_request: true });
      expect(offboarded.filter(({ uuid }) => uuid !== gone.uuid)).toEqual([...answer.body].reverse());
      expect(uuids(await list(waitlist))).toEqual([kept.uuid]);
    });

    it('need offboard_request: true', async () => {
      const waitlist = await service.world.waitlist();
      const { uuid } = await service.world.signup(waitlist);

      for (const offboard_request of [undefined, false, 'true']) {
        const body = { waitlist_id: waitlist.id, offboard_request, signups: [{ uuid }] };
        const answer = await service.api.patch('/api/v1/signup', body, { token: waitlist.owner.token });
        expect([answer.status, answer.body.errors[0].field]).toEqual([400, 'offboard_request']);
      }
      expect(await list(waitlist)).toHaveLength(1);
    });
  });

  describe('once erased', () => {
    const erase = (waitlist: OwnedWaitlist, people: readonly { uuid: string }[], key?: string) =>
      service.api.call(
        'DELETE',
        '/api/v1/signup',
        { waitlist_id: waitlist.id, signups: people.map(({ uuid }) => ({ uuid })) },
        { token: waitlist.owner.token, headers: key === undefined ? {} : { 'idempotency-key': key } },
      );

    it('are in no listing, lookup or count, and those behind them move forward', async () => {
      const { world, api } = service;
      const waitlist = await world.waitlist();
      const [ada, grace, mary, rear] = (await world.signups(waitlist, 4)) as [Person, Person, Person, Person];
      await offboard(waitlist, [grace]);

      const { status, text } = await erase(waitlist, [ada, grace]);

      expect([status, text]).toEqual([204, '']);
      expect(uuids(await list(waitlist))).toEqual(uuids([mary, rear]));
      expect(await list(waitlist, { offboarded_request: true })).toEqual([]);
      expect([await world.priorityOf(mary), await world.priorityOf(rear)]).toEqual([0, 1]);
      for (const { uuid, email } of [ada, grace]) {
        expect((await get(waitlist.owner, uuid)).status).toBe(404);
        const query = { waitlist_id: waitlist.id, email };
        expect((await api.get('/api/v1/signup', { query })).status).toBe(404);
        expect(await world.list(waitlist, { search: email })).toEqual([]);
      }
      const { body } = await api.get(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });
      expect(body.statistics).toMatchObject({ current_signups: 2, offboarded_signups: 0, total_signups: 2 });
    });

    it('may join anew as somebody else, behind all others', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const [ada, grace] = (await world.signups(waitlist, 2)) as [Person, Person];
      await erase(waitlist, [ada]);

      const anew = await world.signup(waitlist, { email: ada.email });

      expect(anew.uuid).not.toBe(ada.uuid);
      expect(anew.referral_token).not.toBe(ada.referral_token);
      expect(uuids(await list(waitlist))).toEqual(uuids([grace, anew]));
    });

    it('refer nobody any more, keep counting for those who referred them, and are no referrer to show', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const ada = await world.signup(waitlist);
      const grace = await world.signup(waitlist, { referral_link: ada.referral_link });
      const mary = await world.signup(waitlist, { referral_link: grace.referral_link });
      await erase(waitlist, [grace]);

      const late = await world.signup(waitlist, { referral_link: grace.referral_link });

      expect(late.referred_by_signup_token).toBeNull();
      expect((await get(waitlist.owner, ada.uuid)).body).toMatchObject({ amount_referred: 1 });
      const [listed] = await list(waitlist, { referral_tokens: grace.referral_token, include_referrer: true });
      expect(listed).toMatchObject({ uuid: mary.uuid, referral_bool: true, referrer: null });
    });

    it('are still known to after_id, in the order of the queue and of joining', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const [, second, third, fourth] = (await world.signups(waitlist, 4)) as [Person, Person, Person, Person];
      const after_id = await world.idOf(waitlist, second);
      await erase(waitlist, [second]);

      expect(uuids(await list(waitlist, { after_id }))).toEqual(uuids([third, fourth]));
      expect(uuids(await world.list(waitlist, { after_id }))).toEqual(uuids([third, fourth]));
    });

    it('are left out where an answer is repeated', async () => {
      const { world, api } = service;
      const waitlist = await world.waitlist();
      const [ada, grace] = (await world.signups(waitlist, 2)) as [Person, Person];
      const { token } = waitlist.owner;
      const offboardAgain = async () => {
        const body = {
          waitlist_id: waitlist.id,
          offboard_request: true,
          signups: [{ uuid: ada.uuid }, { uuid: grace.uuid }],
        };
        const answer = await api.patch('/api/v1/signup', body, { token, headers: { 'idempotency-key': 'offboard' } });
        return [answer.status, uuids(answer.body)];
      };
      const correctAgain = async () =>
        (await api.patch(`/api/v1/signup/${ada.uuid}`, {}, { token, headers: { 'idempotency-key': 'correct' } }))
          .status;
      expect([await offboardAgain(), await correctAgain()]).toEqual([[200, uuids([ada, grace])], 200]);

      await erase(waitlist, [ada]);

      expect([await offboardAgain(), await correctAgain()]).toEqual([[200, [grace.uuid]], 404]);
      await erase(waitlist, [grace]);
      expect(await offboardAgain()).toEqual([200, []]);
    });

    it('are erased once, however often a write with one Idempotency-Key is repeated', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const ada = await world.signup(waitlist);

      const first = await erase(waitlist, [ada], 'once');
      const anew = await world.signup(waitlist, { email: ada.email });
      const repeat = await erase(waitlist, [ada], 'once');
      const other = await erase(waitlist, [anew], 'once');

      expect([first, repeat, other].map(({ status }) => status)).toEqual([204, 204, 422]);
      expect(repeat.headers['idempotent-replayed']).toBe('true');
      expect(uuids(await list(waitlist))).toEqual([anew.uuid]);
    });
  });
});
