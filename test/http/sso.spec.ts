import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemberEntity, type Role } from '../../src/account/member.entity.js';
import { AccountService } from '../../src/account/account.service.js';
import { MEMBERS_MAX, MemberService } from '../../src/account/member.service.js';
import { SsoService } from '../../src/auth/sso.service.js';
import { TokenService } from '../../src/auth/token.service.js';
import { checkFirstOwner, prepareFirstStart } from '../../src/boot/first-start.js';
import { type Config, CONFIG } from '../../src/platform/config/config.js';
import { Database } from '../../src/platform/database/database.js';
import { Sweeper } from '../../src/platform/database/sweeper.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import type { Answer } from '../support/api.js';
import { ahead } from '../support/clock.js';
import { openDatabase } from '../support/database.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { type Service, startService } from '../support/service.js';
import { type LoggedIn, PASSWORD } from '../support/world.js';

const SSO = '/api/v1/auth/sso';
const CALLBACK = `${SSO}/callback`;
const LINK = `${SSO}/link`;
const METHODS = '/api/v1/auth/methods';
const ME = '/api/v1/member/me';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
const SIGN_IN_PAGE = '/desk/sign-in?error=';
const PROFILE_PAGE = '/desk/profile?error=';
const MINUTE_MS = 60_000;

/** A person at the provider, with an email that nobody has. */
const person = (claims: object = {}) => {
  const sub = randomUUID();
  return { sub, email: `${sub}@people.example`, email_verified: true, ...claims };
};
type Person = ReturnType<typeof person>;

function cookiesOf({ headers }: Answer): Record<string, string> {
  const set = [headers['set-cookie'] ?? []].flat() as string[];
  return Object.fromEntries(set.map((cookie) => cookie.split(';', 1)[0]!.split(/=(.*)/s, 2) as [string, string]));
}

/** A browser with the cookies of the service. */
class Browser {
  cookies: Record<string, string> = {};

  constructor(
    private readonly service: Service,
    private readonly provider: IdentityProvider,
  ) {}

  async open(url: string): Promise<Answer> {
    const answer = await this.service.api.get(url, { headers: { cookie: this.cookie } });
    Object.assign(this.cookies, cookiesOf(answer));
    return answer;
  }

  /** Goes to the provider, and returns the query to come back with. */
  async visit(who: object | null, start = SSO): Promise<string> {
    const { headers } = await this.open(start);
    return this.provider.signIn(String(headers.location), who as Person | null);
  }

  /** Where a whole sign-in ends. */
  async signIn(who: object | null, start = SSO): Promise<string> {
    return this.comeBack(await this.visit(who, start));
  }

  async comeBack(query: string): Promise<string> {
    const { status, headers } = await this.open(`${CALLBACK}?${query}`);
    expect(status).toBe(303);
    return String(headers.location);
  }

  async token(): Promise<string> {
    const headers = { ...OWN_PAGE, cookie: this.cookie };
    const { body } = await this.service.api.post('/api/v1/auth/session/refresh', undefined, { headers });
    return String(body.access_token);
  }

  /** The member who is signed in. */
  async me() {
    return (await this.service.api.get(ME, { token: await this.token() })).body;
  }

  get cookie(): string {
    return Object.entries(this.cookies)
      .map(([name, value]) => `${name}=${value}`)
      .join('; ');
  }
}

/** Somebody with an invitation that was not accepted. */
async function invite(service: Service, accountId: number, role: Role, email: string): Promise<string> {
  const [id] = await inviteAll(service, accountId, role, [email]);
  return id!;
}

async function inviteAll({ app }: Service, accountId: number, role: Role, emails: string[]): Promise<string[]> {
  const none = { name: null, passwordHash: null, ssoIssuer: null, ssoSubject: null, joinedAt: null };
  const times = { createdAt: new Date(), disabledAt: null, lastLoginAt: null };
  const rows = emails.map((email) => ({ id: randomUUID(), email, emailKey: email, ...none, ...times }));
  const members = app.get(Database).dataSource.getRepository(MemberEntity);
  await members.insert(rows.map((row) => ({ ...row, accountId, role, hasTwoFactor: false, tokenVersion: 0 })));
  return rows.map(({ id }) => id);
}

