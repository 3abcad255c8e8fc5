import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, type Logger, type QueryRunner } from 'typeorm';
import { STATEMENT_END } from '../../src/platform/database/connections.js';
import { VerificationLinkStore } from '../../src/outbox/verification-link.store.js';
import { LARGE, type Page, type PageRequest, type Waiter } from '../../src/queue/record/waiter.js';
import { applicant } from '../support/applicant.js';
import { Database, NO_DEADLINE } from '../../src/platform/database/database.js';
import { ImportRunStore } from '../../src/queue/import/import-run.store.js';
import { chunksOf, placeholders, toSqlTime } from '../../src/platform/database/dialect.js';
import { allOf } from '../../src/platform/reach.js';
import { write } from '../../src/platform/database/session.js';
import { ahead } from '../support/clock.js';
import { openDatabase, type TestDatabase } from '../support/database.js';
import { SignupDeliveries } from '../../src/queue/record/signup-deliveries.js';
import { DueMailStore } from '../../src/mail/due-mail.store.js';
import { DeliveryStore } from '../../src/outbox/delivery.store.js';
import { MailStore } from '../../src/outbox/mail.store.js';
import { WebhookEntity } from '../../src/outbox/webhook.entity.js';
import type { DueOffer } from '../../src/queue/offers/offer.store.js';
import { dayOf } from '../../src/queue/order/day-counts.js';
import { PlaceReader } from '../../src/queue/read/place.reader.js';
import { QueueStatistics } from '../../src/queue/read/queue.statistics.js';
import { ReleaseRunStore } from '../../src/queue/release/release-run.store.js';
import { ReleaseRunner } from '../../src/queue/release/release.runner.js';
import { weeksBefore } from '../../src/signup/estimate.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';
import { DueDeliveryStore } from '../../src/webhook/due-delivery.store.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { commands, FIRST_PAGE, type Queue, queueOf } from '../support/queue.js';

const SMALL_CROWD = 1_000;
const LARGE_CROWD = 8_000;
/**
 * Rows that an operation may read in a large waitlist beyond those in a small one: more levels and siblings of
 * counters. MariaDB counts rows that it numbers again, in its temporary table.
 */
const MORE_ROWS_MAX = 1_000;
/** How many columns of an index a search must fix by equality, so that it finds few rows in a waitlist of any size. */
const KEY_LENGTHS: Readonly<Record<string, number>> = {
  'INTEGER PRIMARY KEY': 1,
  /** All but the slot: the siblings. */
  sqlite_autoindex_queue_bucket_1: 4,
  sqlite_autoindex_audit_event_1: 1,
  sqlite_autoindex_audit_subject_1: 1,
  waiter_uuid: 1,
  waiter_email: 2,
  waiter_phone: 2,
  waiter_token: 1,
  waiter_seq: 2,
  sqlite_autoindex_erased_waiter_1: 1,
  /** A narrowest bucket. */
  waiter_order: 3,
  /** The records that one record referred. */
  waiter_referrer: 2,
  erased_waiter_referrer: 2,
  /** The offers of a person. */
  offer_waiter: 2,
  /** The offer of a code, and one by its id. */
  offer_code: 1,
  sqlite_autoindex_offer_1: 1,
  /** The first ones whose time begins or ends: a LIMIT ends the search. */
  offer_due: 0,
  sqlite_autoindex_release_due_1: 1,
  sqlite_autoindex_release_run_1: 1,
  /** The newest runs of a waitlist: a LIMIT ends the search. */
  release_run_waitlist: 1,
  /** The runs that go on, a few. */
  release_run_state: 1,
  /** The active or the offboarded records with credit. */
  waiter_credited: 2,
  /** The mails of a kind in the order of waitlists: a LIMIT ends each search. */
  mail_waitlist: 2,
  /** The webhooks of a waitlist, a few. */
  webhook_waitlist: 1,
  /** The referrals of one referrer in an hour, and those from one network; a LIMIT ends both. */
  recent_referral_referrer: 2,
  recent_referral_network: 3,
  waiter_mailbox: 2,
  waiter_credit: 3,
  /** A beginning of names: a LIMIT ends the search. */
  waiter_name: 2,
  /** The pending records, counted up to a LIMIT. */
  waiter_joined: 2,
  /** What was left to be sent to one person. */
  delivery_waiter: 2,
  payload_waiter: 2,
  webhook_active: 1,
  /** The due deliveries of a webhook: a LIMIT ends each search. */
  delivery_due: 2,
  sqlite_autoindex_delivery_1: 1,
  /** The first signups of a waitlist: a LIMIT ends the search. */
  sqlite_autoindex_signup_event_1: 1,
  /** The kinds of mails that an owner has worded. */
  sqlite_autoindex_waitlist_mail_1: 1,
  mail_waiter: 2,
  /** The mails to one mailbox: the bounds of a day keep them few. */
  mail_mailbox: 1,
  verification_link_waiter: 2,
  sqlite_autoindex_verification_link_1: 1,
  /** The days of a span, at most 366. */
  sqlite_autoindex_waitlist_day_1: 1,
};
/** Records that a page may skip: those before it in its narrowest bucket. */
const SKIP_MAX = 256;
/** One in so many referred records stays, so that few are left. */
const LEFT_ONE_IN = 100;
/** Waitlists with one mail each. */
const FEW_MAILS = 300;
/** The usual length of a leaderboard. */
const LEADERS = 10;
/** Of each leader: more than anybody else has by chance. */
const LEADERS_REFERRALS = 20;
/** Callers at the same moment, who share statements. */
const CALLERS = 100;
const HOUR_MS = 3_600_000;
/** Its runs offer seats to so many people. */
const PLAN = {
  every: 'hour',
  weekdays: null,
  at: null,
  time_zone: 'UTC',
  count: 10,
  seats: null,
  until: null,
  is_active: true,
} as const;
/** Offers that one look considers. */
const DUE_MAX = 50;

