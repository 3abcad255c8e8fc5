import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DetailedWaiterDto } from '../../src/waiter/detailed-waiter.dto.js';
import type { CallOptions } from '../support/api.js';
import { applicant } from '../support/applicant.js';
import { queueOf } from '../support/queue.js';
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
        if (next !== undefined) expect(next).toBe(`${pathOf(waitlist)}?limit=4&questions_request=1&after_id=${found.at(-1)!.id}`); // prettier-ignore
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
        // prettier-ignore
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

      expect(active.body).toEqual((await list(waitlist))[0]);
      expect(active.body).toMatchObject({ priority: 0, amount_referred: 1, total_waiters_currently: 2 });
      expect([offboarded.body]).toEqual(await list(waitlist, { offboarded_request: true }));
    });

    it('are not found by an unknown uuid, nor by another account', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const { uuid } = await world.signup(waitlist);

      for (const [owner, asked] of [
        [waitlist.owner, UNKNOWN_UUID],
        [await world.owner(), uuid],
      ] as const) {
        // prettier-ignore
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
});
