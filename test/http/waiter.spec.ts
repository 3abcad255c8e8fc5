import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../support/api.js';
import type { WaiterDto } from '../../src/waiter/waiter.dto.js';
import { applicant } from '../support/applicant.js';
import { queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Owner, Person } from '../support/world.js';

const PATH = '/api/v1/waiter';
const TIMESTAMP = expect.stringMatching(/^\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}$/);
const UNKNOWN_ID = Number.MAX_SAFE_INTEGER;
const PAGES_MAX = 100;
const METADATA_BYTES_MAX = 16 * 1024;

const uuids = (records: readonly { readonly uuid: string }[]) => records.map(({ uuid }) => uuid);

describe('the waiters of a waitlist', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const ask = (waitlist: OwnedWaitlist, query: CallOptions['query'] = {}) =>
    service.api.get(PATH, { token: waitlist.owner.token, query: { api_key: waitlist.api_key, ...query } });

  const idsOf = (waitlist: OwnedWaitlist, people: readonly Person[]) =>
    Promise.all(people.map((person) => service.world.idOf(waitlist, person)));

  describe('in a listing', () => {
    /** Five people: the second referred the fourth and the fifth, the third is offboarded. */
    let waitlist: OwnedWaitlist;
    let people: Person[];
    beforeAll(async () => {
      const { world } = service;
      waitlist = await world.waitlist({
        questions: [{ question_value: 'Why?' }, { question_value: 'Which?', answer_value: ['a', 'b', 'c'] }],
      });
      const [first, second, third] = await world.signups(waitlist, 3);
      const answers = [
        { question_value: 'Which?', answer_value: ['c', 'a'] },
        { question_value: 'Why?', answer_value: 'Because' },
      ];
      const details = {
        phone: '+14155550123',
        first_name: 'Ada',
        last_name: 'Lovelace',
        metadata: { seats: [1, null] },
      };
      const fourth = await world.signup(waitlist, { referral_link: second!.referral_link, answers, ...details });
      const fifth = await world.signup(waitlist, { referral_link: second!.referral_link });
      people = [first, second!, third!, fourth, fifth];
      await world.offboard(waitlist, await idsOf(waitlist, [third!]));
    });

    const pick = (...indexes: number[]) => indexes.map((index) => people[index]!.uuid);

    it('have every field of the specification, and no other', async () => {
      const { body, status } = await ask(waitlist);

      expect(status).toBe(200);
      expect(body).toHaveLength(4);
      expect(body[2]).toEqual({
        amount_referred: 0,
        created_at: TIMESTAMP,
        credit: 'credited',
        credit_reasons: [],
        email: people[3]!.email,
        first_name: 'Ada',
        id: expect.any(Number),
        last_name: 'Lovelace',
        metadata: { seats: [1, null] },
        phone: '+14155550123',
        priority: 2,
        referral_bool: true,
        referral_link: people[3]!.referral_link,
        referral_token: people[3]!.referral_token,
        referred_by_waiter_token: people[1]!.referral_token,
        registered_email: people[3]!.email,
        removed_date: null,
        removed_from_waitlist: false,
        removed_priority: null,
        removed_reason: null,
        offer_expires_at: null,
        status: 'waiting',
        total_referrals: 0,
        total_waiters_currently: 4,
        user_id: waitlist.owner.uuid,
        uuid: people[3]!.uuid,
        verified: false,
        waitlist_api_key: waitlist.api_key,
        waitlist_id: waitlist.id,
      });
      expect(body[0]).toMatchObject({ referred_by_waiter_token: null, amount_referred: 0, priority: 1 });
      expect(body[1]).toMatchObject({ amount_referred: 2, priority: 0 });
    });

    it('are in the order of the queue with order=queue', async () => {
      const { body } = await ask(waitlist, { order: 'queue' });

      expect(uuids(body)).toEqual(pick(1, 0, 3, 4));
      expect(body.map(({ priority }: { priority: number }) => priority)).toEqual([0, 1, 2, 3]);
    });

    it.each(['true', 'True', 'TRUE', '1'])('are the offboarded ones with offboarded_request=%s', async (yes) => {
      const { body, headers } = await ask(waitlist, { offboarded_request: yes });

      expect(body).toEqual([
        expect.objectContaining({
          uuid: people[2]!.uuid,
          priority: 2,
          removed_priority: 2,
          removed_date: TIMESTAMP,
          total_waiters_currently: 4,
        }),
      ]);
      expect(Number(headers['x-total-count'])).toBe(1);
    });

    it.each(['false', 'False', '0'])('are the active ones with offboarded_request=%s', async (no) => {
      expect(uuids((await ask(waitlist, { offboarded_request: no })).body)).toEqual(pick(0, 1, 3, 4));
    });

    it('have questions and answers with questions_request=true', async () => {
      const { body } = await ask(waitlist, { questions_request: true });

      const texts = { question_1: 'Why?', question_2: 'Which?', question_3: '' };
      expect(body[0]).toMatchObject({ ...texts, answer_1: '', answer_2: '', answer_3: '' });
      expect(body[2]).toMatchObject({ ...texts, answer_1: 'Because', answer_2: 'c, a', answer_3: '' });
      const live = { optional: true, soft_deleted: false };
      expect(body[2].answers).toEqual([
        { id: 1, question_value: 'Why?', ...live, answer_value: 'Because' },
        { id: 2, question_value: 'Which?', ...live, answer_value: ['c', 'a'] },
      ]);
      expect(body[0].answers.map(({ answer_value }: { answer_value: unknown }) => answer_value)).toEqual([null, null]);
    });

    it('are those that one Waiter referred with its referral_token', async () => {
      const referred = await ask(waitlist, { referral_token: people[1]!.referral_token });
      const nobody = await ask(waitlist, { referral_token: people[0]!.referral_token });

      expect(uuids(referred.body)).toEqual(pick(3, 4));
      expect(Number(referred.headers['x-total-count'])).toBe(2);
      expect(nobody.body).toEqual([]);
    });

    it.each(['true', 'True', '1'])('are those that anyone referred with referral_token=%s', async (yes) => {
      expect(uuids((await ask(waitlist, { referral_token: yes })).body)).toEqual(pick(3, 4));
    });

    it('have their referrers with include_referrer=true', async () => {
      const { uuid, email, referral_token } = people[1]!;

      const { body } = await ask(waitlist, { include_referrer: true });

      const referrer = { uuid, email, referral_token };
      expect(body.map((waiter: WaiterDto) => waiter.referrer)).toEqual([null, null, referrer, referrer]);
    });

    it('are none if the waitlist does not know the referral_token', async () => {
      const other = await service.world.waitlist();
      const referrer = await service.world.signup(other);
      await service.world.signup(other, { referral_link: referrer.referral_link });

      for (const referral_token of ['000000000000', 'not a token', referrer.referral_token]) {
        const { status, body } = await ask(waitlist, { referral_token });
        expect([status, body]).toEqual([200, []]);
      }
    });

    it('pass all filters together', async () => {
      const { world } = service;
      const mixed = await world.waitlist({ questions: [{ question_value: 'Why?' }] });
      const [ada, grace] = await world.signups(mixed, 2);
      const of = async (referrer: Person) => world.signup(mixed, { referral_link: referrer.referral_link });
      const gone = [await of(ada), await of(grace!), await of(ada)];
      const kept = [await of(ada), await of(grace!)];
      await world.offboard(mixed, await idsOf(mixed, gone));
      const list = async (query: CallOptions['query']) => uuids((await ask(mixed, query)).body);

      expect(await list({ referral_token: true })).toEqual(uuids(kept));
      expect(await list({ referral_token: true, offboarded_request: true })).toEqual(uuids(gone));
      expect(await list({ referral_token: ada.referral_token, offboarded_request: true })).toEqual(
        uuids([gone[0]!, gone[2]!]),
      );
      const { body } = await ask(mixed, {
        referral_token: ada.referral_token,
        offboarded_request: 1,
        questions_request: 'True',
        offset: 1,
        limit: 1,
      });
      expect(body).toEqual([expect.objectContaining({ uuid: gone[2]!.uuid, question_1: 'Why?', answer_1: '' })]);
    });

    describe('narrowed', () => {
      /** The first has no email. The second referred all others; the last is offboarded. */
      let list: OwnedWaitlist;
      let members: Person[];
      const EMAILS = [
        'Ada@Example.com',
        'ada+tag@example.org',
        'a%b@example.com',
        'a_b@example.com',
        'axb@example.com',
        'é😀@example.com',
        '14155550123@example.com',
        'adam@example.com',
      ];
      beforeAll(async () => {
        const { world } = service;
        list = await world.waitlist({ default_region: 'US', required_contact: { email: 'optional' } });
        members = [await world.signup(list, { email: null, phone: '+14155550123' })];
        for (const email of EMAILS)
          members.push(await world.signup(list, { email, referral_link: members[1]?.referral_link }));
        await world.offboard(list, await idsOf(list, members.slice(-1)));
      });

      const found = async (query: CallOptions['query']) => uuids((await ask(list, query)).body);
      const some = (...indexes: number[]) => indexes.map((index) => members[index]!.uuid);

      it('are the one with an email, a phone or a uuid, in any notation', async () => {
        expect(await found({ email: ' ADA@example.COM' })).toEqual(some(1));
        expect(await found({ phone: '(415) 555-0123' })).toEqual(some(0));
        expect(await found({ uuid: members[4]!.uuid.toUpperCase() })).toEqual(some(4));
        const { headers } = await ask(list, { email: 'ada@example.com' });
        expect([Number(headers['x-total-count']), headers.link]).toEqual([1, undefined]);
        expect(await found({ email: 'nobody@example.com' })).toEqual([]);
      });

      it('are the one with an email whose plus sign is not encoded', async () => {
        const path = `${PATH}?api_key=${list.api_key}&email=ada+tag@example.org`;
        const { body } = await service.api.get(path, { token: list.owner.token });

        expect(uuids(body)).toEqual(some(2));
      });

      it('pass all filters together', async () => {
        const email = EMAILS[7]!;
        expect(await found({ email })).toEqual([]);
        expect(await found({ email, offboarded_request: true })).toEqual(some(8));
        expect(await found({ email, offboarded_request: true, referral_token: members[1]!.referral_token })).toEqual(
          some(8),
        );
        expect(await found({ email, offboarded_request: true, uuid: members[7]!.uuid })).toEqual([]);
        expect(await found({ email: EMAILS[0]!, referral_token: true })).toEqual([]);
        expect(await found({ email: EMAILS[0]!, search: 'ad', uuid: members[1]!.uuid })).toEqual(some(1));
        expect(await found({ search: 'ad', referral_token: true })).toEqual(some(2));
        expect(await found({ search: 'ad', referral_token: members[1]!.referral_token })).toEqual(some(2));
        expect(await found({ search: 'ad', offboarded_request: true })).toEqual(some(8));
        expect(await found({ email: EMAILS[0]!, offset: 1 })).toEqual([]);
      });

      it('are found by each beginning of an email, in its order, whatever the case', async () => {
        const active = members.slice(1, -1);
        for (const { email } of active) {
          for (let length = 1; length <= email.length; length += 3) {
            const prefix = [...email].slice(0, length).join('');
            const expected = active
              .filter((person) => person.email.toLowerCase().startsWith(prefix.toLowerCase()))
              .sort((a, b) => Buffer.compare(Buffer.from(a.email.toLowerCase()), Buffer.from(b.email.toLowerCase())));
            const { body, headers } = await ask(list, { search: ` ${prefix}` });
            expect([prefix, uuids(body)]).toEqual([prefix, uuids(expected)]);
            expect(headers['x-total-count']).toBeUndefined();
          }
        }
        expect(await found({ search: 'da' })).toEqual([]);
      });

      it('are found by an exact phone, token or uuid, and stand before those found by their email', async () => {
        expect(await found({ search: '14155550123' })).toEqual(some(0, 7));
        expect(await found({ search: members[4]!.referral_token })).toEqual(some(4));
        expect(await found({ search: ` ${members[5]!.uuid.toUpperCase()}` })).toEqual(some(5));
        expect(await found({ search: members[5]!.uuid.slice(0, -1) })).toEqual([]);
        expect(await found({ search: members[4]!.referral_token.slice(0, -1) })).toEqual([]);
      });

      it.each(['a', '14155550123'])(
        'are covered exactly once by following the links of the search %s',
        async (search) => {
          const pages = await follow(list, { search, limit: 1 });

          expect(uuids(pages.flat())).toEqual(await found({ search }));
          expect(pages.every((page) => page.length === 1)).toBe(true);
        },
      );

      it('cannot be searched with an offset, an order or a blank text', async () => {
        const { status, body } = await ask(list, { search: 'a', offset: 1, order: 'queue', limit: 0 });

        expect([status, body.errors.map(({ field }: { field: string }) => field)]).toEqual([
          400,
          ['offset', 'limit', 'order'],
        ]);
        // Generated clients send the default values.
        expect((await ask(list, { search: 'a', offset: 0, order: 'joined' })).status).toBe(200);
        expect((await ask(list, { search: ' ' })).body.errors).toEqual([expect.objectContaining({ field: 'search' })]);
      });

      it.each([
        ['waiting', false],
        ['offboarded', true],
      ])('of the status %s are covered exactly once by following the links', async (status, offboarded_request) => {
        const pages = await follow(list, { status, limit: 1 });

        expect(pages.length).toBeGreaterThan(0);
        expect(uuids(pages.flat())).toEqual(await found({ offboarded_request }));
        expect(pages.flat().map((waiter) => (waiter as { status?: string }).status)).toEqual(
          pages.flat().map(() => status),
        );
      });

      it('of a status cannot be listed with an offset, an order or the other name of the filter', async () => {
        const { status, body } = await ask(list, {
          status: 'waiting',
          offset: 1,
          order: 'queue',
          offboarded_request: true,
        });

        expect([status, body.errors.map(({ field }: { field: string }) => field)]).toEqual([
          400,
          ['offset', 'offboarded_request', 'order'],
        ]);
      });
    });

    describe('by name', () => {
      let list: OwnedWaitlist;
      const people: Record<string, Person> = {};
      const sent = [
        ['Anna', 'Berg'],
        ['Zoë', 'BERG'],
        ['Anna', 'Berg'],
        ['anna', 'Bergmann'],
        ['Bergita', undefined],
        [undefined, 'Berg'],
        ['Berg', 'Anna'],
        [undefined, undefined],
        ['Carl', 'Berg'],
      ] as const;
      const inOrder = ['Berg', 'Anna Berg', 'Anna Berg 2', 'Zoë BERG', 'Bergita', 'anna Bergmann'];
      beforeAll(async () => {
        const { world } = service;
        list = await world.waitlist();
        for (const [first_name, last_name] of sent) {
          const name = [first_name, last_name].filter(Boolean).join(' ');
          people[name in people ? `${name} 2` : name] = await world.signup(list, { first_name, last_name });
        }
        await world.offboard(list, await idsOf(list, [people['Carl Berg']!]));
      });

      const found = async (query: CallOptions['query']) => {
        const names = new Map(Object.entries(people).map(([name, { uuid }]) => [uuid, name]));
        return uuids((await ask(list, query)).body).map((uuid) => names.get(uuid));
      };

      it('are found by the beginning of the last and the first name, or of the only one, in their order', async () => {
        expect(await found({ name: 'berg' })).toEqual(inOrder);
        expect(await found({ name: 'berg anna' })).toEqual(['Anna Berg', 'Anna Berg 2']);
        expect(await found({ name: 'anna' })).toEqual(['Berg Anna']);
        expect(await found({ name: 'erg' })).toEqual([]);
        expect(await found({ name: '%%' })).toEqual([]);
        const { headers } = await ask(list, { name: 'berg' });
        expect([headers['x-total-count'], headers.link]).toEqual([undefined, undefined]);
      });

      it.each(['  BERG   zoe', 'Bërg ZOË', 'berg zoe\u0308', 'ＢＥＲＧ Zo'])(
        'are found whatever the case and marks: %s',
        async (name) => {
          expect(await found({ name })).toEqual(['Zoë BERG']);
        },
      );

      it('are found by name and all other filters together', async () => {
        expect(await found({ name: 'berg', offboarded_request: true })).toEqual(['Carl Berg']);
        expect(await found({ name: 'berg', status: 'offboarded' })).toEqual(['Carl Berg']);
        expect(await found({ name: 'berg', status: 'waiting' })).toEqual(inOrder);
        expect(await found({ name: 'berg', email: people['Zoë BERG']!.email })).toEqual(['Zoë BERG']);
        expect(await found({ name: 'berg', referral_token: true })).toEqual([]);
      });

      it('are covered exactly once by following the links of a name', async () => {
        const pages = await follow(list, { name: 'berg', limit: 1 });

        expect(uuids(pages.flat())).toEqual(inOrder.map((name) => people[name]!.uuid));
        expect((await ask(list, { name: 'berg', after_id: UNKNOWN_ID })).body).toEqual([]);
      });

      it.each(['erased', 'renamed'])('are all found although the last of a page is %s before the next', async (how) => {
        const other = await service.world.waitlist();
        const all: Person[] = [];
        for (const first_name of ['Ada', 'Ben', 'Cem', 'Dan'])
          all.push(await service.world.signup(other, { first_name, last_name: 'Berg' }));
        const { token } = other.owner;
        let isDone = false;

        const pages = await follow(other, { name: 'berg', limit: 2 }, async (page) => {
          if (isDone) return;
          isDone = true;
          const { uuid } = page[1]!;
          const erasure = { waitlist_id: other.id, signups: [{ uuid }] };
          if (how === 'erased') await service.api.call('DELETE', '/api/v1/signup', erasure, { token });
          else await service.api.patch(`/api/v1/signup/${uuid}`, { last_name: 'Young' }, { token });
        });

        expect([...new Set(uuids(pages.flat()))].sort()).toEqual(uuids(all).sort());
      });

      it('are found by the name that a correction or an import gave them', async () => {
        const { world, api } = service;
        const other = await world.waitlist();
        const { token } = other.owner;
        const corrected = await world.signup(other, { first_name: 'Anna', last_name: 'Berg' });
        await api.patch(`/api/v1/signup/${corrected.uuid}`, { last_name: 'Çelik' }, { token });
        const headers = { 'content-type': 'text/csv' };
        const raw = 'email,first_name,last_name\ndora@example.com,Dora,Şahin\n';
        await api.post(`/api/v1/waitlist/${other.id}/import`, undefined, { token, raw, headers });

        expect(uuids((await ask(other, { name: 'celik anna' })).body)).toEqual([corrected.uuid]);
        expect((await ask(other, { name: 'sahin' })).body).toMatchObject([{ email: 'dora@example.com' }]);
        expect((await ask(other, { name: 'berg' })).body).toEqual([]);
        await api.patch(`/api/v1/signup/${corrected.uuid}`, { last_name: null, first_name: ' ' }, { token });
        expect((await ask(other, { name: 'celik' })).body).toEqual([]);
      });

      it('cannot be searched with another order, an offset, a credit, a search or a blank text', async () => {
        const query = { name: 'b', offset: 1, order: 'referrals', credit: 'none', search: 'a' };
        const { status, body } = await ask(list, query);

        const faults = body.errors.map(({ field, rule }: Record<string, string>) => `${field} ${rule}`).sort();
        expect([status, faults]).toEqual([400, ['credit one_of', 'name min_length', 'offset one_of', 'order one_of']]);
        expect((await ask(list, { name: 'berg', search: 'a' })).body.errors).toMatchObject([
          { field: 'name', rule: 'one_of' },
        ]);
        for (const name of ['  ', '\u0301\u0301', 'x'.repeat(101)])
          expect((await ask(list, { name })).body.errors).toEqual([expect.objectContaining({ field: 'name' })]);
        // Generated clients send the default values.
        expect((await ask(list, { name: 'berg', offset: 0, order: 'joined' })).status).toBe(200);
      });
    });

    describe('by referrals', () => {
      /** The second and the fourth have two referrals each, the third has three; the last is offboarded. */
      let list: OwnedWaitlist;
      let inOrder: string[];
      beforeAll(async () => {
        const { world } = service;
        list = await world.waitlist({ spots_to_move_upon_referral: 0 });
        const [first, second, third, fourth, last] = (await world.signups(list, 5)) as [
          Person,
          Person,
          Person,
          Person,
          Person,
        ];
        const referred = [];
        for (const { referral_link } of [fourth, second, third, third, second, fourth, third, last])
          referred.push(await world.signup(list, { referral_link }));
        await world.offboard(list, await idsOf(list, [last]));
        inOrder = uuids([third, second, fourth, first, ...referred]);
      });

      it('are the active ones, most referrals first, and of equal ones whoever joined first', async () => {
        const { body, headers } = await ask(list, { order: 'referrals' });

        expect(uuids(body)).toEqual(inOrder);
        expect([Number(headers['x-total-count']), headers.link]).toEqual([inOrder.length, undefined]);
        expect(uuids((await ask(list, { order: 'referrals', offset: 2, limit: 3 })).body)).toEqual(inOrder.slice(2, 5));
        expect(uuids((await ask(list, { order: 'referrals', offset: 100 })).body)).toEqual([]);
      });

      it.each([1, 2, 3])('are covered exactly once by following the links, %d at a time', async (limit) => {
        expect(uuids((await follow(list, { order: 'referrals', limit })).flat())).toEqual(inOrder);
      });

      it('are no offboarded ones', async () => {
        const { status, body } = await ask(list, { order: 'referrals', offboarded_request: true });

        expect([status, body.errors]).toMatchObject([400, [{ field: 'order', rule: 'one_of' }]]);
      });
    });

    it('are as many as limit says, from offset on, in the order of joining, whatever moves in the queue', async () => {
      expect(uuids((await ask(waitlist, { limit: 1 })).body)).toEqual(pick(0));
      expect(uuids((await ask(waitlist, { limit: 100 })).body)).toEqual(pick(0, 1, 3, 4));
      expect(uuids((await ask(waitlist, { offset: 1, limit: 2 })).body)).toEqual(pick(1, 3));
    });

    it('are none beyond the end, which is no error', async () => {
      for (const offset of [4, 1_000_000, Number.MAX_SAFE_INTEGER]) {
        const { status, body, headers } = await ask(waitlist, { offset });
        expect([status, body]).toEqual([200, []]);
        expect(Number(headers['x-total-count'])).toBe(4);
      }
    });

    it('are a hundred at most, and offsets cover the rest', async () => {
      const long = await service.world.waitlist();
      const count = 103;
      await Promise.all(Array.from({ length: count }, () => service.world.signup(long)));

      const first = await ask(long);
      const rest = await ask(long, { offset: 100 });

      expect([first.body.length, rest.body.length]).toEqual([100, 3]);
      expect(new Set(uuids([...first.body, ...rest.body])).size).toBe(count);
      expect([first, rest].map(({ headers }) => Number(headers['x-total-count']))).toEqual([count, count]);
      expect([first, rest].map(({ headers }) => headers.link !== undefined)).toEqual([true, false]);
    });

    it.each<CallOptions['query']>([{}, { order: 'queue' }, { offset: 2 }, { referral_token: true }])(
      'are covered exactly once by following the links from %j',
      async (query = {}) => {
        const { world } = service;
        const list = await world.waitlist({ spots_to_move_upon_referral: 2 });
        const [ada] = await world.signups(list, 3);
        for (let count = 0; count < 4; count += 1) await world.signup(list, { referral_link: ada.referral_link });
        const whole = await ask(list, query);

        const pages = await follow(list, { ...query, limit: 2 });

        expect(uuids(pages.flat())).toEqual(uuids(whole.body));
        expect(whole.body.length).toBeGreaterThan(2);
      },
    );

    it('are not skipped when others are offboarded between two pages', async () => {
      const list = await service.world.waitlist();
      const all = await service.world.signups(list, 12);

      const pages = await follow(list, { limit: 3 }, async (page) => {
        await service.world.offboard(list, [page[0]!.id, page[2]!.id]);
      });

      expect(uuids(pages.flat())).toEqual(uuids(all));
      expect(await service.world.list(list)).toHaveLength(6);
    });

    it('show no key if the request named the waitlist by its id, and neither do the links to other pages', async () => {
      const query = { waitlist_id: waitlist.id, limit: 1 };
      const { body, headers } = await service.api.get(PATH, { token: waitlist.owner.token, query });

      expect(body).toEqual([expect.objectContaining({ uuid: people[0]!.uuid, waitlist_api_key: null })]);
      expect(headers.link).toContain(`?waitlist_id=${waitlist.id}&limit=1&after_id=${body[0].id}>`);
    });

    it('are refused to a query with unknown parameters, which are listed with all other faults', async () => {
      const { status, body } = await service.api.get(PATH, {
        token: waitlist.owner.token,
        query: { refferal_token: 'x', limit: 0, constructor: 'x' },
      });

      expect(status).toBe(400);
      expect(body.errors.map(({ field, rule }: Record<string, string>) => `${field} ${rule}`).sort()).toEqual([
        'api_key required',
        'constructor known',
        'limit minimum',
        'refferal_token known',
      ]);
    });

    it('have a link to the next page with the normal path', async () => {
      const query = { api_key: waitlist.api_key, limit: 1 };
      const { headers } = await service.api.get('/api//v1/waiter/', { token: waitlist.owner.token, query });

      const { pathname, searchParams } = new URL(String(headers.link).slice(1, String(headers.link).indexOf('>')));
      expect(pathname).toBe('/api/v1/waiter');
      expect([...searchParams.keys()]).toEqual(['api_key', 'limit', 'after_id']);
    });

    it('have a link to the next page that keeps a question mark in the query', async () => {
      const other = await service.world.waitlist();
      for (const name of ['who?1', 'who?2']) await service.world.signup(other, { email: `${name}@example.com` });
      const path = `/api/v1/waiter?search=who?&limit=1&waitlist_id=${other.id}`;
      const { headers } = await service.api.get(path, { token: other.owner.token });

      const [, url = ''] = /^<([^>]+)>/.exec(String(headers.link)) ?? [];
      expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
        search: 'who?',
        waitlist_id: String(other.id),
      });
    });

    it('have a link to the next page with every other parameter', async () => {
      const { headers } = await ask(waitlist, { limit: 1, offset: 1, questions_request: true });

      const [, url = '', relation] = /^<([^>]+)>; rel="(\w+)"$/.exec(String(headers.link)) ?? [];
      const query = Object.fromEntries(new URL(url).searchParams);

      expect(relation).toBe('next');
      expect(query).toEqual({
        api_key: waitlist.api_key,
        limit: '1',
        questions_request: 'true',
        after_id: String(await service.world.idOf(waitlist, people[1]!)),
      });
    });

    it.each(['api_key', ['api_key'], 5])('are not selected by a JSON body that is %j', async (body) => {
      const { token } = waitlist.owner;

      const answer = await service.api.call('GET', PATH, body, { token, query: { api_key: waitlist.api_key } });

      expect(answer.status).toBe(200);
    });

    it('are selected by a JSON body too, by the same rules; the query takes precedence', async () => {
      const { token } = waitlist.owner;
      const body = {
        api_key: waitlist.api_key,
        offset: 1,
        questions_request: true,
        referral_token: true,
        limit: '1',
        unknown: { is: 'ignored' },
      };

      const fromBody = await service.api.call('GET', PATH, body, { token });
      const fromBoth = await service.api.call('GET', PATH, body, { token, query: { offset: 0, limit: 2 } });
      const invalid = await service.api.call('GET', PATH, { ...body, offset: -1 }, { token });

      expect(uuids(fromBody.body)).toEqual(pick(4));
      expect(fromBody.body[0]).toHaveProperty('question_1', 'Why?');
      expect(uuids(fromBoth.body)).toEqual(pick(3, 4));
      expect(invalid.status).toBe(400);
    });

    /** All pages; each is found by the `Link` of the previous one. */
    async function follow(
      list: OwnedWaitlist,
      query: NonNullable<CallOptions['query']>,
      between: (page: { id: number; uuid: string }[]) => Promise<void> = () => Promise.resolve(),
    ): Promise<{ id: number; uuid: string }[][]> {
      const pages = [];
      let answer = await ask(list, query);
      while (pages.length < PAGES_MAX) {
        pages.push(answer.body);
        const [, url] = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link)) ?? [];
        if (url === undefined) return pages;
        await between(answer.body);
        const { pathname, search } = new URL(url);
        answer = await service.api.get(`${pathname}${search}`, { token: list.owner.token });
      }
      throw new Error(`The links go on after ${PAGES_MAX} pages`);
    }
  });

  describe.each([
    ['a listing', 'query'],
    ['an offboarding', 'body'],
  ] as const)('require a waitlist of the caller in %s', (_, place) => {
    type Named = Readonly<Record<string, string | number>>;
    const send = (owner: Owner, named: Named, apiKey?: string): Promise<Answer> => {
      const options: CallOptions = {
        token: owner.token,
        ...(apiKey !== undefined && { headers: { 'api-key': apiKey } }),
      };
      if (place === 'query') return service.api.get(PATH, { ...options, query: named });
      const body = { ...named, offboard_request: true, waiters: [{ id: UNKNOWN_ID }] };
      return service.api.patch(PATH, body, options);
    };
    const statusOf = async (...call: Parameters<typeof send>) => (await send(...call)).status;

    it('by its key, in the parameter or a header; the parameter takes precedence', async () => {
      const { owner, api_key } = await service.world.waitlist();

      expect(await statusOf(owner, { api_key })).toBe(200);
      expect(await statusOf(owner, {}, api_key)).toBe(200);
      expect(await statusOf(owner, { api_key }, 'another')).toBe(200);
      expect(await statusOf(owner, { api_key: 'another' }, api_key)).toBe(403);
      expect(await statusOf(owner, { api_key: '' }, api_key)).toBe(400);
      const { status, body } = await send(owner, {});
      expect([status, body.errors]).toEqual([400, [expect.objectContaining({ field: 'api_key' })]]);
    });

    it('by its id in place of a key', async () => {
      const { owner, id } = await service.world.waitlist();

      expect(await statusOf(owner, { waitlist_id: id })).toBe(200);
      expect(await statusOf(owner, { waitlist_id: String(id), api_key: '' })).toBe(200);
      expect(await statusOf(owner, { waitlist_id: 'x' })).toBe(400);
    });

    it("and answer 404 for the id of another account's waitlist", async () => {
      const [{ owner }, foreign] = [await service.world.waitlist(), await service.world.waitlist()];

      for (const waitlist_id of [foreign.id, UNKNOWN_ID]) {
        const { status, body } = await send(owner, { waitlist_id });
        expect([status, body.error_code]).toEqual([404, 'WAITLIST_NOT_FOUND']);
      }
    });

    it('and refuse a key and an id that name different waitlists', async () => {
      const { owner, id, api_key } = await service.world.waitlist();
      const other = await service.world.waitlist({}, owner);

      expect(await statusOf(owner, { api_key, waitlist_id: id })).toBe(200);
      expect(await statusOf(owner, { waitlist_id: id }, api_key)).toBe(200);
      expect(await statusOf(owner, { api_key: 'another', waitlist_id: id })).toBe(403);
      for (const call of [
        { api_key, waitlist_id: other.id },
        { api_key, waitlist_id: UNKNOWN_ID },
      ]) {
        const { status, body } = await send(owner, call);
        expect([status, body.errors]).toEqual([400, [expect.objectContaining({ field: 'waitlist_id' })]]);
      }
    });
  });

  describe('in an offboarding', () => {
    const send = (waitlist: OwnedWaitlist, body: object, options: CallOptions = {}) =>
      service.api.patch(
        PATH,
        { api_key: waitlist.api_key, offboard_request: true, ...body },
        { token: waitlist.owner.token, ...options },
      );

    it('are the same whole records that the listing of the offboarded has', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const [referrer] = await world.signups(waitlist, 1);
      const ada = await world.signup(waitlist, {
        email: 'Ada@Example.com',
        phone: '+14155550123',
        first_name: 'Ada',
        last_name: 'Lovelace',
        metadata: { plan: 'team', seats: [1, { of: null }] },
        referral_link: referrer.referral_link,
      });
      await world.signup(waitlist, { referral_link: ada.referral_link });
      const id = await world.idOf(waitlist, ada);

      const { status, body } = await send(waitlist, { waiters: [{ id }] });

      expect(status).toBe(200);
      expect(body).toEqual([
        expect.objectContaining({
          email: 'Ada@Example.com',
          id,
          metadata: { plan: 'team', seats: [1, { of: null }] },
          phone: '+14155550123',
          priority: 1,
          registered_email: 'Ada@Example.com',
          removed_date: TIMESTAMP,
          removed_from_waitlist: true,
          removed_priority: 1,
          status: 'offboarded',
          total_referrals: 1,
          total_waiters_currently: 2,
          uuid: ada.uuid,
        }),
      ]);
      expect(await world.list(waitlist, { offboarded_request: true })).toEqual(body);
    });

    it('have null in fields without a value', async () => {
      const { world } = service;
      const waitlist = await world.waitlist({ required_contact: { email: 'optional' } });
      const person = await world.signup(waitlist, { email: null, phone: '+14155550123' });

      const [removed] = await world.offboard(waitlist, await idsOf(waitlist, [person]));

      expect(removed).toMatchObject({
        uuid: person.uuid,
        email: null,
        registered_email: null,
        first_name: '',
        last_name: '',
        metadata: null,
        referral_bool: false,
        referred_by_waiter_token: null,
      });
    });

    it('keep the position that they had, and those behind them move forward', async () => {
      const { world, api } = service;
      const waitlist = await world.waitlist();
      const [first, second, third] = (await world.signups(waitlist, 3)) as [Person, Person, Person];

      await world.offboard(waitlist, await idsOf(waitlist, [second]));

      expect([await world.priorityOf(first), await world.priorityOf(third)]).toEqual([0, 1]);
      const { body } = await api.get('/api/v1/signup', { query: { waitlist_id: waitlist.id, email: second.email } });
      expect(body).toMatchObject({ removed_date: TIMESTAMP, removed_priority: 1, priority: 1 });
    });

    it('are left out if they are unknown, of another waitlist, listed twice or offboarded already', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const sibling = await world.waitlist({}, waitlist.owner);
      const [gone, ada, grace] = (await world.signups(waitlist, 3)) as [Person, Person, Person];
      const foreign = await world.signup(sibling);
      const [goneId, adaId, graceId] = (await idsOf(waitlist, [gone, ada, grace])) as [number, number, number];
      const foreignId = await world.idOf(sibling, foreign);
      await world.offboard(waitlist, [goneId]);

      const removed = await world.offboard(waitlist, [UNKNOWN_ID, graceId, goneId, foreignId, graceId, adaId]);

      expect(uuids(removed)).toEqual(uuids([grace, ada]));
      expect(await world.offboard(waitlist, [graceId, adaId])).toEqual([]);
      expect(uuids(await world.list(sibling))).toEqual([foreign.uuid]);
    });

    it('still get credit for later referrals', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      const [ada, grace] = (await world.signups(waitlist, 2)) as [Person, Person];
      await world.offboard(waitlist, await idsOf(waitlist, [ada]));

      const referred = await world.signup(waitlist, { referral_link: ada.referral_link });

      expect(referred.referred_by_signup_token).toBe(ada.referral_token);
      expect(await world.list(waitlist, { offboarded_request: true })).toEqual([
        expect.objectContaining({ uuid: ada.uuid, amount_referred: 1, removed_priority: 0 }),
      ]);
      expect([await world.priorityOf(grace), await world.priorityOf(referred)]).toEqual([0, 1]);
    });

    it('can be a thousand, each with the largest metadata, in the order of the request', async () => {
      const waitlist = await service.world.waitlist();
      const metadata = { text: 'x'.repeat(METADATA_BYTES_MAX - 11) };
      const { reader, writer } = queueOf(service.app);
      const joined = await Promise.all(
        Array.from({ length: 1_000 }, () => writer.join(waitlist.id, { ...applicant(), metadata })),
      );
      const people = await Promise.all(joined.map(({ keys }) => reader.find(waitlist.id, keys)));
      const ids = people.map(({ waiter }) => waiter!.id).reverse();

      const { status, body } = await send(waitlist, { waiters: ids.map((id) => ({ id })) });

      expect(status).toBe(200);
      expect(body.map(({ id }: { id: number }) => id)).toEqual(ids);
      expect(new Set(body.map((waiter: WaiterDto) => JSON.stringify(waiter.metadata)))).toEqual(
        new Set([JSON.stringify(metadata)]),
      );
      expect(body[0].total_waiters_currently).toBe(0);
    });

    it('have at most twenty of their faults listed, and the rest counted', async () => {
      const waitlist = await service.world.waitlist();

      const { status, body } = await send(waitlist, { waiters: Array.from({ length: 100 }, () => ({ id: 'x' })) });

      expect(status).toBe(400);
      expect(body.errors).toHaveLength(20);
      expect(body.errors[19]).toEqual({ field: 'waiters[19].id', rule: 'type', message: 'must be a whole number' });
      expect(body.detail).toMatch(/waiters\[19\]\.id must be a whole number; and 80 more$/);
    });
  });
});
