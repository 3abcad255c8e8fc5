import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuthService } from '../../src/auth/auth.service.js';
import { DataSource } from 'typeorm';
import type { Answer } from '../support/api.js';
import { EASILY_GUESSED, HARD_TO_GUESS } from '../security/passwords.js';
import { withProcessorMs } from '../support/processor-time.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';
import { PASSWORD } from '../support/world.js';

const CREATE = '/api/v1/auth/create_tokens';
const SIGNUP = '/api/v1/signup';
/** Read from the disk, by the same few threads that hash passwords. */
const DOCS_FILE = '/docs/assets/swagger-ui.css';
const WRONG_PASSWORD = 'not the password at all';

describe('whoever keeps failing to log in', () => {
  const FREE_MAX = 5;
  const FREE_OF_ADDRESS_MAX = 50;
  const FREE_OF_ACCOUNT_MAX = 50;
  const WAIT_SECONDS_MIN = 60;
  const OF_THE_REQUEST = new Set(['x-request-id', 'date', 'retry-after', 'ratelimit-remaining', 'ratelimit-reset']);
  let service: Service;
  beforeAll(async () => {
    service = await startService({ environment: { RATE_LIMIT_LOGIN: '1000', TRUST_PROXY: '127.0.0.1' } });
  });
  afterAll(() => service.stop());

  const attempt = (email: string, password: string, address: string) =>
    service.api.post(CREATE, { email, password }, { headers: { 'x-forwarded-for': address } });
  const fail = (email: string, address: string) => attempt(email, WRONG_PASSWORD, address);
  async function timed(email: string, address: string) {
    const [answer, ms] = await withProcessorMs(() => fail(email, address));
    return { answer, ms };
  }
  const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status);

  /** All that an answer tells, but what is each request's own, the time, and how many requests the address has left. */
  const told = ({ status, headers, body }: Answer) => ({
    status,
    headers: Object.entries(headers).map(([name, value]) => (OF_THE_REQUEST.has(name) ? name : [name, value])),
    waitMinutes: Math.ceil(Number(headers['retry-after'] ?? 0) / 60),
    body: { ...body, instance: '' },
  });

  /** So many failures, one after the other; `of` says whose and whence. */
  async function failures(count: number, of: (index: number) => readonly [email: string, address: string]) {
    const answers: Answer[] = [];
    for (let index = 0; index < count; index += 1) answers.push(await fail(...of(index)));
    return answers;
  }

  it.each(['an account', 'nobody'])('is slowed after six failures, as %s', async (who) => {
    const email = who === 'nobody' ? 'nobody@owners.example' : (await service.world.owner()).email;

    const failed = await failures(FREE_MAX + 1, () => [email, '192.0.2.1']);
    const slowed = await attempt(email.toUpperCase(), PASSWORD, '192.0.2.1');

    expect(statusesOf(failed)).toEqual(failed.map(() => 401));
    expect(slowed.status).toBe(429);
    expect(slowed.body.error_code).toBe('TOO_MANY_ATTEMPTS');
    expect(Number(slowed.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(slowed.headers['retry-after'])).toBeLessThanOrEqual(WAIT_SECONDS_MIN);
  });

  it('gains nothing by many guesses at once', async () => {
    const { email } = await service.world.owner();

    const answers = await Promise.all(Array.from({ length: 20 }, () => fail(email, '192.0.2.5')));

    expect(statusesOf(answers).filter((status) => status === 401)).toHaveLength(FREE_MAX + 1);
    expect(statusesOf(answers).filter((status) => status === 429)).toHaveLength(20 - FREE_MAX - 1);
  });

  it('gains nothing by another IPv6 address of the same network', async () => {
    const { email } = await service.world.owner();

    await failures(FREE_MAX + 1, (index) => [email, `2001:db8:5::${index}`]);

    expect((await fail(email, '2001:db8:5::ffff')).status).toBe(429);
    expect((await fail(email, '2001:db8:6::1')).status).toBe(401);
  });

  it('slows neither the account elsewhere nor others at the same address', async () => {
    const owner = await service.world.owner();
    const neighbour = await service.world.owner();

    await failures(FREE_MAX + 1, () => [owner.email, '192.0.2.2']);

    expect((await fail(owner.email, '192.0.2.2')).status).toBe(429);
    expect((await attempt(owner.email, PASSWORD, '192.0.2.3')).status).toBe(200);
    expect((await attempt(neighbour.email, PASSWORD, '192.0.2.2')).status).toBe(200);
  });

  it('is not kept out where it logged in before, however often it failed there', async () => {
    const { email } = await service.world.owner();
    const address = '192.0.2.4';
    expect((await attempt(email, PASSWORD, address)).status).toBe(200);

    const failed = await failures(FREE_MAX + 3, () => [email, address]);

    expect(statusesOf(failed).slice(-2)).toEqual([429, 429]);
    expect((await attempt(email, PASSWORD, address)).status).toBe(200);
  });

  it('is held to the waits where others log in, though the password be right', async () => {
    const [neighbour, newcomer] = [await service.world.owner(), await service.world.owner()];
    const address = '192.0.2.6';
    await attempt(neighbour.email, PASSWORD, address);

    const guesses = await Promise.all(Array.from({ length: 20 }, () => fail(newcomer.email, address)));

    expect(statusesOf(guesses).filter((status) => status === 401)).toHaveLength(FREE_MAX + 1);
    expect((await attempt(newcomer.email, PASSWORD, address)).status).toBe(429);
    expect((await attempt(neighbour.email, PASSWORD, address)).status).toBe(200);
  });

  it('is slowed at an address from which too many accounts were tried, where its own owner is not', async () => {
    const address = '198.51.100.1';
    const owner = await service.world.owner();
    const newcomer = await service.world.owner();
    await attempt(owner.email, PASSWORD, address);

    const spread = await failures(FREE_OF_ADDRESS_MAX + 1, (index) => [`victim-${index}@owners.example`, address]);

    expect(statusesOf(spread)).toEqual(spread.map(() => 401));
    expect((await attempt(newcomer.email, PASSWORD, address)).status).toBe(429);
    expect((await attempt(newcomer.email, PASSWORD, '198.51.100.2')).status).toBe(200);
    expect((await attempt(owner.email, PASSWORD, address)).status).toBe(200);
  });

  it('learns nothing of who logs in there: where the address is slowed, each wrong password is answered alike', async () => {
    const address = '198.51.100.20';
    const owner = await service.world.owner();
    await attempt(owner.email, PASSWORD, address);
    await failures(FREE_OF_ADDRESS_MAX + 1, (index) => [`victim-${index}@owners.example`, address]);

    const rounds: Record<'owner' | 'nobody', Awaited<ReturnType<typeof timed>>>[] = [];
    for (let round = 0; round < FREE_MAX + 2; round += 1) {
      rounds.push({ owner: await timed(owner.email, address), nobody: await timed('nobody@owners.example', address) });
    }

    for (const { owner: one, nobody: other } of rounds) expect(told(one.answer)).toEqual(told(other.answer));
    expect(rounds[0]?.owner.answer.body.error_code).toBe('TOO_MANY_ATTEMPTS');
    // One hash for either: the least of some times is what the work takes.
    const [ownerMs, nobodyMs] = (['owner', 'nobody'] as const).map((who) => Math.min(...rounds.map((round) => round[who].ms))); // prettier-ignore
    expect(nobodyMs).toBeGreaterThan(ownerMs! / 3);
    expect(ownerMs).toBeGreaterThan(nobodyMs! / 3);
  });

  it('learns nothing of who logs in there: where the account is guessed at, each wrong password is answered alike', async () => {
    const address = '198.51.100.30';
    const neighbour = await service.world.owner();
    const owner = await service.world.owner();
    for (const { email } of [neighbour, owner]) await attempt(email, PASSWORD, address);
    const nobody = 'guessed-nobody@owners.example';
    for (const email of [owner.email, nobody]) {
      await failures(FREE_OF_ACCOUNT_MAX + 1, (index) => [email, `203.0.113.${index}`]);
    }

    const ofOwner = (await failures(3, () => [owner.email, address])).map(told);
    const ofNobody = (await failures(3, () => [nobody, address])).map(told);

    expect(ofOwner).toEqual(ofNobody);
    expect(ofOwner.map(({ status }) => status)).toEqual([401, 401, 429]);
    expect((await attempt(owner.email, PASSWORD, address)).status).toBe(200);
  });

  it.each([
    ['the account is slowed', '198.51.101', FREE_MAX + 2, 0],
    ['the account is not slowed yet', '198.51.102', FREE_MAX - 1, 0],
    ['the address is slowed', '198.51.103', 2, FREE_OF_ADDRESS_MAX],
  ])('learns nothing of when an owner logs in there: %s', async (_, network, ofAccount, ofOthers) => {
    const toldAt = async (address: string, when: { readonly logsIn: boolean }) => {
      const owner = await service.world.owner();
      await attempt(owner.email, PASSWORD, address);
      await failures(ofOthers, (index) => [`victim-${index}@owners.example`, address]);
      const before = await failures(ofAccount, () => [owner.email, address]);
      if (when.logsIn) expect((await attempt(owner.email, PASSWORD, address)).status).toBe(200);
      const after = await failures(FREE_MAX, () => [owner.email, address]);
      return [...before, ...after].map(told);
    };

    const logsIn = await toldAt(`${network}.1`, { logsIn: true });
    const staysAway = await toldAt(`${network}.2`, { logsIn: false });

    expect(logsIn).toEqual(staysAway);
  });

  it('has had no turn at an account where the address was kept out', async () => {
    const { email } = await service.world.owner();
    const [address, neighbour] = ['2001:db8:9:1::1', '2001:db8:9:2::1'];
    await failures(FREE_MAX, () => [email, address]);
    await failures(FREE_OF_ADDRESS_MAX + 1 - FREE_MAX, (index) => [`victim-${index}@owners.example`, address]);

    expect((await fail(email, address)).status).toBe(429);

    // Of the same site, for which the account's turn is one.
    expect((await fail(email, neighbour)).status).toBe(401);
    expect((await fail(email, neighbour)).status).toBe(429);
  });

  it('is slowed more on an account that was tried from too many addresses, and holds up nobody elsewhere', async () => {
    const owner = await service.world.owner();
    await failures(FREE_OF_ACCOUNT_MAX, (index) => [owner.email, `203.0.113.${index}`]);

    const guesses = await failures(3, () => [owner.email, '203.0.113.250']);
    const slowed = await attempt(owner.email, PASSWORD, '203.0.113.250');
    const others = await failures(20, (index) => [owner.email, `198.18.0.${index}`]);

    expect(statusesOf(guesses)).toEqual([401, 401, 429]);
    expect(slowed.status).toBe(429);
    expect(statusesOf(others)).toEqual(others.map(() => 401));
    expect((await attempt(owner.email, PASSWORD, '198.51.100.7')).status).toBe(200);
    expect((await fail(owner.email, '198.51.100.8')).status).toBe(401);
    expect((await attempt(owner.email, PASSWORD, '198.51.100.8')).status).toBe(200);
  });

  it('gains no more from the IPv6 networks of one site', async () => {
    const { email } = await service.world.owner();

    await failures(FREE_MAX + 1, (index) => [email, `2001:db8:7:${index}::1`]);

    expect((await fail(email, '2001:db8:7:ffff::1')).status).toBe(429);
  });

  it('does not slow an owner where they logged in, neither after a restart nor with new secrets nor elsewhere', async () => {
    const secrets = ['old', 'new'].map((name) => `${name}-secret`.repeat(4));
    const start = (environment: Record<string, string>) =>
      startService({ environment: { RATE_LIMIT_LOGIN: '1000', TRUST_PROXY: '127.0.0.1', ...environment } });
    const first = await start({ JWT_SECRET: secrets[0]! });
    const owner = await first.world.owner();
    // Where strangers fail too: on other accounts.
    const address = '192.0.2.77';
    const at = ({ api }: Service, email: string, password: string) =>
      api.post(CREATE, { email, password }, { headers: { 'x-forwarded-for': address } });
    expect((await at(first, owner.email, PASSWORD)).status).toBe(200);
    const second = await start({ DATABASE_URL: first.databaseUrl, JWT_SECRET: [...secrets].reverse().join() });
    for (let index = 0; index <= FREE_OF_ADDRESS_MAX; index += 1)
      await at(second, `victim-${index}@owners.example`, WRONG_PASSWORD);

    expect((await at(second, 'somebody@owners.example', PASSWORD)).status).toBe(429);
    expect((await at(second, owner.email, PASSWORD)).status).toBe(200);
    const kept: { id: string }[] = await second.app.get(DataSource).query('SELECT id FROM familiar_origin');
    expect(kept.length).toBeGreaterThan(0);
    for (const { id } of kept) expect(id).toMatch(/^[\w-]{43}$/);
    await second.stop();
    await first.stop();
  });
});

