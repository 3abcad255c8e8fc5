import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemberService } from '../../src/account/member.service.js';
import { AccountService } from '../../src/account/account.service.js';
import { TokenService } from '../../src/auth/token.service.js';
import { LoginAuditService } from '../../src/auth/login-audit.service.js';
import { AuditLog } from '../../src/platform/audit/audit-log.js';
import { allOf } from '../../src/platform/reach.js';
import type { Answer, CallOptions } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { type Service, startService } from '../support/service.js';
import { type Owner, PASSWORD } from '../support/world.js';

const SESSION = '/api/v1/auth/session';
const REFRESH = `${SESSION}/refresh`;
const CREATE_TOKENS = '/api/v1/auth/create_tokens';
const CHANGE_PASSWORD = '/api/v1/auth/password';
const OTHER_PASSWORD = 'brisk otter plum canyon fizz';
/** Any operation that needs only an access token. */
const OWNED = '/api/v1/waitlist';

const REFRESH_TTL_SECONDS = 30 * 86_400;
const LOGIN_LIFETIME_MS = 90 * 86_400_000;
const RETRY_GRACE_MS = 60_000;
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

interface Cookie {
  readonly name: string;
  readonly value: string;
  /** In lower case, without a value if they have none. */
  readonly attributes: Readonly<Record<string, string | undefined>>;
}

function cookieOf({ headers }: Answer): Cookie {
  const [pair, ...attributes] = String(headers['set-cookie'])
    .split('; ')
    .map((part) => part.split('='));
  const [name, value] = pair as [string, string];
  return {
    name,
    value,
    attributes: Object.fromEntries(attributes.map(([key, text]) => [key!.toLowerCase(), text])),
  };
}

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sid: string; sub: string };

/** A browser with its own cookie, on pages of the service. */
class Browser {
  cookie = '';
  token = '';

  constructor(private readonly service: Service) {}

  async logIn(email: string, password = PASSWORD): Promise<Answer> {
    return this.keep(await this.service.api.post(SESSION, { email, password }, { headers: OWN_PAGE }));
  }

  async refresh(headers: Record<string, string> = OWN_PAGE): Promise<Answer> {
    return this.keep(await this.service.api.post(REFRESH, undefined, { headers: { ...this.cookies, ...headers } }));
  }

  async logOut(headers: Record<string, string> = OWN_PAGE): Promise<Answer> {
    return this.keep(await this.service.api.delete(SESSION, { headers: { ...this.cookies, ...headers } }));
  }

  get cookies(): Record<string, string> {
    return this.cookie ? { cookie: this.cookie } : {};
  }

  /** Another tab whose requests have the cookie as it is now. */
  tab(): Browser {
    return Object.assign(new Browser(this.service), { cookie: this.cookie, token: this.token });
  }

  private keep(answer: Answer): Answer {
    if (answer.headers['set-cookie'] !== undefined) {
      const { name, value } = cookieOf(answer);
      this.cookie = `${name}=${value}`;
    }
    this.token = answer.body?.access_token ?? this.token;
    return answer;
  }
}

