import { describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Database } from '../../src/platform/database/database.js';
import { startService } from '../support/service.js';

const embedded = process.env.TEST_DATABASE_URL ? describe.skip : describe;
const WRITE = 'INSERT INTO deleted_waitlist (waitlist_id) VALUES (?)';

embedded('a full disk (embedded database only)', () => {
  it('does not leave later writes uncommitted', async () => {
    const service = await startService({ isolated: true });
    try {
      const database = service.app.get(Database);
      const [{ page_count: pages }] = await database.read((manager) =>
        manager.query<[{ page_count: number }]>('PRAGMA page_count'),
      );
      await database.read((manager) => manager.query(`PRAGMA max_page_count = ${pages}`));
      const tooMuch = database.transaction(async (manager) => {
        for (let id = 1; id < 100_000; id += 1) await manager.query(WRITE, [-id]);
      });
      await expect(tooMuch).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
      await database.read((manager) => manager.query('PRAGMA max_page_count = 1000000'));

      await expect(
        database.transaction(async () => {
          throw new Error('refused');
        }),
      ).rejects.toThrow('refused');
      await database.transaction((manager) => manager.query(WRITE, [7]));

      const other = await new DataSource(service.app.get(DataSource).options).initialize();
      const rows: unknown[] = await other.query('SELECT waitlist_id FROM deleted_waitlist');
      await other.destroy();
      expect(rows).toEqual([{ waitlist_id: 7 }]);
    } finally {
      await service.stop();
    }
  });
});