describe('a rush of logins', () => {
  const RUSH = 200;
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('is bounded: who finds the line full is told to come back, and all others are served', async () => {
    const { email } = await service.world.owner();

    const answers = await Promise.all(
      Array.from({ length: RUSH }, () => service.api.post(CREATE, { email, password: PASSWORD })),
    );

    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(RUSH);
    for (const { status, headers, body } of refused) {
      expect([status, body.error_code]).toEqual([503, 'QUEUE_FULL']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
  });

  it('lets signups, health checks and the documentation overtake it', async () => {
    const { world, api } = service;
    const waitlist = await world.waitlist();
    let served = 0;
    const rush = Array.from({ length: RUSH }, async () => {
      const { status } = await api.post(CREATE, { email: waitlist.owner.email, password: PASSWORD });
      if (status === 200) served += 1;
    });
    await Promise.race(rush);

    const others = await Promise.all([
      ...Array.from({ length: 10 }, () =>
        api.post(SIGNUP, { waitlist_id: waitlist.id, email: `${randomUUID()}@example.com` }),
      ),
      ...['/livez', '/docs', DOCS_FILE].map((path) => api.get(path)),
    ]);
    const servedMeanwhile = served;
    await Promise.all(rush);

    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200));
    expect(servedMeanwhile).toBeLessThan(served / 2);
  });

  it('keeps no owner waiting: not where they logged in before, and elsewhere as long as the line', async () => {
    const guarded = await startService({ environment: { RATE_LIMIT_LOGIN: '1000', TRUST_PROXY: '127.0.0.1' } });
    const { world, api } = guarded;
    const logIn = (password: string, email: string, address: string) =>
      api.post(CREATE, { email, password }, { headers: { 'x-forwarded-for': address } });
    const { email } = await world.owner();
    expect((await logIn(PASSWORD, email, '192.0.2.1')).status).toBe(200);
    let failed = 0;
    const rush = Array.from({ length: RUSH }, async (_, index) => {
      const { status } = await logIn(WRONG_PASSWORD, email, `198.18.1.${index}`);
      if (status === 401) failed += 1;
    });
    await Promise.race(rush);

    const [familiar, nobody] = await Promise.all([
      logIn(PASSWORD, email, '192.0.2.1'),
      logIn(PASSWORD, 'nobody@owners.example', '192.0.2.1'),
    ]);
    const failedMeanwhile = failed;
    await until(async () => (await logIn(PASSWORD, email, '192.0.2.2')).status === 200);
    await Promise.all(rush);
    await guarded.stop();

    expect(familiar.status).toBe(200);
    // Nor is an email told by how long it takes.
    expect(nobody.status).toBe(401);
    expect(failedMeanwhile).toBeLessThan(failed / 2);
  });
});

