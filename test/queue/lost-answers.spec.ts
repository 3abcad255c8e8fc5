import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { VerificationLinkStore } from '../../src/outbox/verification-link.store.js';
import { Database } from '../../src/platform/database/database.js';
import { write } from '../../src/platform/database/session.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { Authenticator } from '../support/authenticator.js';
import { DatabaseProxy } from '../support/database-proxy.js';
import { openDatabase, type TestDatabase } from '../support/database.js';
import { type Service, startService } from '../support/service.js';
import { commands, queueOf } from '../support/queue.js';
import { type OwnedWaitlist, PASSWORD, type Person } from '../support/world.js';

const onServer = process.env.TEST_DATABASE_URL ? describe : describe.skip;

onServer(
  'a commit whose answer is lost (needs TEST_DATABASE_URL: the embedded database has no connection to lose it on)',
  () => {
    let database: TestDatabase;
    let proxy: DatabaseProxy;
    let service: Service;
    beforeAll(async () => {
      database = await openDatabase(true);
      proxy = await DatabaseProxy.open(database.url);
      service = await startService({ environment: { DATABASE_URL: proxy.url } });
    });
    afterAll(async () => {
      await service.stop();
      await proxy.close();
      await database.drop();
    });

    async function losing<Result>(call: () => Promise<Result>): Promise<Result> {
      const lost = proxy.loseNextCommit();
      const result = await call();
      await lost;
      return result;
    }

    async function expectSound({ id }: OwnedWaitlist, records: number): Promise<void> {
      const report = await queueOf(service.app).auditor.verify(id, () => undefined);
      expect(report).toEqual({ records, findings: [], differences: 0 });
    }

    it('of a signup leaves one record and one referral', async () => {
      const { world } = service;
      const waitlist = await world.waitlist({ spots_to_move_upon_referral: 1 });
      const [, ada] = await world.signups(waitlist, 2);

      const person = await losing(() => world.signup(waitlist, { referral_link: ada?.referral_link }));

      expect(person).toMatchObject({ priority: 2, referred_by_signup_token: ada?.referral_token });
      const waiters = await world.list(waitlist, { order: 'queue' });
      expect(waiters.map(({ amount_referred }) => amount_referred)).toEqual([1, 0, 0]);
      expect(waiters[0]!.uuid).toBe(ada?.uuid);
      await expectSound(waitlist, 3);
    });

    it('of an offboarding is answered with the removed people and their positions', async () => {
      const { world } = service;
      const waitlist = await world.waitlist();
      await world.signups(waitlist, 4);
      const [first, , third] = await world.list(waitlist);

      const removed = await losing(() => world.offboard(waitlist, [third!.id, first!.id]));

      expect(removed.map(({ id, removed_priority }) => [id, removed_priority])).toEqual([
        [third!.id, 2],
        [first!.id, 0],
      ]);
      await expectSound(waitlist, 4);
    });

    it('of a write prints its audit event once', async () => {
      const environment = { DATABASE_URL: proxy.url, AUDIT_LOG: 'stdout' };
      const printing = await startService({ environment });
      const printed = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
      try {
        const { token, uuid } = await printing.world.owner();
        printed.mockClear();

        await losing(() => printing.api.patch('/api/v1/account', { name: 'Launch' }, { token }));

        const lines = printed.mock.calls.map(([text]) => JSON.parse(String(text)) as object);
        expect(lines).toEqual([expect.objectContaining({ action: 'account_updated', user_id: uuid })]);
      } finally {
        printed.mockRestore();
        await printing.stop();
      }
    });

    it('of a login, a new set of recovery codes and the end of a second factor does not take their codes for used', async () => {
      const { world, api } = service;
      const { email, token } = await world.owner();
      const path = '/api/v1/auth/two_factor';
      const app = new Authenticator(
        (await api.post(path, { current_password: PASSWORD }, { token })).body.secret as string,
      );
      await app.at(0, () => losing(() => api.post(`${path}/confirm`, { otp: app.code(0) }, { token })));
      const statuses: number[] = [];

      await app.at(2, async () => {
        const login = { email, password: PASSWORD, otp: app.code(1) };
        statuses.push((await losing(() => api.post('/api/v1/auth/create_tokens', login))).status);
        const renewed = await losing(() => api.post(`${path}/recovery_codes`, { otp: app.code(2) }, { token }));
        const [code] = renewed.body.recovery_codes as string[];
        statuses.push((await api.post('/api/v1/auth/create_tokens', { ...login, otp: code })).status);
        const end = { current_password: PASSWORD, otp: app.code(3) };
        statuses.push((await losing(() => api.post(`${path}/disable`, end, { token }))).status);
        statuses.push((await api.post('/api/v1/auth/create_tokens', { email, password: PASSWORD })).status);
      });

      expect(statuses).toEqual([200, 200, 204, 200]);
    });

    it('of an advance grants the spots once', async () => {
      const { world, app } = service;
      const waitlist = await world.waitlist();
      const [, , third] = (await world.signups(waitlist, 3)) as [Person, Person, Person];
      const { writer, reader } = queueOf(app);
      const advance = () =>
        writer.correct(waitlist.id, third.uuid, { spotsToAdvance: 1, email: 'new@example.com' }, operatorWrite(1));

      expect(await losing(advance)).toEqual({ uuids: [third.uuid] });

      const [waiter] = await reader.findByUuids(waitlist.id, [third.uuid]);
      expect(waiter).toMatchObject({ spotsAdvanced: 1, priority: 1, email: 'new@example.com' });
      await expectSound(waitlist, 3);
    });

    it('of a refusal of all referrals is answered with their number, and takes the credit back once', async () => {
      const { world, app } = service;
      const waitlist = await world.waitlist();
      const ada = await world.signup(waitlist);
      const { referral_link } = ada;
      const people = [await world.signup(waitlist, { referral_link }), await world.signup(waitlist, { referral_link })];
      const { writer, reader } = queueOf(app);

      const refused = await losing(() =>
        writer.submit(waitlist.id, commands.refuseReferrals(ada.referral_token, operatorWrite(1))),
      );

      expect(refused).toEqual({ refused: 2 });
      const [referrer] = await reader.findByUuids(waitlist.id, [ada.uuid]);
      expect(referrer).toMatchObject({ creditedReferrals: 0 });
      await expectSound(waitlist, 1 + people.length);
    });

    it.each([{ credit: 'refused' }, { verified: true }, { credit: 'credited' }] as const)(
      'of the correction %j changes the credit once',
      async (changes) => {
        const { world, app } = service;
        const waitlist = await world.waitlist();
        const ada = await world.signup(waitlist);
        const { writer, reader } = queueOf(app);
        await writer.configure(waitlist.id, { verification: 'required' }, operatorWrite(1));
        const { uuid } = await world.signup(waitlist, { referral_link: ada.referral_link });
        await writer.correct(waitlist.id, uuid, { verified: 'credit' in changes }, operatorWrite(1));

        await losing(() => writer.correct(waitlist.id, uuid, changes, operatorWrite(1)));

        const [referrer] = await reader.findByUuids(waitlist.id, [ada.uuid]);
        expect(referrer).toMatchObject({
          creditedReferrals: 'credit' in changes && changes.credit === 'refused' ? 0 : 1,
        });
        await expectSound(waitlist, 2);
      },
    );

    it('of a decision about many referrals changes each credit once, and gives their number', async () => {
      const { world, app } = service;
      const waitlist = await world.waitlist();
      const ada = await world.signup(waitlist);
      const { referral_link } = ada;
      const people = [await world.signup(waitlist, { referral_link }), await world.signup(waitlist, { referral_link })];
      const { writer, reader } = queueOf(app);
      const uuids = [ada, ...people].map(({ uuid }) => uuid);

      const decided = await losing(() =>
        writer.submit(waitlist.id, commands.decideReferrals(uuids, 'refused', operatorWrite(1))),
      );

      expect(decided).toEqual({ uuids: uuids.slice(1) });
      const [referrer] = await reader.findByUuids(waitlist.id, [ada.uuid]);
      expect(referrer).toMatchObject({ creditedReferrals: 0 });
      await expectSound(waitlist, 1 + people.length);
    });

    it('of a click on a link gives one place and one credit', async () => {
      const { world, app } = service;
      const waitlist = await world.waitlist();
      const ada = await world.signup(waitlist);
      const { writer, reader } = queueOf(app);
      await writer.configure(waitlist.id, { verification: 'required' }, operatorWrite(1));
      const { uuid, email } = await world.signup(waitlist, { referral_link: ada.referral_link });
      const link = { tokenHash: 'a'.repeat(64), waitlistId: waitlist.id, waiterUuid: uuid, emailKey: email };
      const times = { createdAt: new Date(), expiresAt: new Date(Date.now() + 60_000), usedAt: null };
      await app.get(Database).one(app.get(VerificationLinkStore).insert({ ...link, ...times }));

      expect(await losing(() => writer.submit(waitlist.id, commands.verify(link.tokenHash)))).toEqual({
        uuids: [uuid],
      });

      const [referrer, person] = await reader.findByUuids(waitlist.id, [ada.uuid, uuid]);
      expect([referrer, person]).toMatchObject([
        { creditedReferrals: 1 },
        { status: 'waiting', seq: 1, verified: true },
      ]);
      await expectSound(waitlist, 2);
    });

    it('of offers, their answers and a return carries each out once', async () => {
      const { world, app } = service;
      const waitlist = await world.waitlist();
      const people = await world.signups(waitlist, 3);
      const { writer, reader, codes, sweeper } = queueOf(app);
      const { id } = waitlist;
      const made = [codes.make(), codes.make()];
      const origin = { requestId: randomUUID() };
      const [ada, eve, bob] = people.map(({ uuid }) => uuid) as [string, string, string];

      const offered = await losing(() =>
        writer.submit(id, commands.makeOffers({ selection: { next: 2 }, codes: made }, operatorWrite(1))),
      );
      const accepted = await losing(() =>
        writer.submit(id, commands.answerOffer(made[0]!.codeHash!, 'accepted', origin)),
      );
      const declined = await losing(() =>
        writer.submit(id, commands.answerOffer(made[1]!.codeHash!, 'declined', origin)),
      );
      const returned = await losing(() => writer.submit(id, commands.returnWaiters([ada, eve, bob], operatorWrite(1))));

      expect([offered.uuids, accepted, declined, returned.uuids]).toEqual([
        [ada, eve],
        { uuid: ada, state: 'accepted' },
        { uuid: eve, state: 'declined' },
        [ada, eve],
      ]);
      expect(await reader.getWaitlist(id)).toMatchObject({ active: 3, offered: 0, offboarded: 0, seatsTaken: 0 });

      await writer.submit(id, commands.makeOffers({ selection: { next: 1 }, codes: [codes.make()] }, operatorWrite(1)));
      await app
        .get(Database)
        .one(write("UPDATE offer SET due_at = '2026-01-01', expires_at = '2026-01-01' WHERE state = 0"));
      await losing(() => sweeper.sweep());

      expect(await reader.findByUuids(id, [ada])).toMatchObject([{ removedReason: 'expired', removedPriority: 0 }]);
      await expectSound(waitlist, 3);
    });

    it('of an erasure is answered with the erased people', async () => {
      const { world, app } = service;
      const waitlist = await world.waitlist();
      const [{ uuid }] = await world.signups(waitlist, 2);

      const { uuids } = await losing(() =>
        queueOf(app).writer.submit(waitlist.id, commands.erase([uuid], operatorWrite(1))),
      );

      expect(uuids).toEqual([uuid]);
      await expectSound(waitlist, 1);
    });

    it('of a reordering is answered with the number of moved records', async () => {
      const { world, api } = service;
      const waitlist = await world.waitlist({ spots_to_move_upon_referral: 0 });
      const [, , ada] = await world.signups(waitlist, 3);
      await world.signup(waitlist, { referral_link: ada?.referral_link });
      const change = { spots_to_move_upon_referral: 2 };

      const { body } = await losing(() => api.patch(`/api/v1/waitlist/${waitlist.id}`, change, waitlist.owner));

      expect(body).toMatchObject({ ...change, records_moved: 1 });
      expect(await world.priorityOf(ada!)).toBe(0);
      await expectSound(waitlist, 4);
    });

    it('of a creation leaves one waitlist, and of a deletion none', async () => {
      const { world, api } = service;
      const owner = await world.owner();

      const waitlist = await losing(() => world.waitlist({}, owner));
      const listed = await api.get('/api/v1/waitlist', owner);
      const deleted = await losing(() => api.delete(`/api/v1/waitlist/${waitlist.id}`, owner));

      expect(listed.body).toMatchObject([{ id: waitlist.id }]);
      expect(deleted.status).toBe(204);
      expect((await api.get('/api/v1/waitlist', owner)).body).toEqual([]);
    });

    it('of an invitation leaves the link that it answers with, and of its acceptance one event', async () => {
      const { world, api } = service;
      const owner = await world.owner();
      const body = { email: `${randomUUID()}@members.example`, role: 'viewer' };

      const invited = await losing(() => api.post('/api/v1/member', body, owner));
      const token = (invited.body.invitation_url as string).split('#')[1];
      const acceptance = { token, password: PASSWORD };
      const accepted = await losing(() => api.post('/api/v1/auth/invitation/accept', acceptance));

      expect([invited.status, accepted.status]).toEqual([201, 204]);
      const actions = ((await api.get('/api/v1/audit', owner)).body as { action: string }[]).map(
        ({ action }) => action,
      );
      expect(actions).toEqual(['member_joined', 'member_invited', 'account_created']);
    });

    it('of a password reset sets the password', async () => {
      const { world, api } = service;
      const owner = await world.owner();
      const { id } = await world.member(owner, 'viewer');

      const started = await losing(() => api.post(`/api/v1/member/${id}/password_reset`, undefined, owner));
      const body = { token: (started.body.reset_url as string).split('#')[1], new_password: PASSWORD };
      const done = await losing(() => api.post('/api/v1/auth/password/reset', body));

      expect([started.status, done.status]).toEqual([200, 204]);
    });
  },
);