const setActive = async ({ app }: Service, id: string, accountId: number, isActive: boolean) =>
  app.get(MemberService).update(id, { isActive }, operatorWrite(accountId));

describe('single sign-on', () => {
  let provider: IdentityProvider;
  let service: Service;
  /** Where a sign-in ends whose provider never answers: known ten seconds later. */
  let hanging: Promise<string>;
  beforeAll(async () => {
    provider = await IdentityProvider.start();
    service = await startService({ environment: { ...provider.environment, OIDC_NAME: 'Example Inc.' } });
    service.startTasks();
    const waiting = browser();
    const query = await waiting.visit((await joined()).who);
    provider.hangOnce();
    hanging = waiting.comeBack(query);
    await provider.isHanging;
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });
  const browser = () => new Browser(service, provider);
  /** A person at the provider who is invited with this role. */
  const invited = async (role: Role = 'editor') => {
    const owner = await service.world.owner();
    const who = person();
    return { owner, who, id: await invite(service, owner.accountId, role, who.email) };
  };
  /** A member who has signed in before. */
  const joined = async () => {
    const found = await invited();
    expect(await browser().signIn(found.who)).toBe('/desk');
    return found;
  };
  const actionsAbout = async ({ token }: LoggedIn, id: string) =>
    (await service.api.get('/api/v1/audit', { token, query: { uuid: id } })).body.map(
      (event: { action: string }) => event.action,
    );

  it('is offered beside passwords', async () => {
    expect((await service.api.get(METHODS)).body).toEqual({
      password: true,
      password_reset: false,
      sso: { name: 'Example Inc.' },
    });
  });

  it('accepts an invitation, and knows the person from then on, whatever the email', async () => {
    const { owner, who, id } = await invited();
    const first = browser();

    expect(await first.signIn(who)).toBe('/desk');
    expect(await first.me()).toMatchObject({
      id,
      email: who.email,
      role: 'editor',
      status: 'active',
      sign_in: ['sso'],
    });
    expect(await actionsAbout(owner, id)).toEqual(['member_joined']);

    const later = browser();
    expect(await later.signIn({ ...who, email: person().email })).toBe('/desk');
    expect(await later.me()).toMatchObject({ id, email: who.email });
  });

  it('ends the links by which the member could set a password', async () => {
    const { api, world } = service;
    const { token } = await world.owner();
    const who = person();
    const { body } = await api.post('/api/v1/member', { email: who.email, role: 'viewer' }, { token });
    const tokenOf = (url: unknown) => String(url).split('#')[1];

    expect(await browser().signIn(who)).toBe('/desk');
    const accepted = { token: tokenOf(body.invitation_url), password: PASSWORD };
    expect((await api.post('/api/v1/auth/invitation/accept', accepted)).status).toBe(404);
    const started = await api.post(`/api/v1/member/${body.id}/password_reset`, undefined, { token });
    expect(await browser().signIn(who)).toBe('/desk');
    const reset = { token: tokenOf(started.body.reset_url), new_password: PASSWORD };
    expect((await api.post('/api/v1/auth/password/reset', reset)).status).toBe(404);
  });

  it('needs no second factor that the account requires of logins by password', async () => {
    const { owner, who } = await joined();
    const one = browser();
    await one.signIn(who);
    const list = async (token: string) => (await service.api.get('/api/v1/waitlist', { token })).status;

    await service.api.patch('/api/v1/account', { require_two_factor: true }, { token: owner.token });

    expect([await list(await one.token()), await list(owner.token)]).toEqual([200, 403]);
  });

  it('keeps its state in a cookie that only its own paths get, and clears it', async () => {
    const { who } = await joined();
    const visitor = browser();
    const start = await visitor.open(SSO);
    const query = await provider.signIn(String(start.headers.location), who);
    const end = await visitor.open(`${CALLBACK}?${query}`);

    expect(start.status).toBe(302);
    expect(start.headers['set-cookie']).toMatch(
      /^waitlist_sso=[\w.-]+; Max-Age=600; Path=\/api\/v1\/auth\/sso; HttpOnly; SameSite=Lax$/,
    );
    expect(end.headers['set-cookie']).toEqual([
      expect.stringMatching(/^waitlist_sso=; Max-Age=0; Path=\/api\/v1\/auth\/sso; /),
      expect.stringMatching(
        /^waitlist_session=[^;]+; Max-Age=\d+; Path=\/api\/v1\/auth\/session; HttpOnly; SameSite=Strict$/,
      ),
    ]);
    expect(new URL(String(start.headers.location)).searchParams.get('code_challenge_method')).toBe('S256');
  });

  it('lets nobody in without an invitation, members with a password neither', async () => {
    const owner = await service.world.owner();

    expect(await browser().signIn(person())).toBe(`${SIGN_IN_PAGE}NOT_INVITED`);
    expect(await browser().signIn(person({ email: owner.email }))).toBe(`${SIGN_IN_PAGE}NOT_INVITED`);
  });

  it('needs an email that the provider has verified, each time', async () => {
    const { who } = await joined();
    const outcomes: string[] = [];
    for (const claims of [
      { email_verified: false },
      { email_verified: undefined },
      { email: undefined },
      { email: 'x' },
    ])
      outcomes.push(await browser().signIn({ ...who, ...claims }));

    expect(outcomes).toEqual(Array.from(outcomes, () => `${SIGN_IN_PAGE}EMAIL_NOT_VERIFIED`));
    expect(outcomes).toHaveLength(4);
  });

  it('refuses an email that belongs to a member with another identity', async () => {
    const { who } = await joined();

    expect(await browser().signIn(person({ email: who.email }))).toBe(`${SIGN_IN_PAGE}SSO_REFUSED`);
  });

  it('keeps out disabled members, known and invited, and those of a disabled account', async () => {
    const known = await joined();
    const waiting = await invited();
    const other = await joined();
    await setActive(service, known.id, known.owner.accountId, false);
    await setActive(service, waiting.id, waiting.owner.accountId, false);
    await service.app.get(AccountService).disable(other.owner.email);

    for (const { who } of [known, waiting, other])
      expect(await browser().signIn(who)).toBe(`${SIGN_IN_PAGE}MEMBER_DISABLED`);
    await setActive(service, known.id, known.owner.accountId, true);
    expect(await browser().signIn(known.who)).toBe('/desk');
  });

  describe('refuses an answer', () => {
    let who: Person;
    beforeAll(async () => {
      ({ who } = await joined());
    });

    it.each([
      ['for another audience', { claims: { aud: 'another-client' } }],
      ['of another issuer', { claims: { iss: 'https://other.example' } }],
      ['with another nonce', { claims: { nonce: 'another' } }],
      ['that has expired', { claims: { exp: 1_000_000_000, iat: 999_999_000 } }],
      ['that another key has signed', { key: IdentityProvider.foreignKey() }],
      ['without a signature', { algorithm: 'none' as const }],
    ])('%s', async (_, forgery) => {
      provider.forgery = forgery;
      const outcome = await browser().signIn(who);
      provider.forgery = null;

      expect(outcome).toBe(`${SIGN_IN_PAGE}SSO_REFUSED`);
      expect(await browser().signIn(who)).toBe('/desk');
    });

    it('in which the provider or the person says no', async () => {
      expect(await browser().signIn(null)).toBe(`${SIGN_IN_PAGE}SSO_REFUSED`);
    });

    it('to a browser that did not ask, that asked ten minutes ago, or whose cookie was changed', async () => {
      const asked = browser();
      const query = await asked.visit(who);
      const changed = Object.assign(browser(), {
        cookies: {
          waitlist_sso: asked.cookies.waitlist_sso!.replace(/(?<=^.{40})./, (one) => (one === 'A' ? 'B' : 'A')),
        },
      });

      expect(await browser().comeBack(query)).toBe(`${SIGN_IN_PAGE}SSO_REFUSED`);
      expect(await changed.comeBack(query)).toBe(`${SIGN_IN_PAGE}SSO_REFUSED`);
      const late = await ahead(10 * MINUTE_MS + 1_000, () => asked.comeBack(query));
      expect(late).toBe(`${SIGN_IN_PAGE}SSO_REFUSED`);
    });

    it('that was used, even with its cookie', async () => {
      const asked = browser();
      const query = await asked.visit(who);
      const copy = Object.assign(browser(), { cookies: { ...asked.cookies } });

      expect(await asked.comeBack(query)).toBe('/desk');
      expect(await copy.comeBack(query)).toBe(`${SIGN_IN_PAGE}SSO_REFUSED`);
    });

    it('to the earlier of two sign-ins in one browser, and accepts the later', async () => {
      const asked = browser();
      const earlier = await asked.visit(who);
      const later = await asked.visit(who);

      expect(await asked.comeBack(earlier)).toBe(`${SIGN_IN_PAGE}SSO_REFUSED`);
      expect(await asked.comeBack(later)).toBe('/desk');
    });
  });

  describe('with a provider', () => {
    it('that has failed or names another issuer says so, and works again as soon as it does', async () => {
      const { who, owner } = await joined();
      const asked = browser();
      const query = await asked.visit(who);
      provider.mood = 'broken';

      expect(await asked.comeBack(query)).toBe(`${SIGN_IN_PAGE}SSO_UNAVAILABLE`);
      await ahead(MINUTE_MS + 1_000, async () => {
        for (const mood of ['broken', 'renamed'] as const) {
          provider.mood = mood;
          const { status, headers } = await browser().open(SSO);
          expect([mood, status, headers.location]).toEqual([mood, 303, `${SIGN_IN_PAGE}SSO_UNAVAILABLE`]);
        }
        const login = { email: owner.email, password: PASSWORD };
        expect((await service.api.post('/api/v1/auth/create_tokens', login)).status).toBe(200);
        provider.mood = 'well';
        expect((await browser().open(SSO)).status).toBe(302);
      });
      expect(await browser().signIn(who)).toBe('/desk');
    });

    it('that has new keys is believed at once', async () => {
      const { who } = await joined();
      await provider.rotateKeys();
      expect(await browser().signIn(who)).toBe('/desk');
    });
  });

  describe('linked from the profile', () => {
    /** A browser in which the member asks for a link, and the link. */
    const linking = async ({ token }: LoggedIn, one = browser()) => {
      const answer = await service.api.post(LINK, undefined, { token });
      Object.assign(one.cookies, cookiesOf(answer));
      const { pathname, search } = new URL(answer.body.url as string);
      return { one, link: `${pathname}${search}` };
    };

    it('lets a member sign in by it, whatever its email', async () => {
      const owner = await service.world.owner();
      const who = person({ email_verified: false });

      const { one, link } = await linking(owner);
      expect(await one.signIn(who, link)).toBe('/desk/profile');
      const signedIn = browser();
      expect(await signedIn.signIn({ ...who, email_verified: true })).toBe('/desk');
      expect(await signedIn.me()).toMatchObject({ id: owner.id, role: 'owner', sign_in: ['password', 'sso'] });
      expect(await actionsAbout(owner, owner.id)).toContain('member_updated');
    });

    it("refuses an identity that is somebody else's", async () => {
      const { who, id } = await joined();
      const owner = await service.world.owner();

      const { one, link } = await linking(owner);
      expect(await one.signIn(who, link)).toBe(`${PROFILE_PAGE}SSO_REFUSED`);
      const signedIn = browser();
      await signedIn.signIn(who);
      expect(await signedIn.me()).toMatchObject({ id });
    });

    it('works once, within ten minutes, in the browser that asked, until a newer link, and while the login lives', async () => {
      const owner = await service.world.owner();
      const refused = async (url: string, visitor = browser()) => (await visitor.open(url)).headers.location;
      const older = await linking(owner);
      const { one, link } = await linking(owner);

      expect(await refused(older.link, older.one)).toBe(`${PROFILE_PAGE}SSO_REFUSED`);
      expect(await refused(link)).toBe(`${PROFILE_PAGE}SSO_REFUSED`);
      const later = await ahead(10 * MINUTE_MS + 1_000, () => refused(link, one));
      expect(later).toBe(`${PROFILE_PAGE}SSO_REFUSED`);
      const again = Object.assign(browser(), { cookies: { ...one.cookies } });
      const query = await one.visit(person(), link);
      expect(await refused(link, again)).toBe(`${PROFILE_PAGE}SSO_REFUSED`);
      await service.world.setPassword(owner.email, PASSWORD);
      expect(await one.comeBack(query)).toBe(`${PROFILE_PAGE}SSO_REFUSED`);
    });
  });

  it('says that the provider is away if it has not answered after ten seconds', async () => {
    expect(await hanging).toBe(`${SIGN_IN_PAGE}SSO_UNAVAILABLE`);
  });
});