describe('a password', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const rows = (table: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(table).flatMap(([what, passwords]) => passwords.map((password) => [what, password] as const));
  const make = (password: string, email = `${randomUUID()}@owners.example`) =>
    service.app.get(AuthService).createAccount(email, password);

  it.each(rows(HARD_TO_GUESS))('may have %s: %j', async (_, password) => {
    const { email } = await make(password);

    expect((await service.api.post(CREATE, { email, password })).status).toBe(200);
  });

  it.each([
    ['fourteen characters', 'vnqzt rowkd jh'],
    ['fourteen characters of two code units each', '🦀'.repeat(14)],
    ['one character that decomposes to eighteen', '\ufdfa'],
    ['fifteen that compose to fewer', 'e\u0301'.repeat(8)],
    ['more than 256 characters', 'kd jhx qwz '.repeat(24)],
  ])('may not have %s', async (_, password) => {
    await expect(make(password)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: 'password must have 15 to 256 characters',
    });
  });

  it.each(rows(EASILY_GUESSED))('may not be %s: %j', async (_, password) => {
    await expect(make(password, 'grace.hopper@navy.example')).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('must not be easily guessed'),
    });
  });

  it('is kept for an email address only', async () => {
    await expect(make(PASSWORD, 'nobody')).rejects.toMatchObject({ message: 'email must be an email address' });
  });

  it('is held to the same rules when it is changed', async () => {
    const { email } = await service.world.owner();
    const auth = service.app.get(AuthService);

    await expect(auth.setPassword(email, 'vnqzt rowkd jh')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(auth.setPassword(email, 'passwordpassword')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(auth.setPassword(email, email)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect((await service.api.post(CREATE, { email, password: PASSWORD })).status).toBe(200);
  });

  it('is the same however its letters are composed', async () => {
    const password = 'élève à l’école ﬁnie';
    const { email } = await make(password.normalize('NFC'));

    for (const form of ['NFC', 'NFD', 'NFKC'] as const)
      expect((await service.api.post(CREATE, { email, password: password.normalize(form) })).status).toBe(200);
    expect((await service.api.post(CREATE, { email, password: password.toUpperCase() })).status).toBe(401);
  });
});
