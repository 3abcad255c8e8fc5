/**
 * Hand-written services to compare with: bare Fastify and mysql2, one or two prepared statements a request. Each runs
 * in a process of its own with as many connections as the service has.
 *
 * They read the service's own tables. Those that insert use a table with the columns and unique keys of `waiter` but
 * none of its other indexes, which starts empty: both are in their favor. The `lean-…` rivals do the least that still
 * works: five columns, no response schema, and dates as the database's text.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise';

export type RivalName =
  'lookup' | 'lookup-and-count' | 'insert' | 'insert-and-count' | 'page' | 'lean-lookup' | 'lean-insert';

export interface RivalOptions {
  readonly name: RivalName;
  readonly databaseUrl: string;
  readonly poolSize: number;
}

const PERSON = `w.uuid, w.email, w.referral_token, w.referred_by_token, w.credited_referrals AS amount_referred, w.created_at, w.removed_at,
  w.removed_priority, w.verified, w.waitlist_id`;
/**
 * The best way to count: a range of the covering index up to the person's bucket, and the few within the bucket. Its
 * bounds are values, because bounds from a column of an outer query make MySQL read the whole waitlist. The index is
 * named, because MySQL may choose one that needs each row.
 */
const AHEAD = `SELECT
  (SELECT COUNT(*) FROM waiter FORCE INDEX (waiter_order) WHERE waitlist_id = ? AND status = 1 AND rank_bucket < ?)
  + (SELECT COUNT(*) FROM waiter FORCE INDEX (waiter_order) WHERE waitlist_id = ? AND status = 1 AND rank_bucket = ?
       AND (rank_key < ? OR (rank_key = ? AND seq > ?))) AS priority`;

interface FindQuery {
  waitlist_id: number;
  email: string;
}

const answer = {
  type: 'object',
  properties: {
    uuid: { type: 'string' },
    email: { type: 'string' },
    referral_token: { type: 'string' },
    referred_by_token: { type: 'string', nullable: true },
    amount_referred: { type: 'integer' },
    created_at: { type: 'string', format: 'date-time' },
    removed_at: { type: 'string', format: 'date-time', nullable: true },
    removed_priority: { type: 'integer', nullable: true },
    verified: { type: 'integer' },
    waitlist_id: { type: 'integer' },
    priority: { type: 'integer' },
  },
} as const;
const contact = {
  type: 'object',
  required: ['waitlist_id', 'email'],
  properties: { waitlist_id: { type: 'integer' }, email: { type: 'string', maxLength: 254 } },
} as const;

const routes: Record<RivalName, (app: FastifyInstance, pool: Pool) => void | Promise<void>> = {
  lookup: (app, pool) => find(app, pool, async () => undefined),
  'lookup-and-count': (app, pool) =>
    find(app, pool, async ({ waitlist_id, rank_bucket, rank_key, seq }) => {
      const bucket = [waitlist_id, rank_bucket] as number[];
      const [rows] = await pool.execute<RowDataPacket[]>(AHEAD, [...bucket, ...bucket, rank_key, rank_key, seq]);
      return rows[0]?.priority as number;
    }),
  insert: (app, pool) => join(app, pool, 'bench_insert', async () => undefined),
  'insert-and-count': (app, pool) =>
    join(app, pool, 'bench_insert_and_count', async (waitlistId) => {
      const [rows] = await pool.execute<RowDataPacket[]>(
        'SELECT COUNT(*) AS priority FROM waiter FORCE INDEX (waiter_order) WHERE waitlist_id = ? AND status = 1',
        [waitlistId],
      );
      return rows[0]?.priority as number;
    }),
  'lean-lookup': leanFind,
  'lean-insert': leanJoin,
  page: (app, pool) => {
    app.get<{ Querystring: { waitlist_id: number } }>(
      '/page',
      { schema: { response: { 200: { type: 'array', items: answer } } } },
      async ({ query }) => {
        const [rows] = await pool.execute<RowDataPacket[]>(
          `SELECT ${PERSON} FROM waiter w FORCE INDEX (waiter_joined) WHERE w.waitlist_id = ? AND w.status = 1
           ORDER BY w.seq LIMIT 100`,
          [query.waitlist_id],
        );
        return rows;
      },
    );
  },
};

