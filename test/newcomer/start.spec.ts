import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { callAt } from '../support/api.js';
import { freshFolder, type Program, ROOT, runCli, runScript, start, startMain } from '../support/program.js';
import { openDatabase, openDataSource, type TestDatabase } from '../support/database.js';
import { farFromHalfHour, freePort, isFree, until } from '../support/service-process.js';
import { PASSWORD } from '../support/world.js';

/** In units of the processor time that loading the TypeScript compiler takes: three seconds if that takes 0.3. */
const START_COST_MAX = 10;
const LOAD_COMPILER =
  "require('typescript'); const { user, system } = process.cpuUsage(); console.log((user + system) / 1e6)";
const NO_MAIL = 'It sends no mail, because SMTP_URL is not set: emails cannot be verified.';
const SECRET = 'a-secret-that-signs-tokens-in-tests-only';

/** The CA certificate that a database server presents; undefined if it does not support TLS. */
async function caCertificateOf(databaseUrl: string): Promise<string | undefined> {
  try {
    const connection = await createConnection({ uri: databaseUrl, ssl: { rejectUnauthorized: false } });
    const { stream } = (connection as unknown as { connection: { stream: TLSSocket } }).connection;
    const { raw } = stream.getPeerCertificate(true).issuerCertificate;
    await connection.end();
    return `-----BEGIN CERTIFICATE-----\n${raw.toString('base64')}\n-----END CERTIFICATE-----\n`;
  } catch (error) {
    if ((error as { code?: string }).code === 'HANDSHAKE_NO_SSL_SUPPORT') return undefined;
    throw error;
  }
}

