import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import type { PageRequest, PersonChanges, Waiter } from '../../src/queue/record/waiter.js';
import { applicant } from '../support/applicant.js';
import { commands, FIRST_PAGE, type Queue, queueOf } from '../support/queue.js';
import { until } from '../support/service-process.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist } from '../support/world.js';

const ADA = { email: 'ada@example.com', phone: '+14155550123' };

/** What an owner does to one person. Each test has a waitlist of its own. */
describe('a person', () => {
  let service: Service;
  let queue: Queue;
  let waitlist: OwnedWaitlist;
  beforeAll(async () => {
    service = await startService();
    queue = queueOf(service.app);
  });
  beforeEach(async () => {
    waitlist = await service.world.waitlist({ spots_to_move_upon_referral: 2, default_region: 'US' });
  });
  afterAll(async () => {
    await service.stop();
  });

  async function join(fields: Parameters<typeof applicant>[0] | Partial<ReturnType<typeof applicant>> = {}) {
    const guest = typeof fields === 'string' ? applicant(fields) : applicant(undefined, fields);
    const { waiter } = await queue.writer.join(waitlist.id, guest);
    return (await find(waiter))!;
  }
  async function joinAll(count: number): Promise<Waiter[]> {
    const people: Waiter[] = [];
    for (let index = 0; index < count; index += 1) people.push(await join());
    return people;
  }
  const correct = (uuid: string, changes: PersonChanges) =>
    queue.writer.correct(waitlist.id, uuid, changes, operatorWrite(1));
  const erase = (...people: readonly Pick<Waiter, 'uuid'>[]) =>
    queue.writer.submit(
      waitlist.id,
      commands.erase(
        people.map(({ uuid }) => uuid),
        operatorWrite(1),
      ),
    );
  const offboard = (...people: readonly Pick<Waiter, 'uuid'>[]) =>
    queue.writer.submit(waitlist.id, commands.offboard({ uuids: people.map(({ uuid }) => uuid) }, operatorWrite(1)));
  const find = async ({ uuid }: Pick<Waiter, 'uuid'>) =>
    (await queue.reader.findByUuids(waitlist.id, [uuid]))[0] ?? null;
  const verify = () => queue.auditor.verify(waitlist.id, () => undefined);
  const queued = async () => {
    const { waiters } = await queue.pages.page(waitlist.id, { ...FIRST_PAGE, order: 'queue' });
    return waiters.map(({ uuid }) => uuid);
  };

  describe('can be corrected', () => {
    it('in all that the owner may change, and keeps the email first registered', async () => {
      const person = await join({ email: 'old@example.com', metadata: { a: 1 } });
      const changes = {
        ...ADA,
        phone: '(415) 555-0123',
        firstName: 'Ada',
        lastName: 'L',
        metadata: { b: 2 },
        verified: true,
      };

      expect(await correct(person.uuid, changes)).toEqual({ uuids: [person.uuid] });

      expect(await find(person)).toMatchObject({ ...changes, phoneKey: ADA.phone, registeredEmail: 'old@example.com' });
      expect((await join({ email: 'ADA@example.com' })).uuid).toBe(person.uuid);
      expect((await join({ email: 'old@example.com' })).uuid).not.toBe(person.uuid);
    });

    it('in nothing but the given fields', async () => {
      const person = await join({ ...ADA, firstName: 'Ada', metadata: { a: 1 } });

      await correct(person.uuid, { lastName: 'Lovelace', firstName: null });

      const { email, phone, metadata } = person;
      expect(await find(person)).toMatchObject({ email, phone, metadata, firstName: null, lastName: 'Lovelace' });
    });

    it.each([
      [
        'an email without a normal form',
        { email: 'nobody' },
        { code: 'INVALID_REQUEST', fields: [{ field: 'email' }] },
      ],
      ['a phone of no region', { phone: '12' }, { code: 'INVALID_REQUEST', fields: [{ field: 'phone' }] }],
      [
        'no email and no phone',
        { email: null },
        { code: 'WAITLIST_RULE_BROKEN', fields: [{ field: 'email', rule: 'reachable' }] },
      ],
      ['the email of another', { email: 'ADA@example.com' }, { code: 'CONTACT_TAKEN' }],
      ['the phone of another', { phone: '415 555 0123' }, { code: 'CONTACT_TAKEN' }],
    ])('but not to %s', async (_, changes, problem) => {
      await join(ADA);
      const person = await join();

      await expect(correct(person.uuid, changes)).rejects.toMatchObject(problem);

      expect(await find(person)).toEqual(person);
    });

    it('only on their own waitlist', async () => {
      const person = await join();
      const other = await service.world.waitlist();

      await expect(
        queue.writer.correct(other.id, person.uuid, { firstName: 'Eve' }, operatorWrite(1)),
      ).rejects.toMatchObject({ code: 'NO_WAITER_FOUND' });
    });
  });

  describe('can be advanced', () => {
    it('by spots that add up and never fall below 0', async () => {
      const people = await joinAll(6);
      const last = people[5]!;
      const positions: number[] = [];

      for (const spotsToAdvance of [2, 1, -1_000_000, 1, 1_000_000]) {
        await correct(last.uuid, { spotsToAdvance });
        positions.push((await find(last))!.priority);
      }

      expect(positions).toEqual([3, 2, 5, 4, 0]);
      expect(await verify()).toMatchObject({ findings: [] });
    });

    it('after they were offboarded, and keep their last position', async () => {
      const [, person] = (await joinAll(3)) as [Waiter, Waiter];
      await offboard(person);

      await correct(person.uuid, { spotsToAdvance: 1, firstName: 'Ada' });

      expect(await find(person)).toMatchObject({
        priority: 1,
        spotsAdvanced: 1,
        firstName: 'Ada',
        status: 'offboarded',
      });
      expect(await verify()).toMatchObject({ findings: [] });
    });
  });

  describe('can be erased', () => {
    it('active or offboarded: the queue closes up, and nothing finds them', async () => {
      const people = await joinAll(5);
      const [, active, , offboarded] = people as [Waiter, Waiter, Waiter, Waiter];
      await offboard(offboarded);

      const unknown = { uuid: '0199f2a4-5b6c-7def-8a90-123456789abc' };
      expect(await erase(active, unknown, offboarded, active)).toEqual({ uuids: [active.uuid, offboarded.uuid] });

      expect(await erase(active)).toEqual({ uuids: [] });
      expect([await find(active), await find(offboarded)]).toEqual([null, null]);
      const left = [people[0]!, people[2]!, people[4]!];
      expect(await queued()).toEqual(left.map(({ uuid }) => uuid));
      expect(await Promise.all(left.map(async (person) => (await find(person))!.priority))).toEqual([0, 1, 2]);
      expect(await verify()).toMatchObject({ records: 3, findings: [] });
    });

    it('while the referrals that they made and received keep counting, and their token refers nobody', async () => {
      const referrer = await join();
      const person = await join(referrer.referralToken);
      const referee = await join(person.referralToken);

      await erase(person);
      const late = await join(person.referralToken);

      expect(await find(referrer)).toMatchObject({ creditedReferrals: 1 });
      expect(await find(referee)).toMatchObject({ referred: true, referredByToken: person.referralToken });
      expect(late).toMatchObject({ referred: false, referredByToken: null });
      expect(await verify()).toMatchObject({ findings: [] });
      expect(await queue.auditor.rebuild(waitlist.id, () => undefined)).toBe(0);
    });

    it('and after_id goes on from where they were, but a search starts anew', async () => {
      const people = await joinAll(6);
      const [, , erased] = people as [Waiter, Waiter, Waiter];
      await correct(people[5]!.uuid, { spotsToAdvance: 4 });
      await erase(erased);
      const start = { afterId: erased.id };
      const page = async (request: Partial<PageRequest>) =>
        (await queue.pages.page(waitlist.id, { ...FIRST_PAGE, start, ...request })).waiters.map(({ uuid }) => uuid);
      const uuids = (...indexes: number[]) => indexes.map((index) => people[index]!.uuid);

      expect(await page({})).toEqual(uuids(3, 4, 5));
      expect(await page({ order: 'queue' })).toEqual(uuids(3, 4));
      const search = { emailPrefix: '', keys: [] };
      expect((await page({ search })).sort()).toEqual(uuids(0, 1, 3, 4, 5).sort());
      expect(await page({ start: { afterId: erased.id + 1_000_000 } })).toEqual([]);
    });

    const onEmbedded = process.env.TEST_DATABASE_URL ? it.skip : it;

    onEmbedded('and no byte of them stays in the files of the embedded database', async () => {
      const canary = 'canary-7d3f';
      const metadata = { note: canary.repeat(500) };
      const answers = [{ question_value: 'Why?', answer_value: `${canary} answers` }];
      await queue.writer.configure(
        waitlist.id,
        { questions: [{ id: null, text: 'Why?', optional: true, options: null, removed: false }] },
        operatorWrite(1),
      );
      await queue.seeder.seed((await service.world.waitlist()).id, 1_000, () => undefined);
      const contact = { email: `${canary}@example.com`, phone: '+14155557777' };
      const person = await join({ ...contact, firstName: canary, lastName: canary, metadata, answers });
      await correct(person.uuid, { email: `other-${canary}@example.com`, metadata: { other: canary } });
      await offboard(person);
      const file = service.databaseUrl.slice('sqlite:'.length);
      const hasTraces = async () => {
        const contents = await Promise.all([readFile(file), readFile(`${file}-wal`)]);
        return contents.some((bytes) => bytes.includes(canary) || bytes.includes(contact.phone));
      };
      expect(await hasTraces()).toBe(true);

      await erase(person);

      await until(async () => !(await hasTraces()));
      await expect(
        service.app.get(DataSource).query('SELECT COUNT(*) AS total FROM erased_waiter WHERE uuid = ?', [person.uuid]),
      ).resolves.toEqual([{ total: 1 }]);
    });

    it('and sign up anew as somebody else', async () => {
      const person = await join(ADA);

      await erase(person);
      const anew = await join(ADA);

      const { uuid, seq, referralToken } = person;
      expect(anew).not.toMatchObject({ uuid });
      expect(anew).toMatchObject({ creditedReferrals: 0, priority: 0 });
      expect(anew.referralToken).not.toBe(referralToken);
      expect(anew.seq).toBeGreaterThan(seq);
    });
  });
});