interface Statement {
  readonly sql: string;
  readonly parameters: unknown[];
}

interface Crowd {
  readonly id: number;
  readonly people: number;
}

/** A frequent statement finds rows by an index, and reads no more of them in a larger waitlist. */
describe('the plans of the frequent statements', () => {
  let database: TestDatabase;
  let service: Service;
  let queue: Queue;
  let held: QueryRunner | undefined;
  let small: Crowd;
  let large: Crowd;
  beforeAll(async () => {
    database = await openDatabase(true);
    const url = new URL(database.url);
    // One connection is held below, so all work goes over the other, whose session counts the rows that it reads.
    if (url.protocol === 'mysql:') url.searchParams.set('connectionLimit', '2');
    service = await startService({ environment: { DATABASE_URL: url.href } });
    queue = queueOf(service.app);
    small = await seed(SMALL_CROWD);
    large = await seed(LARGE_CROWD);
    if (!isMySql()) return;
    held = service.app.get(DataSource).createQueryRunner();
    await held.connect();
    // Otherwise rows that the columns of the index itself rule out are not counted as read.
    await service.app.get(DataSource).query("SET SESSION optimizer_switch = 'index_condition_pushdown=off'");
  });
  afterAll(async () => {
    await held?.release();
    await service.stop();
    await database.drop();
  });

  it('find the positions of records', () =>
    expectFlat(({ id, people }) =>
      together((index) =>
        queue.reader.find(id, {
          emailKey: `seed-${people / 2 + index}@example.com`,
          phoneKey: `+1415555${1000 + index}`,
        }),
      ),
    ));

  it('add records, and move their referrers forward', () =>
    expectFlat(async (crowd) => {
      const referrers = await middle(crowd);
      await together((index) => queue.writer.join(crowd.id, applicant(referrers[index]?.referralToken)));
    }));

  it('offboard records', () =>
    expectFlat(async (crowd) => {
      await offboard(crowd.id, await middle(crowd));
    }));

  it('correct, advance and erase records, also those of people who leave', () =>
    expectFlat(async (crowd) => {
      const [uuid = '', leaver = '', ...others] = (await middle(crowd)).map((waiter) => waiter.uuid);
      const changes = { email: `${uuid}@example.com`, spotsToAdvance: 3 };
      await queue.writer.correct(crowd.id, uuid, changes, operatorWrite(1));
      await queue.writer.submit(crowd.id, commands.erase(others, operatorWrite(1)));
      await queue.writer.submit(
        crowd.id,
        commands.leave(leaver, () => true, 'request'),
      );
    }));

  it('offer people seats, take their answers, end what is over, and let people return', () =>
    expectFlat(async (crowd) => {
      const { id } = crowd;
      const write = () => operatorWrite(1);
      const codes = Array.from({ length: CALLERS }, () => queue.codes.make());
      const people = (await middle(crowd)).slice(0, CALLERS / 2);
      const selection = { uuids: people.map(({ uuid }) => uuid) };
      const { uuids } = await queue.writer.submit(id, commands.makeOffers({ selection, codes }, write()));
      const [erased = '', another = '', begun = '', ...others] = uuids;
      const answers = codes.slice(3, CALLERS / 4).map(({ codeHash }, index) => {
        const answer = index % 2 === 0 ? 'accepted' : 'declined';
        return queue.writer.submit(id, commands.answerOffer(codeHash!, answer, { requestId: 'request' }));
      });
      await Promise.all(answers);
      await queue.writer.submit(id, commands.replaceOfferCode(another, queue.codes.make(), write()));
      await queue.writer.submit(id, commands.beginOffer(begun, new Date()));
      await queue.writer.correct(id, begun, { email: `${begun}@example.com` }, write());
      await endTime(id, others);
      await queue.sweeper.sweep();
      await queue.writer.submit(id, commands.erase([erased], write()));
      await queue.writer.submit(id, commands.returnWaiters([another, begun, ...others], write()));
    }));

  it('explain the place of one person, and of those who watch theirs, and tell which waitlists changed', () =>
    expectFlat(async (crowd) => {
      const uuids = (await middle(crowd)).map(({ uuid }) => uuid);
      const query = { waitlist_id: crowd.id, uuid: uuids[0]! };
      expect((await service.api.get('/api/v1/signup/place', { query })).status).toBe(200);
      const places = service.app.get(PlaceReader);
      const days = weeksBefore(dayOf(new Date()));
      const { standings } = await places.findAll(crowd.id, { uuids, days });
      expect(standings.size).toBe(CALLERS);
      await places.findRevisions([crowd.id]);
    }));

  it('put a record in the queue at a click, and take credit from its referrer, and from one with all referrals', () =>
    expectFlat(async (crowd) => {
      const [referrer, other] = (await middle(crowd)) as [Waiter, Waiter];
      await queue.writer.configure(crowd.id, { verification: 'required' }, operatorWrite(1));
      const guest = applicant(referrer.referralToken);
      await queue.writer.join(crowd.id, guest);
      const { waiter } = await queue.writer.join(crowd.id, guest);
      const { uuid: waiterUuid, emailKey } = waiter;
      const tokenHash = waiterUuid.replaceAll('-', '').repeat(2);
      const times = { createdAt: new Date(), expiresAt: new Date(Date.now() + 60_000), usedAt: null };
      const links = service.app.get(VerificationLinkStore);
      const link = { tokenHash, waitlistId: crowd.id, waiterUuid, emailKey: emailKey!, ...times };
      await service.app.get(Database).one(links.insert(link));
      await queue.writer.submit(crowd.id, commands.verify(tokenHash));
      await queue.writer.correct(crowd.id, waiterUuid, { credit: 'refused' }, operatorWrite(1));
      await queue.writer.submit(crowd.id, commands.decideReferrals([waiterUuid], 'credited', operatorWrite(1)));
      await queue.writer.submit(crowd.id, commands.refuseReferrals(other.referralToken, operatorWrite(1)));
      await queue.writer.configure(crowd.id, { verification: 'off' }, operatorWrite(1));
    }));

  it.each<[string, Partial<PageRequest>]>([
    ['a status', { status: 'offboarded' }],
    ['pending records', { status: 'pending' }],
    ['offered records', { status: 'offered' }],
    ['a credit', { credit: 'credited' }],
    ['a credit that no record has', { credit: 'withheld' }],
  ])('list %s by id: at the start and after a record', (_, part) =>
    expectFlat(async (crowd) => {
      const [{ id }] = (await middle(crowd)) as [Waiter];
      for (const afterId of [0, id])
        await queue.pages.page(crowd.id, { ...FIRST_PAGE, ...part, order: 'id', start: { afterId } });
    }),
  );

  it('search among the records with a rare credit', () =>
    expectFlat(async ({ id }) => {
      const search: PageRequest['search'] = { emailPrefix: 'seed-', keys: [] };
      await queue.pages.page(id, { ...FIRST_PAGE, search, credit: 'withheld', order: 'id' });
    }));

  it('let the records of a long import name another token', () =>
    expectFlat(async ({ id, people }) => {
      const runs = service.app.get(ImportRunStore);
      const token = 'nobody-has-it';
      const rename = runs.rename(id, { from: token, to: token }, 0, people);
      await service.app.get(Database).all([runs.countNaming(id, [token], 0, people), rename]);
    }));

  it.each<[string, Partial<PageRequest>]>([
    ['active records', {}],
    ['active records in queue order', { order: 'queue' }],
    ['offboarded records', { status: 'offboarded' }],
    ['referred records', { referredBy: 'anyone' }],
    ['referred records in queue order', { referredBy: 'anyone', order: 'queue' }],
    ['offboarded referred records', { status: 'offboarded', referredBy: 'anyone' }],
  ])('list %s: at the start, far in and after a record', (_, part) =>
    expectFlat(({ id }) => readPages(id, { ...FIRST_PAGE, ...part })),
  );

  it('start a page far in by one statement over the counters, which gives the positions in queue order too', async () => {
    const request: PageRequest = { ...FIRST_PAGE, order: 'queue', start: { offset: LARGE_CROWD / 2 } };
    const statements = await expectIndexed(() => queue.pages.page(large.id, request));
    expect(statements.filter(({ sql }) => sql.includes('queue_bucket'))).toHaveLength(1);
  });

  it('list the record of an email, a phone or a uuid', () =>
    expectFlat(async (crowd) => {
      const [{ emailKey, uuid, id }] = (await middle(crowd)) as [Waiter];
      const keys: PageRequest['keys'] = [
        { column: 'emailKey', value: emailKey! },
        { column: 'phoneKey', value: '+14155551000' },
        { column: 'uuid', value: uuid },
      ];
      for (const key of keys)
        for (const start of [{ offset: 0 }, { offset: 1 }, { afterId: id }])
          await queue.pages.page(crowd.id, { ...FIRST_PAGE, keys: [key], start });
    }));

  it('search by the beginning of an email, and by a phone, a token and a uuid, at the start and after a record', () =>
    expectFlat(async (crowd) => {
      const [{ uuid, referralToken }] = (await middle(crowd)) as [Waiter];
      const search: PageRequest['search'] = {
        emailPrefix: 'seed-',
        keys: [
          { column: 'phoneKey', value: '+14155551000' },
          { column: 'referralToken', value: referralToken },
          { column: 'uuid', value: uuid },
        ],
      };
      const { nextAfterId } = await queue.pages.page(crowd.id, { ...FIRST_PAGE, search });
      await queue.pages.page(crowd.id, { ...FIRST_PAGE, search, start: { afterId: nextAfterId! } });
      await queue.pages.page(crowd.id, { ...FIRST_PAGE, search, status: 'any' });
    }));

  it('list active records by referrals: at the start and after a record', () =>
    expectFlat(async (crowd) => {
      // Each record of a page may be in another bucket, and fuller buckets are no growth.
      const listing: PageRequest = { ...FIRST_PAGE, order: 'referrals', limit: 5 };
      const [{ id: withoutReferrals }] = (await middle(crowd)).filter(
        ({ creditedReferrals }) => creditedReferrals === 0,
      ) as [Waiter];
      const { nextAfterId } = await queue.pages.page(crowd.id, listing);
      for (const afterId of [nextAfterId!, withoutReferrals])
        await queue.pages.page(crowd.id, { ...listing, start: { afterId } });
    }));

  it('search by the beginning of a name, at the start and after a record', () =>
    expectFlat(async (crowd) => {
      const search: PageRequest = { ...FIRST_PAGE, name: 'berg', limit: 3 };
      const { waiters, nextAfterId } = await queue.pages.page(crowd.id, search);
      expect(waiters).toHaveLength(3);
      await queue.pages.page(crowd.id, { ...search, start: { afterId: nextAfterId! } });
      await queue.pages.page(crowd.id, { ...search, status: 'offboarded' });
      await queue.pages.page(crowd.id, { ...search, status: 'any' });
      await queue.pages.page(crowd.id, { ...search, status: 'any', start: { afterId: nextAfterId! } });
    }));

  it('count what waits', () =>
    expectFlat(async ({ id }) => {
      expect(await service.app.get(QueueStatistics).countWaiting(id)).toEqual({ pending: 0, withheld: 0 });
    }));

  it('list the few referred records that are left among many others, in queue order', async () => {
    const request: PageRequest = { ...FIRST_PAGE, referredBy: 'anyone', order: 'queue', limit: 2 };
    const sparse = new Map<Crowd, number>();
    for (const crowd of [small, large]) {
      const { id } = await service.world.waitlist();
      await queue.seeder.seed(id, crowd.people, () => undefined);
      const { total } = await queue.pages.page(id, request);
      for (let offset = 0; offset < total! / LEFT_ONE_IN; offset += 1) {
        const { waiters } = await queue.pages.page(id, { ...request, start: { offset }, limit: LEFT_ONE_IN });
        await offboard(id, waiters.slice(1));
      }
      sparse.set(crowd, id);
    }
    await expectFlat((crowd) => readPages(sparse.get(crowd)!, request));
  });

  it.each([
    [1, 'joined'],
    [1, 'queue'],
    [50, 'joined'],
    [50, 'queue'],
  ] as const)('list the referrals of %d records, in the order %s', async (count, order) => {
    const tokens = new Map<Crowd, string[]>();
    for (const crowd of [small, large]) {
      const others = (await middle(crowd)).filter(({ creditedReferrals }) => creditedReferrals === 0);
      const referrers = others.slice(0, count).map(({ referralToken }) => referralToken);
      expect(referrers).toHaveLength(count);
      tokens.set(crowd, referrers);
      for (const token of [referrers[0], referrers[0], referrers.at(-1)])
        await queue.writer.join(crowd.id, applicant(token));
    }
    await expectFlat((crowd) =>
      readPages(crowd.id, { ...FIRST_PAGE, order, referredBy: { tokens: tokens.get(crowd)! } }),
    );
  });

  it('list the leaderboard', async () => {
    const tokens = new Map<Crowd, string[]>();
    for (const crowd of [small, large]) {
      // So far apart that each is in a narrowest bucket of its own, which its position reads. By chance, those of the
      // small crowd would share some.
      const { total } = await queue.pages.page(crowd.id, FIRST_PAGE);
      const leaders: string[] = [];
      for (let leader = 0; leader < LEADERS; leader += 1) {
        const start = { offset: Math.floor((total! * leader) / LEADERS) };
        const { waiters } = await queue.pages.page(crowd.id, { ...FIRST_PAGE, order: 'queue', start, limit: 1 });
        leaders.push(waiters[0]!.referralToken);
      }
      const guests = leaders.flatMap((token) => Array<string>(LEADERS_REFERRALS).fill(token));
      await Promise.all(guests.map((token) => queue.writer.join(crowd.id, applicant(token))));
      tokens.set(crowd, leaders.sort());
    }
    await expectFlat(async (crowd) => {
      const leaders = await queue.pages.leaders(crowd.id, LEADERS);
      expect(leaders.map(({ referralToken }) => referralToken).sort()).toEqual(tokens.get(crowd));
    });
  });

  it('leave the records of one rank key, which an import can make many, in the database', async () => {
    const { id } = await service.world.waitlist();
    await queue.seeder.seed(id, SMALL_CROWD, () => undefined);
    const dataSource = service.app.get(DataSource);
    await dataSource.query('UPDATE waiter SET spots_advanced = seq WHERE waitlist_id = ?', [id]);
    await queue.auditor.rebuild(id, () => undefined);
    const works = [
      () => queue.pages.page(id, FIRST_PAGE),
      () => queue.pages.page(id, { ...FIRST_PAGE, search: { emailPrefix: 'seed-', keys: [] } }),
      () => queue.pages.leaders(id, LEADERS),
    ];
    for (const work of works) expect(await rowsFetched(dataSource, work)).toBeLessThan(6 * FIRST_PAGE.limit);
  });

  it('read the statistics', () =>
    expectFlat(async ({ id }) => {
      const span = { from: '2025-11-22', to: new Date().toISOString().slice(0, 10) };
      const { topReferrers } = await service.app.get(QueueStatistics).read(id, span);
      expect(topReferrers).toHaveLength(5);
    }));

  it('preview a reorder, in the index of the records with credit', async () => {
    await expectIndexed(() => service.app.get(QueueStatistics).countReordered(large.id));
  });

  it('reorder the records with credit, after a change of what a referral earns', async () => {
    const { id } = await service.world.waitlist();
    await queue.seeder.seed(id, SMALL_CROWD, () => undefined);
    const configure = () => queue.writer.configure(id, { spotsPerReferral: 5 }, operatorWrite(1));

    const statements = await expectIndexed(configure);

    expect(statements.filter(({ sql }) => sql.includes('waiter_credited'))).toHaveLength(2);
  });

  it('read the large columns of a page later, with the records that referred others', () =>
    expectFlat(async ({ id }) => {
      const request: PageRequest = { ...FIRST_PAGE, referredBy: 'anyone', limit: CALLERS, without: LARGE };
      const { waiters } = await queue.pages.page(id, request);
      await queue.pages.complete(id, waiters, true);
    }));

  it('claim deliveries and release the next one, whatever the backlog of a webhook and of one record', async () => {
    const webhooks = new Map([
      [small, await backlog(small)],
      [large, await backlog(large)],
    ]);
    const deliveries = service.app.get(DueDeliveryStore);
    const now = new Date();
    const events = { event: 'new_signup' as const, createdAt: now };
    const claimed = { ...events, id: '', waiterUuid: 'hot', attempts: 0, first: null, body: '', leasedUntil: now };
    await expectFlat(async (crowd) => {
      const webhookId = webhooks.get(crowd)!;
      const next = { ...claimed, webhookId, waitlistId: crowd.id, number: crowd.people / 4 };
      await service.app
        .get(Database)
        .pipelinedTransaction((transaction) =>
          transaction.commit([
            deliveries.findPending(),
            deliveries.findReceivers([webhookId]),
            deliveries.findActive(webhookId),
            deliveries.lockDue(webhookId, now),
            deliveries.releaseNext(next, now),
          ]),
        );
    });
  });

  it('claim mails, whatever the backlog of a waitlist', async () => {
    const [database, mails, at] = [service.app.get(Database), service.app.get(DueMailStore), new Date()];
    for (const { id, people } of [small, large]) {
      const waiting = Array.from({ length: people }, (_, index) => {
        return {
          kind: 'verification' as const,
          waiterUuid: `other-${index}`,
          emailKey: 'a@b.c',
          network: null,
          isBounded: true,
          at,
        };
      });
      await database.one(service.app.get(MailStore).insert(id, waiting));
    }
    // After the large one, so that a search for the next waitlist could read its backlog each time.
    const few = Array.from({ length: FEW_MAILS }, (_, index) => {
      const mail = {
        kind: 'verification' as const,
        waiterUuid: `few-${index}`,
        emailKey: 'a@b.c',
        network: null,
        isBounded: true,
        at,
      };
      return service.app.get(MailStore).insert(large.id + 1_000 + index, [mail]);
    });
    await database.pipelinedTransaction((transaction) => transaction.commit(few));
    const findWaiting = () => database.one(mails.findWaiting('verification', 0, at));
    await expectFlat(async ({ id }) => {
      const { waitlists } = await findWaiting();
      const locked = await database.one(mails.lockDue('verification', id, at, 10));
      expect([waitlists.length, locked.length]).toEqual([2 + FEW_MAILS, 10]);
    });
    if (isMySql()) expect(await rowsRead(service.app.get(DataSource), findWaiting)).toBeLessThan(5 * FEW_MAILS);
  });

  it('find the offers whose time is over, however many there are, and one by its code', async () => {
    const [database, { offers }, now] = [service.app.get(Database), queue, Date.now()];
    for (const { id, people } of [small, large]) {
      const waiting = Array.from({ length: people }, (_, index) => ({
        id: `${id}-${index}`,
        waitlistId: id,
        waiterUuid: `offered-${id}-${index}`,
        state: 'open' as const,
        codeHash: `code-${id}-${index}`,
        sealedCode: null,
        priority: index,
        hours: 1,
        madeAt: new Date(now - HOUR_MS),
        renewedAt: null,
        // Half of them are over.
        expiresAt: new Date(now + (index - people / 2) * 1_000),
        dueAt: new Date(now + (index - people / 2) * 1_000),
        acceptedAt: null,
        endedAt: null,
        runId: null,
      }));
      await database.pipelinedTransaction((transaction) => transaction.commit([offers.insert(waiting)]), NO_DEADLINE);
    }
    const find = async () => {
      expect(await database.one(offers.findFirstDue())).not.toBeNull();
      let due: readonly DueOffer[] = [];
      for (let look = 1; look <= 3; look += 1) {
        due = await database.one(offers.findDue(new Date(), due.at(-1) ?? null, DUE_MAX));
        expect(due).toHaveLength(DUE_MAX);
      }
      expect(await database.one(offers.findByHash(`code-${large.id}-1`))).not.toBeNull();
    };
    await expectIndexed(find);
    if (isMySql()) expect(await rowsRead(service.app.get(DataSource), find)).toBeLessThan(5 * DUE_MAX);
  });

  it('carry out release plans, and list their runs, however many there were', async () => {
    const [database, runs] = [service.app.get(Database), service.app.get(ReleaseRunStore)];
    const runner = service.app.get(ReleaseRunner);
    for (const { id: waitlistId, people } of [small, large]) {
      const done = Array.from({ length: people }, (_, index) => ({
        // Older than the others.
        id: `0000-${waitlistId}-${index}`,
        waitlistId,
        state: 'done' as const,
        plannedAt: new Date(0),
        ranAt: new Date(0),
        count: 1,
        offered: 1,
        pieces: 1,
        memberId: null,
        runner: null,
        heartbeatAt: new Date(0),
      }));
      for (const some of chunksOf(done, 1_000)) await database.one(runs.insert(some));
    }
    let hours = 0;
    await expectFlat(async ({ id }) => {
      await queue.writer.configure(id, { releasePlan: PLAN }, operatorWrite(1));
      await runner.preview(id);
      const byHand = await runner.runNow(id, operatorWrite(1));
      hours += 1;
      await ahead(hours * HOUR_MS, async () => {
        await runner.look();
        await until(async () => (await database.one(runs.findRunning(1))).length === 0);
      });
      await queue.writer.configure(id, { releasePlan: null }, operatorWrite(1));
      const request = { afterId: null, limit: 20 };
      const newest = await runner.list(id, request);
      await runner.list(id, { ...request, afterId: newest.nextAfterId });
      for (const run of [newest.runs[0], await runner.find(byHand.id)])
        expect(run).toMatchObject({ state: 'done', offered: PLAN.count });
    });
  });

  it('find one record by its uuid', () =>
    expectFlat(async (crowd) => {
      const [{ uuid }] = (await middle(crowd)) as [Waiter];
      await queue.reader.findWaitlistId(allOf(1), uuid);
      await queue.reader.findByUuids(crowd.id, [uuid]);
    }));

  it('make the deliveries of new signups, however many wait', async () => {
    const database = service.app.get(Database);
    for (const crowd of [small, large]) {
      const webhookId = await backlog(crowd);
      await database.one(
        write(
          `INSERT INTO signup_event (waitlist_id, waiter_uuid, number, position, signup_page, questions, webhook_ids, created_at)
           SELECT waitlist_id, uuid, seq, seq, '', '[]', ?, ? FROM waiter WHERE waitlist_id = ?`,
          [`[${webhookId}]`, toSqlTime(new Date()), crowd.id],
        ),
      );
    }
    await expectFlat(async (crowd) => {
      const made = await service.app.get(SignupDeliveries).makeFirst(crowd.id);
      expect(made).toMatchObject({ hasMore: true, webhookIds: [expect.any(Number)] });
    });
  });

  /** A webhook with as many pending deliveries as the waitlist has records, half of them about one record. */
  async function backlog({ id, people }: Crowd): Promise<number> {
    const [database, at] = [service.app.get(Database), new Date()];
    const webhook = { waitlistId: id, url: '', events: [], isActive: true, sealedSecret: '', createdAt: at };
    const webhookId = await database.transaction(
      async (manager) => (await manager.insert(WebhookEntity, webhook)).identifiers[0]!.id as number,
    );
    const events = Array.from({ length: people }, (_, number) => {
      const waiterUuid = number < people / 2 ? 'hot' : `other-${number}`;
      return { number, event: 'new_signup' as const, waiterUuid, body: {}, at, webhookIds: [webhookId] };
    });
    await database.pipelinedTransaction(
      (transaction) => transaction.commit([service.app.get(DeliveryStore).insert(id, events)]),
      NO_DEADLINE,
    );
    return webhookId;
  }

  /** Lets the time of these people's offers be over. */
  async function endTime(id: number, uuids: readonly string[]): Promise<void> {
    const database = service.app.get(Database);
    const over = toSqlTime(new Date(Date.now() - 60_000));
    await database.one(
      write(
        `UPDATE offer ${database.dialect.byIndex('offer_waiter')} SET expires_at = ?, due_at = ?
         WHERE waitlist_id = ? AND state = 0 AND waiter_uuid IN (${placeholders(uuids.length)})`,
        [over, over, id, ...uuids],
      ),
    );
  }

  /** A page at the start, one halfway and one after a record. */
  async function readPages(id: number, request: PageRequest): Promise<void> {
    const { total, waiters } = await queue.pages.page(id, request);
    expect(waiters).not.toEqual([]);
    const halfway = await queue.pages.page(id, { ...request, start: { offset: Math.floor(total! / 2) } });
    await queue.pages.page(id, { ...request, start: { afterId: halfway.waiters[0]!.id } });
  }

  async function offboard(id: number, waiters: Page['waiters']): Promise<void> {
    const ids = waiters.map((waiter) => waiter.id);
    await queue.writer.submit(id, commands.offboard({ ids }, operatorWrite(1)));
  }

  /** Some of the seeded records are offboarded. */
  async function seed(people: number): Promise<Crowd> {
    const { id } = await service.world.waitlist();
    await queue.seeder.seed(id, people, () => undefined);
    for (let offset = 0; offset < people; offset += 500)
      await offboard(id, (await queue.pages.page(id, { ...FIRST_PAGE, start: { offset }, limit: 100 })).waiters);
    return { id, people };
  }

  /** Records in the middle of the queue. */
  async function middle({ id, people }: Crowd): Promise<Page['waiters']> {
    const request: PageRequest = { ...FIRST_PAGE, order: 'queue', start: { offset: people / 2 }, limit: CALLERS };
    return (await queue.pages.page(id, request)).waiters;
  }

  /**
   * Does the work in both waitlists: each statement must use an index, and read about as many rows in the large one.
   */
  async function expectFlat(work: (crowd: Crowd) => Promise<unknown>): Promise<void> {
    const dataSource = service.app.get(DataSource);
    // Fills the caches.
    for (const crowd of [small, large]) await work(crowd);
    await expectIndexed(() => work(large));
    if (!isMySql()) return;
    const [ofSmall, ofLarge] = [
      await rowsRead(dataSource, () => work(small)),
      await rowsRead(dataSource, () => work(large)),
    ];
    expect(ofSmall).toBeGreaterThan(0);
    expect(ofLarge - ofSmall).toBeLessThan(MORE_ROWS_MAX);
  }

  /** Does the work; each of its statements must use an index. */
  async function expectIndexed(work: () => Promise<unknown>): Promise<Statement[]> {
    const dataSource = service.app.get(DataSource);
    if (isMySql()) await analyze(dataSource);
    const statements = await recorded(dataSource, work);
    const planned = statements.flatMap(split).filter(({ sql }) => /^\s*(SELECT|UPDATE|DELETE)/.test(sql));
    expect(planned).not.toEqual([]);
    for (const statement of planned) {
      const faults = (await plan(dataSource, statement)).filter((step) => !isNarrow(step, statement));
      expect({ faults, sql: statement.sql }).toEqual({ faults: [], sql: statement.sql });
    }
    return planned;
  }

  function isMySql(): boolean {
    return service.app.get(DataSource).options.type === 'mysql';
  }
});

