import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { placeholders, toSqlTime } from '../../src/platform/database/dialect.js';
import { select, write } from '../../src/platform/database/session.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { hashKey } from '../../src/platform/secrets/random-key.js';
import { OFFER_STATES, type Offer } from '../../src/queue/offers/offer.js';
import { applicant } from '../support/applicant.js';
import { commands, FIRST_PAGE, queueOf } from '../support/queue.js';
import { type Service, startServices } from '../support/service.js';
import { until } from '../support/service-process.js';

const HOUR_MS = 3_600_000;
/** Mails are configured, but none is sent. */
const MAIL = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'test@example.com' };
/** More than two transactions of the sweep end. */
const DUE = 450;
/** Records that a transaction of the sweep changes. */
const CHUNK_SIZE = 200;

const ago = (ms: number) => new Date(Date.now() - ms);
const origin = () => ({ requestId: randomUUID(), network: null });

/** What a test does with the queues of a service. */
function actor({ app, world }: Service) {
  const queue = queueOf(app);
  const database = app.get(Database);
  const submit = queue.writer.submit.bind(queue.writer);

  /** Offers a seat to these people or to the first ones, and returns their codes by uuid. */
  async function offer(
    id: number,
    to: readonly string[] | number,
    rest: { hours?: number | null; run?: { id: string } } = {},
  ): Promise<Map<string, string>> {
    const codes = Array.from({ length: typeof to === 'number' ? to : to.length }, () => queue.codes.make());
    const selection = typeof to === 'number' ? { next: to } : { uuids: to };
    const { uuids } = await submit(id, commands.makeOffers({ selection, codes, ...rest }, operatorWrite(1)));
    return new Map(uuids.map((uuid, index) => [uuid, queue.codes.open(codes[index]!)!]));
  }

  /** Lets the time of a waitlist's open offers be over since then. */
  const end = async (id: number, since = ago(HOUR_MS)) =>
    database.one(
      write('UPDATE offer SET expires_at = ?, due_at = ? WHERE waitlist_id = ? AND state = 0', [
        toSqlTime(since),
        toSqlTime(since),
        id,
      ]),
    );

  return {
    queue,
    submit,
    offer,
    end,
    waitlist: async (people = 0) => {
      const { id } = await world.waitlist();
      if (people > 0) await queue.seeder.seed(id, people, () => undefined);
      return id;
    },
    join: async (id: number, fields: Parameters<typeof applicant>[1] = {}) =>
      (await queue.writer.join(id, applicant(undefined, fields))).waiter,
    answer: async (id: number, code: string, wanted: 'accepted' | 'declined' = 'accepted') =>
      submit(id, commands.answerOffer(hashKey(code), wanted, origin())),
    find: async (id: number, uuid: string) => (await queue.reader.findByUuids(id, [uuid]))[0]!,
    first: async (id: number, limit: number) =>
      (await queue.pages.page(id, { ...FIRST_PAGE, order: 'queue', limit })).waiters,
    rule: async (id: number, rules: object) =>
      database.one(write('UPDATE waitlist SET offers = ? WHERE id = ?', [JSON.stringify(rules), id])),
    /** The states of a waitlist's offers, of those with the same place in the order of their ids. */
    states: async (id: number) =>
      database.one(
        select<{ state: number }, Offer['state'][]>(
          'SELECT state FROM offer WHERE waitlist_id = ? ORDER BY priority, id',
          [id],
          (rows) => rows.map(({ state }) => OFFER_STATES[state]!),
        ),
      ),
    row: async (uuid: string) =>
      database.one(
        select<Record<string, string | number | null>, Record<string, string | number | null>>(
          'SELECT * FROM offer WHERE waiter_uuid = ? ORDER BY id DESC LIMIT 1',
          [uuid],
          ([row]) => row!,
        ),
      ),
    /** The pending mails of a person. */
    mails: async (uuid: string) =>
      database.one(
        select<{ kind: string }, string[]>(
          `SELECT kind FROM mail WHERE waiter_uuid = ? AND status = 'pending' ORDER BY kind`,
          [uuid],
          (rows) => rows.map(({ kind }) => kind),
        ),
      ),
    /** The actions about offers of a waitlist, each with its people. */
    audit: async (id: number) =>
      database.one(
        select<{ id: string; action: string; uuid: string | null }, { action: string; uuids: string[] }[]>(
          `SELECT e.id, e.action, s.uuid FROM audit_event e LEFT JOIN audit_subject s ON s.event_id = e.id
           WHERE e.waitlist_id = ? AND e.action NOT IN ('waitlist_created') ORDER BY e.id, s.position`,
          [id],
          (rows) => {
            const events = new Map<string, { action: string; uuids: string[] }>();
            for (const { id: event, action, uuid } of rows) {
              const known = events.get(event) ?? { action, uuids: [] };
              events.set(event, known);
              if (uuid !== null) known.uuids.push(uuid);
            }
            return [...events.values()];
          },
        ),
      ),
    verify: async (id: number) =>
      expect(await queue.auditor.verify(id, () => undefined)).toMatchObject({ findings: [] }),
    database,
  };
}