describe('a session', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const isLive = async (token: string) => (await service.api.get(OWNED, { token })).status === 200;
  const list = (token: string) => service.api.get(SESSION, { token });
  const idsOf = async (token: string) => ((await list(token)).body as { id: string }[]).map(({ id }) => id);
  const actionsOf = async ({ accountId }: Pick<Owner, 'accountId'>) => {
    await service.app.get(LoginAuditService).writeAll();
    const { events } = await service.app.get(AuditLog).list(allOf(accountId), { limit: 100 });
    return events;
  };

  async function loggedIn(owner?: Owner): Promise<{ owner: Owner; browser: Browser }> {
    const own = owner ?? (await service.world.owner());
    const browser = new Browser(service);
    expect((await browser.logIn(own.email)).status).toBe(200);
    return { owner: own, browser };
  }

  describe('begins with a login that', () => {
    it('answers with an access token alone; the refresh token is in a cookie', async () => {
      const { email } = await service.world.owner();
      const browser = new Browser(service);

      const answer = await browser.logIn(email);

      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ access_token: expect.any(String) });
      expect(await isLive(browser.token)).toBe(true);
      expect(cookieOf(answer)).toEqual({
        name: 'waitlist_session',
        value: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        attributes: {
          'max-age': String(REFRESH_TTL_SECONDS),
          path: SESSION,
          httponly: undefined,
          samesite: 'Strict',
        },
      });
    });

    it('gives a wrong email and a wrong password the same answer, without a cookie', async () => {
      const { email } = await service.world.owner();
      const answers = [
        await new Browser(service).logIn(email, 'not the password at all'),
        await new Browser(service).logIn(`${randomUUID()}@owners.example`),
      ];

      for (const { status, headers, body } of answers) {
        expect([status, body.error_code]).toEqual([401, 'WRONG_CREDENTIALS']);
        expect(headers).not.toHaveProperty('set-cookie');
      }
    });

    it.each([
      ['application/x-www-form-urlencoded', `email=a%40b.example&password=${encodeURIComponent(PASSWORD)}`],
      ['multipart/form-data; boundary=x', '--x--'],
      ['text/plain', JSON.stringify({ email: 'a@b.example', password: PASSWORD })],
      ['', JSON.stringify({ email: 'a@b.example', password: PASSWORD })],
    ])('no form and no page of another site can make, because a body must be JSON: %j', async (type, raw) => {
      const answer = await service.api.post(SESSION, undefined, { raw, headers: { 'content-type': type } });

      expect([answer.status, answer.body.error_code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    });
  });

  describe('is refreshed', () => {
    it('by its cookie, for another access token and another cookie', async () => {
      const { browser } = await loggedIn();
      const before = browser.tab();

      const answer = await browser.refresh();

      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ access_token: expect.any(String) });
      expect(browser.token).not.toBe(before.token);
      expect(browser.cookie).not.toBe(before.cookie);
      expect(cookieOf(answer).attributes).toEqual({
        'max-age': String(REFRESH_TTL_SECONDS),
        path: SESSION,
        httponly: undefined,
        samesite: 'Strict',
      });
      expect(await isLive(browser.token)).toBe(true);
      expect((await browser.refresh()).status).toBe(200);
    });

    it('in two tabs at once, with the same result', async () => {
      const { browser } = await loggedIn();
      const tabs = [browser.tab(), browser.tab(), browser.tab()];

      const answers = await Promise.all(tabs.map((tab) => tab.refresh()));

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(tabs.map(({ token }) => token)).size).toBe(1);
      expect(new Set(tabs.map(({ cookie }) => cookie)).size).toBe(1);
      expect((await tabs[0]!.refresh()).status).toBe(200);
    });

    it('until its cookie is reused after the grace period, which ends it', async () => {
      const { owner, browser } = await loggedIn();
      const thief = browser.tab();
      await browser.refresh();

      const reuse = await ahead(RETRY_GRACE_MS + 1_000, () => thief.refresh());

      expect([reuse.status, reuse.body.error_code]).toEqual([401, 'NO_SESSION']);
      expect(reuse.headers).not.toHaveProperty('set-cookie');
      expect(await isLive(browser.token)).toBe(false);
      expect((await browser.refresh()).status).toBe(401);
      expect((await actionsOf(owner))[0]).toMatchObject({ action: 'refresh_token_reused' });
      expect(await isLive(owner.token)).toBe(true);
    });

    it('for ninety days at most: its last cookie ends with it', async () => {
      const { browser } = await loggedIn();
      const step = (REFRESH_TTL_SECONDS - 60) * 1000;
      for (const ms of [step, 2 * step]) expect((await ahead(ms, () => browser.refresh())).status).toBe(200);

      const last = await ahead(LOGIN_LIFETIME_MS - 600_000, () => browser.refresh());

      expect(last.status).toBe(200);
      expect(Number(cookieOf(last).attributes['max-age'])).toBeLessThanOrEqual(600);
      const over = await ahead(LOGIN_LIFETIME_MS, () => browser.refresh());
      expect([over.status, over.body.error_code]).toEqual([401, 'NO_SESSION']);
    });

    it.each<[string, (browser: Browser) => Record<string, string>]>([
      ['no cookie', () => ({})],
      ['a cookie of another name', ({ cookie }) => ({ cookie: cookie.replace('waitlist', 'other') })],
      ['an empty cookie', () => ({ cookie: 'waitlist_session=' })],
      ['a cookie that is no token', () => ({ cookie: 'waitlist_session=made.up.token' })],
      ['an access token in the cookie', ({ token }) => ({ cookie: `waitlist_session=${token}` })],
      [
        'two cookies, because another host of the domain may have set one',
        ({ cookie }) => ({ cookie: `${cookie}; ${cookie}` }),
      ],
      ['the refresh token as a bearer token', ({ cookie }) => ({ authorization: `Bearer ${cookie.split('=')[1]}` })],
      ['the access token as a bearer token', ({ token }) => ({ authorization: `Bearer ${token}` })],
      ['a hostile cookie', () => ({ cookie: `${' ;='.repeat(2_000)};waitlist_session` })],
    ])('not with %s', async (_, headersOf) => {
      const { browser } = await loggedIn();

      const answer = await service.api.post(REFRESH, undefined, { headers: { ...OWN_PAGE, ...headersOf(browser) } });

      expect([answer.status, answer.body.error_code]).toEqual([401, 'NO_SESSION']);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect((await browser.refresh()).status).toBe(200);
    });

    it('by a cookie beside others', async () => {
      const { browser } = await loggedIn();
      const cookie = `theme=dark; ${browser.cookie}; a=b=c`;

      expect((await browser.refresh({ ...OWN_PAGE, cookie })).status).toBe(200);
    });
  });

  describe('opens to pages of its own origin only', () => {
    const HOST = 'waitlist.example:8443';
    it.each<[number, string, Record<string, string>]>([
      [200, 'Sec-Fetch-Site: same-origin', { 'sec-fetch-site': 'same-origin' }],
      [
        200,
        'Sec-Fetch-Site: same-origin, although a proxy changed Host',
        { 'sec-fetch-site': 'same-origin', origin: 'https://people.example' },
      ],
      [200, 'an Origin of the same Host', { origin: `http://${HOST}` }],
      [200, 'an Origin of the same Host, where a proxy ends TLS', { origin: `https://${HOST}` }],
      [200, 'an Origin without the default port', { origin: 'https://waitlist.example', host: 'waitlist.example:443' }],
      [200, 'an Origin of the same Host in another case', { origin: `https://${HOST}`, host: HOST.toUpperCase() }],
      [403, 'neither', {}],
      [403, 'Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site', origin: `https://${HOST}` }],
      [403, 'Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site', origin: `https://${HOST}` }],
      [403, 'Sec-Fetch-Site: none', { 'sec-fetch-site': 'none' }],
      [403, 'an empty Sec-Fetch-Site', { 'sec-fetch-site': '', origin: `https://${HOST}` }],
      [403, 'an Origin of another host', { origin: 'https://evil.example' }],
      [403, 'an Origin of another port', { origin: 'https://waitlist.example' }],
      [403, 'an Origin of a subdomain', { origin: `https://a.${HOST}` }],
      [403, 'an Origin that begins with the host', { origin: 'https://waitlist.example:8443.evil.example' }],
      [403, 'the Origin null of a sandboxed frame', { origin: 'null' }],
      [
        403,
        'an Origin of another host with a forged X-Forwarded-Host',
        { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
      ],
      [403, 'an Origin and a malformed Host', { origin: 'https://waitlist.example', host: 'waitlist example' }],
    ])('%d with %s', async (status, _, headers) => {
      const { browser } = await loggedIn();
      const sent = { host: HOST, ...headers };

      const refreshed = await browser.refresh(sent);
      const { token } = browser;
      const ended = await browser.logOut(sent);

      expect(refreshed.status).toBe(status);
      expect(ended.status).toBe(status === 200 ? 204 : 403);
      expect(await isLive(token)).toBe(status !== 200);
      if (status === 403) {
        expect([refreshed.body.error_code, ended.body.error_code]).toEqual(['FOREIGN_ORIGIN', 'FOREIGN_ORIGIN']);
        expect([refreshed.headers, ended.headers].some((each) => 'set-cookie' in each)).toBe(false);
      }
    });

    it('and no answer lets a page of another origin send or set its cookie', async () => {
      const { browser } = await loggedIn();
      const headers = { ...OWN_PAGE, origin: 'https://evil.example' };

      for (const answer of [await browser.refresh(headers), await browser.logOut(headers)]) {
        expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
        expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
      }
    });
  });

  it('has a cookie that no other operation reads', async () => {
    const { browser } = await loggedIn();
    const headers = { ...browser.cookies, ...OWN_PAGE };

    for (const path of [OWNED, SESSION, '/api/v1/auth/refresh_access_token'])
      expect((await service.api.get(path, { headers })).status).toBe(401);
    const id = claimsOf(browser.token).sid;
    expect((await service.api.delete(`${SESSION}/${id}`, { headers })).status).toBe(401);
    const body = { current_password: PASSWORD, new_password: OTHER_PASSWORD };
    expect((await service.api.post(CHANGE_PASSWORD, body, { headers })).status).toBe(401);
  });

  it('is opened by no account key', async () => {
    const owner = await service.world.owner();
    const { body } = await service.api.post(
      '/api/v1/api_key',
      { name: 'All', scope: 'manage' },
      { token: owner.token },
    );
    const options: CallOptions = { headers: { 'api-key': body.key, ...OWN_PAGE } };

    const answers = [
      await service.api.get(SESSION, options),
      await service.api.delete(`${SESSION}/${claimsOf(owner.token).sid}`, options),
      await service.api.post(CHANGE_PASSWORD, { current_password: PASSWORD, new_password: OTHER_PASSWORD }, options),
      await service.api.post(REFRESH, undefined, options),
    ];

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect((await service.api.delete(SESSION, options)).status).toBe(204);
    expect(await isLive(owner.token)).toBe(true);
  });

  describe('ends its access tokens at once', () => {
    it('when it is logged out, which removes its cookie and leaves one event', async () => {
      const { owner, browser } = await loggedIn();
      const { token, cookie } = browser;

      const answer = await browser.logOut();

      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(cookieOf(answer)).toEqual({
        name: 'waitlist_session',
        value: '',
        attributes: { 'max-age': '0', path: SESSION, httponly: undefined, samesite: 'Strict' },
      });
      expect(await isLive(token)).toBe(false);
      const stale = new Browser(service);
      stale.cookie = cookie;
      expect((await stale.refresh()).status).toBe(401);
      expect((await stale.logOut()).status).toBe(204);
      const ends = (await actionsOf(owner)).filter(({ action }) => action === 'session_ended');
      expect(ends).toEqual([
        expect.objectContaining({
          requestId: answer.headers['x-request-id'],
          addressHash: expect.stringMatching(/^[\w-]{43}$/),
        }),
      ]);
      expect(await isLive(owner.token)).toBe(true);
    });

    it.each(['', 'waitlist_session=', 'waitlist_session=made.up.token'])(
      'but logging out with the cookie %j changes nothing and removes it',
      async (cookie) => {
        const browser = Object.assign(new Browser(service), { cookie });

        const answer = await browser.logOut();

        expect(answer.status).toBe(204);
        expect(cookieOf(answer)).toMatchObject({ value: '', attributes: { 'max-age': '0' } });
      },
    );

    it('when it is ended by its id, whichever way it was made', async () => {
      const { owner, browser } = await loggedIn();

      const answer = await service.api.delete(`${SESSION}/${claimsOf(owner.token).sid}`, { token: browser.token });

      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(await isLive(owner.token)).toBe(false);
      const asToken = { token: owner.refreshToken };
      expect((await service.api.get('/api/v1/auth/refresh_access_token', asToken)).status).toBe(401);
      expect(await isLive(browser.token)).toBe(true);
      expect((await actionsOf(owner))[0]).toMatchObject({ action: 'session_ended' });
    });

    it('when it ends itself by its id', async () => {
      const { browser } = await loggedIn();
      const id = claimsOf(browser.token).sid.toUpperCase();

      expect((await service.api.delete(`${SESSION}/${id}`, { token: browser.token })).status).toBe(204);

      expect(await isLive(browser.token)).toBe(false);
      expect((await browser.refresh()).status).toBe(401);
    });

    it('when its account is disabled, for good', async () => {
      const { owner, browser } = await loggedIn();
      const accounts = service.app.get(AccountService);

      await accounts.disable(owner.email);
      expect(await isLive(browser.token)).toBe(false);
      await accounts.enable(owner.email);

      expect(await isLive(browser.token)).toBe(false);
      expect((await browser.refresh()).status).toBe(401);
      const { browser: later } = await loggedIn(owner);
      expect(await idsOf(later.token)).toEqual([claimsOf(later.token).sid]);
    });

    it('when the operator sets a password', async () => {
      const { owner, browser } = await loggedIn();

      await service.world.setPassword(owner.email, OTHER_PASSWORD);

      expect(await isLive(browser.token)).toBe(false);
      expect((await browser.refresh()).status).toBe(401);
    });
  });

  it('cannot be ended by a stranger, nor twice, nor under an unknown id', async () => {
    const { owner, browser } = await loggedIn();
    const stranger = await service.world.owner();
    const id = claimsOf(browser.token).sid;
    const end = (sid: string, { token }: Pick<Owner, 'token'>) => service.api.delete(`${SESSION}/${sid}`, { token });

    for (const answer of [await end(id, stranger), await end(randomUUID(), owner)])
      expect([answer.status, answer.body.error_code]).toEqual([404, 'SESSION_NOT_FOUND']);
    expect(await isLive(browser.token)).toBe(true);
    expect((await end(id, owner)).status).toBe(204);
    expect((await end(id, owner)).status).toBe(404);
    expect((await end('1', owner)).body.errors).toEqual([{ field: 'id', rule: 'format', message: 'must be a uuid' }]);
  });

  it('that has ended can no longer be ended by its id', async () => {
    const { owner, browser } = await loggedIn();
    await service.world.setPassword(owner.email, OTHER_PASSWORD);
    const later = new Browser(service);
    await later.logIn(owner.email, OTHER_PASSWORD);

    const answer = await service.api.delete(`${SESSION}/${claimsOf(browser.token).sid}`, { token: later.token });

    expect(answer.status).toBe(404);
  });

  describe('is listed', () => {
    it('with all live logins of the account, the last used first, and nothing that tells where they came from', async () => {
      const { owner, browser } = await loggedIn();
      await service.world.owner();
      const [first, second] = [owner.token, browser.token];

      const answer = await list(first);

      expect(answer.status).toBe(200);
      const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}$/);
      expect(answer.body).toEqual([
        { id: claimsOf(second).sid, created_at: time, last_used_at: time, client: null, current: false },
        { id: claimsOf(first).sid, created_at: time, last_used_at: time, client: null, current: true },
      ]);
      await ahead(5_000, () => browser.refresh());
      const [latest] = (await list(browser.token)).body;
      expect(latest).toMatchObject({ id: claimsOf(second).sid, current: true });
      expect(latest.last_used_at > latest.created_at).toBe(true);
    });

    it.each([
      ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on macOS'],
      [
        'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0',
        'Microsoft Edge on Windows',
      ],
      ['Mozilla/5.0 (X11; Linux x86_64)', 'Linux'],
      ['python-requests/2.32.3', null],
      ['ada@example.com/1.0 <b>Ada</b>', null],
      ['', null],
      [`${'Opera '.repeat(2_000)}Firefox/145.0`, 'Opera'],
    ])('with the names of browser and system, and nothing else of %j', async (userAgent, client) => {
      const { email } = await service.world.owner();
      const headers = { ...OWN_PAGE, 'user-agent': userAgent };
      const { body } = await service.api.post(SESSION, { email, password: PASSWORD }, { headers });
      const tokens = await service.api.post(CREATE_TOKENS, { email, password: PASSWORD }, { headers });

      const [program, browser] = (await list(body.access_token)).body;

      expect([browser, program]).toMatchObject([
        { id: claimsOf(body.access_token).sid, client },
        { id: claimsOf(tokens.body.access_token).sid, client },
      ]);
    });

    it('until it ends', async () => {
      const { owner, browser } = await loggedIn();
      const { browser: other } = await loggedIn(owner);
      await other.logOut();

      expect(await idsOf(browser.token)).toEqual([browser, owner].map(({ token }) => claimsOf(token).sid));
    });

    it('until its last token has expired', async () => {
      const { owner, browser } = await loggedIn();
      await ahead(REFRESH_TTL_SECONDS * 500, () => browser.refresh());

      const ids = await ahead(REFRESH_TTL_SECONDS * 1_000 + 10_000, async () => {
        await browser.refresh();
        return idsOf(browser.token);
      });

      expect(ids).toEqual([claimsOf(browser.token).sid]);
      expect(ids).not.toContain(claimsOf(owner.token).sid);
    });

    it('among at most a hundred', async () => {
      const { owner, browser } = await loggedIn();
      const member = await service.app.get(MemberService).getByEmail(owner.email);
      for (let count = 0; count < 100; count += 1) await service.app.get(TokenService).issue(member, null);
      await ahead(5_000, () => browser.refresh());

      const ids = await idsOf(browser.token);

      expect(ids).toHaveLength(100);
      expect(ids[0]).toBe(claimsOf(browser.token).sid);
    });
  });
});

