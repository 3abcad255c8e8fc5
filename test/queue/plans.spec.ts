import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, type Logger } from 'typeorm';
import { STATEMENT_END } from '../../src/platform/database/database.js';
import { QueueService } from '../../src/queue/queue.service.js';
import type { PageRequest } from '../../src/queue/waiter.js';
import { applicant, noRules } from '../support/applicant.js';
import { type Service, startService } from '../support/service.js';

const PEOPLE = 4_000;

interface Statement {
  readonly sql: string;
  readonly parameters: unknown[];
}

/** What a hot statement may read: rows found by an index, never a table or an index from end to end. */
describe('the plans of the hot statements', () => {
  let service: Service;
  let queue: QueueService;
  let waitlistId: number;
  beforeAll(async () => {
    service = await startService({ isolated: true });
    queue = service.app.get(QueueService);
    waitlistId = (await service.world.waitlist()).id;
    await queue.seed(waitlistId, PEOPLE, () => undefined);
    // Others' records, without which an index of all would be as good as one of this waitlist.
    await queue.seed((await service.world.waitlist()).id, PEOPLE, () => undefined);
  }, 60_000);
  afterAll(() => service.stop());

  it('find the place of one record', () =>
    expectPlans(() => queue.find(waitlistId, { emailKey: 'seed-7@example.com', phoneKey: '+14155550123' }, noRules)));

  it('put someone in line, and a referrer forward', async () => {
    const { waiter: referrer } = await queue.find(
      waitlistId,
      { emailKey: 'seed-9@example.com', phoneKey: null },
      noRules,
    );
    await expectPlans(() => queue.join(waitlistId, applicant(referrer?.referralToken)));
  });

  it('take people out of the line', async () => {
    const { waiters } = await queue.page(waitlistId, { ...ALL, start: { offset: 100 }, limit: 20 });
    await expectPlans(() => queue.offboard(waitlistId, waiters.map(({ id }) => id))); // prettier-ignore
  });

  const token = 'a token';
  it.each<[string, Partial<PageRequest>]>([
    ['of all', {}],
    ['of all, in the order of the line', { order: 'queue' }],
    ['of those offboarded', { offboarded: true }],
    ['of those referred', { referredBy: 'anyone' }],
    ['of those whom one record referred', { referredBy: { token } }],
  ])('show a page %s, at its start and far in', async (_, part) => {
    const request = { ...ALL, ...part };
    await expectPlans(() => queue.page(waitlistId, request));
    await expectPlans(() => queue.page(waitlistId, { ...request, start: { offset: 900 } }));
    const [last] = (await queue.page(waitlistId, request)).waiters;
    await expectPlans(() => queue.page(waitlistId, { ...request, start: { afterId: last?.id ?? 1 } }));
  });

  async function expectPlans(work: () => Promise<unknown>): Promise<void> {
    const dataSource = service.app.get(DataSource);
    const statements: Statement[] = [];
    const logger = dataSource.logger;
    dataSource.logger = recorder(statements);
    await work();
    dataSource.logger = logger;
    const planned = statements.flatMap(apart).filter(({ sql }) => /^\s*(SELECT|UPDATE|DELETE)/.test(sql));
    expect(planned).not.toEqual([]);
    for (const statement of planned) {
      for (const step of await plan(dataSource, statement))
        expect({ step, sql: statement.sql }).toMatchObject({ step: expect.not.stringMatching(/^(ALL|index|SCAN) /) });
    }
  }
});

const ALL: PageRequest = {
  offboarded: false,
  referredBy: null,
  order: 'joined',
  start: { offset: 0 },
  limit: 100,
  withAnswers: false,
};

/** The statements of a packet. */
function apart({ sql, parameters }: Statement): Statement[] {
  let start = 0;
  return sql.split(STATEMENT_END).map((part) => {
    const own = parameters.slice(start, start + part.split('?').length - 1);
    start += own.length;
    return { sql: part, parameters: own };
  });
}

/** How each table is read: MySQL's access type, or SQLite's words, before the table. */
async function plan(dataSource: DataSource, { sql, parameters }: Statement): Promise<string[]> {
  if (dataSource.options.type === 'better-sqlite3') {
    const rows: { detail: string }[] = await dataSource.query(`EXPLAIN QUERY PLAN ${sql}`, parameters);
    return rows.map(({ detail }) => detail);
  }
  const rows: { type: string | null; table: string | null; key: string | null }[] = await dataSource.query(
    `EXPLAIN ${sql}`,
    parameters,
  );
  return rows.map(({ type, table, key }) => `${type} ${table} by ${key}`);
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