describe('a first start', () => {
  let folder: Awaited<ReturnType<typeof freshFolder>>;
  let environment: Record<string, string>;
  let base: string;
  let program: Program;
  let screen: string;

  const credentials = () => {
    const { email, password, key } =
      /email +(?<email>\S+)\n +password +(?<password>\S+)\n +api key +(?<key>\S+)/.exec(screen)?.groups ?? {};
    return { email: email!, password: password!, key: key! };
  };
  const sh = (command: string, input?: string) => start(['sh', '-c', command], { folder: folder.path, input }).ended;
  const blocksOf = (text: string) => Array.from(text.matchAll(/^```sh\n(.*?)^```$/gms), ([, block]) => block!);

  beforeAll(async () => {
    folder = await freshFolder();
    const port = await freePort();
    environment = { PORT: String(port) };
    base = `http://localhost:${port}`;
    program = startMain({ folder: folder.path, environment });
    screen = await program.printed('Ctrl-C');
  });
  afterAll(async () => {
    program.signal('SIGTERM');
    await program.ended;
    await folder.remove();
  });

  // Processor time relative to other work, so that the test does not depend on the load and speed of the machine.
  it('starts in at most ten times the processor time of loading a compiler', async () => {
    const { text: metrics } = await callAt(base, 'GET', '/metrics');
    const compiler = await start([process.execPath, '-e', LOAD_COMPILER], { folder: '.' }).ended;

    const [, seconds] = /^process_cpu_seconds_total (\S+)$/m.exec(metrics) ?? [];

    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(seconds) / Number(compiler.stdout)).toBeLessThan(START_COST_MAX);
  });

  it('prints one screen with the address, the account, the key and examples', () => {
    expect(screen.split('\n').length).toBeLessThanOrEqual(24);
    expect(screen.split('\n\n').slice(0, 2)).toEqual([
      `Waitlist Service is running on ${base}  (desk: ${base}/desk, documentation: ${base}/docs)\n${NO_MAIL}`,
      `People join here:  ${base}/waitlist/1\nRun the list here: ${base}/desk`,
    ]);
    expect(credentials()).toEqual({
      email: 'owner@example.com',
      password: expect.stringMatching(/^[\w-]{24}$/),
      key: expect.stringMatching(/^[\da-f]{40}$/),
    });
    expect(screen).toContain('(waitlist 1, "My waitlist")');
    const { email, password, key } = credentials();
    const [, link] = /^ {2}(http\S+#.+)$/m.exec(screen) ?? [];
    expect(link?.split('#')[0]).toBe(`${base}/docs`);
    expect(Object.fromEntries(new URLSearchParams(link?.split('#')[1]))).toEqual({ email, password, api_key: key });
    expect(screen).toContain('All data is kept in data/waitlist.sqlite.');
  });

  it('prints two commands that work when pasted', async () => {
    const lines = screen.split('\n').filter((line) => line.startsWith('  curl '));
    expect(lines).toHaveLength(2);

    for (const line of lines) {
      const { stdout } = await sh(line.replace('curl', 'curl --silent --fail'));
      expect(JSON.parse(stdout)).toMatchObject({ email: 'ada@example.com', priority: 0, waitlist_id: 1 });
    }
  });

  it('asks visitors for the email alone', async () => {
    const { text: page } = await callAt(base, 'GET', '/waitlist/1');

    const fields = page.matchAll(/autocomplete="(email|tel|given-name|family-name)"/g);
    expect(Array.from(fields, ([, field]) => field)).toEqual(['email']);
  });

  it('leads to a referral by the blocks of the README, pasted into a shell', async () => {
    const [, section = ''] = /^## Quick start\n(.*?)^## /ms.exec(await readFile('README.md', 'utf8')) ?? [];
    const blocks = blocksOf(section);
    expect(blocks.shift()).toMatch(/^git clone .+\ncd .+\nnpm start\n$/);

    const { stdout, stderr } = await sh(['set -e', ...blocks].join('\n').replaceAll('http://localhost:3000', base));

    expect(stderr).toBe('');
    const [bob, ada] = stdout
      .replace('}{', '}\n{')
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(bob).toMatchObject({ referred_by_signup_token: ada.referral_token });
    expect(ada).toMatchObject({ amount_referred: 1 });
  });

  it.each(['README.md', 'docs/tour.md', 'docs/migrating.md', 'docs/letting-in.md'])(
    'is explained by %s in blocks without comments, which zsh would run',
    async (page) => {
      expect(blocksOf(await readFile(page, 'utf8')).join('')).not.toMatch(/^\s*#|\s#\s/m);
    },
  );

  it('takes over a list with its order, tokens and referrals by the blocks of docs/migrating.md', async () => {
    const blocks = blocksOf(await readFile('docs/migrating.md', 'utf8'));
    const script = ['set -e', ...blocks].join('\n').replaceAll('http://localhost:3000', base);

    const { stdout, stderr } = await sh(script, `${credentials().password}\n`);

    expect(stderr).toBe('');
    expect(stdout.match(/"imported": ?5/g)).toHaveLength(1);
    expect(stdout).toContain('5 people\nada is at 0, referred 1\ngrace is at 1, referred 0\nbob is at 4, referred 0\n');
    expect(stdout).toMatch(/^join_order,.+\n.+ada@example\.com.+\n.+grace@example\.com/m);
  });

  it('lets people in, and back, by the blocks of docs/letting-in.md', async () => {
    await farFromHalfHour();
    const blocks = blocksOf(await readFile('docs/letting-in.md', 'utf8'));
    const script = ['set -e', ...blocks].join('\n').replaceAll('http://localhost:3000', base);

    const { stdout, stderr } = await sh(script, `${credentials().password}\n`);

    expect(stderr).toBe('');
    // A dry run of the plan, then an offer before and after it was accepted.
    expect(Array.from(stdout.matchAll(/"state":"(\w+)"/g), ([, state]) => state)).toEqual(['done', 'open', 'accepted']);
    const statuses = Array.from(stdout.matchAll(/"status":"(\w+)"/g), ([, status]) => status);
    expect(statuses).toEqual(['offered', 'offboarded', 'waiting']);
  });

  it('creates an account and a key that give access to the waiters', async () => {
    const { email, password, key } = credentials();
    const tokens = await callAt(base, 'POST', '/api/v1/auth/create_tokens', { body: { email, password } });

    const list = await callAt(base, 'GET', `/api/v1/waiter?api_key=${key}`, { token: tokens.body.access_token });

    expect(list.status).toBe(200);
  });

  it('passes the tour with every field of the specification', async () => {
    const { email, password } = credentials();
    const { stdout, stderr, exitCode } = await runScript('tour.js', [base], {
      folder: folder.path,
      environment: { OWNER_EMAIL: email, OWNER_PASSWORD: password },
    });

    expect(stderr).toBe('');
    expect(stdout).toMatch(/\nEvery answer is as specified\.\n$/);
    expect(stdout.match(/^ok /gm)).toHaveLength(20);
    expect(exitCode).toBe(0);
  });

  it('makes its secret and its data readable by its own user only', () => {
    const data = join(folder.path, 'data');
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    const files = readdirSync(data);

    expect(files).toEqual(expect.arrayContaining(['jwt-secret', 'waitlist.sqlite', 'waitlist.sqlite-wal']));
    expect(modeOf(data)).toBe(0o700);
    for (const file of files) expect([file, modeOf(join(data, file))]).toEqual([file, 0o600]);
  });

  it('prints no warning, stops on SIGTERM, and keeps the account at the next start without printing a password', async () => {
    const { email, password } = credentials();
    program.signal('SIGTERM');
    expect(await program.ended).toMatchObject({ stdout: screen, stderr: '', exitCode: 0 });

    program = startMain({ folder: folder.path, environment });

    expect(await program.printed(NO_MAIL)).toBe(
      `Waitlist Service is running on ${base}  (desk: ${base}/desk, documentation: ${base}/docs)\n${NO_MAIL}\n`,
    );
    const answer = await callAt(base, 'POST', '/api/v1/auth/create_tokens', { body: { email, password } });
    expect(answer.status).toBe(200);
  });
});

describe('npm start, as a supervisor runs it', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('stops the service on %s to npm alone, and ends with it', async (signal) => {
    const folder = await freshFolder();
    const port = await freePort();
    const environment = { PORT: String(port), DATABASE_URL: `sqlite:${join(folder.path, 'waitlist.sqlite')}` };
    const program = start(['npm', '--prefix', ROOT, 'start'], { folder: folder.path, environment });
    await program.printed('Ctrl-C');

    program.signal(signal);
    const { exitCode, stderr } = await program.ended;

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(await isFree(port)).toBe(true);
    await folder.remove();
  });
});

