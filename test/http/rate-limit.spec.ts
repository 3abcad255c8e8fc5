import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../support/api.js';
import { operationsOf } from '../support/operations.js';
import { type Service, startService } from '../support/service.js';
import { type OwnedWaitlist, PASSWORD } from '../support/world.js';

const PROXY = '10.1.2.3';

let service: Service;

/** Runs one service for the tests of a `describe`. They share its counters, so each uses addresses of its own. */
function serve(environment: Record<string, string>): void {
  beforeAll(async () => {
    service = await startService({ environment });
  });
  afterAll(() => service.stop());
}
const look = (options: CallOptions = {}): Promise<Answer> =>
  service.api.get('/api/v1/signup', { query: { waitlist_id: 1, email: 'nobody@example.com' }, ...options });
const logIn = (email: string, options: CallOptions = {}, password = 'a wrong password'): Promise<Answer> =>
  service.api.post('/api/v1/auth/create_tokens', { email, password }, options);

async function statuses(count: number, call: (index: number) => Promise<Answer>): Promise<number[]> {
  const seen: number[] = [];
  for (let index = 0; index < count; index += 1) seen.push((await call(index)).status);
  return seen;
}

describe('the limit on the public operations', () => {
  serve({ RATE_LIMIT_PUBLIC: '3' });

  it('counts all of them together, apart from other addresses and operations', async () => {
    await look();
    await service.api.post('/api/v1/signup', {});
    await service.api.get('/api/v1/waitlist/1');

    const refused = [
      await look(),
      await service.api.post('/api/v1/signup', {}),
      await service.api.get('/api/v1/waitlist/1'),
    ];

    for (const { status, headers, body } of refused) {
      expect(status).toBe(429);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(body).toMatchObject({ error_code: 'RATE_LIMITED' });
    }
    expect((await look({ from: '192.0.2.1' })).status).not.toBe(429);
    expect((await service.api.get('/api/v1/waiter')).status).toBe(401);
    expect((await logIn('nobody@example.com')).status).toBe(401);
  });
});

describe('a limit', () => {
  serve({ RATE_LIMIT_PUBLIC: '1', RATE_LIMIT_EXEMPT: '192.0.2.7,198.51.100.0/24,2001:db8::/32' });

  it('does not apply to the addresses and networks of RATE_LIMIT_EXEMPT', async () => {
    for (const from of ['192.0.2.7', '198.51.100.99', '2001:db8:1::5', '::ffff:198.51.100.99'])
      expect(await statuses(5, () => look({ from }))).toEqual(Array(5).fill(404));
    expect(await statuses(11, () => service.api.get('/api/v1/waiter', { from: '192.0.2.7' }))).toEqual(
      Array(11).fill(401),
    );
    for (const from of ['192.0.2.8', '198.51.101.1', '2001:db9::5', '::ffff:198.51.101.2'])
      expect(await statuses(2, () => look({ from }))).toEqual([404, 429]);
  });

  it('ignores X-Forwarded-For without a trusted proxy', async () => {
    const seen = await statuses(2, () => look({ from: '192.0.2.30', headers: { 'x-forwarded-for': '192.0.2.7' } }));

    expect(seen).toEqual([404, 429]);
  });

  it('counts an IPv6 /64 network as one address, and both notations of an IPv4 address as one', async () => {
    const refused = async (first: string, second: string) => {
      await look({ from: first });
      return (await look({ from: second })).status === 429;
    };

    expect(await refused('2001:dba:0:1::1', '2001:dba:0:1:ffff::2')).toBe(true);
    expect(await refused('2001:dba:0:2::1', '2001:dba:0:3::1')).toBe(false);
    expect(await refused('192.0.2.41', '::ffff:192.0.2.41')).toBe(true);
    expect(await refused('::ffff:192.0.2.42', '::ffff:192.0.2.43')).toBe(false);
  });
});

