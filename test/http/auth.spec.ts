import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { In } from 'typeorm';
import { AuditLog } from '../../src/platform/audit/audit-log.js';
import { AccountService } from '../../src/account/account.service.js';
import { LoginEntity } from '../../src/auth/login.entity.js';
import { Database } from '../../src/platform/database/database.js';
import { allOf } from '../../src/platform/reach.js';
import { Sweeper } from '../../src/platform/database/sweeper.js';
import type { Answer, CallOptions } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { withProcessorMs } from '../support/processor-time.js';
import { openDatabase } from '../support/database.js';
import { type Service, startService } from '../support/service.js';
import { type Owner, PASSWORD } from '../support/world.js';

const CREATE = '/api/v1/auth/create_tokens';
const REFRESH = '/api/v1/auth/refresh_access_token';
const OTHER_PASSWORD = 'brisk otter plum canyon fizz';
/** Any operation that needs only an access token. */
const OWNED = '/api/v1/waitlist';

const SECRET = 'the-secret-that-signs-the-tokens-of-this-suite';
const OTHER_SECRET = 'a-secret-that-this-service-has-never-been-told';
const ACCESS_TTL_SECONDS = 3600;
const REFRESH_TTL_SECONDS = 30 * 86_400;
const LOGIN_LIFETIME_MS = 90 * 86_400_000;
const RETRY_GRACE_MS = 60_000;
const CLOCK_TOLERANCE_SECONDS = 5;

type Part = Readonly<Record<string, unknown>>;

function read(token: string): { readonly header: Part; readonly claims: Part } {
  const [header, claims] = token
    .split('.', 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Part);
  return { header: header!, claims: claims! };
}

/** Signs with the header's HMAC algorithm. */
function sign(header: Part, claims: Part, secret = SECRET): string {
  const hash = header.alg === 'HS512' ? 'sha512' : 'sha256';
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
}

/** The answer as the caller sees it, without the `instance` of the request. */
function visible({ status, body, headers }: Answer) {
  return { status, body: { ...body, instance: undefined }, authenticate: headers['www-authenticate'] };
}

const nowSeconds = () => Math.floor(Date.now() / 1000);