describe('offers', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  /** With mail, too, on the same database. */
  let all: ReturnType<typeof actor>[];
  beforeAll(async () => {
    running = await startServices();
    all = running.services.map(actor);
  });
  afterAll(() => running.stop());
  const one = () => all[0]!;
  /** The same one on the embedded database, which is for one process. */
  const other = () => all.at(-1)!;

  it('of a thousand people are made by one call, in the order of the queue, and taken back by one', async () => {
    const { waitlist, offer, queue, submit, first, verify, states } = one();
    const id = await waitlist(1_500);
    const [before, end] = [await first(id, 100), (await first(id, 1)).length];
    expect(end).toBe(1);

    const uuids = [...(await offer(id, 1_000)).keys()];
    const places = new Map((await queue.reader.findByUuids(id, uuids)).map(({ uuid, priority }) => [uuid, priority]));

    expect(uuids).toHaveLength(1_000);
    expect(uuids.slice(0, 100)).toEqual(before.map(({ uuid }) => uuid));
    expect(uuids.map((uuid) => places.get(uuid))).toEqual(Array.from(uuids.keys()));
    expect(await queue.reader.getWaitlist(id)).toMatchObject({ active: 500, offered: 1_000, seatsTaken: 1_000 });
    await verify(id);

    const back = await submit(id, commands.returnWaiters(uuids.toReversed(), operatorWrite(1)));

    expect(back.uuids).toEqual(uuids.toReversed());
    expect((await first(id, 100)).map(({ uuid, priority }) => [uuid, priority])).toEqual(
      before.map(({ uuid, priority }) => [uuid, priority]),
    );
    expect(new Set(await states(id))).toEqual(new Set(['withdrawn']));
    expect(await queue.reader.getWaitlist(id)).toMatchObject({ active: 1_500, offered: 0, seatsTaken: 0 });
    await verify(id);
  });

  it('go to nobody twice and skip nobody when two processes offer the first at the same moment', async () => {
    const id = await one().waitlist(60);
    const order = (await one().first(id, 60)).map(({ uuid }) => uuid);

    const calls = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? one() : other()).offer(id, 1 + (index % 3)),
    );
    const offered = (await Promise.all(calls)).flatMap((made) => [...made.keys()]);

    expect(offered.toSorted()).toEqual(order.slice(0, offered.length).toSorted());
    expect(offered).toHaveLength(39);
    expect((await one().first(id, 60)).map(({ uuid }) => uuid)).toEqual(order.slice(39));
    await one().verify(id);
  });

  it('of runs never go beyond their seats, whoever else offers and accepts', async () => {
    const { waitlist, offer, answer, queue, submit } = one();
    const id = await waitlist(60);
    const byHand = await offer(id, 5);
    const [declining, ...accepting] = byHand.values();
    for (const code of accepting) await answer(id, code);

    const plan = { every: 'day', weekdays: [1], at: '09:00', time_zone: 'UTC', count: 8, until: null } as const;
    const releasePlan = { ...plan, seats: 20, is_active: false };
    await queue.writer.configure(id, { releasePlan }, operatorWrite(1));
    const run = (actor: (typeof all)[number]) => actor.offer(id, 8, { run: { id: randomUUID() } });
    const made = await Promise.all([run(one()), run(other()), run(one()), run(other())]);

    expect(made.map(({ size }) => size).toSorted((a, b) => b - a)).toEqual([8, 7, 0, 0]);
    expect(await queue.reader.getWaitlist(id)).toMatchObject({ seatsTaken: 20 });

    await answer(id, declining!, 'declined');
    await submit(id, commands.erase([[...byHand.keys()].at(-1)!], operatorWrite(1)));

    expect((await run(one())).size).toBe(2);
    await one().verify(id);
  });

  it('that are over are ended by two sweeps at once in bounded transactions, each once', async () => {
    const { waitlist, offer, end, rule, audit, verify, states, queue } = one();
    const ids = [await waitlist(DUE), await waitlist(5), await waitlist(5)] as const;
    await rule(ids[1], { on_expiry: 'end' });
    for (const [index, id] of ids.entries()) await offer(id, index === 0 ? DUE : 5);
    for (const id of ids.slice(0, 2)) await end(id);

    await Promise.all([one().queue.sweeper.sweep(), other().queue.sweeper.sweep(), one().queue.sweeper.sweep()]);

    expect((await Promise.all(ids.map(states))).map((some) => [...new Set(some)])).toEqual([
      ['expired'],
      ['expired'],
      ['open'],
    ]);
    const expiries = (await audit(ids[0])).filter(({ action }) => action === 'offers_expired');
    expect(expiries.flatMap(({ uuids }) => uuids)).toHaveLength(DUE);
    expect(new Set(expiries.flatMap(({ uuids }) => uuids)).size).toBe(DUE);
    expect(Math.max(...expiries.map(({ uuids }) => uuids.length))).toBeLessThanOrEqual(CHUNK_SIZE);
    expect(await Promise.all(ids.map((id) => queue.reader.getWaitlist(id)))).toMatchObject([
      { active: 0, offered: 0, offboarded: DUE, seatsTaken: 0 },
      { active: 5, offered: 0, offboarded: 0 },
      { active: 0, offered: 5 },
    ]);
    for (const id of ids) await verify(id);
  });

  it('of a waitlist that is being deleted keep no sweep busy, and no other waitlist waiting', async () => {
    const { waitlist, offer, end, states, queue, database } = one();
    const gone = await waitlist(DUE);
    await offer(gone, DUE);
    await end(gone, ago(2 * HOUR_MS));
    await database.transaction(async (manager, session) => {
      await manager.query('DELETE FROM waitlist WHERE id = ?', [gone]);
      await queue.purger.mark(session, gone);
    });
    const id = await waitlist(1);
    await offer(id, 1);
    await end(id);

    await queue.sweeper.sweep();

    expect(await states(id)).toEqual(['expired']);
    await queue.purger.purge(gone);
    expect(await states(gone)).toEqual([]);
  });

  it('of a waitlist that is busy for minutes keep no other waitlist waiting', async () => {
    const { waitlist, offer, end, states, queue } = one();
    const [busy, other] = [await waitlist(DUE), await waitlist(1)];
    for (const [id, count] of [
      [busy, DUE],
      [other, 1],
    ] as const) {
      await offer(id, count);
      await end(id);
    }
    const { writer } = queue;
    const submit = writer.submit.bind(writer);
    let release = () => undefined as void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const spy = jest.spyOn(writer, 'submit').mockImplementation(async (id, command) => {
      if (id === busy) await held;
      return submit(id, command);
    });

    await queue.sweeper.sweep();
    await queue.sweeper.sweep();

    expect(await states(other)).toEqual(['expired']);
    // The second sweep leaves it alone.
    expect(spy.mock.calls.filter(([id]) => id === busy)).toHaveLength(1);
    spy.mockRestore();
    release();
    await until(async () => {
      await queue.sweeper.sweep();
      return (await states(busy)).every((state) => state === 'expired');
    });
  });

  it('answer each code with what became of its own offer', async () => {
    const { waitlist, offer, answer, end, submit, queue } = one();
    const id = await waitlist(5);
    const codes = await offer(id, 5);
    const [accepted, declined, withdrawn, erased, over] = [...codes.values()] as [
      string,
      string,
      string,
      string,
      string,
    ];
    const uuids = [...codes.keys()];
    expect(await answer(id, accepted)).toMatchObject({ state: 'accepted' });
    expect(await answer(id, declined, 'declined')).toMatchObject({ state: 'declined' });
    await submit(id, commands.returnWaiters([uuids[2]!], operatorWrite(1)));
    await submit(id, commands.erase([uuids[3]!], operatorWrite(1)));
    await end(id);
    const given = [accepted, declined, withdrawn, over];

    const answers = async () => Promise.all(given.map(async (code) => (await answer(id, code)).state));
    const states = ['accepted', 'declined', 'withdrawn', 'expired'];

    expect(await answers()).toEqual(states);
    await queue.sweeper.sweep();
    // The people get other offers, of which the codes know nothing.
    await submit(id, commands.returnWaiters([uuids[1]!, uuids[4]!], operatorWrite(1)));
    await offer(id, 3);
    expect(await answers()).toEqual(states);
    await expect(answer(id, erased)).rejects.toMatchObject({ code: 'OFFER_NOT_FOUND' });
    await expect(answer(await waitlist(1), accepted)).rejects.toMatchObject({ code: 'OFFER_NOT_FOUND' });
    await expect(answer(id, 'x'.repeat(43))).rejects.toMatchObject({ code: 'OFFER_NOT_FOUND' });
    await one().verify(id);
  });

  it('keep of an erased person no more than that there were some', async () => {
    const { waitlist, offer, answer, submit, row } = one();
    const id = await waitlist(2);
    const codes = await offer(id, 2);
    const [open, accepted] = [...codes.keys()] as [string, string];
    await answer(id, codes.get(accepted)!);

    await submit(id, commands.erase([open, accepted], operatorWrite(1)));

    const forgotten = { code_hash: null, sealed_code: null, due_at: null };
    expect(await row(open)).toMatchObject({ ...forgotten, state: OFFER_STATES.indexOf('withdrawn') });
    expect(await row(accepted)).toMatchObject({ ...forgotten, state: OFFER_STATES.indexOf('accepted') });
    expect((await row(open)).ended_at).not.toBeNull();
    await one().verify(id);
  });

  it('that expire to the end leave nothing of somebody who is erased at the same moment', async () => {
    const { waitlist, offer, end, rule, queue, submit, first, verify } = one();
    const id = await waitlist(10);
    await rule(id, { on_expiry: 'end' });
    const [uuid] = [...(await offer(id, 1)).keys()] as [string];
    await end(id);
    const [other] = await first(id, 1);

    // While the first keeps the queue busy, the others come together, into one transaction.
    await Promise.all([
      submit(id, commands.beginOffer(other!.uuid, new Date())),
      submit(id, commands.expireOffers([uuid])),
      submit(id, commands.erase([uuid], operatorWrite(1))),
    ]);

    expect(await queue.reader.findByUuids(id, [uuid])).toEqual([]);
    await verify(id);
  });

  it('are in the audit log, each act once', async () => {
    const { waitlist, offer, answer, end, submit, audit, queue } = one();
    const id = await waitlist(4);
    const codes = await offer(id, 4);
    const uuids = [...codes.keys()];
    const [first, second] = [...codes.values()];
    await answer(id, first!);
    await answer(id, first!);
    await answer(id, second!, 'declined');
    await submit(id, commands.replaceOfferCode(uuids[2]!, queue.codes.make(), operatorWrite(1)));
    await submit(id, commands.returnWaiters([uuids[0]!, uuids[2]!], operatorWrite(1)));
    await end(id);
    await queue.sweeper.sweep();
    await queue.sweeper.sweep();

    expect(await audit(id)).toEqual([
      { action: 'offers_made', uuids },
      { action: 'offer_accepted', uuids: [uuids[0]] },
      { action: 'offer_declined', uuids: [uuids[1]] },
      { action: 'offer_link_made', uuids: [uuids[2]] },
      { action: 'waiters_returned', uuids: [uuids[0], uuids[2]] },
      { action: 'offers_expired', uuids: [uuids[3]] },
    ]);
  });

  it('end their old code with another one', async () => {
    const { waitlist, offer, answer, submit, queue } = one();
    const id = await waitlist(1);
    const [[uuid, old]] = [...(await offer(id, 1))] as [[string, string]];
    const code = queue.codes.make();

    await submit(id, commands.replaceOfferCode(uuid, code, { ...origin(), network: null }));

    await expect(answer(id, old)).rejects.toMatchObject({ code: 'OFFER_NOT_FOUND' });
    expect(await answer(id, queue.codes.open(code)!)).toEqual({ uuid, state: 'accepted' });
    await expect(
      submit(id, commands.replaceOfferCode(uuid, queue.codes.make(), { ...origin(), network: null })),
    ).rejects.toMatchObject({
      code: 'OFFER_ENDED',
    });
  });

  it('without mail begin at once, and some never end', async () => {
    const { waitlist, offer, find, queue } = one();
    const id = await waitlist(3);
    const made = Date.now();
    const [timed] = [...(await offer(id, 1, { hours: 2 })).keys()] as [string];
    const [endless] = [...(await offer(id, 1, { hours: null })).keys()] as [string];
    await queue.sweeper.sweep();

    const { offerExpiresAt } = await find(id, timed);
    expect(Math.abs(offerExpiresAt!.getTime() - made - 2 * HOUR_MS)).toBeLessThan(HOUR_MS);
    expect(await find(id, endless)).toMatchObject({ status: 'offered', offerExpiresAt: null });
  });
});