it('npm run demo shows a list of invented people to who signs in as it says, and removes it at the end', async () => {
  const folder = await freshFolder();
  const environment = { PORT: String(await freePort()), TMPDIR: folder.path };
  const program = start(['npm', '--prefix', ROOT, 'run', 'demo'], { folder: folder.path, environment });
  const screen = await program.printed('Ctrl-C');
  const { desk, email, password, page } =
    /the desk +(?<desk>\S+)\n +email +(?<email>\S+)\n +password +(?<password>\S+)\n.+ (?<page>http\S+)\n/.exec(screen)
      ?.groups ?? {};
  const base = new URL(desk!).origin;
  const tokens = await callAt(base, 'POST', '/api/v1/auth/create_tokens', { body: { email, password } });
  const withheld = await callAt(base, 'GET', '/api/v1/waiter?waitlist_id=1&credit=withheld', {
    token: tokens.body.access_token,
  });
  const pages = await Promise.all(
    [desk!, page!].map(async (url) => (await callAt(base, 'GET', new URL(url).pathname)).text),
  );
  program.signal('SIGTERM');
  const { stderr, exitCode } = await program.ended;
  const left = readdirSync(folder.path).filter((name) => name.startsWith('waitlist-demo'));
  await folder.remove();

  expect(withheld.body.length).toBeGreaterThan(10);
  expect(pages).toEqual([expect.stringContaining('<div id="desk">'), expect.stringContaining('Join Fieldnotes')]);
  expect({ stderr, exitCode, left }).toEqual({ stderr: '', exitCode: 0, left: [] });
});