describe('tokens', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ environment: { JWT_SECRET: SECRET } });
  });
  afterAll(() => service.stop());

  const logIn = (email: string, password = PASSWORD, options?: CallOptions) =>
    service.api.post(CREATE, { email, password }, options);
  const refresh = (token: string) => service.api.get(REFRESH, { token });
  const isLive = async (token: string) => (await service.api.get(OWNED, { token })).status === 200;

  const loginsOf = (...tokens: string[]): Promise<LoginEntity[]> =>
    service.app
      .get(Database)
      .read((manager) => manager.findBy(LoginEntity, { id: In(tokens.map((token) => read(token).claims.sid)) }));

  describe('create_tokens', () => {
    it('gives an account a pair whose access token opens the account operations', async () => {
      const { email } = await service.world.owner();

      const answer = await logIn(email);

      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ access_token: expect.any(String), refresh_token: expect.any(String) });
      expect(await isLive(answer.body.access_token)).toBe(true);
    });

    it('gives an access token for one hour and a refresh token for thirty days', async () => {
      const { token, refreshToken } = await service.world.owner();

      const access = read(token).claims;
      const renewal = read(refreshToken).claims;

      expect(Number(access.exp) - Number(access.iat)).toBe(ACCESS_TTL_SECONDS);
      expect(Number(renewal.exp) - Number(renewal.iat)).toBe(REFRESH_TTL_SECONDS);
    });

    it('gives a wrong email and a wrong password the same answer', async () => {
      const { email } = await service.world.owner();

      const wrongPassword = await logIn(email, 'not the password at all');
      const wrongEmail = await logIn('nobody@owners.example');
      const noEmail = await logIn('not an email');

      expect(wrongPassword.status).toBe(401);
      expect(wrongPassword.body.error_code).toBe('WRONG_CREDENTIALS');
      expect(wrongPassword.headers['www-authenticate']).toBe('Bearer');
      expect(visible(wrongEmail)).toEqual(visible(wrongPassword));
      expect(visible(noEmail)).toEqual(visible(wrongPassword));
    });

    it('takes as long for a wrong email as for a wrong password', async () => {
      const { email } = await service.world.owner();
      const fastest = { known: Infinity, unknown: Infinity };
      for (let attempt = 0; attempt < 8; attempt += 1) {
        fastest.known = Math.min(fastest.known, await costOfLogin(email));
        fastest.unknown = Math.min(fastest.unknown, await costOfLogin('nobody@owners.example'));
      }

      expect(fastest.unknown).toBeGreaterThan(fastest.known / 2);
    });

    async function costOfLogin(address: string): Promise<number> {
      const [, ms] = await withProcessorMs(() => logIn(address, 'not the password at all'));
      return ms;
    }
  });

  describe('refresh_access_token', () => {
    it('exchanges a refresh token for a new pair', async () => {
      const owner = await service.world.owner();

      const answer = await refresh(owner.refreshToken);

      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ access_token: expect.any(String), refresh_token: expect.any(String) });
      expect(answer.body.access_token).not.toBe(owner.token);
      expect(answer.body.refresh_token).not.toBe(owner.refreshToken);
      expect(await isLive(answer.body.access_token)).toBe(true);
      expect((await refresh(answer.body.refresh_token)).status).toBe(200);
    });

    it('accepts a JSON content type without a body', async () => {
      const { refreshToken } = await service.world.owner();
      const headers = { 'content-type': 'application/json' };

      expect((await service.api.get(REFRESH, { token: refreshToken, headers })).status).toBe(200);
    });

    it('gives a retry within sixty seconds the same pair, while the successor is unused', async () => {
      const { refreshToken } = await service.world.owner();
      const first = await refresh(refreshToken);

      const again = await ahead(RETRY_GRACE_MS - 5_000, () => refresh(refreshToken));

      expect(again.status).toBe(200);
      expect(again.body).toEqual(first.body);
    });

    it('treats reuse after sixty seconds as theft: it ends the login with all its tokens, but no other login', async () => {
      const owner = await service.world.owner();
      const otherLogin = await logIn(owner.email);
      const successor = await refresh(owner.refreshToken);

      const reuse = await ahead(RETRY_GRACE_MS + 1_000, () => refresh(owner.refreshToken));

      expect(reuse.status).toBe(401);
      expect(reuse.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
      expect((await refresh(successor.body.refresh_token)).status).toBe(401);
      for (const token of [owner.token, successor.body.access_token as string]) expect(await isLive(token)).toBe(false);
      expect(await isLive(otherLogin.body.access_token)).toBe(true);
      expect((await refresh(otherLogin.body.refresh_token)).status).toBe(200);
    });

    it('treats reuse after the successor was used as theft, however soon', async () => {
      const { refreshToken } = await service.world.owner();
      const second = await refresh(refreshToken);
      const third = await refresh(second.body.refresh_token);

      expect((await refresh(refreshToken)).status).toBe(401);
      expect((await refresh(third.body.refresh_token)).status).toBe(401);
    });

    it('counts a reuse and leaves one audit event, however often the stolen token is tried', async () => {
      const { accountId, refreshToken } = await service.world.owner();
      const reuses = async () =>
        Number(/^waitlist_refresh_reuse_total (\d+)$/m.exec((await service.api.get('/metrics')).text)?.[1]);
      const before = await reuses();
      await refresh((await refresh(refreshToken)).body.refresh_token);

      const [reuse] = [await refresh(refreshToken), await refresh(refreshToken), await refresh(refreshToken)];

      expect(await reuses()).toBe(before + 1);
      const { events } = await service.app.get(AuditLog).list(allOf(accountId), { limit: 100 });
      expect(events.filter(({ action }) => action === 'refresh_token_reused')).toEqual([
        expect.objectContaining({
          requestId: reuse.headers['x-request-id'],
          addressHash: expect.stringMatching(/^[\w-]{43}$/),
        }),
      ]);
    });

    it('leaves one live token after twenty refreshes at once', async () => {
      const { refreshToken } = await service.world.owner();

      const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refreshToken)));

      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect((await refresh(answers[0]!.body.refresh_token)).status).toBe(200);
    });

    it('keeps one row per login, however often it is refreshed; reuse of an early token still ends it', async () => {
      const owner = await service.world.owner();
      let { refreshToken } = owner;
      for (let count = 0; count < 200; count += 1) refreshToken = (await refresh(refreshToken)).body.refresh_token;

      const rows = await service.app
        .get(Database)
        .read((manager) => manager.countBy(LoginEntity, { memberId: owner.id }));

      expect(rows).toBe(1);
      expect((await refresh(owner.refreshToken)).status).toBe(401);
      expect((await refresh(refreshToken)).status).toBe(401);
    });

    it('refuses all tokens of a login that was made ninety days ago', async () => {
      const owner = await service.world.owner();
      const exp = nowSeconds() + LOGIN_LIFETIME_MS;
      const lasting = (token: string) => sign(read(token).header, { ...read(token).claims, exp });

      const answers = await ahead(LOGIN_LIFETIME_MS, async () => [
        await service.api.get(OWNED, { token: lasting(owner.token) }),
        await refresh(lasting(owner.refreshToken)),
      ]);

      expect(answers.map(({ status }) => status)).toEqual([401, 401]);
    });

    it('issues no token that outlives its login', async () => {
      const { refreshToken } = await service.world.owner();
      const lasting = sign(read(refreshToken).header, {
        ...read(refreshToken).claims,
        exp: nowSeconds() + LOGIN_LIFETIME_MS,
      });

      const { body } = await ahead(LOGIN_LIFETIME_MS - 60_000, () => refresh(lasting));

      const [login] = await loginsOf(refreshToken);
      for (const token of [body.access_token, body.refresh_token] as string[])
        expect(read(token).claims.exp).toBe(Math.floor(login!.expiresAt.getTime() / 1000));
    });

    it('removes logins in the background once they have expired, and no other', async () => {
      const [expired, live] = [await service.world.owner(), await service.world.owner()];
      await service.app
        .get(Database)
        .transaction((manager) =>
          manager.update(LoginEntity, { id: read(expired.token).claims.sid as string }, { expiresAt: new Date() }),
        );

      await ahead(1_000, () => service.app.get(Sweeper).sweepAll());

      expect((await loginsOf(expired.token, live.token)).map(({ id }) => id)).toEqual([read(live.token).claims.sid]);
    });
  });

  describe('either token', () => {
    it('identifies its own account among calls at the same moment', async () => {
      const waitlists = await Promise.all([service.world.waitlist(), service.world.waitlist()]);
      const calls = Array.from({ length: 10 }, () => waitlists).flat();

      const answers = await Promise.all(calls.map(({ owner: { token } }) => service.api.get(OWNED, { token })));

      expect(answers.map(({ body }) => (body as { id: number }[]).map(({ id }) => id))).toEqual(
        calls.map(({ id }) => [id]),
      );
    });

    it('is refused with a second Authorization header, because a proxy may have checked the other', async () => {
      const { token } = await service.world.owner();
      const get = async (...tokens: string[]) =>
        service.api.get(OWNED, { headers: { authorization: tokens.map((given) => `Bearer ${given}`) } });

      expect((await get(token)).status).toBe(200);
      for (const { status, body } of [await get(token, 'other'), await get('other', token), await get(token, token)]) {
        expect(status).toBe(400);
        expect(body.errors).toEqual([{ field: 'authorization', rule: 'unique', message: 'must be given once' }]);
      }
    });

    it('is not accepted in place of the other', async () => {
      const owner = await service.world.owner();

      const asRefresh = await refresh(owner.token);
      const asAccess = await service.api.get(OWNED, { token: owner.refreshToken });

      for (const answer of [asRefresh, asAccess]) {
        expect(answer.status).toBe(401);
        expect(answer.body.error_code).toBe('INVALID_TOKEN');
        expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
      }
    });

    it.each(['Bearer', 'Bearer a.b.c', 'Basic b3duZXI6cGFzc3dvcmQ=', 'Bearer e30.e30.', ''])(
      'is not read from the header %j',
      async (authorization) => {
        for (const path of [OWNED, REFRESH]) {
          const answer = await service.api.get(path, { headers: { authorization } });

          expect(answer.status).toBe(401);
          expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
        }
      },
    );

    it.each([
      ['one word', 'a'],
      ['a scheme and a word', 'Bearer a'],
      ['a scheme and spaces', 'Bearer  '],
    ])('is parsed in linear time from a hostile header: %s', async (_, start) => {
      const authorization = start + start.at(-1)!.repeat(50_000);

      for (const path of [OWNED, REFRESH]) {
        const [{ status }, ms] = await withProcessorMs(() => service.api.get(path, { headers: { authorization } }));

        expect(status).toBe(401);
        expect(ms).toBeLessThan(2_000);
      }
    });

    describe.each([
      ['an access token', OWNED, (owner: Owner) => owner.token],
      ['a refresh token', REFRESH, (owner: Owner) => owner.refreshToken],
    ] as const)('as %s', (_, path, pick) => {
      const answerTo = async (token: string) => (await service.api.get(path, { token })).status;
      let header: Part;
      let claims: Part;
      beforeAll(async () => {
        ({ header, claims } = read(pick(await service.world.owner())));
      });

      it('is accepted if this suite signs it', async () => {
        const fresh = read(pick(await service.world.owner()));

        expect(await answerTo(sign(fresh.header, fresh.claims))).toBe(200);
      });

      it('is accepted by a replica whose clock is a minute behind', async () => {
        const fresh = await ahead(60_000, async () => pick(await service.world.owner()));

        expect(await answerTo(fresh)).toBe(200);
      });

      it('is refused if another secret signed it', async () => {
        expect(await answerTo(sign(header, claims, OTHER_SECRET))).toBe(401);
      });

      it('is refused with the signature of another token', async () => {
        const [, , signature] = pick(await service.world.owner()).split('.');
        const [head, body] = sign(header, claims).split('.');

        expect(await answerTo(`${head}.${body}.${signature}`)).toBe(401);
      });

      it.each<[string, Part]>([
        ['with alg none', { alg: 'none' }],
        ['with another typ', { typ: 'x' }],
        ['with an unknown kid', { kid: 'unknown' }],
      ])('is refused unsigned %s', async (_, part) => {
        const [head, body] = sign({ ...header, ...part }, claims).split('.');

        expect(await answerTo(`${head}.${body}.`)).toBe(401);
      });

      it.each<[string, Part]>([
        ['alg none but signed', { alg: 'none' }],
        ['another algorithm', { alg: 'HS512' }],
        ['an asymmetric algorithm', { alg: 'RS256' }],
        ['a crit header', { crit: ['exp'] }],
        ['an empty crit header', { crit: [] }],
        ['another typ', { typ: 'JWT' }],
        ['no typ', { typ: undefined }],
        ['an unknown kid', { kid: 'unknown' }],
        ['no kid', { kid: undefined }],
        ['a kid that is a path', { kid: '../../dev/null' }],
        ['a kid that is a property of every object', { kid: 'constructor' }],
      ])('is refused with %s in its header', async (_change, change) => {
        expect(await answerTo(sign({ ...header, ...change }, claims))).toBe(401);
      });

      it.each<[string, () => Part]>([
        ['another audience', () => ({ aud: 'someone-else' })],
        ['no audience', () => ({ aud: undefined })],
        ['another issuer', () => ({ iss: 'someone-else' })],
        ['no issuer', () => ({ iss: undefined })],
        ['another use', () => ({ token_use: 'password-reset' })],
        ['an expiry in the past', () => ({ exp: nowSeconds() - CLOCK_TOLERANCE_SECONDS - 1 })],
        ['a start in the future', () => ({ nbf: nowSeconds() + 60 })],
        ['an unknown login', () => ({ sid: randomUUID() })],
        ['no login', () => ({ sid: undefined })],
        ['a login of the wrong type', () => ({ sid: [claims.sid] })],
        ['an unknown account as its subject', () => ({ sub: '9007199254740991' })],
        ['no subject', () => ({ sub: undefined })],
        ['a subject that is not a number', () => ({ sub: '1e400' })],
        ['no expiry', () => ({ exp: undefined })],
        ['no id', () => ({ jti: undefined })],
        ['an id of the wrong type', () => ({ jti: [claims.jti] })],
      ])('is refused with %s in its claims', async (_change, change) => {
        expect(await answerTo(sign(header, { ...claims, ...change() }))).toBe(401);
      });
    });
  });

  describe('an account', () => {
    /** On the same database. */
    let replica: Service;
    beforeAll(async () => {
      replica = await startService({ environment: { DATABASE_URL: service.databaseUrl, JWT_SECRET: SECRET } });
    });
    afterAll(() => replica.stop());

    /** Ends an owner's access at one replica; resolves with the refused login. */
    async function expectEnded(end: (accounts: AccountService, email: string) => Promise<void>): Promise<Answer> {
      const { email, token, refreshToken } = await service.world.owner();
      expect((await replica.api.get(OWNED, { token })).status).toBe(200);

      await end(service.app.get(AccountService), email);

      for (const { api } of [service, replica]) {
        expect((await api.get(OWNED, { token })).status).toBe(401);
        expect((await api.get(REFRESH, { token: refreshToken })).status).toBe(401);
      }
      return replica.api.post(CREATE, { email, password: PASSWORD });
    }

    it('that is disabled loses its tokens and its login at every replica at once', async () => {
      const refused = await expectEnded((accounts, email) => accounts.disable(email));

      expect(visible(refused)).toEqual(visible(await logIn('nobody@owners.example')));
    });

    it('that is enabled again can log in; its earlier logins stay ended', async () => {
      const { email, token, refreshToken } = await service.world.owner();
      const accounts = service.app.get(AccountService);

      await accounts.disable(email);
      await accounts.enable(email);

      expect((await replica.api.post(CREATE, { email, password: PASSWORD })).status).toBe(200);
      for (const { api } of [service, replica]) {
        expect((await api.get(OWNED, { token })).status).toBe(401);
        expect((await api.get(REFRESH, { token: refreshToken })).status).toBe(401);
      }
    });

    it('has an audit event for each change of its access', async () => {
      const { email, accountId } = await service.world.owner();
      const accounts = service.app.get(AccountService);

      await accounts.disable(email);
      await service.world.setPassword(email, OTHER_PASSWORD);
      await accounts.enable(email);

      const { events } = await service.app.get(AuditLog).list(allOf(accountId), { limit: 10 });
      expect(events.map(({ action }) => action)).toEqual([
        'account_enabled',
        'password_set',
        'account_disabled',
        'account_created',
      ]);
    });

    it('with a new password loses its tokens and its old password at every replica at once', async () => {
      const bystander = await service.world.owner();

      const refused = await expectEnded(async (_, email) => {
        await service.world.setPassword(email, OTHER_PASSWORD);
        expect((await logIn(email, OTHER_PASSWORD)).status).toBe(200);
      });

      expect(refused.status).toBe(401);
      expect(await isLive(bystander.token)).toBe(true);
    });

    it('is inserted once if the insertion is repeated after a lost answer to COMMIT', async () => {
      const accounts = service.app.get(AccountService);
      const email = `${randomUUID()}@owners.example`;
      const account = { uuid: randomUUID(), ownerId: randomUUID(), email, emailKey: email, passwordHash: null };

      const inserted = await accounts.insert(account);

      expect(await accounts.insert(account)).toMatchObject({
        account: { id: inserted.account.id, uuid: account.uuid },
        owner: { id: account.ownerId, email },
      });
    });
  });
});

