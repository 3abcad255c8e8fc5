import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { WebhookEntity } from '../../src/outbox/webhook.entity.js';
import { DeliveryEntity } from '../../src/outbox/delivery.entity.js';
import { PayloadEntity } from '../../src/outbox/payload.entity.js';
import { Sweeper } from '../../src/platform/database/sweeper.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { SignupDeliveries } from '../../src/queue/record/signup-deliveries.js';
import { commands, queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person } from '../support/world.js';

const SETTINGS = { spots_to_move_upon_referral: 2 };
let names = 0;
const throwaway = () => `x${(names += 1)}@mailinator.com`;

describe('the credit of a referral', () => {
  let service: Service;
  beforeAll(async () => {
    // Verification needs mails; none is sent here.
    service = await startService({ environment: { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'test@example.com' } });
  });
  afterAll(() => service.stop());

  const patch = (waitlist: OwnedWaitlist, { uuid }: { readonly uuid: string }, body: object, headers = {}) =>
    service.api.patch(`/api/v1/signup/${uuid}`, body, { token: waitlist.owner.token, headers });
  const get = async (waitlist: OwnedWaitlist, { uuid }: { readonly uuid: string }) =>
    (await service.api.get(`/api/v1/signup/${uuid}`, { token: waitlist.owner.token })).body;
  const refuseAll = (waitlist: OwnedWaitlist, { referral_token }: Pick<Person, 'referral_token'>, headers = {}) =>
    service.api.post(
      `/api/v1/waitlist/${waitlist.id}/refuse_referrals`,
      { referral_token },
      { token: waitlist.owner.token, headers },
    );
  const refer = (waitlist: OwnedWaitlist, { referral_link }: Person, fields = {}) =>
    service.world.signup(waitlist, { referral_link, ...fields });
  const verify = async ({ id }: OwnedWaitlist) =>
    (await queueOf(service.app).auditor.verify(id, () => undefined)).findings;
  const queue = async (waitlist: OwnedWaitlist) =>
    (await service.world.list(waitlist, { order: 'queue' })).map(({ uuid }) => uuid);

  it('is withheld from a suspicious signup, which is answered as any other, until the owner approves it', async () => {
    const waitlist = await service.world.waitlist(SETTINGS);
    const [first, , ada] = (await service.world.signups(waitlist, 3)) as [Person, Person, Person];

    const honest = await refer(waitlist, first);
    const suspicious = await refer(waitlist, ada, { email: throwaway() });

    expect(Object.keys(suspicious)).toEqual(Object.keys(honest));
    expect(suspicious).toMatchObject({ status: 'waiting', priority: 4, referred_by_signup_token: ada.referral_token });
    expect(await get(waitlist, suspicious)).toMatchObject({
      credit: 'withheld',
      credit_reasons: ['disposable_domain'],
      referral_bool: true,
    });
    expect(await service.world.priorityOf(ada)).toBe(2);

    expect((await patch(waitlist, suspicious, { credit: 'credited' })).body).toMatchObject({
      credit: 'credited',
      credit_reasons: ['disposable_domain'],
    });

    expect(await get(waitlist, ada)).toMatchObject({ amount_referred: 1, total_referrals: 1, priority: 1 });
    expect(await verify(waitlist)).toEqual([]);
  });

  it('is taken back when the owner refuses it, and the queue is as before', async () => {
    const waitlist = await service.world.waitlist(SETTINGS);
    const [, , , ada] = (await service.world.signups(waitlist, 4)) as [Person, Person, Person, Person];
    const before = await queue(waitlist);
    const referred = await refer(waitlist, ada);

    const { body } = await patch(waitlist, referred, { credit: 'refused' });

    expect(body).toMatchObject({ credit: 'refused', credit_reasons: [] });
    expect(await queue(waitlist)).toEqual([...before, referred.uuid]);
    expect((await get(waitlist, ada)).amount_referred).toBe(0);
    expect(await verify(waitlist)).toEqual([]);
  });

  it('cannot be decided for a record that nobody referred', async () => {
    const waitlist = await service.world.waitlist();
    const ada = await service.world.signup(waitlist);

    for (const credit of ['credited', 'refused']) {
      const { status, body } = await patch(waitlist, ada, { credit, first_name: 'Eve' });
      expect([status, body.errors]).toMatchObject([422, [{ field: 'credit', rule: 'known' }]]);
    }
    expect(await get(waitlist, ada)).toMatchObject({ credit: 'none', first_name: '' });
  });

  describe('refused for all referrals of a record', () => {
    it('is taken back whatever their status, for erased people too, and for those that an import counted', async () => {
      const waitlist = await service.world.waitlist(SETTINGS);
      const csv = 'email,referral_token,amount_referred\nada@example.com,ada-token,3\nbob@example.com,bob-token,0\n';
      const headers = { 'content-type': 'text/csv' };
      const { token } = waitlist.owner;
      await service.api.post(`/api/v1/waitlist/${waitlist.id}/import`, undefined, { token, raw: csv, headers });
      const ada = { referral_token: 'ada-token', referral_link: 'https://example.com/?ref_id=ada-token' } as Person;
      const [credited, offboarded, erased] = [
        await refer(waitlist, ada),
        await refer(waitlist, ada),
        await refer(waitlist, ada),
      ];
      const withheld = await refer(waitlist, ada, { email: throwaway() });
      const refused = await refer(waitlist, ada);
      await patch(waitlist, refused, { credit: 'refused' });
      await service.api.patch(`/api/v1/waitlist/${waitlist.id}`, { verification: 'required' }, { token });
      const pending = await refer(waitlist, ada);
      await service.world.offboard(waitlist, [await service.world.idOf(waitlist, offboarded)]);
      const erasure = { waitlist_id: waitlist.id, signups: [{ uuid: erased.uuid }] };
      await service.api.call('DELETE', '/api/v1/signup', erasure, { token });

      expect((await refuseAll(waitlist, ada)).body).toEqual({ refused: 8 });

      const people = [credited, offboarded, withheld, refused, pending];
      const credits = await Promise.all(people.map(async (person) => (await get(waitlist, person)).credit));
      expect(credits).toEqual(Array(5).fill('refused'));
      const [imported] = await service.world.list(waitlist, { email: 'ada@example.com' });
      expect(imported).toMatchObject({ amount_referred: 0 });
      expect((await refuseAll(waitlist, ada)).body).toEqual({ refused: 0 });
      expect(await verify(waitlist)).toEqual([]);
    });

    it('is taken back once for an Idempotency-Key: the repeat has the same answer and spares later referrals', async () => {
      const waitlist = await service.world.waitlist(SETTINGS);
      const ada = await service.world.signup(waitlist);
      await refer(waitlist, ada);
      const headers = { 'idempotency-key': 'refuse-once' };

      const first = await refuseAll(waitlist, ada, headers);
      const later = await refer(waitlist, ada);
      const repeat = await refuseAll(waitlist, ada, headers);

      expect([first.body, repeat.body]).toEqual([{ refused: 1 }, { refused: 1 }]);
      expect(repeat.headers['idempotent-replayed']).toBe('true');
      expect((await get(waitlist, later)).credit).toBe('credited');
    });

    it('changes nothing for an unknown token', async () => {
      const waitlist = await service.world.waitlist();

      expect((await refuseAll(waitlist, { referral_token: 'nobody-has-it' })).body).toEqual({ refused: 0 });
    });
  });

  describe('decided for many at once', () => {
    const decide = (
      waitlist: OwnedWaitlist,
      people: readonly { readonly uuid: string }[],
      credit: string,
      headers = {},
    ) =>
      service.api.post(
        `/api/v1/waitlist/${waitlist.id}/decide_referrals`,
        { credit, signups: people.map(({ uuid }) => ({ uuid })) },
        { token: waitlist.owner.token, headers },
      );

    it('is given to each, and each referrer moves forward; strangers to a referral are left out', async () => {
      const waitlist = await service.world.waitlist(SETTINGS);
      const [, , , , ada, bob] = (await service.world.signups(waitlist, 6)) as Person[];
      const suspicious: Person[] = [];
      for (const referrer of [ada!, bob!, ada!])
        suspicious.push(await refer(waitlist, referrer, { email: throwaway() }));
      const honest = await refer(waitlist, bob!);
      const [erased, other] = [await refer(waitlist, bob!), await service.world.waitlist()];
      const stranger = await refer(other, await service.world.signup(other), { email: throwaway() });
      const erasure = { waitlist_id: waitlist.id, signups: [{ uuid: erased.uuid }] };
      await service.api.call('DELETE', '/api/v1/signup', erasure, { token: waitlist.owner.token });
      const nobody = { uuid: '00000000-0000-7000-8000-000000000000' };
      const mixed = [...suspicious, suspicious[0]!, honest, ada!, erased, stranger, nobody];

      const { status, body } = await decide(waitlist, mixed, 'credited');

      expect([status, body]).toEqual([200, { changed: 3 }]);
      expect(await get(waitlist, suspicious[0]!)).toMatchObject({
        credit: 'credited',
        credit_reasons: ['disposable_domain'],
      });
      expect([await get(waitlist, ada!), await get(waitlist, bob!)]).toMatchObject([
        { amount_referred: 2, priority: 1 },
        { amount_referred: 3, priority: 0 },
      ]);
      expect((await get(other, stranger)).credit).toBe('withheld');
      expect((await decide(waitlist, mixed, 'credited')).body).toEqual({ changed: 0 });
      expect((await decide(waitlist, mixed, 'refused')).body).toEqual({ changed: 4 });
      expect((await get(waitlist, ada!)).amount_referred).toBe(0);
      expect(await verify(waitlist)).toEqual([]);
    });

    it('waits for the verification of those who have not verified their email, pending ones too', async () => {
      const waitlist = await service.world.waitlist({ verification: 'required', ...SETTINGS });
      const ada = await service.world.signup(waitlist);
      await patch(waitlist, ada, { verified: true });
      const [pending, verified] = [
        await refer(waitlist, ada, { email: throwaway() }),
        await refer(waitlist, ada, { email: throwaway() }),
      ];
      await patch(waitlist, verified, { verified: true });

      expect((await decide(waitlist, [pending, verified], 'credited')).body).toEqual({ changed: 2 });

      expect(await get(waitlist, pending)).toMatchObject({ credit: 'awaiting_verification', status: 'pending' });
      expect(await get(waitlist, verified)).toMatchObject({ credit: 'credited', status: 'waiting' });
      expect((await get(waitlist, ada)).amount_referred).toBe(1);
      expect(await verify(waitlist)).toEqual([]);
    });

    it('is decided for a thousand in one call', async () => {
      const waitlist = await service.world.waitlist(SETTINGS);
      const { token } = waitlist.owner;
      const lines = Array.from({ length: 1_000 }, (_, index) => `x${index}@example.com,,ada-token,withheld`);
      const raw = ['email,referral_token,referred_by,credit', 'ada@example.com,ada-token,,', ...lines].join('\n');
      const headers = { 'content-type': 'text/csv' };
      await service.api.post(`/api/v1/waitlist/${waitlist.id}/import`, undefined, { token, raw, headers });
      const listed = await service.api.get(`/api/v1/signup/waitlist/${waitlist.id}`, {
        token,
        query: { limit: 1_000, offset: 1 },
      });

      expect((await decide(waitlist, listed.body, 'credited')).body).toEqual({ changed: 1_000 });

      const [ada] = await service.world.list(waitlist, { email: 'ada@example.com' });
      expect(ada).toMatchObject({ amount_referred: 1_000 });
      expect(await verify(waitlist)).toEqual([]);
    });

    it('is the last decision if several share a transaction', async () => {
      const waitlist = await service.world.waitlist(SETTINGS);
      const ada = await service.world.signup(waitlist);
      const [first, second] = [
        await refer(waitlist, ada, { email: throwaway() }),
        await refer(waitlist, ada, { email: throwaway() }),
      ];
      const { writer } = queueOf(service.app);
      const submit = (people: readonly Person[], credit: 'credited' | 'refused') => {
        const uuids = people.map(({ uuid }) => uuid);
        return writer.submit(waitlist.id, commands.decideReferrals(uuids, credit, operatorWrite(1)));
      };

      // The first runs alone, and the others wait for it together.
      await Promise.all([
        submit([second], 'refused'),
        submit([first, second], 'credited'),
        submit([first], 'refused'),
        submit([second], 'credited'),
      ]);

      expect([await get(waitlist, first), await get(waitlist, second)]).toMatchObject([
        { credit: 'refused' },
        { credit: 'credited' },
      ]);
      expect((await get(waitlist, ada)).amount_referred).toBe(1);
      expect(await verify(waitlist)).toEqual([]);
    });

    it('is decided once for an Idempotency-Key, and stands in the audit log with those whom it changed', async () => {
      const waitlist = await service.world.waitlist(SETTINGS);
      const ada = await service.world.signup(waitlist);
      const people = [await refer(waitlist, ada, { email: throwaway() }), await refer(waitlist, ada)];
      const headers = { 'idempotency-key': 'approve-once' };

      const first = await decide(waitlist, people, 'credited', headers);
      await patch(waitlist, people[0]!, { credit: 'refused' });
      const repeat = await decide(waitlist, people, 'credited', headers);

      expect([first.body, repeat.body]).toEqual([{ changed: 1 }, { changed: 1 }]);
      expect(repeat.headers['idempotent-replayed']).toBe('true');
      expect((await get(waitlist, people[0]!)).credit).toBe('refused');
      const { body } = await service.api.get('/api/v1/audit', {
        token: waitlist.owner.token,
        query: { uuid: people[0]!.uuid },
      });
      expect(body.map(({ action }: { action: string }) => action)).toEqual(['credit_refused', 'credit_approved']);
    });

    it.each([
      ['signups', { credit: 'credited', signups: [] }],
      ['signups', { credit: 'credited', signups: Array(1_001).fill({ uuid: '00000000-0000-7000-8000-000000000000' }) }],
      ['signups[0].uuid', { credit: 'credited', signups: [{ uuid: 'x' }] }],
      ['credit', { credit: 'withheld', signups: [{ uuid: '00000000-0000-7000-8000-000000000000' }] }],
    ])('is refused with a fault in %s', async (field, body) => {
      const waitlist = await service.world.waitlist();

      const answer = await service.api.post(`/api/v1/waitlist/${waitlist.id}/decide_referrals`, body, {
        token: waitlist.owner.token,
      });

      expect([answer.status, answer.body.errors]).toMatchObject([400, [{ field }]]);
    });
  });

  describe('in a listing', () => {
    it('filters it, in the order of ids, in pages by after_id', async () => {
      const waitlist = await service.world.waitlist(SETTINGS);
      const ada = await service.world.signup(waitlist);
      const suspicious: Person[] = [];
      for (let index = 0; index < 5; index += 1) suspicious.push(await refer(waitlist, ada, { email: throwaway() }));
      await refer(waitlist, ada);
      const { token } = waitlist.owner;
      const query = { waitlist_id: waitlist.id, credit: 'withheld', limit: 3 };

      const first = await service.api.get('/api/v1/waiter', { token, query });
      const next = /<([^>]+)>/.exec(String(first.headers.link))![1]!;
      const second = await service.api.get(next.replace(/^https?:..[^/]+/, ''), { token });

      const uuids = [...first.body, ...second.body].map(({ uuid }: { uuid: string }) => uuid);
      expect(uuids).toEqual(suspicious.map(({ uuid }) => uuid));
      expect([first.headers['x-total-count'], second.headers.link]).toEqual([undefined, undefined]);
      expect(await service.world.list(waitlist, { credit: 'credited' })).toHaveLength(1);
      expect(await service.world.list(waitlist, { credit: 'withheld', search: 'x' })).toHaveLength(5);
      expect(
        await service.world.list(waitlist, { credit: 'withheld', referral_token: ada.referral_token }),
      ).toHaveLength(5);
      expect(await service.world.list(waitlist, { credit: 'withheld', status: 'offboarded' })).toEqual([]);
    });

    it('belongs to pending people only with status=pending, who count nowhere', async () => {
      const waitlist = await service.world.waitlist({ verification: 'required', ...SETTINGS });
      const { token } = waitlist.owner;
      const people = [await service.world.signup(waitlist), await service.world.signup(waitlist)] as const;
      await patch(waitlist, people[1], { verified: true });
      const [pending, waiting] = people;

      const listed = await service.api.get('/api/v1/waiter', { token, query: { waitlist_id: waitlist.id } });
      expect([listed.body, listed.headers['x-total-count']]).toMatchObject([
        [{ uuid: waiting.uuid, total_waiters_currently: 1 }],
        '1',
      ]);
      expect(await service.world.list(waitlist, { status: 'pending' })).toMatchObject([
        { uuid: pending.uuid, status: 'pending', priority: 1, verified: false },
      ]);
      expect(await service.world.list(waitlist, { status: 'pending', search: pending.email })).toHaveLength(1);
      expect(await service.world.list(waitlist, { search: pending.email })).toEqual([]);
      for (const [field, value] of Object.entries({ search: pending.email, email: pending.email, uuid: pending.uuid }))
        expect(await service.world.list(waitlist, { status: 'any', [field]: value })).toEqual([]);
      expect(await get(waitlist, pending)).toMatchObject({ status: 'pending', join_order: null });
      const view = (await service.api.get(`/api/v1/waitlist/${waitlist.id}`, { token })).body;
      expect(view.statistics).toMatchObject({ current_signups: 1, total_signups: 1 });
      const file = await service.api.get(`/api/v1/waitlist/${waitlist.id}/export`, { token });
      expect([file.text.includes(waiting.email), file.text.includes(pending.email)]).toEqual([true, false]);
      const offboarded = await service.api.patch(
        '/api/v1/signup',
        { waitlist_id: waitlist.id, offboard_request: true, signups: [{ uuid: pending.uuid }] },
        { token },
      );
      expect(offboarded.body).toEqual([]);
    });
  });

  describe('and webhooks', () => {
    async function deliveries({ id }: OwnedWaitlist) {
      // In production, the dispatcher makes them.
      await service.app.get(SignupDeliveries).makeFirst(id);
      const rows = await service.app
        .get(DataSource)
        .getRepository(DeliveryEntity)
        .find({ where: { waitlistId: id }, order: { number: 'ASC' } });
      const payloads = await service.app
        .get(DataSource)
        .getRepository(PayloadEntity)
        .find({ where: { waitlistId: id } });
      const bodies = new Map(payloads.map((payload) => [payload.id, JSON.parse(payload.body)]));
      return rows.map(({ payloadId, ...row }) => ({ ...row, body: bodies.get(payloadId!) ?? null }));
    }
    async function withWebhook(settings: object = SETTINGS): Promise<OwnedWaitlist> {
      const waitlist = await service.world.waitlist({
        ...settings,
        questions: [{ question_value: 'Why?', optional: true }],
      });
      const hook = {
        waitlistId: waitlist.id,
        url: 'https://example.com',
        events: [],
        isActive: true,
        sealedSecret: '',
        createdAt: new Date(),
      };
      await service.app.get(DataSource).manager.insert(WebhookEntity, hook);
      return waitlist;
    }

    it('get a signup and the credit that it gives, with the records as they are after it', async () => {
      const waitlist = await withWebhook();
      const [, ada] = (await service.world.signups(waitlist, 2)) as [Person, Person];
      const details = {
        first_name: 'Eve',
        metadata: { plan: 'a' },
        answers: [{ question_value: 'Why?', answer_value: 'So' }],
      };

      const eve = await refer(waitlist, ada, details);

      const [, , signup, credit] = await deliveries(waitlist);
      expect(signup).toMatchObject({ event: 'new_signup', waiterUuid: eve.uuid, status: 'pending', attempts: 0 });
      const { uuid, priority, referral_link, created_at, answers } = eve;
      expect(signup!.body).toMatchObject({
        event: 'new_signup',
        signup: {
          ...details,
          uuid,
          priority,
          referral_link,
          created_at,
          answers,
          email: eve.email,
          last_name: '',
          phone: null,
          verified: false,
          waitlist_id: waitlist.id,
          referred_by_signup_token: ada.referral_token,
          status: 'waiting',
        },
      });
      expect(credit!.body).toMatchObject({
        event: 'referral_credited',
        referred_uuid: eve.uuid,
        signup: { uuid: ada.uuid, email: ada.email, priority: 0, amount_referred: 1 },
      });
    });

    it('get no event of a pending person before the click, the last position with an offboarding, and only the uuid of an erased person', async () => {
      const waitlist = await withWebhook({ verification: 'required', ...SETTINGS });
      const { token } = waitlist.owner;
      const ada = await service.world.signup(waitlist);
      const gone = await service.world.signup(waitlist);
      const erase = async (people: readonly Person[]) =>
        service.api.call(
          'DELETE',
          '/api/v1/signup',
          { waitlist_id: waitlist.id, signups: people.map(({ uuid }) => ({ uuid })) },
          { token },
        );
      expect(await deliveries(waitlist)).toEqual([]);

      await patch(waitlist, ada, { verified: true });
      await service.world.offboard(waitlist, [await service.world.idOf(waitlist, ada)]);
      const told = await deliveries(waitlist);
      await erase([ada, gone]);

      expect(told.map(({ body }) => body)).toMatchObject([
        { event: 'new_signup', signup: { uuid: ada.uuid, status: 'waiting', priority: 0 } },
        { event: 'verified_signup', signup: { uuid: ada.uuid, verified: true } },
        { event: 'offboarded_signup', signup: { uuid: ada.uuid, status: 'offboarded', removed_priority: 0 } },
      ]);
      const left = await deliveries(waitlist);
      expect(left.map(({ body }) => body)).toEqual([
        null,
        null,
        null,
        { event: 'erased_signup', signup: { uuid: ada.uuid } },
      ]);
      // An attempt under way, which takes 10 s at most, ends before.
      const { createdAt, nextAttemptAt } = left.at(-1)!;
      expect(nextAttemptAt!.getTime() - createdAt.getTime()).toBeGreaterThan(10_000);
    });

    it('get no event of a pending referrer before the click, and then its count with the credit so far', async () => {
      const waitlist = await withWebhook({ verification: 'required', ...SETTINGS });
      const ada = await service.world.signup(waitlist);
      const eve = await refer(waitlist, ada);

      await patch(waitlist, eve, { verified: true });
      await patch(waitlist, ada, { verified: true });

      expect((await deliveries(waitlist)).map(({ body }) => body)).toMatchObject([
        { event: 'new_signup', signup: { uuid: eve.uuid } },
        { event: 'verified_signup', signup: { uuid: eve.uuid } },
        { event: 'new_signup', signup: { uuid: ada.uuid, amount_referred: 1 } },
        { event: 'verified_signup', signup: { uuid: ada.uuid } },
      ]);
    });

    it('get a signup as it was, even if the record changed before its deliveries were made', async () => {
      const waitlist = await withWebhook();
      const [ada, bob, joe, kim] = (await service.world.signups(waitlist, 4)) as [Person, Person, Person, Person];
      const eve = await refer(waitlist, bob);
      await patch(waitlist, ada, { email: 'new@example.com', spots_to_advance: 1 });
      await service.world.offboard(waitlist, [await service.world.idOf(waitlist, joe)]);
      await service.api.call(
        'DELETE',
        '/api/v1/signup',
        { waitlist_id: waitlist.id, signups: [{ uuid: kim.uuid }] },
        { token: waitlist.owner.token },
      );

      const changes = {
        waitlist_url_location: 'https://example.com/new',
        questions: [{ question_value: 'Who?', optional: true }],
      };
      const { status } = await service.api.patch(`/api/v1/waitlist/${waitlist.id}`, changes, {
        token: waitlist.owner.token,
      });
      expect(status).toBe(200);

      const bodies = (await deliveries(waitlist)).map(({ body }) => body);

      const newSignup = ({ uuid, email, referral_link, answers }: Person, priority: number) => ({
        event: 'new_signup',
        signup: { uuid, email, priority, status: 'waiting', amount_referred: 0, referral_link, answers },
      });
      expect(bodies).toMatchObject([
        newSignup(ada, 0),
        newSignup(bob, 1),
        newSignup(joe, 2),
        // Kim was erased, so the payload is gone.
        null,
        newSignup(eve, 4),
        { event: 'referral_credited', signup: { uuid: bob.uuid, amount_referred: 1 } },
        { event: 'offboarded_signup', signup: { uuid: joe.uuid, status: 'offboarded' } },
        { event: 'erased_signup', signup: { uuid: kim.uuid } },
      ]);
    });

    it('get nothing of earlier signups once the last of them is deleted', async () => {
      const waitlist = await withWebhook();
      const events = async () =>
        service.app.get(DataSource).query(`SELECT number FROM signup_event WHERE waitlist_id = ${waitlist.id}`);
      await service.world.signups(waitlist, 2);
      const { token } = waitlist.owner;
      const path = `/api/v1/waitlist/${waitlist.id}/webhook`;
      const { body: hooks } = await service.api.get(path, { token });
      expect(await events()).toHaveLength(2);

      await service.api.call('DELETE', `${path}/${hooks[0].id}`, undefined, { token });

      expect(await events()).toEqual([]);
      expect(await deliveries(waitlist)).toEqual([]);
    });

    it('that do not exist yet get nothing: no delivery is stored, and no event number is used', async () => {
      const waitlist = await service.world.waitlist();
      await service.world.signup(waitlist);

      expect(await deliveries(waitlist)).toEqual([]);
      expect(await queueOf(service.app).reader.getWaitlist(waitlist.id)).toMatchObject({ nextEvent: 0 });
    });
  });

  describe('and the sweeper, which deletes', () => {
    const LONG_AGO = '2026-01-01 00:00:00.000';
    const sql = (text: string, values: unknown[]) => service.app.get(DataSource).query<{ n: number }[]>(text, values);

    it('the hashes of networks after a day', async () => {
      const waitlist = await service.world.waitlist(SETTINGS);
      await refer(waitlist, await service.world.signup(waitlist));
      const count = async () =>
        Number((await sql('SELECT COUNT(*) AS n FROM recent_referral WHERE waitlist_id = ?', [waitlist.id]))[0]!.n);
      expect(await count()).toBe(1);
      await sql('UPDATE recent_referral SET created_at = ? WHERE waitlist_id = ?', [LONG_AGO, waitlist.id]);

      await service.app.get(Sweeper).sweepAll();

      expect(await count()).toBe(0);
    });

    it('pending people 30 days after their last mail', async () => {
      const waitlist = await service.world.waitlist({ verification: 'required', ...SETTINGS });
      const [old, mailedAgain, fresh] = (await service.world.signups(waitlist, 3)) as [Person, Person, Person];
      await sql('UPDATE waiter SET created_at = ? WHERE waitlist_id = ? AND uuid IN (?, ?)', [
        LONG_AGO,
        waitlist.id,
        old.uuid,
        mailedAgain.uuid,
      ]);
      await sql('UPDATE mail SET created_at = ? WHERE waiter_uuid = ?', [LONG_AGO, old.uuid]);

      await service.app.get(Sweeper).sweepAll();

      const left = await service.world.list(waitlist, { status: 'pending' });
      expect(left.map(({ uuid }) => uuid)).toEqual([mailedAgain.uuid, fresh.uuid]);
      expect(await verify(waitlist)).toEqual([]);
    });
  });
});