function leanFind(app: FastifyInstance, pool: Pool): void {
  const sql = `SELECT uuid, email, referral_token, credited_referrals AS amount_referred, created_at FROM waiter WHERE waitlist_id = ? AND email_key = ?`;
  app.get<{ Querystring: FindQuery }>('/api/v1/signup', async ({ query }, reply) => {
    const [[person]] = await pool.execute<RowDataPacket[]>(sql, [Number(query.waitlist_id), keyOf(query.email)]);
    return person ?? reply.code(404).send();
  });
}

async function leanJoin(app: FastifyInstance, pool: Pool): Promise<void> {
  await pool.query('DROP TABLE IF EXISTS bench_lean_insert');
  await pool.query(`CREATE TABLE bench_lean_insert (
    id INT AUTO_INCREMENT PRIMARY KEY, waitlist_id INT NOT NULL, uuid CHAR(36) NOT NULL, email VARCHAR(254) NOT NULL,
    referral_token VARCHAR(16) NOT NULL, created_at DATETIME NOT NULL, UNIQUE (waitlist_id, email))`);
  const sql = `INSERT INTO bench_lean_insert (waitlist_id, uuid, email, referral_token, created_at) VALUES (?, ?, ?, ?, ?)`;
  app.post<{ Body: FindQuery }>('/api/v1/signup', async ({ body: { waitlist_id, email } }) => {
    const uuid = randomUUID();
    const referral_token = randomBytes(9).toString('base64url');
    const created_at = new Date().toISOString().slice(0, 19).replace('T', ' ');
    await pool.execute(sql, [waitlist_id, uuid, keyOf(email), referral_token, created_at]);
    return { waitlist_id, uuid, email, referral_token, created_at };
  });
}

function find(app: FastifyInstance, pool: Pool, count: (person: RowDataPacket) => Promise<number | undefined>): void {
  const sql = `SELECT ${PERSON}, w.seq, w.rank_key, w.rank_bucket FROM waiter w WHERE w.waitlist_id = ? AND w.email_key = ?`;
  const schema = { querystring: contact, response: { 200: answer } };
  app.get<{ Querystring: FindQuery }>('/api/v1/signup', { schema }, async ({ query }, reply) => {
    const [[person]] = await pool.execute<RowDataPacket[]>(sql, [query.waitlist_id, keyOf(query.email)]);
    return person ? { ...person, priority: await count(person) } : reply.code(404).send();
  });
}

async function join(
  app: FastifyInstance,
  pool: Pool,
  table: string,
  count: (waitlistId: number) => Promise<number | undefined>,
): Promise<void> {
  await makeTable(pool, table);
  const schema = { body: contact, response: { 200: answer } };
  let seq = 0;
  app.post<{ Body: FindQuery }>('/api/v1/signup', { schema }, async ({ body }) => {
    const { waitlist_id, email } = body;
    const row = {
      waitlist_id,
      seq: (seq += 1),
      uuid: randomUUID(),
      email,
      email_key: keyOf(email),
      registered_email: email,
      referral_token: randomBytes(9).toString('base64url'),
      referred: 0,
      rank_key: 2 ** 40 + seq,
      created_at: new Date(),
    };
    await pool.execute(
      `INSERT INTO ${table} (waitlist_id, seq, uuid, email, email_key, registered_email, referral_token, referred,
         rank_key, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      Object.values(row),
    );
    return { ...row, amount_referred: 0, verified: 0, priority: await count(waitlist_id) };
  });
}

function keyOf(email: string): string {
  return email.trim().toLowerCase();
}

async function makeTable(pool: Pool, table: string): Promise<void> {
  await pool.query(`DROP TABLE IF EXISTS ${table}`);
  await pool.query(`CREATE TABLE ${table} LIKE waiter`);
  const [indexes] = await pool.query<RowDataPacket[]>(
    `SHOW INDEX FROM ${table} WHERE Non_unique = 1 AND Seq_in_index = 1`,
  );
  for (const { Key_name } of indexes) await pool.query(`DROP INDEX \`${Key_name as string}\` ON ${table}`);
}

const { name, databaseUrl, poolSize } = JSON.parse(process.argv[2] ?? '{}') as RivalOptions;
const pool = mysql.createPool({
  uri: databaseUrl,
  connectionLimit: poolSize,
  timezone: 'Z',
  dateStrings: name.startsWith('lean'),
  supportBigNumbers: true,
  enableKeepAlive: true,
});
const app = Fastify({ logger: { level: 'error', stream: process.stderr } });
await routes[name](app, pool);
process.on('disconnect', () => process.exit());
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
