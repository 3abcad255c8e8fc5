import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateSync } from 'otplib';
import { repeatWhile } from '../support/repeat-while.js';
import { CliHost, freshFolder, type Program, runCli, startCli, startMain } from '../support/program.js';
import { callAt, type Method } from '../support/api.js';
import { openDatabase, type TestDatabase, withDataSource } from '../support/database.js';
import { freePort, until } from '../support/service-process.js';
import { PASSWORD } from '../support/world.js';

const OTHER_PASSWORD = 'brisk otter plum canyon fizz';

describe('the CLI', () => {
  let folder: Awaited<ReturnType<typeof freshFolder>>;
  let database: TestDatabase;
  let port: number;
  let service: Program;
  let host: CliHost;
  let token: string;
  beforeAll(async () => {
    folder = await freshFolder();
    database = await openDatabase(true);
    host = new CliHost(folder.path);
    await succeed(['migrate']);
    await succeed(['owner', 'create', 'twice@example.com'], { OWNER_PASSWORD: PASSWORD });
    port = await freePort();
    service = startMain({
      folder: folder.path,
      environment: {
        PORT: String(port),
        DATABASE_URL: database.url,
        JWT_SECRET: 'a-secret-that-signs-tokens-in-tests-only',
        RATE_LIMIT_PUBLIC: '0',
        RATE_LIMIT_LOGIN: '0',
      },
    });
    await service.printed('running');
    token = (await logIn('twice@example.com')).body.access_token;
  });
  afterAll(async () => {
    await host.stop();
    service.signal('SIGTERM');
    await service.ended;
    await database.drop();
    await folder.remove();
  });

  interface CliOptions {
    readonly input?: string;
    /** Whether the command ends its process: with input, and where the arguments alone decide. */
    readonly isAlone?: boolean;
    readonly OWNER_PASSWORD?: string;
    readonly DATABASE_URL?: string;
    readonly PUBLIC_BASE_URL?: string;
  }
  const cli = (args: string[], { input, isAlone = input !== undefined, ...given }: CliOptions = {}) => {
    const environment = { DATABASE_URL: database.url, ...given };
    return isAlone ? runCli(args, { folder: folder.path, input, environment }) : host.run(args, environment);
  };
  const succeed = async (...call: Parameters<typeof cli>) => {
    const { stdout, stderr, exitCode } = await cli(...call);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    return stdout;
  };
  /** What a command with `--json` prints: an object per line. */
  const parseRows = (stdout: string) =>
    stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as object);
  const fail = async (...call: Parameters<typeof cli>) => {
    const { stdout, stderr, exitCode } = await cli(...call);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    return stderr;
  };

  /** Calls the running service. */
  const call = (method: Method, path: string, sent?: { body?: object; token?: string; key?: string }) =>
    callAt(`http://127.0.0.1:${port}`, method, path, sent);
  const logIn = (email: string, password = PASSWORD) =>
    call('POST', '/api/v1/auth/create_tokens', { body: { email, password } });

  /** Resolves with the id. */
  const makeWaitlist = async (waitlist_name: string): Promise<string> => {
    const body = { waitlist_name, waitlist_url_location: 'https://example.com' };
    return String((await call('POST', '/api/v1/waitlist', { body, token })).body.id);
  };

  /** The status of a login with each password. */
  const loginStatuses = async (email: string, passwords: string[]): Promise<number[]> => {
    const statuses: number[] = [];
    for (const password of passwords) statuses.push((await logIn(email, password)).status);
    return statuses;
  };

  it('reports when there is nothing to migrate', async () => {
    expect(await succeed(['migrate'])).toBe('The schema is up to date.\n');
  });

  it('creates an account, changes its password, disables and enables it; a running service follows at once', async () => {
    const email = 'life@example.com';
    expect(await succeed(['owner', 'create', email], { input: `${PASSWORD}\n` })).toBe(
      `Created the account ${email}.\n`,
    );
    expect(await loginStatuses(email, [PASSWORD, OTHER_PASSWORD])).toEqual([200, 401]);

    expect(await succeed(['owner', 'set-password', email], { OWNER_PASSWORD: OTHER_PASSWORD })).toBe(
      'Set the password and revoked all tokens.\n',
    );
    expect(await loginStatuses(email, [PASSWORD, OTHER_PASSWORD])).toEqual([401, 200]);

    const { access_token: earlier } = (await logIn(email, OTHER_PASSWORD)).body;
    const isLive = async (token: string) => (await call('GET', '/api/v1/waitlist', { token })).status === 200;
    expect(await isLive(earlier)).toBe(true);

    expect(await succeed(['owner', 'disable', email])).toBe('Disabled the account.\n');
    expect(await loginStatuses(email, [OTHER_PASSWORD])).toEqual([401]);
    expect(await succeed(['owner', 'set-password', email], { OWNER_PASSWORD: PASSWORD })).toBe(
      `Set the password and revoked all tokens.\nThe account is still disabled. Enable it: npm run cli -- owner enable ${email}\n`,
    );
    expect(await loginStatuses(email, [PASSWORD])).toEqual([401]);

    expect(await succeed(['owner', 'enable', email])).toBe('Enabled the account.\n');
    expect(await loginStatuses(email, [PASSWORD])).toEqual([200]);
    expect(await isLive(earlier)).toBe(false);
  });

  it('reads the password and the database from files', async () => {
    const file = (name: string, text: string) => {
      writeFileSync(join(folder.path, name), text);
      return join(folder.path, name);
    };
    const environment = {
      DATABASE_URL_FILE: file('url', `${database.url}\n`),
      JWT_SECRET_FILE: file('secret', 'of no command'),
      OWNER_PASSWORD_FILE: file('password', `${OTHER_PASSWORD}\n`),
    };

    const { stdout, stderr } = await runCli(['owner', 'create', 'files@example.com'], {
      folder: folder.path,
      environment,
    });

    expect([stdout, stderr]).toEqual(['Created the account files@example.com.\n', '']);
    expect(await loginStatuses('files@example.com', [OTHER_PASSWORD])).toEqual([200]);
  });

  it('lists all accounts, active and disabled', async () => {
    await succeed(['owner', 'create', 'gone@example.com'], { OWNER_PASSWORD: PASSWORD });
    await succeed(['owner', 'disable', 'gone@example.com']);

    const lines = await succeed(['owner', 'list']);

    expect(lines).toMatch(/^1\ttwice@example\.com\tactive\t\d{4}-\d\d-\d\dT[\d:.]+Z\n/);
    expect(lines).toMatch(/^\d+\tgone@example\.com\tdisabled\t/m);
    expect(parseRows(await succeed(['owner', 'list', '--json']))).toEqual(
      expect.arrayContaining([
        { id: 1, email: 'twice@example.com', disabled_at: null, created_at: lines.split(/[\t\n]/)[3] },
      ]),
    );
  });

  it('takes a lost second factor from a member, also from the only owner', async () => {
    const email = 'lost@example.com';
    await succeed(['owner', 'create', email], { OWNER_PASSWORD: PASSWORD });
    const { access_token: mine } = (await logIn(email)).body;
    const path = '/api/v1/auth/two_factor';
    const { secret } = (await call('POST', path, { body: { current_password: PASSWORD }, token: mine })).body;
    const otp = generateSync({ secret });
    expect((await call('POST', `${path}/confirm`, { body: { otp }, token: mine })).status).toBe(200);
    expect((await logIn(email)).body.error_code).toBe('OTP_REQUIRED');

    expect(await succeed(['member', 'reset-two-factor', email])).toBe(
      'Removed the second factor and revoked all tokens.\n',
    );

    expect((await call('GET', '/api/v1/member/me', { token: mine })).status).toBe(401);
    expect((await logIn(email)).status).toBe(200);
    expect(await succeed(['member', 'reset-two-factor', email])).toBe('The member has no second factor.\n');
    const audit = parseRows(await succeed(['audit', '--owner', email, '--json'])) as { action: string }[];
    expect(audit.find(({ action }) => action === 'two_factor_removed')).toMatchObject({ member: null });
  });

  it('lists members, disables, enables and removes them, and sets their passwords; the last owner stays', async () => {
    const [owner, other] = ['boss@example.com', 'second@example.com'];
    await succeed(['owner', 'create', owner], { OWNER_PASSWORD: PASSWORD });
    await succeed(['member', 'add', other, '--owner', owner, '--role', 'editor']);
    await succeed(['member', 'set-password', other], { OWNER_PASSWORD: PASSWORD });
    const { access_token: earlier } = (await logIn(other)).body;
    const isLive = async () => (await call('GET', '/api/v1/member/me', { token: earlier })).status === 200;

    const rows = parseRows(await succeed(['member', 'list', '--owner', owner, '--json'])) as { email: string }[];
    expect(rows.map(({ email }) => email).sort()).toEqual([owner, other]);
    expect(rows.find(({ email }) => email === other)).toMatchObject({ role: 'editor', status: 'active', name: null });
    const lines = await succeed(['member', 'list']);
    expect(lines).toMatch(/^second@example\.com\teditor\tactive\t-\t[\d_-]+\t[\da-f-]{36}$/m);
    expect(lines).toMatch(/^twice@example\.com\towner\t/m);

    expect(await isLive()).toBe(true);
    expect(await succeed(['member', 'disable', other])).toBe('Disabled the member.\n');
    expect(await isLive()).toBe(false);
    expect(await succeed(['member', 'set-password', other], { OWNER_PASSWORD: OTHER_PASSWORD })).toBe(
      `Set the password and revoked all tokens.\nThe member is still disabled. Enable it: npm run cli -- member enable ${other}\n`,
    );
    expect(await loginStatuses(other, [OTHER_PASSWORD])).toEqual([401]);
    expect(await succeed(['member', 'enable', other])).toBe('Enabled the member.\n');
    expect(await loginStatuses(other, [PASSWORD, OTHER_PASSWORD])).toEqual([401, 200]);

    const lastOwner = 'The account would be left without an active owner who can log in.\n';
    expect(await fail(['member', 'disable', owner])).toBe(lastOwner);
    expect(await fail(['member', 'remove', owner])).toBe(lastOwner);
    expect(await succeed(['member', 'remove', other])).toBe('Removed the member.\n');
    expect(await fail(['member', 'remove', other])).toBe('There is no such member.\n');
    expect(await loginStatuses(other, [OTHER_PASSWORD])).toEqual([401]);
    const audit = parseRows(await succeed(['audit', '--owner', owner, '--json'])) as { action: string }[];
    const changes = audit.filter(({ action }) => action !== 'login_failed');
    expect(changes.map(({ action }) => action).sort()).toEqual([
      'account_created',
      'member_disabled',
      'member_enabled',
      'member_invited',
      'member_joined',
      'member_removed',
      'password_set',
      'password_set',
    ]);
    expect(changes).toEqual(changes.map(() => expect.objectContaining({ member: null })));
  });

  it('adds members and prints the link by which they join', async () => {
    const [owner, email] = ['inviter@example.com', 'invited@example.com'];
    await succeed(['owner', 'create', owner], { OWNER_PASSWORD: PASSWORD });

    const add = ['member', 'add', email, '--owner', owner, '--role', 'editor'];
    const link = await succeed([...add, '--name', 'Ada'], { PUBLIC_BASE_URL: 'https://lists.example' });

    expect(link).toMatch(/^https:\/\/lists\.example\/desk\/invitation#[\w-]{43}\n$/);
    const invitation = { token: link.trim().split('#')[1], password: OTHER_PASSWORD };
    expect((await call('POST', '/api/v1/auth/invitation/accept', { body: invitation })).status).toBe(204);
    expect(await loginStatuses(email, [OTHER_PASSWORD])).toEqual([200]);
    expect(parseRows(await succeed(['member', 'list', '--owner', owner, '--json']))).toEqual(
      expect.arrayContaining([expect.objectContaining({ email, role: 'editor', status: 'active', name: 'Ada' })]),
    );
    expect(await fail(add)).toBe('A member of this service has this email.\n');
    // Without the link, a password lets them in.
    const second = 'waiting@example.com';
    const unused = await succeed(['member', 'add', second, '--owner', owner, '--role', 'owner']);
    await succeed(['member', 'set-password', second], { OWNER_PASSWORD: OTHER_PASSWORD });
    expect(await loginStatuses(second, [OTHER_PASSWORD])).toEqual([200]);
    const late = { token: unused.trim().split('#')[1], password: PASSWORD };
    expect((await call('POST', '/api/v1/auth/invitation/accept', { body: late })).status).toBe(404);
    expect(await fail(['member', 'add', 'nobody', '--owner', owner, '--role', 'viewer'])).toContain('email');
    expect(await fail(['member', 'add', 'x@example.com', '--owner', email, '--role', 'viewer'])).toBe(
      'There is no account that has an active owner with this email.\n',
    );
  });

  it('creates waitlists and lists those of an owner', async () => {
    await makeWaitlist('Of another owner');
    await succeed(['owner', 'create', 'maker@example.com'], { OWNER_PASSWORD: PASSWORD });
    expect(await succeed(['waitlist', 'list', '--owner', 'maker@example.com'])).toBe('');

    const made = await succeed([
      'waitlist',
      'create',
      'Launch',
      '--owner',
      'maker@example.com',
      '--url',
      'https://example.com/join',
    ]);

    const { id, key } =
      /^Created waitlist (?<id>\d+) with the public key (?<key>[\dA-Z]{8}) and the API key [\da-f]{40}\n$/.exec(made)
        ?.groups ?? {};
    expect(await succeed(['waitlist', 'list', '--owner', 'Maker@Example.com'])).toBe(
      `${id}\tLaunch\t0 active\t0 offered\t0 offboarded\t${key}\n`,
    );
    expect(parseRows(await succeed(['waitlist', 'list', '--owner', 'maker@example.com', '--json']))).toEqual([
      {
        id: Number(id),
        waitlist_name: 'Launch',
        current_signups: 0,
        offered_signups: 0,
        offboarded_signups: 0,
        public_key: key,
      },
    ]);
    const events = parseRows(await succeed(['audit', '--waitlist', id!, '--json']));
    expect(events).toEqual([
      expect.objectContaining({ action: 'waitlist_created', waitlist_id: Number(id), request_id: null }),
    ]);
    expect(await succeed(['audit', '--owner', 'maker@example.com'])).toMatch(
      /\twaitlist_created\t.*\n.*\taccount_created\t/,
    );
  });

  it('creates, lists and revokes account keys; a running service follows at once', async () => {
    const email = 'twice@example.com';
    const created = await succeed([
      'api-key',
      'create',
      email,
      'Report',
      '--expires',
      '2999-01-31T00:00:00Z',
      '--json',
    ]);
    const [{ id, key }] = parseRows(created) as [{ id: number; key: string }];
    const statusWithKey = async () => (await call('GET', '/api/v1/waitlist', { key })).status;
    expect(await statusWithKey()).toBe(200);

    const line = `${id}\t${key.slice(0, 6)}\tread\tReport\t2999-01-31T00:00:00.000Z\t`;
    expect(await succeed(['api-key', 'list', email])).toContain(line);
    expect(await succeed(['api-key', 'revoke', email, String(id)])).toBe(`Revoked the account key ${id}.\n`);
    expect(await statusWithKey()).toBe(401);
  });

  it('sends the deliveries of a webhook again, which the running service does', async () => {
    const path = `/api/v1/waitlist/${await makeWaitlist('Replay')}/webhook`;
    const { id } = (await call('POST', path, { body: { url: 'https://[2001:4860:4860::8888]/hook' }, token })).body as {
      id: number;
    };
    await call('POST', `${path}/${id}/test`, { token });
    const { body: deliveries } = await call('GET', `${path}/${id}/delivery`, { token });
    const [delivery] = deliveries as { id: string }[];
    const replay = (...more: string[]) => succeed(['webhook', 'replay', String(id), ...more]);

    expect(await replay()).toBe(`Webhook ${id}: 1 deliveries are sent again.\n`);
    expect(parseRows(await replay('--since', '2999-01-01T00:00:00Z', '--json'))).toEqual([
      { webhook_id: id, replayed: 0 },
    ]);
    expect(await fail(['webhook', 'replay', String(id), '--since', 'yesterday'])).toMatch(
      /^since must be an ISO 8601 time/,
    );
    expect(parseRows(await replay('--delivery', delivery!.id, randomUUID(), '--json'))).toEqual([
      { webhook_id: id, replayed: 1 },
    ]);
    expect(await fail(['webhook', 'replay', '999999'])).toBe('There is no such webhook.\n');
    const [event] = parseRows(await succeed(['audit', '--owner', 'twice@example.com', '--limit', '1', '--json']));
    expect(event).toMatchObject({ action: 'deliveries_replayed', request_id: null });
  });

  it('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

    expect(await succeed(['--version'], { isAlone: true })).toBe(`${version}\n`);
  });

  describe('at a terminal', () => {
    const atTerminal = (...args: string[]) =>
      startCli(args, { folder: folder.path, environment: { DATABASE_URL: database.url }, terminal: true });

    it('asks for a new password twice, with the rule, without an echo, and again if the two differ', async () => {
      const program = atTerminal('owner', 'create', 'typist@example.com');
      await program.printed('Password (must have 15 to 256 characters): ');
      program.type(`${PASSWORD}\r`);
      await program.printed('The same password again: ');
      program.type(`${OTHER_PASSWORD}\r`);
      await program.printed('The two passwords differ. Try again.\r\nPassword (must have 15 to 256 characters): ');
      // Typed ahead, as by a password manager that fills in both.
      program.type(`${PASSWORD}\r${PASSWORD}\r`);
      const { stdout, exitCode } = await program.ended;

      expect(stdout).toMatch(/\r\nCreated the account typist@example\.com\.\r\n$/);
      expect(exitCode).toBe(0);
      expect(stdout).not.toContain(PASSWORD);
      expect(stdout).not.toContain(OTHER_PASSWORD);
      expect(await loginStatuses('typist@example.com', [PASSWORD, OTHER_PASSWORD])).toEqual([200, 401]);
    });

    it('creates no account when the question is left with Ctrl-D', async () => {
      const program = atTerminal('owner', 'create', 'leaver@example.com');
      await program.printed('Password ');
      program.type('\x04');

      const { stdout, exitCode } = await program.ended;

      expect(stdout).not.toContain('Created');
      expect(exitCode).toBe(1);
    });

    it('draws a progress bar for long work and none for an empty waitlist', async () => {
      const id = await makeWaitlist('Watched');
      const empty = await atTerminal('verify', id).ended;
      expect(empty).toMatchObject({ stdout: `Waitlist ${id}: 0 records, all right\r\n`, exitCode: 0 });

      const seeding = await atTerminal('waitlist', 'seed', id, '--count', '5000').ended;
      expect(seeding.stdout).toMatch(/Seeding [=-]+ \d+\/5000, /);
      expect(seeding.stdout).toContain(`Added 5000 people to waitlist ${id}.\r\n`);
    });
  });

  it('lists more waitlists than a page of the API has', async () => {
    const ids = [];
    for (let count = 0; count <= 100; count += 1) ids.push(await makeWaitlist(`Number ${count}`));

    const lines = (await succeed(['waitlist', 'list', '--owner', 'twice@example.com'])).trim().split('\n');

    expect(lines.map((line) => line.split('\t', 1)[0]).slice(-ids.length)).toEqual(ids);
  });

  it.each<[string, string[], CliOptions, string]>([
    [
      'an account that exists',
      ['owner', 'create', 'twice@example.com'],
      { OWNER_PASSWORD: PASSWORD },
      'A member with this email already exists.',
    ],
    [
      'the waitlists of an unknown account',
      ['waitlist', 'list', '--owner', 'nobody@example.com'],
      {},
      'There is no account that has an active owner with this email.',
    ],
    [
      'a waitlist with an invalid URL',
      ['waitlist', 'create', 'X', '--owner', 'twice@example.com', '--url', 'example.com'],
      {},
      'waitlist_url_location must be an http or https URL, other characters than ASCII percent-encoded',
    ],
    [
      'an id of 0',
      ['verify', '0'],
      { isAlone: true },
      "error: command-argument value '0' is invalid for argument 'waitlist'. It must be a whole number from 1 to 2^53 − 1.",
    ],
    ['an unknown command', ['owner', 'promote'], { isAlone: true }, "error: unknown command 'promote'"],
    [
      'an unreachable database',
      ['migrate'],
      { DATABASE_URL: 'mysql://u:p@127.0.0.1:9/waitlist' },
      'DATABASE_URL: the server cannot be reached (ECONNREFUSED).',
    ],
    [
      'a database on an unknown host',
      ['migrate'],
      { DATABASE_URL: 'mysql://u:p@no-such-host.invalid/waitlist' },
      'DATABASE_URL: the server cannot be reached (ENOTFOUND).',
    ],
  ])('fails for %s with a one-line message', async (_, args, options, line) => {
    const [first, ...rest] = (await fail(args, options)).split('\n').filter(Boolean);

    expect(first).toBe(line);
    expect(rest).toEqual(line.startsWith('error: ') ? ['(add --help for usage)'] : []);
  });

  it('fails in one line if the database server accepts connections but never answers', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: silent } = server.address() as { port: number };
    const reason = await fail(['migrate'], { DATABASE_URL: `mysql://u:p@127.0.0.1:${silent}/waitlist` });
    server.close();

    expect(reason).toBe('DATABASE_URL: the server cannot be reached (ETIMEDOUT).\n');
  });

  it('verifies and rebuilds a waitlist during signups without false findings and lost signups', async () => {
    const id = await makeWaitlist('Busy');
    await succeed(['waitlist', 'seed', id, '--count', '5000']);
    const audits = (async () => {
      expect(await succeed(['verify', id])).toMatch(/^Waitlist \d+: \d+ records, all right\n$/);
      expect(await succeed(['rebuild', id])).toMatch(/rebuilt, 0 records changed/);
    })();
    let people = 0;
    const statuses = await repeatWhile(audits, async () => {
      const body = { waitlist_id: Number(id), email: `person-${people}@example.com` };
      const { status } = await call('POST', '/api/v1/signup', { body });
      if (status === 200) people += 1;
      return status;
    });

    expect(people).toBeGreaterThan(0);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await succeed(['verify', id])).toBe(`Waitlist ${id}: ${5_000 + people} records, all right\n`);
  });

  it('skips a waitlist that is deleted during verify', async () => {
    const [first, large] = [await makeWaitlist('First'), await makeWaitlist('Large')];
    await succeed(['waitlist', 'seed', large, '--count', '5000']);
    let gone = '';
    let verified = '';
    // On a busy machine it may finish before the signal stops it.
    for (let tries = 0; tries < 10 && !verified.includes(`Waitlist ${gone}: was deleted`); tries += 1) {
      gone = await makeWaitlist('Gone');
      const verifying = startCli(['verify'], { folder: folder.path, environment: { DATABASE_URL: database.url } });
      await verifying.printed(`Waitlist ${first}: `);
      verifying.signal('SIGSTOP');
      expect(await call('DELETE', `/api/v1/waitlist/${gone}`, { token })).toMatchObject({ status: 204 });
      verifying.signal('SIGCONT');
      const { stdout, stderr, exitCode } = await verifying.ended;
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
      verified = stdout;
    }

    expect(verified).toContain(`Waitlist ${large}: 5000 records, all right\n`);
    expect(verified).toContain(`Waitlist ${gone}: was deleted meanwhile\n`);
    expect(await fail(['verify', gone])).toBe('There is no such waitlist.\n');
  });

  it('leaves a shorter but consistent waitlist if it is killed while it seeds', async () => {
    const id = await makeWaitlist('Cut short');
    const seeding = startCli(['waitlist', 'seed', id, '--count', '200000'], {
      folder: folder.path,
      environment: { DATABASE_URL: database.url },
    });
    /** A 503 is retried by the caller; any other error fails the test. */
    const isDone = async (method: 'GET' | 'POST', path: string, body?: object) => {
      const { status } = await call(method, path, { body });
      expect([200, 404, 503]).toContain(status);
      return status === 200;
    };
    const isThere = (email: string) => isDone('GET', `/api/v1/signup?waitlist_id=${id}&email=${email}`);

    // One real signup comes between the generated ones.
    await until(() => isThere('seed-0@example.com'));
    const email = 'live@example.com';
    await until(() => isDone('POST', '/api/v1/signup', { waitlist_id: Number(id), email }));
    await until(() => isThere('seed-3000@example.com'));
    seeding.signal('SIGKILL');
    await seeding.ended;

    const [, records] = /: (\d+) records, all right\n$/.exec(await succeed(['verify', id])) ?? [];
    expect(Number(records)).toBeGreaterThan(3_000);
    expect(await isThere(email)).toBe(true);
  });

  it('exports a waitlist, to a file that only its user may read, and imports it into another', async () => {
    const [from, to] = [await makeWaitlist('From'), await makeWaitlist('To')];
    await succeed(['waitlist', 'seed', from, '--count', '1000']);
    const file = join(folder.path, 'people.csv');

    expect(await succeed(['waitlist', 'export', from, file])).toBe(
      `Exported 1000 records of waitlist ${from} to ${file}.\n`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const csv = readFileSync(file, 'utf8');
    expect(await succeed(['waitlist', 'export', from])).toBe(csv);
    expect(parseRows(await succeed(['waitlist', 'export', from, '--format', 'ndjson']))).toHaveLength(1_000);

    writeFileSync(file, `${csv}${csv.trimEnd().split('\n').at(-1)}x\n`);
    const counts = '1000 imported, 0 skipped, 1 rejected, 0 unresolved referrals';
    const lines = `\n  ignored columns: position\n  line 1002: answers must be JSON\n`;
    expect(await succeed(['waitlist', 'import', to, file, '--dry-run'])).toBe(
      `Waitlist ${to}: ${counts} (dry run: nothing was changed)${lines}`,
    );
    expect(await succeed(['waitlist', 'import', to, file])).toBe(`Waitlist ${to}: ${counts}${lines}`);
    expect(parseRows(await succeed(['waitlist', 'import', to, file, '--json']))).toEqual([
      expect.objectContaining({ imported: 0, skipped: 1_000, rejected: 1, unresolved_referrals: 0 }),
    ]);
    expect(parseRows(await succeed(['verify', to, '--json']))).toMatchObject([{ state: 'sound', records: 1_000 }]);
  });

  it('says which values of a spreadsheet an import cannot read, in which lines, and which form they need', async () => {
    const id = await makeWaitlist('Spreadsheet');
    const file = join(folder.path, 'spreadsheet.csv');
    writeFileSync(file, 'Email;Signup Date\na@example.com;24.11.2026\nb@example.com;2026-11-24\n');

    const report = await succeed(['waitlist', 'import', id, file, '--dry-run']);

    expect(report.split('\n').slice(1, -1)).toEqual([
      '  Signup Date: 1 value does not fit created_at, left out',
      expect.stringMatching(/^ {4}line 2: created_at must be a time such as 2026-11-21,/),
    ]);
  });

  it('exports and imports nothing where the file or the waitlist is missing', async () => {
    const id = await makeWaitlist('Empty');
    const file = join(folder.path, 'kept.csv');
    writeFileSync(file, 'kept');

    expect(await fail(['waitlist', 'export', '9007199254740991', file])).toBe('There is no such waitlist.\n');
    expect(readFileSync(file, 'utf8')).toBe('kept');
    expect(await fail(['waitlist', 'export', id, join(folder.path, 'no', 'people.csv')], { isAlone: true })).toContain(
      'may write',
    );
    expect(await fail(['waitlist', 'import', id, join(folder.path, 'no.csv')], { isAlone: true })).toContain(
      'may read',
    );
  });

  it('seeds a waitlist, reports damage to its derived data, and rebuilds it unless the facts are damaged', async () => {
    const id = await makeWaitlist('Big');
    const damage = (sql: string) => withDataSource(database.url, (dataSource) => dataSource.query(sql));

    expect(await succeed(['waitlist', 'seed', id, '--count', '2000'])).toContain('Added 2000 people');

    await damage(
      `UPDATE queue_bucket SET before_in_parent = before_in_parent + 1 WHERE waitlist_id = ${id} AND axis = 0 AND level = 1`,
    );
    await damage(`UPDATE waiter SET credited_referrals = credited_referrals + 1 WHERE waitlist_id = ${id} AND seq = 7`);
    const damaged = await cli(['verify', id]);
    expect(damaged.exitCode).toBe(1);
    expect(damaged.stdout).toMatch(/bucket 0\/1\/.*: before is \d+, the records give \d+/);
    expect(damaged.stdout).toMatch(/record \d+: creditedReferrals is \d+, the facts give \d+/);

    expect(await succeed(['rebuild', id])).toBe(`Waitlist ${id}: rebuilt, 1 records changed\n`);
    expect(parseRows(await succeed(['verify', id, '--json']))).toEqual([
      { waitlist_id: Number(id), state: 'sound', records: 2_000, differences: 0, findings: [] },
    ]);
    expect((await cli(['waitlist', 'seed', id, '--count', '5'])).stderr).toBe(
      'Only an empty waitlist can be seeded.\n',
    );

    await damage(`UPDATE waiter SET status = 4 WHERE waitlist_id = ${id} AND seq = 7`);
    expect(await fail(['rebuild', id])).toMatch(
      /^Waitlist \d+ cannot be rebuilt\. Restore it from a backup:\n {2}status is none of 0 to 3: record \d+\n$/,
    );
  });
});