describe('single sign-on for everybody of an account, with roles from a claim', () => {
  const HOME = `${randomUUID()}@home.example`;
  let provider: IdentityProvider;
  let service: Service;
  let home: LoggedIn;
  beforeAll(async () => {
    // Its claims are at userinfo only.
    provider = await IdentityProvider.start({ tellsInIdToken: false });
    const roles = { OIDC_ROLE_CLAIM: 'realm_access.roles', OIDC_ROLES: 'admins:owner,urn:launch:editor,staff:viewer' };
    const environment = { ...provider.environment, ...roles, OIDC_ACCOUNT: HOME, OIDC_TRUST_EMAIL: 'true' };
    service = await startService({ environment });
    service.startTasks();
    const { owner } = await service.app.get(AccountService).create(HOME, PASSWORD, { isRandom: true });
    const { accessToken: token, refreshToken } = await service.app.get(TokenService).issue(owner, null);
    home = { ...owner, token, refreshToken };
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });
  const browser = () => new Browser(service, provider);
  const inGroups = (who: object, ...roles: string[]) => ({
    ...who,
    email_verified: undefined,
    realm_access: { roles },
  });
  const members = async () =>
    (await service.api.get('/api/v1/member', { token: home.token })).body as { email: string }[];

  it('makes one member of somebody who comes twice at once', async () => {
    const who = inGroups(person(), 'staff');
    const both = [browser(), browser()];
    const queries = [await both[0]!.visit(who), await both[1]!.visit(who)];

    expect(await Promise.all(both.map((one, index) => one.comeBack(queries[index]!)))).toEqual(['/desk', '/desk']);
    const [one, other] = [await both[0]!.me(), await both[1]!.me()];
    expect(one).toMatchObject({ role: 'viewer', status: 'active', sign_in: ['sso'] });
    expect(other.id).toBe(one.id);
    expect((await members()).filter(({ email }) => email === one.email)).toHaveLength(1);
  });

  it('gives the highest role of the groups, and changes it at the next login', async () => {
    const who = person();
    const signIn = async (...groups: string[]) => {
      const one = browser();
      expect(await one.signIn(inGroups(who, ...groups))).toBe('/desk');
      return one;
    };
    const first = await signIn('staff', 'urn:launch');

    expect((await first.me()).role).toBe('editor');
    expect((await (await signIn('admins', 'staff')).me()).role).toBe('owner');
    expect((await (await signIn('staff')).me()).role).toBe('viewer');
    // The earlier login is the same member.
    expect((await first.me()).role).toBe('viewer');
    expect(await browser().signIn(inGroups(who, 'Admins'))).toBe(`${SIGN_IN_PAGE}NO_ROLE`);
    expect(await browser().signIn(inGroups(person()))).toBe(`${SIGN_IN_PAGE}NO_ROLE`);
  });

  it('never trusts an email of which the provider says that it is not verified', async () => {
    const who = { ...inGroups(person(), 'staff'), email_verified: false };
    expect(await browser().signIn(who)).toBe(`${SIGN_IN_PAGE}EMAIL_NOT_VERIFIED`);
  });

  it('believes of an email what is said beside it', async () => {
    // The ID token has no email.
    provider.forgery = { claims: { email_verified: true } };
    const outcome = await browser().signIn({ ...inGroups(person(), 'staff'), email_verified: false });
    provider.forgery = null;

    expect(outcome).toBe(`${SIGN_IN_PAGE}EMAIL_NOT_VERIFIED`);
  });

  it('gives a member of the account an identity by the email, and none of another account', async () => {
    const { world } = service;
    const member = await world.member(home, 'editor');
    const stranger = await world.owner();
    const one = browser();

    expect(await one.signIn(inGroups(person({ email: member.email }), 'urn:launch'))).toBe('/desk');
    expect(await one.me()).toMatchObject({ id: member.id, sign_in: ['password', 'sso'] });
    expect(await browser().signIn(inGroups(person({ email: stranger.email }), 'admins'))).toBe(
      `${SIGN_IN_PAGE}NOT_INVITED`,
    );
  });

  it('leaves the last owner an owner, and says so in the log', async () => {
    const { world, app } = service;
    const owner = await world.owner();
    const who = person();
    const id = await invite(service, owner.accountId, 'owner', who.email);
    const one = browser();
    expect(await one.signIn(inGroups(who, 'staff'))).toBe('/desk');
    // The other owner is still there.
    expect((await one.me()).role).toBe('viewer');
    expect(await one.signIn(inGroups(who, 'admins'))).toBe('/desk');
    await app.get(MemberService).remove(owner.id, operatorWrite(owner.accountId));

    for (const groups of [['staff'], []]) {
      expect(await one.signIn(inGroups(who, ...groups))).toBe('/desk');
      expect(await one.me()).toMatchObject({ id, role: 'owner' });
    }
    expect(service.logged('the last owner stays owner').join('')).toContain(id);
  });

  it('adds nobody to an account that is full, and still lets its members in', async () => {
    const who = inGroups(person(), 'staff');
    expect(await browser().signIn(who)).toBe('/desk');
    const emails = Array.from({ length: MEMBERS_MAX }, () => person().email);
    await inviteAll(service, home.accountId, 'viewer', emails);

    expect(await browser().signIn(inGroups(person(), 'staff'))).toBe(`${SIGN_IN_PAGE}TOO_MANY_MEMBERS`);
    expect(await browser().signIn(who)).toBe('/desk');
  });
});

