import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, type Logger, type QueryRunner } from 'typeorm';
import { STATEMENT_END } from '../../src/platform/database/connections.js';
import type { Page, PageRequest } from '../../src/queue/waiter.js';
import { applicant } from '../support/applicant.js';
import { openDatabase, type TestDatabase } from '../support/database.js';
import { type Service, startService } from '../support/service.js';
import { type Queue, queueOf } from '../support/queue.js';

const FEW = 1_000;
const MANY = 8_000;
/** An operation may read this many more rows on the large waitlist: its counters have more levels and siblings. */
const MORE_ROWS_MAX = 600;
/** How many leading columns of an index must be equal so that few rows are left on a waitlist of any size. */
const KEY_LENGTHS: Readonly<Record<string, number>> = {
  'INTEGER PRIMARY KEY': 1,
  sqlite_autoindex_queue_1: 1,
  /** All but the slot, which gives siblings. */
  sqlite_autoindex_queue_bucket_1: 4,
  waiter_email: 2,
  waiter_phone: 2,
  waiter_token: 1,
  /** A bucket. */
  waiter_order: 3,
  /** The people that one record referred. */
  waiter_referrer: 3,
};
/** Records that a page may skip: those before it in its smallest bucket. */
const SKIP_MAX = 256;
/** One of this many referred people stays when few are to be left. */
const LEFT_ONE_IN = 100;
/** Concurrent callers, which share statements. */
const TOGETHER = 100;

interface Statement {
  readonly sql: string;
  readonly parameters: unknown[];
}

interface Line {
  readonly id: number;
  readonly people: number;
}

