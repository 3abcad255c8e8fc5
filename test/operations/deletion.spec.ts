import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { isEmbedded } from '../../src/platform/database/dialect.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { PageViewService } from '../../src/waitlist/page-view.service.js';
import { type Service, startService } from '../support/service.js';
import { SignupEventStore } from '../../src/outbox/signup-event.store.js';
import { DeliveryStore } from '../../src/outbox/delivery.store.js';
import { LeaveLinkStore } from '../../src/outbox/leave-link.store.js';
import { MailStore } from '../../src/outbox/mail.store.js';
import { WelcomeMailStore } from '../../src/outbox/welcome-mail.store.js';
import { VerificationLinkStore } from '../../src/outbox/verification-link.store.js';
import { WebhookEntity } from '../../src/outbox/webhook.entity.js';
import { commands, FIRST_PAGE, queueOf } from '../support/queue.js';
import { NO_OWNER, ServiceProcess, until } from '../support/service-process.js';

/** The deletion takes many transactions, so a kill interrupts it. */
const PEOPLE = 8_000;
/**
 * Audit events tell who deleted a waitlist. Idempotency keys end within a day, and a repeated DELETE needs its own.
 * Taken names keep other owners from the visitors.
 */
const STAYING = ['audit_event', 'idempotency_key', 'taken_name', 'waitlist_slug'];
/** On a busy machine a deletion may be complete before the signal arrives. */
const TRIES_MAX = 10;