describe('PASSWORD_LOGIN=false', () => {
  it('ends logins by password, offers none, and goes on with single sign-on', async () => {
    const provider = await IdentityProvider.start();
    const database = await openDatabase(true);
    const start = async (settings: Record<string, string>) =>
      startService({ environment: { ...provider.environment, ...settings, DATABASE_URL: database.url } });
    const before = await start({});
    const owner = await before.world.owner();
    const who = person();
    const id = await invite(before, owner.accountId, 'owner', who.email);
    const visitor = new Browser(before, provider);
    await visitor.signIn(who);
    const ssoToken = await visitor.token();
    await before.stop();

    const off = await start({ PASSWORD_LOGIN: 'false' });
    const { api, app } = off;
    const login = { email: owner.email, password: PASSWORD };
    const change = { current_password: PASSWORD, new_password: 'brisk otter plum canyon fizz' };
    expect((await api.get(METHODS)).body).toMatchObject({ password: false, password_reset: false });
    for (const [path, body, token] of [
      ['/api/v1/auth/create_tokens', login],
      ['/api/v1/auth/session', login],
      ['/api/v1/auth/password', change, ssoToken],
      ['/api/v1/auth/invitation/accept', { token: 'unknown', password: PASSWORD }],
      ['/api/v1/auth/password/forgotten', { email: owner.email }],
      ['/api/v1/auth/password/reset', { token: 'unknown', new_password: PASSWORD }],
      [`/api/v1/member/${owner.id}/password_reset`, undefined, ssoToken],
    ] as const) {
      for (const sent of [body, { unknown: 1 }]) {
        const { status, body: answer } = await api.post(path, sent, { token, headers: OWN_PAGE });
        expect([path, status, answer.error_code]).toEqual([path, 403, 'PASSWORD_LOGIN_OFF']);
      }
    }
    expect((await api.get(ME, { token: owner.token })).status).toBe(401);
    expect((await api.get('/api/v1/auth/refresh_access_token', { token: owner.refreshToken })).status).toBe(401);
    const sessions = await api.get('/api/v1/auth/session', { token: ssoToken });
    expect([sessions.status, sessions.body.length]).toEqual([200, 1]);

    // The other owner has a password only, and so could not log in.
    const removal = app.get(MemberService).remove(id, operatorWrite(owner.accountId));
    await expect(removal).rejects.toMatchObject({ code: 'LAST_OWNER' });
    const list = await api.get('/api/v1/member', { token: ssoToken });
    expect(list.body.map((member: { sign_in: string[] }) => member.sign_in)).toEqual(
      expect.arrayContaining([[], ['sso']]),
    );
    await app.get(Sweeper).sweepAll();
    await off.stop();

    const again = await start({});
    expect((await again.api.get(ME, { token: owner.token })).status).toBe(401);
    expect((await again.api.get(ME, { token: ssoToken })).status).toBe(200);
    await again.stop();
    await database.drop();
    await provider.stop();
  });
});

