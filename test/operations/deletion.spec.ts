import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { type Service, startService } from '../support/service.js';
import { queueOf } from '../support/queue.js';
import { ServiceProcess, until } from '../support/service-process.js';

/** The deletion takes many transactions, so a kill interrupts it. */
const PEOPLE = 8_000;
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
    const process = await ServiceProcess.spawn({ DATABASE_URL: observer.databaseUrl, OWNER_EMAIL: '' });
    processes.push(process);
    await process.started();
    return process;
  }

  /** Deletes one of two waitlists in a process that is killed after its answer, before the deletion is complete. */
  async function killDeleting(): Promise<{ readonly gone: number; readonly kept: number }> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const ids = await kill(await start());
      if ((await rowsOf(ids.gone)) > 0) return ids;
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

  async function rowsOf(waitlistId: number): Promise<number> {
    const tables = ['waiter', 'queue_bucket', 'deleted_waitlist'];
    const counts = tables.map((table) => `(SELECT COUNT(*) FROM ${table} WHERE waitlist_id = ${waitlistId})`);
    const [row] = await observer.app
      .get(Database)
      .read((manager) => manager.query<[{ amount: number }]>(`SELECT ${counts.join(' + ')} AS amount`));
    return Number(row.amount);
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
    await until(async () => (await rowsOf(gone)) === 0);

    expect(await rowsOf(kept)).toBeGreaterThan(0);
    expect(await verify()).not.toContain('deleted');
  });

  /** A deleted waitlist with a record, in the state in which its deletion is answered. */
  async function closed(): Promise<number> {
    const queue = queueOf(observer.app);
    const { id } = await observer.world.waitlist();
    await queue.seeder.seed(id, 1, () => undefined);
    await observer.app.get(Database).transaction(async (manager, session) => {
      await manager.query('DELETE FROM waitlist WHERE id = ?', [id]);
      await queue.purger.mark(session, id);
    });
    return id;
  }

  it('is completed by a purge if no process serves', async () => {
    const queue = queueOf(observer.app);
    const id = await closed();

    expect(await queue.purger.deletedIds()).toEqual([id]);
    expect(await queue.purger.purge(id)).toBe(true);

    expect(await rowsOf(id)).toBe(0);
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
      await until(async () => (await rowsOf(other)) === 0);

      expect(await queue.purger.deletedIds()).toEqual([held]);
      await holder.rollbackTransaction();
      await holder.release();
      queue.purger.wake();
      await until(async () => (await rowsOf(held)) === 0);
    },
  );

  onServer('is completed by other processes (needs TEST_DATABASE_URL: SQLite is for one process)', async () => {
    await Promise.all([start(), start()]);

    const { gone, kept } = await killDeleting();
    await until(async () => (await rowsOf(gone)) === 0);

    expect(await rowsOf(kept)).toBeGreaterThan(0);
  });
});