/** A hot statement must find its rows by an index, and read no more of them on a larger waitlist. */
describe('the plans of the hot statements', () => {
  let database: TestDatabase;
  let service: Service;
  let queue: Queue;
  let held: QueryRunner | undefined;
  let few: Line;
  let many: Line;
  beforeAll(async () => {
    database = await openDatabase(true);
    const url = new URL(database.url);
    // The test holds one of the two, so all work uses the other, whose session counts the rows it reads.
    if (url.protocol === 'mysql:') url.searchParams.set('connectionLimit', '2');
    service = await startService({ environment: { DATABASE_URL: url.href } });
    queue = queueOf(service.app);
    few = await crowd(FEW);
    many = await crowd(MANY);
    if (!isMySql()) return;
    held = service.app.get(DataSource).createQueryRunner();
    await held.connect();
    // A server updates these statistics itself some time after many inserts.
    await service.app.get(DataSource).query('ANALYZE TABLE waiter, queue_bucket, waitlist');
    // Otherwise rows that the index itself rules out are not counted.
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

  it('add people to the queue and move their referrers', () =>
    expectFlat(async (line) => {
      const referrers = await middle(line);
      await together((index) => queue.writer.join(line.id, applicant(referrers[index]?.referralToken)));
    }));

  it('offboard people', () =>
    expectFlat(async (line) => {
      const leaving = await middle(line);
      await queue.writer.offboard(line.id, leaving.map(({ id }) => id)); // prettier-ignore
    }));

  it.each<[string, Partial<PageRequest>]>([
    ['of all', {}],
    ['of all, in queue order', { order: 'queue' }],
    ['of the offboarded', { offboarded: true }],
    ['of the referred', { referredBy: 'anyone' }],
    ['of the referred, in queue order', { referredBy: 'anyone', order: 'queue' }],
    ['of the offboarded and referred', { offboarded: true, referredBy: 'anyone' }],
  ])('show a page %s, at the start, in the middle and after a record', (_, part) =>
    expectFlat(async ({ id }) => {
      const request = { ...ALL, ...part };
      const { total, waiters } = await queue.pages.page(id, request);
      expect(waiters).not.toEqual([]);
      const far = await queue.pages.page(id, { ...request, start: { offset: Math.floor(total / 2) } });
      await queue.pages.page(id, { ...request, start: { afterId: far.waiters[0]?.id ?? 0 } });
    }),
  );

  it('show a page of few referred people among many others, in queue order', async () => {
    const request: PageRequest = { ...ALL, referredBy: 'anyone', order: 'queue', limit: 2 };
    const lines = new Map<Line, Line>();
    for (const { people } of [few, many]) {
      const { id } = await service.world.waitlist();
      await queue.seeder.seed(id, people, () => undefined);
      const { total } = await queue.pages.page(id, request);
      for (let left = 0; left < total; left += LEFT_ONE_IN) {
        const { waiters } = await queue.pages.page(id, { ...request, start: { offset: left / LEFT_ONE_IN }, limit: LEFT_ONE_IN }); // prettier-ignore
        await queue.writer.offboard(id, waiters.slice(1).map((waiter) => waiter.id)); // prettier-ignore
      }
      lines.set(people === FEW ? few : many, { id, people });
    }
    await expectFlat(async (line) => {
      const { id } = lines.get(line)!;
      const { total, waiters } = await queue.pages.page(id, request);
      expect(waiters).toHaveLength(request.limit);
      const far = await queue.pages.page(id, { ...request, start: { offset: Math.floor(total / 2) } });
      await queue.pages.page(id, { ...request, start: { afterId: far.waiters[0]?.id ?? 0 } });
    });
  });

  it.each(['joined', 'queue'] as const)('show the people that one record referred, in the order %s', async (order) => {
    const tokens = new Map<Line, string>();
    for (const line of [few, many]) {
      const [referrer] = await middle(line);
      tokens.set(line, referrer?.referralToken ?? '');
      for (let friend = 0; friend < 3; friend += 1)
        await queue.writer.join(line.id, applicant(referrer?.referralToken));
    }
    await expectFlat(async (line) => {
      const request = { ...ALL, order, referredBy: { token: tokens.get(line) ?? '' } };
      const { waiters } = await queue.pages.page(line.id, request);
      expect(waiters).not.toEqual([]);
      await queue.pages.page(line.id, { ...request, start: { offset: 1 } });
      await queue.pages.page(line.id, { ...request, start: { afterId: waiters[0]?.id ?? 0 } });
    });
  });

  /** A waitlist of which a fifth was offboarded. */
  async function crowd(people: number): Promise<Line> {
    const { id } = await service.world.waitlist();
    await queue.seeder.seed(id, people, () => undefined);
    for (let offset = 0; offset < people; offset += 500) {
      const { waiters } = await queue.pages.page(id, { ...ALL, start: { offset }, limit: 100 });
      await queue.writer.offboard(id, waiters.map((waiter) => waiter.id)); // prettier-ignore
    }
    return { id, people };
  }

  /** People in the middle of the queue. */
  async function middle({ id, people }: Line): Promise<Page['waiters']> {
    const request: PageRequest = { ...ALL, order: 'queue', start: { offset: people / 2 }, limit: TOGETHER };
    return (await queue.pages.page(id, request)).waiters;
  }

  /** Runs the work on both waitlists: each statement must use an index, and read no more on the larger waitlist. */
  async function expectFlat(work: (line: Line) => Promise<unknown>): Promise<void> {
    const dataSource = service.app.get(DataSource);
    // Fills the caches.
    for (const line of [few, many]) await work(line);
    const statements = await recorded(dataSource, () => work(many));
    const planned = statements.flatMap(apart).filter(({ sql }) => /^\s*(SELECT|UPDATE|DELETE)/.test(sql));
    expect(planned).not.toEqual([]);
    for (const statement of planned) {
      const faults = (await plan(dataSource, statement)).filter((step) => !isNarrow(step, statement));
      expect({ faults, sql: statement.sql }).toEqual({ faults: [], sql: statement.sql });
    }
    if (!isMySql()) return;
    const [ofFew, ofMany] = [await rowsRead(dataSource, () => work(few)), await rowsRead(dataSource, () => work(many))];
    expect(ofFew).toBeGreaterThan(0);
    expect(ofMany - ofFew).toBeLessThan(MORE_ROWS_MAX);
  }

  function isMySql(): boolean {
    return service.app.get(DataSource).options.type === 'mysql';
  }
});

const ALL: PageRequest = {
  offboarded: false,
  referredBy: null,
  order: 'joined',
  start: { offset: 0 },
  limit: 20,
  withAnswers: false,
};

async function together(work: (index: number) => Promise<unknown>): Promise<void> {
  await Promise.all(Array.from({ length: TOGETHER }, (_, index) => work(index)));
}

/** The statements of a multi-statement query. */
function apart({ sql, parameters }: Statement): Statement[] {
  let start = 0;
  return sql.split(STATEMENT_END).map((part) => {
    const own = parameters.slice(start, start + part.split('?').length - 1);
    start += own.length;
    return { sql: part, parameters: own };
  });
}

/** How each table is read: MySQL's access type or SQLite's description, then the table. */
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

/** SQLite does not count rows, but names the columns of a search; a search by fewer of them needs a small LIMIT. */
function isNarrow(step: string, { sql, parameters }: Statement): boolean {
  // Constant rows come from the statement itself.
  if (/^(ALL|index|SCAN(?! (\d+ )?CONSTANT ROW)) /.test(step)) return false;
  const [, index, columns] = /^SEARCH .*? (INTEGER PRIMARY KEY|\w+) \((.*)\)$/.exec(step) ?? [];
  if (index === undefined || columns === undefined) return true;
  if (/ LIMIT \? OFFSET \?$/.test(sql)) return Number(parameters.at(-1)) <= SKIP_MAX;
  return columns.split('=?').length - 1 >= (KEY_LENGTHS[index] ?? Infinity);
}

/** Rows of tables and indexes that the connection reads during the work. */
async function rowsRead(dataSource: DataSource, work: () => Promise<unknown>): Promise<number> {
  const total = async () => {
    const rows: { Value: string }[] = await dataSource.query("SHOW SESSION STATUS LIKE 'Handler_read%'");
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  const before = await total();
  await work();
  return (await total()) - before;
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