describe('a deletion', () => {
  /** Shares the database. It is not a server process, so it does not continue deletions. */
  let observer: Service;
  let processes: ServiceProcess[];

  beforeEach(async () => {
    observer = await startService({ isolated: true });
    processes = [];
  });
  afterEach(async () => {
    for (const process of processes) {
      process.signal('SIGKILL');
      await process.exit;
    }
    await observer.stop();
  });

  async function start(): Promise<ServiceProcess> {
    const process = await ServiceProcess.spawn({ DATABASE_URL: observer.databaseUrl, ...NO_OWNER });
    processes.push(process);
    await process.started();
    return process;
  }

  /** Deletes one of two waitlists in a process that is killed after its answer, before the deletion is complete. */
  async function killDeleting(): Promise<{ readonly gone: number; readonly kept: number }> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const ids = await kill(await start());
      if ((await tablesWith(ids.gone)).length > 0) return ids;
    }
    throw new Error(`${TRIES_MAX} deletions were complete when they were answered.`);
  }

  async function kill(process: ServiceProcess): Promise<{ readonly gone: number; readonly kept: number }> {
    const { world, app } = observer;
    const owner = await world.owner();
    const [{ id: gone }, { id: kept }] = [await world.waitlist({}, owner), await world.waitlist({}, owner)];
    await queueOf(app).seeder.seed(gone, PEOPLE, () => undefined);
    await queueOf(app).seeder.seed(kept, 1, () => undefined);

    const { status } = await process.call('DELETE', `/api/v1/waitlist/${gone}`, undefined, { token: owner.token });
    process.signal('SIGKILL');

    expect(status).toBe(204);
    await process.exit;
    return { gone, kept };
  }

  /** Every table that names a waitlist, but those that stay. */
  async function tables(): Promise<string[]> {
    const { dataSource } = observer.app.get(Database);
    const rows = await dataSource.query<{ name: string }[]>(
      isEmbedded(dataSource)
        ? `SELECT t.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE c.name = 'waitlist_id'
           AND t.type = 'table'`
        : `SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'waitlist_id'
           AND table_schema = DATABASE()`,
    );
    return rows
      .map(({ name }) => name)
      .filter((name) => !STAYING.includes(name))
      .sort();
  }

  /** The tables that have rows of a waitlist. */
  async function tablesWith(waitlistId: number): Promise<string[]> {
    const counts = (await tables()).map(
      (table) => `SELECT '${table}' AS name, COUNT(*) AS amount FROM ${table} WHERE waitlist_id = ${waitlistId}`,
    );
    const rows = await observer.app
      .get(Database)
      .read((manager) => manager.query<{ name: string; amount: number }[]>(counts.join(' UNION ALL ')));
    return rows.filter(({ amount }) => Number(amount) > 0).map(({ name }) => name);
  }

  async function verify(): Promise<string> {
    const environment = { DATABASE_URL: observer.databaseUrl };
    const running = await ServiceProcess.spawn(environment, 'dist/src/cli.js', 'verify');
    expect([await running.exit, running.output]).toEqual([0, expect.anything()]);
    return running.output;
  }

  it('is not reported as damage if its process is killed, and the next process completes it', async () => {
    const { gone, kept } = await killDeleting();

    expect(await verify()).toContain(`Waitlist ${kept}: 1 records, all right\nWaitlist ${gone} is being deleted\n`);

    await start();
    await until(async () => (await tablesWith(gone)).length === 0);

    expect(await tablesWith(kept)).not.toEqual([]);
    expect(await verify()).not.toContain('deleted');
  });

  /** A deleted waitlist with a row in each table that names it, in the state in which its deletion is answered. */
  async function closed(): Promise<number> {
    const queue = queueOf(observer.app);
    const { id } = await observer.world.waitlist();
    await queue.seeder.seed(id, 2, () => undefined);
    const [person] = (await queue.pages.page(id, FIRST_PAGE)).waiters;
    await queue.writer.submit(id, commands.erase([person!.uuid], operatorWrite(1)));
    await queue.importer.begin(id, 'a'.repeat(64));
    const offer = { selection: { next: 1 }, codes: [queue.codes.make()] } as const;
    await queue.writer.submit(id, commands.makeOffers(offer, operatorWrite(1)));
    observer.app.get(PageViewService).add(id);
    await observer.app.get(PageViewService).store();
    const at = new Date();
    const { uuid: waiterUuid } = person!;
    const mail = {
      waiterUuid,
      kind: 'your_turn',
      emailKey: 'ada@example.com',
      network: null,
      isBounded: false,
      at,
    } as const;
    const event = { number: 0, event: 'new_signup', waiterUuid, body: {}, at, webhookIds: [1] } as const;
    const signup = {
      waitlistId: id,
      waiterUuid,
      number: 0,
      position: 0,
      signupPage: '',
      questions: '[]',
      webhookIds: [1],
      createdAt: at,
    };
    const tokenHash = waiterUuid.replaceAll('-', '').repeat(2);
    const link = {
      tokenHash,
      waitlistId: id,
      waiterUuid,
      emailKey: '',
      createdAt: at,
      expiresAt: at,
      usedAt: null,
    };
    await observer.app
      .get(Database)
      .all([
        observer.app.get(MailStore).insert(id, [mail]),
        observer.app.get(DeliveryStore).insert(id, [event]),
        observer.app.get(SignupEventStore).insert([signup]),
        observer.app.get(WelcomeMailStore).insert([{ waitlistId: id, waiterUuid, networkHash: null, createdAt: at }]),
        observer.app.get(VerificationLinkStore).insert(link),
        observer.app
          .get(LeaveLinkStore)
          .insert({ tokenHash, waitlistId: id, waiterUuid, emailKey: 'ada@example.com', createdAt: at, expiresAt: at }),
      ]);
    await observer.app.get(Database).transaction(async (manager, session) => {
      await manager.insert(WebhookEntity, {
        waitlistId: id,
        url: '',
        events: [],
        isActive: true,
        sealedSecret: '',
        createdAt: at,
      });
      await manager.query(
        "INSERT INTO recent_referral (waitlist_id, referrer_token, created_at) VALUES (?, 'TOKEN', '2026-01-01')",
        [id],
      );
      await manager.query("INSERT INTO waitlist_mail (waitlist_id, kind, subject) VALUES (?, 'welcome', 'Hello')", [
        id,
      ]);
      await manager.query("INSERT INTO release_due (waitlist_id, seen_at) VALUES (?, '2026-01-01')", [id]);
      await manager.query(
        `INSERT INTO release_run (id, waitlist_id, state, planned_at, count, offered, pieces)
         VALUES (?, ?, 'done', '2026-01-01', 1, 0, 0)`,
        [waiterUuid, id],
      );
      await manager.query('DELETE FROM waitlist WHERE id = ?', [id]);
      await queue.purger.mark(session, id);
    });
    return id;
  }

  it('is completed by a purge if no process serves, in every table that names the waitlist', async () => {
    const queue = queueOf(observer.app);
    const id = await closed();

    // A new table that names a waitlist needs a row in `closed`, and a step in the purge.
    expect(await tablesWith(id)).toEqual(await tables());

    expect(await queue.purger.deletedIds()).toEqual([id]);
    expect(await queue.purger.purge(id)).toBe(true);

    expect(await tablesWith(id)).toEqual([]);
  });

  const onServer = process.env.TEST_DATABASE_URL ? it : it.skip;

  onServer(
    'does not delay other deletions while it waits for a lock (needs TEST_DATABASE_URL: SQLite has no row locks)',
    async () => {
      const queue = queueOf(observer.app);
      const [held, other] = [await closed(), await closed()];
      const holder = observer.app.get(DataSource).createQueryRunner();
      await holder.startTransaction();
      await holder.query('SELECT id FROM waiter WHERE waitlist_id = ? FOR UPDATE', [held]);

      queue.purger.wake();
      await until(async () => (await tablesWith(other)).length === 0);

      expect(await queue.purger.deletedIds()).toEqual([held]);
      await holder.rollbackTransaction();
      await holder.release();
      // The tasks of this process are not started, and on a slow machine one attempt can take too long.
      await until(async () => {
        queue.purger.wake();
        return (await tablesWith(held)).length === 0;
      });
    },
  );

  onServer('is completed by other processes (needs TEST_DATABASE_URL: SQLite is for one process)', async () => {
    await Promise.all([start(), start()]);

    const { gone, kept } = await killDeleting();
    await until(async () => (await tablesWith(gone)).length === 0);

    expect(await tablesWith(kept)).not.toEqual([]);
  });
});
