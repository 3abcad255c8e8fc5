import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemberService } from '../../src/account/member.service.js';
import { AccountService } from '../../src/account/account.service.js';
import { LoginAuditService } from '../../src/auth/login-audit.service.js';
import { LoginThrottle } from '../../src/auth/login-throttle.js';
import { AuditLog } from '../../src/platform/audit/audit-log.js';
import { allOf } from '../../src/platform/reach.js';
import type { Answer } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';
import { PASSWORD } from '../support/world.js';

const CREATE = '/api/v1/auth/create_tokens';
const WRONG_PASSWORD = 'not the password at all';

/** Above what a test sends, so that only the limits on failures apply. */
const THROTTLED = { RATE_LIMIT_LOGIN: '1000', TRUST_PROXY: '127.0.0.1' };
const logIn = ({ api }: Service, email: string, password: string, address: string) =>
  api.post(CREATE, { email, password }, { headers: { 'x-forwarded-for': address } });

describe('repeated failures to log in', () => {
  const EMAIL_FAILURES_MAX = 5;
  const EMAIL_WINDOW_SECONDS = 15 * 60;
  const ADDRESS_FAILURES_MAX = 50;
  const ADDRESS_WINDOW_SECONDS = 60 * 60;
  let service: Service;
  beforeAll(async () => {
    service = await startService({ environment: THROTTLED });
  });
  afterAll(() => service.stop());

  const succeed = (email: string, address: string) => logIn(service, email, PASSWORD, address);
  const fail = (email: string, address: string) => logIn(service, email, WRONG_PASSWORD, address);
  const somebody = () => `${randomUUID()}@owners.example`;

  /** Fails one login after the other. Resolves with their statuses. */
  async function failures(count: number, attemptOf: (index: number) => [email: string, address: string]) {
    const statuses: number[] = [];
    for (let index = 0; index < count; index += 1) statuses.push((await fail(...attemptOf(index))).status);
    return statuses;
  }

  it('refuse the email at that address, with or without an account, whatever the password', async () => {
    const { email } = await service.world.owner();
    const answerTo = async (to: string) => {
      expect(await failures(EMAIL_FAILURES_MAX, () => [to, '192.0.2.1'])).toEqual(Array(EMAIL_FAILURES_MAX).fill(401));
      return succeed(to.toUpperCase(), '192.0.2.1');
    };

    const [known, unknown] = [await answerTo(email), await answerTo(somebody())];

    for (const { status, headers, body } of [known, unknown]) {
      expect([status, body.error_code]).toEqual([429, 'TOO_MANY_ATTEMPTS']);
      expect(body).toEqual({ ...known.body, instance: body.instance });
      expect(Number(headers['retry-after'])).toBeGreaterThan(EMAIL_WINDOW_SECONDS - 60);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(EMAIL_WINDOW_SECONDS);
    }
  });

  it('refuse neither the owner at another address nor other owners at the same address', async () => {
    const owner = await service.world.owner();
    const neighbor = await service.world.owner();

    await failures(EMAIL_FAILURES_MAX, () => [owner.email, '192.0.2.2']);

    expect((await succeed(owner.email, '192.0.2.2')).status).toBe(429);
    expect((await succeed(owner.email, '192.0.2.3')).status).toBe(200);
    expect((await succeed(neighbor.email, '192.0.2.2')).status).toBe(200);
  });

  it('from many addresses do not lock the owner out', async () => {
    const { email } = await service.world.owner();

    await failures(ADDRESS_FAILURES_MAX + 1, (index) => [email, `203.0.113.${index}`]);

    expect((await fail(email, '192.0.2.4')).status).toBe(401);
    expect((await succeed(email, '192.0.2.4')).status).toBe(200);
  });

  it('are reset for the email at that address when its owner logs in there', async () => {
    const { email } = await service.world.owner();
    const address = '192.0.2.5';

    await failures(EMAIL_FAILURES_MAX - 1, () => [email, address]);
    expect((await succeed(email, address)).status).toBe(200);
    await failures(EMAIL_FAILURES_MAX - 1, () => [email, address]);

    expect((await succeed(email, address)).status).toBe(200);
  });

  it('with many emails refuse the address, although one of its accounts logs in meanwhile', async () => {
    const address = '192.0.2.6';
    const { email } = await service.world.owner();

    const statuses = await failures(ADDRESS_FAILURES_MAX - 1, () => [somebody(), address]);
    expect((await succeed(email, address)).status).toBe(200);
    statuses.push((await fail(somebody(), address)).status);
    const refused = await succeed(email, address);

    expect(statuses).toEqual(Array(ADDRESS_FAILURES_MAX).fill(401));
    expect([refused.status, refused.body.error_code]).toEqual([429, 'TOO_MANY_ATTEMPTS']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(EMAIL_WINDOW_SECONDS);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(ADDRESS_WINDOW_SECONDS);
    expect((await succeed(email, '192.0.2.7')).status).toBe(200);
  });

  it('count for all IPv6 addresses of one site (/48)', async () => {
    const { email } = await service.world.owner();

    await failures(EMAIL_FAILURES_MAX, (index) => [email, `2001:db8:5:${index}::1`]);

    expect((await fail(email, '2001:db8:5:ffff::1')).status).toBe(429);
    expect((await fail(email, '2001:db8:6::1')).status).toBe(401);
  });

  it('count if they are sent all at once', async () => {
    const { email } = await service.world.owner();

    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => fail(email, `2001:db8:9:${index}::1`)));

    expect(answers.filter(({ status }) => status === 401)).toHaveLength(EMAIL_FAILURES_MAX);
    expect((await succeed(email, '2001:db8:9::1')).status).toBe(429);
  });

  it('are none while right passwords are checked, however many come at once, also after failures', async () => {
    const { email } = await service.world.owner();
    const address = '192.0.2.12';
    const succeedAtOnce = () => Promise.all(Array.from({ length: 8 }, () => succeed(email, address)));

    const first = await succeedAtOnce();
    await failures(EMAIL_FAILURES_MAX - 1, () => [email, address]);
    const second = await succeedAtOnce();

    expect([...first, ...second].map(({ status }) => status)).toEqual(Array(16).fill(200));
  });

  it('are no more in a window in which earlier attempts are given back', async () => {
    const { email } = await service.world.owner();
    const throttle = service.app.get(LoginThrottle);
    const address = '192.0.2.11';
    for (let index = 0; index < EMAIL_FAILURES_MAX; index += 1) await throttle.count(email, address);

    await ahead(ADDRESS_WINDOW_SECONDS * 1000 + 1, async () => {
      for (let index = 0; index < EMAIL_FAILURES_MAX; index += 1) await throttle.giveBack(email, address);

      const statuses = await failures(EMAIL_FAILURES_MAX + 1, () => [email, address]);
      expect(statuses).toEqual([...Array<number>(EMAIL_FAILURES_MAX).fill(401), 429]);
    });
  });

  it('do not count if they are refused', async () => {
    const [owner, neighbor] = [await service.world.owner(), await service.world.owner()];
    const address = '192.0.2.10';

    await failures(ADDRESS_FAILURES_MAX, () => [owner.email, address]);

    expect((await succeed(owner.email, address)).status).toBe(429);
    expect((await succeed(neighbor.email, address)).status).toBe(200);
  });
});