describe('offers with mail', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  let one: ReturnType<typeof actor>;
  beforeAll(async () => {
    running = await startServices(MAIL);
    one = actor(running.services[0]);
  });
  afterAll(() => running.stop());

  /** A waitlist, and somebody who is offered a seat there. */
  async function offered(fields: Parameters<typeof applicant>[1] = {}) {
    const id = await one.waitlist();
    const { uuid } = await one.join(id, fields);
    const code = (await one.offer(id, 1, { hours: 3 })).get(uuid)!;
    return { id, uuid, code };
  }
  const begin = (id: number, uuid: string, at: Date) => one.submit(id, commands.beginOffer(uuid, at));

  it('begin when the mail was handed over, and plan one reminder for when a third of the time is left', async () => {
    const { id, uuid } = await offered();
    expect([await one.find(id, uuid), await one.mails(uuid)]).toMatchObject([{ offerExpiresAt: null }, ['offer']]);
    const at = ago(1_000);

    await begin(id, uuid, at);
    await begin(id, uuid, new Date());

    expect((await one.find(id, uuid)).offerExpiresAt).toEqual(new Date(at.getTime() + 3 * HOUR_MS));
    expect(await one.mails(uuid)).toEqual(['offer', 'offer_reminder']);
    const due = select<{ at: string }, string>(
      `SELECT CAST(next_attempt_at AS CHAR) AS at FROM mail WHERE waiter_uuid = ? AND kind = 'offer_reminder'`,
      [uuid],
      ([row]) => row!.at,
    );
    expect(await one.database.one(due)).toBe(toSqlTime(new Date(at.getTime() + 2 * HOUR_MS)));
  });

  it('begin at once for somebody without email', async () => {
    const id = (
      await running.services[0].world.waitlist({ required_contact: { email: 'optional', phone: 'required' } } as object)
    ).id;
    const { uuid } = await one.join(id, { email: null, phone: '+14155550123', region: 'US' });
    await one.offer(id, 1, { hours: 3 });

    expect((await one.find(id, uuid)).offerExpiresAt).not.toBeNull();
    expect(await one.mails(uuid)).toEqual([]);
  });

  it('begin a day after they were made if no mail could be handed over, and can be accepted meanwhile', async () => {
    const [waiting, accepted] = [await offered(), await offered()];
    expect(await one.answer(accepted.id, accepted.code)).toMatchObject({ state: 'accepted' });
    const due = ago(HOUR_MS);
    const late = write(`UPDATE offer SET due_at = ? WHERE waiter_uuid IN (${placeholders(2)}) AND state = 0`, [
      toSqlTime(due),
      waiting.uuid,
      accepted.uuid,
    ]);
    await one.database.one(late);

    await one.queue.sweeper.sweep();

    expect(await one.find(waiting.id, waiting.uuid)).toMatchObject({
      status: 'offered',
      offerExpiresAt: new Date(due.getTime() + 3 * HOUR_MS),
    });
    expect(await one.find(accepted.id, accepted.uuid)).toMatchObject({
      removedReason: 'accepted',
      offerExpiresAt: null,
    });
    expect(await one.mails(waiting.uuid)).toEqual(['offer', 'offer_reminder']);
  });

  it.each<[string, (person: Awaited<ReturnType<typeof offered>>) => Promise<unknown>]>([
    ['accepted', ({ id, code }) => one.answer(id, code)],
    ['declined', ({ id, code }) => one.answer(id, code, 'declined')],
    ['expired', async ({ id }) => one.end(id).then(() => one.queue.sweeper.sweep())],
    ['withdrawn', ({ id, uuid }) => one.submit(id, commands.returnWaiters([uuid], operatorWrite(1)))],
  ])('that are %s take their mails with them, so that the next offer has its own only', async (_, finish) => {
    const person = await offered();
    const { id, uuid } = person;
    await begin(id, uuid, new Date());
    expect(await one.mails(uuid)).toEqual(['offer', 'offer_reminder']);

    await finish(person);

    expect(await one.mails(uuid)).toEqual([]);
    await one.submit(id, commands.returnWaiters([uuid], operatorWrite(1)));
    await one.offer(id, 1);
    expect(await one.mails(uuid)).toEqual(['offer']);
  });

  it('go to a corrected email, anew once a day, with their reminder', async () => {
    const { id, uuid, code } = await offered();
    const correct = () =>
      one.queue.writer.correct(id, uuid, { email: `${randomUUID()}@example.com` }, operatorWrite(1));
    await begin(id, uuid, ago(HOUR_MS));
    await correct();
    expect(await one.find(id, uuid)).toMatchObject({ status: 'offered', offerExpiresAt: null });
    await expect(one.answer(id, code)).rejects.toMatchObject({ code: 'OFFER_NOT_FOUND' });
    await begin(id, uuid, new Date());
    const { offerExpiresAt } = await one.find(id, uuid);

    await correct();

    expect(await one.find(id, uuid)).toMatchObject({ offerExpiresAt });
    expect(await one.mails(uuid)).toEqual(['offer', 'offer_reminder']);
    const open = await one.database.one(one.queue.offers.findOpen(id, [uuid]));
    expect(await one.answer(id, one.queue.codes.open(open.get(uuid)!)!)).toEqual({ uuid, state: 'accepted' });
  });
});