it('is ready (/readyz) only once its first account exists', async () => {
  const folder = await freshFolder();
  const url = `sqlite:${join(folder.path, 'waitlist.sqlite')}`;
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const credentials = { email: 'ada@example.com', password: PASSWORD };
  const statusOf = (path: string) =>
    callAt(base, 'GET', path).then(
      ({ status }) => status,
      () => 0,
    );
  // While this holds the write lock, no account can be created.
  const other = await openDataSource(url);
  await other.runMigrations();
  await other.query('BEGIN IMMEDIATE');
  const program = startMain({
    folder: folder.path,
    environment: { PORT: String(port), DATABASE_URL: url, OWNER_EMAIL: credentials.email, OWNER_PASSWORD: PASSWORD },
  });

  await until(async () => (await statusOf('/livez')) === 200);
  const early = await callAt(base, 'GET', '/readyz');
  await other.query('ROLLBACK');
  await other.destroy();
  await until(async () => (await statusOf('/readyz')) === 200);
  const login = await callAt(base, 'POST', '/api/v1/auth/create_tokens', { body: credentials });
  program.signal('SIGTERM');
  await program.ended;
  await folder.remove();

  expect([early.status, early.body.error_code]).toEqual([503, 'STARTING']);
  expect(login.status).toBe(200);
});