describe('a limit behind a trusted proxy', () => {
  serve({
    RATE_LIMIT_PUBLIC: '1',
    TRUST_PROXY: '10.0.0.0/8',
    RATE_LIMIT_EXEMPT: '192.0.2.0/24',
    RATE_LIMIT_LOGIN: '9',
  });
  const via = (from: string, forwarded: string) => ({ from, headers: { 'x-forwarded-for': forwarded } });

  it.each([
    ['203.0.113.7', ['203.0.113.7:1', '203.0.113.7:50000', '[203.0.113.7]', '198.51.100.4, 203.0.113.7:4711']],
    ['2001:db8:7::1', ['[2001:db8:7::1]:443', '[2001:db8:7::2]', '2001:db8:7::3']],
    ['203.0.113.8', ['203.0.113.8:1, 10.9.9.9:80', '203.0.113.8, [10.9.9.9]:443']],
  ])('counts %s whatever port or brackets a proxy adds to it', async (address, spellings) => {
    expect((await look({ from: address })).status).toBe(404);

    for (const forwarded of spellings)
      expect([forwarded, (await look(via(PROXY, forwarded))).status]).toEqual([forwarded, 429]);
  });

  it('does not apply to an address of RATE_LIMIT_EXEMPT that a proxy forwards with its port', async () => {
    expect(await statuses(3, (index) => look(via(PROXY, `192.0.2.9:${5000 + index}`)))).toEqual([404, 404, 404]);
  });

  it('counts a forwarded text that is not an address for the proxy that wrote it, and ignores all before it', async () => {
    const proxy = '10.1.2.4';
    expect((await look({ from: proxy })).status).toBe(404);

    for (const forwarded of [
      'unknown',
      '"',
      ',',
      '203.0.113.61:',
      '[203.0.113.62',
      '203.0.113.999',
      '1.2.3.4.5:80',
      'fe80::1%br-lan',
    ])
      expect([forwarded, (await look(via(proxy, `203.0.113.60, ${forwarded}`))).status]).toEqual([forwarded, 429]);
  });

  it('counts a link-local address whatever the name of its interface', async () => {
    expect(await statuses(2, (index) => look({ from: `fe80::7%v-a.${index}` }))).toEqual([404, 429]);
  });

  it('counts failed logins of one address whatever port a proxy adds to it', async () => {
    const email = 'guessed@example.com';

    const seen = await statuses(6, (index) => logIn(email, via(PROXY, `203.0.113.70:${1000 + index}`)));

    expect(seen).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('counts by the address that a trusted proxy forwards, and ignores addresses that others forward', async () => {
    const through = (from: string, forwarded: string) => look({ from, headers: { 'x-forwarded-for': forwarded } });

    const viaProxy = await statuses(3, (index) => through(PROXY, `203.0.113.${100 + index}`));
    const forgedBefore = await statuses(2, (index) => through(PROXY, `198.51.100.${index}, 203.0.113.9`));
    const direct = await statuses(2, (index) => through('203.0.113.50', `198.51.100.${index}`));

    expect(viaProxy).not.toContain(429);
    expect(forgedBefore[1]).toBe(429);
    expect(direct[1]).toBe(429);
  });
});

describe('the limit on lookups that find nobody', () => {
  let waitlist: OwnedWaitlist;
  serve({ RATE_LIMIT_PUBLIC: '20' });
  beforeAll(async () => {
    waitlist = await service.world.waitlist();
  });
  const find = (email: string, from: string) =>
    service.api.get('/api/v1/signup', { query: { waitlist_id: waitlist.id, email }, from });

  it('counts lookups by uuid, and those of the earlier generations', async () => {
    const query = { waitlist_id: waitlist.id, uuid: randomUUID() };

    for (const [path, from] of [
      ['/api/v1/signup', '192.0.2.26'],
      ['/api/v1/waiter', '192.0.2.27'],
    ] as const) {
      expect(await statuses(3, () => service.api.get(path, { query, from }))).toEqual([404, 404, 429]);
    }
  });

  it('is a tenth of the public limit; beyond it, all lookups get the same answer', async () => {
    const from = '192.0.2.11';
    const { email } = await service.world.signup(waitlist);

    const answered = await statuses(2, (index) => find(`nobody${index}@example.com`, from));
    const found = await find(email, from);
    const missed = await find('nobody@example.com', from);

    expect(answered).toEqual([404, 404]);
    for (const { status, headers, body } of [found, missed]) {
      expect(status).toBe(429);
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(body).toEqual({ ...found.body, instance: headers['x-request-id'] });
      expect(body.error_code).toBe('TOO_MANY_MISSES');
    }
    expect(Object.keys(found.headers)).toEqual(Object.keys(missed.headers));
    expect((await find(email, '192.0.2.1')).status).toBe(200);
    expect((await service.api.post('/api/v1/signup', { waitlist_id: waitlist.id, email }, { from })).status).toBe(200);
  });

  it('applies to lookups sent all at once', async () => {
    const lookups = Array.from({ length: 10 }, (_, index) => find(`nobody${index}@example.com`, '192.0.2.12'));

    const seen = (await Promise.all(lookups)).map(({ status }) => status);

    expect(seen.sort()).toEqual([404, 404, ...Array<number>(8).fill(429)]);
  });

  it('counts signups that break a rule, because they find existing records, and no other signups', async () => {
    const from = '192.0.2.13';
    const phone = '+14155550177';
    const signUp = (contact: object) =>
      service.api.post('/api/v1/signup', { waitlist_id: waitlist.id, ...contact }, { from });
    expect((await signUp({ email: 'member@example.com', phone })).status).toBe(200);

    const guessed = await statuses(2, (index) => signUp({ phone: `+1415555018${index}` }));

    expect(guessed).toEqual([422, 422]);
    const refused = [await signUp({ phone }), await signUp({ phone: '+14155550199' }), await find('a@b.example', from)];
    for (const { status, body } of refused) {
      expect(status).toBe(429);
      expect(body.error_code).toBe('TOO_MANY_MISSES');
    }
    expect((await signUp({ email: 'member@example.com' })).status).toBe(200);
    expect((await signUp({ email: 'newcomer@example.com' })).status).toBe(200);
  });

  it('counts each email that has no record beside a phone that has one', async () => {
    const phone = '+14155550166';
    const path = '/api/v1/signup';
    const member = await service.world.signup(waitlist);
    await service.world.signup(waitlist, { phone });
    const ways = [
      (query: Record<string, string | number>, from: string) => service.api.get(path, { query, from }),
      (query: Record<string, string | number>, from: string) => service.api.get('/api/v1/waiter', { query, from }),
      (body: Record<string, string | number>, from: string) => service.api.post(path, body, { from }),
    ];

    for (const [index, call] of ways.entries()) {
      const test = (email: string) => call({ waitlist_id: waitlist.id, email, phone }, `192.0.2.${30 + index}`);
      expect(await statuses(3, (guess) => test(`guess${guess}@example.com`))).toEqual([200, 200, 429]);
      expect((await test(member.email)).body.error_code).toBe('TOO_MANY_MISSES');
    }
  });

  it('counts signups that a closed waitlist refuses, because they find existing records', async () => {
    const from = '192.0.2.15';
    const closed = await service.world.waitlist();
    const { email } = await service.world.signup(closed);
    await service.api.patch(`/api/v1/waitlist/${closed.id}`, { is_closed: true }, { token: closed.owner.token });
    const signUp = (address: string) =>
      service.api.post('/api/v1/signup', { waitlist_id: closed.id, email: address }, { from });

    expect(await statuses(3, (index) => signUp(`guess${index}@example.com`))).toEqual([422, 422, 429]);

    expect((await signUp(email)).body.error_code).toBe('TOO_MANY_MISSES');
  });

  it('counts names that no waitlist has, of lookups, signups and page views together', async () => {
    const from = '192.0.2.16';
    const email = 'ada@example.com';
    const view = { location: '', referrer: '' };
    const tries = [
      () => service.api.get('/api/v1/signup', { query: { api_key: 'NOSUCHKEY', email }, from }),
      () => service.api.post('/api/v1/signup', { api_key: 'f'.repeat(40), email }, { from }),
      () => service.api.post('/api/v1/widget_heartbeats', { waitlist_id: 'NOSUCHKEY', ...view }, { from }),
    ];

    expect(await statuses(3, (index) => tries[index]!())).toEqual([404, 404, 429]);
  });

  it('does not count successful lookups', async () => {
    const { email } = await service.world.signup(waitlist);

    expect(await statuses(10, () => find(email, '192.0.2.14'))).not.toContain(429);
  });
});

describe('the limit on logins', () => {
  serve({ RATE_LIMIT_LOGIN: '2', RATE_LIMIT_EXEMPT: '192.0.2.7' });

  it('counts all attempts of an address, successful ones too', async () => {
    const { email } = await service.world.owner();
    await logIn(email, {}, PASSWORD);
    await logIn(email, {}, PASSWORD);

    const { status, headers, body } = await logIn(email, {}, PASSWORD);

    expect(status).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(body.error_code).toBe('RATE_LIMITED');
    expect((await logIn(email, { from: '192.0.2.1' }, PASSWORD)).status).toBe(200);
  });

  it('applies to addresses that are exempt from the public limit, too', async () => {
    expect(await statuses(3, () => logIn('nobody@example.com', { from: '192.0.2.7' }))).toEqual([401, 401, 429]);
  });
});

describe('the limit on the account operations', () => {
  serve({ RATE_LIMIT_PUBLIC: '1' });

  const from = '192.0.2.9';
  const list = (options: CallOptions = {}) => service.api.get('/api/v1/waiter', { from, ...options });

  it('is ten times the public limit, counts all of them together, and is checked before the token', async () => {
    const waitlist = await service.world.waitlist();
    const query = { api_key: waitlist.api_key };

    const anonymous = await statuses(5, () => list());
    const refreshed = await statuses(4, () => service.api.get('/api/v1/auth/refresh_access_token', { from }));
    const last = await list({ token: waitlist.owner.token, query });
    const refused = await list({ token: waitlist.owner.token, query });

    expect([...anonymous, ...refreshed]).toEqual(Array(9).fill(401));
    expect([last.status, last.headers['ratelimit-limit'], last.headers['ratelimit-remaining']]).toEqual([
      200,
      '10',
      '0',
    ]);
    expect([refused.status, refused.body.error_code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await list({ from: '192.0.2.10', token: waitlist.owner.token, query })).status).toBe(200);
    expect((await look({ from })).status).toBe(404);
  });
});

describe('every limit', () => {
  serve({ RATE_LIMIT_PUBLIC: '0', RATE_LIMIT_LOGIN: '0' });

  it('is off if it is set to 0, the limit on failed logins included', async () => {
    expect(await statuses(11, () => look())).toEqual(Array(11).fill(404));
    expect(await statuses(11, () => service.api.get('/api/v1/waiter'))).toEqual(Array(11).fill(401));
    expect(await statuses(12, () => logIn('nobody@example.com'))).toEqual(Array(12).fill(401));
  });
});

describe('every operation', () => {
  serve({ RATE_LIMIT_PUBLIC: '1000', RATE_LIMIT_LOGIN: '1001' });

  /** Operations that verify or set a password, and one that pages of the service call. */
  const LIMITS: Readonly<Record<string, string>> = {
    createTokens: '1001',
    createSession: '1001',
    changePassword: '1001',
    viewInvitation: '1001',
    acceptInvitation: '1001',
    requestPasswordReset: '1001',
    resetPassword: '1001',
    logOut: '10000',
    getSignInMethods: '10000',
    startSingleSignOn: '1001',
    finishSingleSignOn: '1001',
    linkSingleSignOn: '1001',
    setUpTwoFactor: '1001',
    confirmTwoFactor: '1001',
    replaceRecoveryCodes: '1001',
    disableTwoFactor: '1001',
  };

  it('has a limit: the public one, if it needs no token', async () => {
    const operations = await operationsOf(service.api, 1);
    expect(operations.length).toBeGreaterThan(0);

    for (const { method, path, operation } of operations) {
      const { operationId, security = [] } = operation;
      const { headers } = await service.api.call(method, path);
      const needsToken = security.length > 0 && security.every((scheme) => Object.keys(scheme).length > 0);
      const limit = LIMITS[operationId] ?? (needsToken ? '10000' : '1000');
      expect([operationId, headers['ratelimit-limit']]).toEqual([operationId, limit]);
    }
  });
});