async function together(work: (index: number) => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => work(index)));
}

/** Counts the rows of all tables. The server does it by itself some time after many inserts; its plans depend on it. */
async function analyze(dataSource: DataSource): Promise<void> {
  const tables: { name: string }[] = await dataSource.query(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
  );
  await dataSource.query(`ANALYZE TABLE ${tables.map(({ name }) => name).join(', ')}`);
}

/** The statements of a multi-statement packet. */
function split({ sql, parameters }: Statement): Statement[] {
  let start = 0;
  return sql.split(STATEMENT_END).map((part) => {
    const own = parameters.slice(start, start + part.split('?').length - 1);
    start += own.length;
    return { sql: part, parameters: own };
  });
}

/** How each table is read, as the database says it: the access type or the kind of search, then the table. */
async function plan(dataSource: DataSource, { sql, parameters }: Statement): Promise<string[]> {
  if (dataSource.options.type === 'better-sqlite3') {
    const rows: { detail: string }[] = await dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, parameters);
    return rows.map(({ detail }) => detail);
  }
  const rows: { type: string | null; table: string | null; key: string | null }[] = await dataSource.query(
    `EXPLAIN FORMAT=TRADITIONAL ${sql}`,
    parameters,
  );
  return rows.map(({ type, table, key }) => `${type} ${table} by ${key}`);
}

