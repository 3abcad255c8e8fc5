import mysql, { type RowDataPacket } from 'mysql2/promise';

/** The settings that decide whether commits are durable and how much of the data fits in memory. */
export async function readConditions(url: string): Promise<{ settings: Record<string, string>; isDurable: boolean }> {
  const connection = await mysql.createConnection(url);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(
      `SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin',
         'innodb_doublewrite', 'innodb_buffer_pool_size')`,
    );
    const settings = Object.fromEntries(
      rows.map(({ Variable_name, Value }) => [Variable_name, Value] as [string, string]),
    );
    const isDurable =
      settings.innodb_flush_log_at_trx_commit === '1' && settings.log_bin === 'ON' && settings.sync_binlog === '1';
    return { settings, isDurable };
  } finally {
    await connection.end();
  }
}

/** The settings of {@link readConditions} in one line, which says where commits are not durable. */
export async function describeConditions(url: string): Promise<string> {
  const { settings, isDurable } = await readConditions(url);
  const named = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return `${named.join(' ')}${isDurable ? '' : ', NOT DURABLE'}`;
}

/** The emails that are not on the waitlist. */
export async function findMissing(url: string, waitlistId: number, emails: readonly string[]): Promise<string[]> {
  const connection = await mysql.createConnection(url);
  const missing: string[] = [];
  try {
    for (let start = 0; start < emails.length; start += 1_000) {
      const some = emails.slice(start, start + 1_000);
      const [rows] = await connection.query<RowDataPacket[]>(
        'SELECT email_key FROM waiter WHERE waitlist_id = ? AND email_key IN (?)',
        [waitlistId, some],
      );
      const stored = new Set(rows.map(({ email_key }) => email_key as string));
      missing.push(...some.filter((email) => !stored.has(email)));
    }
    return missing;
  } finally {
    await connection.end();
  }
}

/** The database of a run. It has no default, because a run fills it with millions of rows. */
export function requireDatabaseUrl(): string {
  const url = process.env.BENCH_DATABASE_URL;
  if (url?.startsWith('mysql://')) return url;
  process.stderr
    .write(`BENCH_DATABASE_URL is needed: mysql://user:password@host:port/database of a MySQL server to measure on,
with a database of its own and settings as in production. One in a container:

  docker run --rm --name bench-mysql -e MYSQL_ROOT_PASSWORD=bench -e MYSQL_DATABASE=bench -p 127.0.0.1:3399:3306 \\
    mysql:8.4 --innodb-buffer-pool-size=3G --innodb-redo-log-capacity=1G
  BENCH_DATABASE_URL=mysql://root:bench@127.0.0.1:3399/bench npm run bench
`);
  process.exit(1);
}

/** Forgets the mails that wait, so that sending them slows nothing that is measured next. */
export async function dropMails(url: string): Promise<void> {
  const connection = await mysql.createConnection(url);
  try {
    await connection.query('TRUNCATE TABLE welcome_mail');
    await connection.query(`UPDATE mail SET status = 'dropped', next_attempt_at = NULL WHERE status = 'pending'`);
  } finally {
    await connection.end();
  }
}