describe('a start that cannot succeed', () => {
  let folder: Awaited<ReturnType<typeof freshFolder>>;
  let taken: Server;
  let takenPort: number;
  beforeAll(async () => {
    taken = createServer().listen(0);
    await once(taken, 'listening');
    takenPort = (taken.address() as { port: number }).port;
  });
  afterAll(() => void taken.close());
  beforeEach(async () => {
    folder = await freshFolder();
  });
  afterEach(() => folder.remove());

  /** Standard error of a start that prints nothing else and exits with 1. */
  const failure = async (environment: Record<string, string>) => {
    const output = await startMain({
      folder: folder.path,
      environment: { PORT: String(await freePort()), ...environment },
    }).ended;
    expect(output).toMatchObject({ stdout: '', exitCode: 1 });
    return output.stderr;
  };

  it.each([
    [
      'OWNER_PASSWORD',
      'passwordpassword',
      'must not be easily guessed: a common password, a few words, a repetition, a row of keys, or made from the email',
    ],
    [
      'DATABASE_URL',
      `sqlite:${process.execPath}/waitlist.sqlite`,
      `the embedded database cannot use ${process.execPath} (EEXIST).`,
    ],
    ['HOST', 'no-such-host.invalid', 'no-such-host.invalid is not an address of this machine.'],
  ])('explains in one line why %s=%s is wrong', async (name, value, message) => {
    expect(await failure({ [name]: value })).toBe(`${name}: ${message}\n`);
  });

  it('refuses the password of the first account before it listens', async () => {
    const environment = { PORT: String(await freePort()), LOG_LEVEL: 'info', OWNER_PASSWORD: 'passwordpassword' };
    const { stdout, stderr } = await startMain({ folder: folder.path, environment }).ended;

    expect(stdout).not.toContain('listening');
    expect(stderr).toMatch(/^OWNER_PASSWORD: must not be easily guessed/);
  });

  it.each<Record<string, string>>([{ JWT_SECRET: 'short' }, { OWNER_PASSWORD: 'passwordpassword' }])(
    'has the same reason as `migrate --check-settings` before it: %j',
    async (environment) => {
      const migrated = await runCli(['migrate', '--check-settings'], { folder: folder.path, environment });

      expect(migrated).toMatchObject({ stderr: await failure(environment), exitCode: 1 });
    },
  );

  it('names a port in use, and creates no account, because its password would never be shown', async () => {
    expect(await failure({ PORT: String(takenPort), HOST: '::' })).toBe(
      `PORT: ${takenPort} is in use by another program; set PORT to a free port.\n`,
    );

    const program = startMain({ folder: folder.path, environment: { PORT: String(await freePort()) } });
    expect(await program.printed('Ctrl-C')).toContain('password');
    program.signal('SIGTERM');
    await program.ended;
  });

  // The CLI's suite has the other reasons.
  it('explains why the database is unreachable', async () => {
    const DATABASE_URL = `mysql://u:p@127.0.0.1:${await freePort()}/waitlist`;

    expect(await failure({ JWT_SECRET: SECRET, DATABASE_URL })).toBe(
      'DATABASE_URL: the server cannot be reached (ECONNREFUSED).\n',
    );
  });

  // Only a real server refuses these.
  (process.env.TEST_DATABASE_URL ? describe : describe.skip)('on the server of TEST_DATABASE_URL', () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await openDatabase(true);
    });
    afterAll(() => database.drop());

    it('reports a wrong password without repeating it', async () => {
      const url = new URL(database.url);
      url.password = 'wrong-password';

      const reason = await failure({ JWT_SECRET: SECRET, DATABASE_URL: url.href });

      expect(reason).toMatch(/^DATABASE_URL: Access denied for user .+ \(ER_ACCESS_DENIED_ERROR\)\.\n$/);
      expect(reason).not.toContain(url.password);
    });

    it('reports a missing database', async () => {
      expect(await failure({ JWT_SECRET: SECRET, DATABASE_URL: `${database.url}_nope` })).toMatch(
        /^DATABASE_URL: Unknown database '.+_nope' \(ER_BAD_DB_ERROR\)\.\n$/,
      );
    });

    it('refuses a TLS certificate for another host name, even from a trusted CA', async () => {
      const url = new URL(database.url);
      url.hostname = 'localhost';
      const environment = { JWT_SECRET: SECRET, NODE_EXTRA_CA_CERTS: join(folder.path, 'ca.crt') };
      const caCertificate = await caCertificateOf(url.href);
      writeFileSync(environment.NODE_EXTRA_CA_CERTS, caCertificate ?? '');
      url.searchParams.set('ssl', 'true');

      expect(await failure({ ...environment, DATABASE_URL: url.href })).toMatch(
        caCertificate === undefined
          ? /^DATABASE_URL: .+ \(HANDSHAKE_NO_SSL_SUPPORT\)\.\n$/
          : /^DATABASE_URL: .*certificate/,
      );
    });

    it.each<Record<string, string>>([{}, { JWT_SECRET: SECRET, OWNER_EMAIL: 'ada@example.com' }])(
      'has the same reason as `migrate --check-settings` before it: %j',
      async (settings) => {
        const fresh = await openDatabase(true);
        const environment = { ...settings, DATABASE_URL: fresh.url };
        const migrated = await runCli(['migrate', '--check-settings'], { folder: folder.path, environment });

        expect(migrated).toMatchObject({ stderr: await failure(environment), exitCode: 1 });
        await fresh.drop();
      },
    );

    it('explains how to create the schema, and starts once that is done', async () => {
      const environment = { JWT_SECRET: SECRET, DATABASE_URL: database.url };
      expect(await failure(environment)).toBe(
        'The database is not at the newest schema: run `npm run cli -- migrate` first.\n',
      );

      const migrated = await runCli(['migrate'], {
        folder: folder.path,
        environment: { DATABASE_URL: database.url },
      });
      expect(migrated).toMatchObject({ stderr: '', exitCode: 0 });
      const program = startMain({
        folder: folder.path,
        environment: {
          ...environment,
          PORT: String(await freePort()),
          OWNER_EMAIL: 'ada@example.com',
          OWNER_PASSWORD: PASSWORD,
        },
      });
      expect(await program.printed('Created the account')).toMatch(/\nCreated the account ada@example\.com\.\n$/);
      program.signal('SIGTERM');
      expect(await program.ended).toMatchObject({ stderr: '', exitCode: 0 });
    });
  });
});