describe('the cookie of a session', () => {
  it.each([
    ['https://waitlist.example', SESSION, true],
    ['https://example.com/people/', `/people${SESSION}`, true],
    ['http://localhost:3000/a/b', `/a/b${SESSION}`, false],
  ])('belongs to the public address %s', async (base, path, isSecure) => {
    const service = await startService({ environment: { PUBLIC_BASE_URL: base, REFRESH_TOKEN_TTL: '7200' } });
    const browser = new Browser(service);
    const { email } = await service.world.owner();

    const cookies = [await browser.logIn(email), await browser.refresh(), await browser.logOut()].map(cookieOf);
    await service.stop();

    const attributes = { path, httponly: undefined, samesite: 'Strict', ...(isSecure && { secure: undefined }) };
    expect(cookies.map((cookie) => cookie.attributes)).toEqual([
      { ...attributes, 'max-age': '7200' },
      { ...attributes, 'max-age': '7200' },
      { ...attributes, 'max-age': '0' },
    ]);
  });

  it('is taken from the origin that a trusted proxy names as the host, and from no other', async () => {
    const service = await startService({ environment: { TRUST_PROXY: '10.1.2.3' } });
    const browser = new Browser(service);
    await browser.logIn((await service.world.owner()).email);
    const headers = {
      ...browser.cookies,
      host: 'inside:3000',
      'x-forwarded-host': 'waitlist.example',
      origin: 'https://waitlist.example',
    };
    const refresh = (from: string) => service.api.post(REFRESH, undefined, { headers, from });

    const statuses = [(await refresh('10.1.2.4')).status, (await refresh('10.1.2.3')).status];
    await service.stop();

    expect(statuses).toEqual([403, 200]);
  });
});