describe('a first start with PASSWORD_LOGIN=false', () => {
  it('makes the account of OWNER_EMAIL, whose owner signs in at the provider', async () => {
    const provider = await IdentityProvider.start();
    const who = person();
    const environment = {
      ...provider.environment,
      PASSWORD_LOGIN: 'false',
      OWNER_EMAIL: who.email,
      OIDC_ACCOUNT: person().email,
    };
    const service = await startService({ environment, isolated: true });
    const config = service.app.get<Config>(CONFIG);
    await checkFirstOwner(service.app, config);
    expect(await prepareFirstStart(service.app, config)).toContain(who.email);
    const owner = new Browser(service, provider);

    // A password, which opens nothing, changes none of it.
    await service.world.setPassword(who.email, PASSWORD);

    expect(await owner.signIn(who)).toBe('/desk');
    expect(await owner.me()).toMatchObject({ email: who.email, role: 'owner', sign_in: ['sso'] });
    // Nobody has the email of OIDC_ACCOUNT.
    expect(await service.app.get(SsoService).isAccountMissing()).toBe(true);
    expect(await new Browser(service, provider).signIn(person())).toBe(`${SIGN_IN_PAGE}NOT_INVITED`);
    await service.stop();
    await provider.stop();
  });
});

describe('without a provider', () => {
  it('there is no single sign-on', async () => {
    const service = await startService();
    const { token } = await service.world.owner();

    expect((await service.api.get(METHODS)).body).toEqual({ password: true, password_reset: false, sso: null });
    expect((await service.api.get(SSO)).status).toBe(404);
    expect((await service.api.get(CALLBACK)).status).toBe(404);
    expect((await service.api.post(LINK, undefined, { token })).status).toBe(404);
    await service.stop();
  });
});