/** SQLite counts no rows, but names the columns of a search. If they leave it open, only a LIMIT may end it. */
function isNarrow(step: string, { sql, parameters }: Statement): boolean {
  // A derived table, with as many rows as its LIMIT says.
  const isDerived = /^(ALL <derived\d+> |SCAN (counted|s|step|wider)$)/.test(step);
  if (isDerived && / LIMIT (1\) (n|wider) |\?\)\s(AS counted$|w LEFT JOIN |\s*SELECT id, ))/.test(sql)) return true;
  // Its SELECT is judged in a step of its own.
  if (
    /^(ALL <derived\d+> |SCAN (counted|numbered|\(subquery-\d+\))$)/.test(step) &&
    /\) numbered WHERE seq IN \(| LIMIT \d+\) counted\)/.test(sql)
  )
    return true;
  // Narrow rows, one for each active plan: all are read.
  if (/ release_due\b|ORDER BY/.test(step) && / FROM release_due WHERE due_at <= /.test(sql)) return true;
  // Constant rows are values in the statement.
  if (/^(ALL|index|SCAN(?! (\d+ )?CONSTANT ROW)) /.test(step)) return false;
  // A LIMIT ends a statement early only if the index has its order.
  if (/^USE TEMP B-TREE FOR .*ORDER BY/.test(step) && / LIMIT \?$/.test(sql)) return false;
  // The first records of the queue: a LIMIT ends the search.
  if (/ USING INDEX waiter_order /.test(step) && / ORDER BY w\.rank_bucket, .* LIMIT \?$/.test(sql)) return true;
  const [, index, columns] = /^SEARCH .*? (INTEGER PRIMARY KEY|\w+) \((.*)\)$/.exec(step) ?? [];
  if (index === undefined || columns === undefined) return true;
  if (/ LIMIT \? OFFSET \?$/.test(sql)) return Number(parameters.at(-1)) <= SKIP_MAX;
  return columns.split('=?').length - 1 >= (KEY_LENGTHS[index] ?? Infinity);
}