describe('an owner who changes the password', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ environment: { RATE_LIMIT_LOGIN: '1000', TRUST_PROXY: '127.0.0.1' } });
  });
  afterAll(() => service.stop());

  const isLive = async (token: string) => (await service.api.get(OWNED, { token })).status === 200;
  const change = (token: string, current_password: string, new_password: string, address = '192.0.2.1') =>
    service.api.post(
      CHANGE_PASSWORD,
      { current_password, new_password },
      { token, headers: { 'x-forwarded-for': address } },
    );
  const logIn = (email: string, password: string, address = '192.0.2.1') =>
    service.api.post(CREATE_TOKENS, { email, password }, { headers: { 'x-forwarded-for': address } });
  async function eventsOf({ accountId }: Owner) {
    await service.app.get(LoginAuditService).writeAll();
    return (await service.app.get(AuditLog).list(allOf(accountId), { limit: 100 })).events;
  }

  it('keeps this login, and ends all others with their access tokens at once', async () => {
    const owner = await service.world.owner();
    const [browser, other] = [new Browser(service), new Browser(service)];
    for (const each of [browser, other]) await each.logIn(owner.email);

    const answer = await change(browser.token, PASSWORD, OTHER_PASSWORD);

    expect([answer.status, answer.text]).toEqual([204, '']);
    for (const token of [owner.token, other.token]) expect(await isLive(token)).toBe(false);
    expect((await other.refresh()).status).toBe(401);
    expect(await isLive(browser.token)).toBe(true);
    expect((await browser.refresh()).status).toBe(200);
    expect(await isLive(browser.token)).toBe(true);
    expect((await logIn(owner.email, PASSWORD)).status).toBe(401);
    expect((await logIn(owner.email, OTHER_PASSWORD)).status).toBe(200);
    const event = (await eventsOf(owner)).find(({ action }) => action === 'password_changed');
    expect(event).toMatchObject({
      requestId: answer.headers['x-request-id'],
      addressHash: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it('can end this login later as any other: by logging out, and by a change by the operator', async () => {
    const { email } = await service.world.owner();
    const [browser, other] = [new Browser(service), new Browser(service)];
    await browser.logIn(email);
    await change(browser.token, PASSWORD, OTHER_PASSWORD);
    await other.logIn(email, OTHER_PASSWORD);

    expect((await browser.logOut()).status).toBe(204);
    expect(await isLive(browser.token)).toBe(false);
    expect(await isLive(other.token)).toBe(true);
    await service.world.setPassword(email, PASSWORD);
    expect(await isLive(other.token)).toBe(false);
  });

  it('keeps the account keys', async () => {
    const { token } = await service.world.owner();
    const { body } = await service.api.post('/api/v1/api_key', { name: 'Report', scope: 'read' }, { token });

    await change(token, PASSWORD, OTHER_PASSWORD);

    expect((await service.api.get(OWNED, { headers: { 'api-key': body.key } })).status).toBe(200);
  });

  it('twice at once gets one of the two, and no login but its own stays', async () => {
    const owner = await service.world.owner();
    const browser = new Browser(service);
    await browser.logIn(owner.email);
    const passwords = [OTHER_PASSWORD, 'wobble fjord thimble quartz'];

    const answers = await Promise.all([
      change(owner.token, PASSWORD, passwords[0]!),
      change(browser.token, PASSWORD, passwords[1]!),
    ]);

    // The second one's login had ended, or the password it named.
    expect([
      [204, 401],
      [204, 403],
    ]).toContainEqual(answers.map(({ status }) => status).sort());
    const first = answers.findIndex(({ status }) => status === 204);
    expect([await isLive(owner.token), await isLive(browser.token)]).toEqual([first === 0, first === 1]);
    expect((await logIn(owner.email, passwords[first]!)).status).toBe(200);
  });

  it('must know the current one; failures count like failed logins, and are audited', async () => {
    const owner = await service.world.owner();
    const { email, token } = owner;
    const address = '192.0.2.7';
    const wrong = async () => change(token, 'not the password at all', OTHER_PASSWORD, address);

    const failed = await wrong();

    expect([failed.status, failed.body.error_code]).toEqual([403, 'WRONG_PASSWORD']);
    expect(failed.body.errors).toEqual([
      { field: 'current_password', rule: 'match', message: 'is not your current password' },
    ]);
    for (let attempt = 1; attempt < 5; attempt += 1) expect((await wrong()).status).toBe(403);
    const refused = await change(token, PASSWORD, OTHER_PASSWORD, address);
    expect([refused.status, refused.body.error_code]).toEqual([429, 'TOO_MANY_ATTEMPTS']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await logIn(email, PASSWORD, address)).status).toBe(429);
    expect(await isLive(token)).toBe(true);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
    const actions = (await eventsOf(owner)).map(({ action }) => action);
    expect(actions.filter((action) => action === 'login_failed')).toHaveLength(5);
    expect(actions).toContain('login_throttled');
  });

  it.each([
    ['too short', 'vnqzt rowkd jh', 'min_length'],
    ['too short once it is normalized', 'e\u0301'.repeat(8), 'min_length'],
    ['too long', 'kd jhx qwz '.repeat(24), 'max_length'],
    ['easily guessed', 'Password123456789', 'strength'],
  ])('gets no password that is %s', async (_, password, rule) => {
    const { email, token } = await service.world.owner();

    const answer = await change(token, PASSWORD, password);

    expect([answer.status, answer.body.errors]).toEqual([
      400,
      [{ field: 'new_password', rule, message: expect.any(String) }],
    ]);
    expect((await logIn(email, PASSWORD)).status).toBe(200);
  });
});