describe('logins', () => {
  const EVENTS_MAX = 20;
  let service: Service;
  beforeAll(async () => {
    service = await startService({ environment: THROTTLED });
  });
  afterAll(() => service.stop());

  /** The events of an account that its failed logins left, newest first. */
  async function failuresOf(email: string) {
    await service.app.get(LoginAuditService).writeAll();
    const { accountId } = await service.app.get(MemberService).getByEmail(email);
    const { events } = await service.app.get(AuditLog).list(allOf(accountId), { limit: 100 });
    return events.filter(({ action }) => action.startsWith('login_'));
  }

  it('are counted by outcome', async () => {
    const { email } = await service.world.owner();
    const counts = async () => {
      const { text } = await service.api.get('/metrics');
      const lines = text.matchAll(/^waitlist_logins_total\{outcome="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...lines].map(([, outcome, count]) => [outcome!, Number(count)]));
    };
    const before = await counts();

    await logIn(service, email, PASSWORD, '192.0.2.1');
    for (let attempt = 0; attempt < 6; attempt += 1) await logIn(service, email, WRONG_PASSWORD, '192.0.2.1');

    expect(await counts()).toEqual({
      success: before.success! + 1,
      failure: before.failure! + 5,
      throttled: before.throttled! + 1,
    });
  });

  it('that fail or are throttled leave audit events of the account', async () => {
    const { email } = await service.world.owner();
    const answers: Answer[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1)
      answers.push(await logIn(service, email, WRONG_PASSWORD, '192.0.2.2'));

    const events = (await failuresOf(email)).reverse();
    expect(events.map(({ action }) => action)).toEqual([...Array<string>(5).fill('login_failed'), 'login_throttled']);
    expect(events.map(({ requestId }) => requestId)).toEqual(answers.map(({ headers }) => headers['x-request-id']));
    expect(new Set(events.map(({ addressHash }) => addressHash)).size).toBe(1);
  });

  it('leave a bounded number of audit events of an account, of failures and of refusals alike', async () => {
    const victim = await service.world.owner();
    // Five failures at each address, then refusals.
    for (let attempt = 0; attempt < 5 * 6; attempt += 1)
      await logIn(service, victim.email, WRONG_PASSWORD, `192.0.2.${10 + (attempt % 5)}`);
    for (let attempt = 0; attempt < EVENTS_MAX; attempt += 1)
      await logIn(service, victim.email, WRONG_PASSWORD, '192.0.2.10');

    const actions = (await failuresOf(victim.email)).map(({ action }) => action);
    expect(actions.filter((action) => action === 'login_failed')).toHaveLength(EVENTS_MAX);
    expect(actions.filter((action) => action === 'login_throttled')).toHaveLength(EVENTS_MAX);
  });
});

describe('two hundred logins at once', () => {
  const RUSH = 200;
  /** Compressed by the same few threads that hash passwords. */
  const DOCS_FILE = '/docs/assets/swagger-ui.css';

  it('fill a bounded queue (503); other requests overtake them, and the owner can log in when there is room', async () => {
    const service = await startService({ environment: THROTTLED });
    const { world, api } = service;
    const waitlist = await world.waitlist();
    const { email } = waitlist.owner;
    let served = 0;
    const rush = Array.from({ length: RUSH }, async (_, index) => {
      const answer = await logIn(service, email, WRONG_PASSWORD, `198.18.1.${index}`);
      if (answer.status === 401) served += 1;
      return answer;
    });
    await Promise.race(rush);

    await Promise.all([
      ...Array.from({ length: 10 }, () => world.signup(waitlist)),
      ...['/livez', '/docs', DOCS_FILE].map(async (path) =>
        expect((await api.get(path, { headers: { 'accept-encoding': 'gzip' } })).status).toBe(200),
      ),
    ]);
    const servedMeanwhile = served;
    const attempts: Answer[] = [];
    await until(async () => {
      attempts.push(await logIn(service, email, PASSWORD, '192.0.2.1'));
      return attempts.at(-1)!.status === 200;
    });
    const refused = [...(await Promise.all(rush)), ...attempts.slice(0, -1)].filter(({ status }) => status !== 401);
    await service.stop();

    expect(servedMeanwhile).toBeLessThan(served / 2);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, headers, body } of refused) {
      expect([status, body.error_code]).toEqual([503, 'QUEUE_FULL']);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
  });
});

describe('a password', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const make = (password: string, email = `${randomUUID()}@owners.example`) =>
    service.app.get(AccountService).create(email, password);

  it.each([
    ['fifteen characters', 'vnqzt rowkd jhx'],
    ['spaces at its ends', '  vnqzt rowkd jhx  '],
    ['letters of any script', '山田は毎朝七時に納豆とパンを交互に食べる'],
    [
      '256 characters of two code units',
      [...'🦀 umbrage und 🎈 cactus stipend wobble '.repeat(7)].slice(0, 256).join(''),
    ],
  ])('may have %s', async (_, password) => {
    const { owner } = await make(password);
    const { email } = owner;

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

  it.each([
    ['a common password with a number', 'Password123456789'],
    ['a repetition', 'aaaaaaaaaaaaaaaaaaaa'],
    ['a row of keys', '1q2w3e4r5t6y7u8i'],
    ['a few words', 'super secret password'],
    ['the name of the service', 'waitlistwaitlist'],
    ['the email of the account', 'grace.hopper@navy.example1'],
  ])('may not be %s: %j', async (_, password) => {
    await expect(make(password, 'grace.hopper@navy.example')).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('must not be easily guessed'),
    });
  });

  it('is refused with an invalid email', async () => {
    await expect(make(PASSWORD, 'nobody')).rejects.toMatchObject({ message: 'email must be an email address' });
  });

  it('follows the same rules when it is changed', async () => {
    const { email } = await service.world.owner();

    await expect(service.world.setPassword(email, 'vnqzt rowkd jh')).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(service.world.setPassword(email, email)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect((await service.api.post(CREATE, { email, password: PASSWORD })).status).toBe(200);
  });

  it('matches in every Unicode normal form, but not in another case', async () => {
    const password = 'élève à l’école ﬁnie';
    const { email } = (await make(password.normalize('NFC'))).owner;

    for (const form of ['NFC', 'NFD', 'NFKC'] as const)
      expect((await service.api.post(CREATE, { email, password: password.normalize(form) })).status).toBe(200);
    expect((await service.api.post(CREATE, { email, password: password.toUpperCase() })).status).toBe(401);
  });
});