/** Rows of tables and indexes that the connection in use read during the work. */
async function rowsRead(dataSource: DataSource, work: () => Promise<unknown>): Promise<number> {
  const total = async () => {
    const rows: { Value: string }[] = await dataSource.query("SHOW SESSION STATUS LIKE 'Handler_read%'");
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  const before = await total();
  await work();
  return (await total()) - before;
}

/** Rows that the database returns to the process during the work. */
async function rowsFetched(dataSource: DataSource, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  for (const { sql, parameters } of (await recorded(dataSource, work)).flatMap(split)) {
    if (/^\s*SELECT/.test(sql)) count += (await dataSource.query<unknown[]>(sql, parameters)).length;
  }
  return count;
}

async function recorded(dataSource: DataSource, work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const { logger } = dataSource;
  dataSource.logger = recorder(statements);
  await work();
  dataSource.logger = logger;
  return statements;
}

function recorder(statements: Statement[]): Logger {
  const nothing = () => undefined;
  return {
    logQuery: (sql, parameters) =>
      void statements.push({ sql, parameters: (parameters as unknown[] | undefined) ?? [] }),
    logQueryError: nothing,
    logQuerySlow: nothing,
    logSchemaBuild: nothing,
    logMigration: nothing,
    log: nothing,
  };
}