describe('a change of secrets', () => {
  it('leaves tokens valid while their secret is listed, and new tokens are signed with the first secret', async () => {
    const database = await openDatabase(true);
    /** Runs a service with these secrets on the same database. */
    async function during<Result>(secrets: string, use: (service: Service) => Promise<Result>): Promise<Result> {
      const service = await startService({ environment: { DATABASE_URL: database.url, JWT_SECRET: secrets } });
      try {
        return await use(service);
      } finally {
        await service.stop();
      }
    }
    const statuses = async ({ api }: Service, access: string, refresh: string) => [
      (await api.get(OWNED, { token: access })).status,
      (await api.get(REFRESH, { token: refresh })).status,
    ];
    try {
      const old = await during(SECRET, ({ world }) => world.owner());
      const renewed = await during(`${OTHER_SECRET},${SECRET}`, async (service) => {
        expect(await statuses(service, old.token, old.refreshToken)).toEqual([200, 200]);
        return (await service.api.get(REFRESH, { token: old.refreshToken })).body;
      });
      await during(OTHER_SECRET, async (service) => {
        expect(await statuses(service, old.token, old.refreshToken)).toEqual([401, 401]);
        expect(await statuses(service, renewed.access_token, renewed.refresh_token)).toEqual([200, 200]);
      });
    } finally {
      await database.drop();
    }
  });
});
