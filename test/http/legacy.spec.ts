import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Api } from '../support/api.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person, World } from '../support/world.js';

let service: Service;
let api: Api;
let world: World;
let waitlist: OwnedWaitlist;
let ada: Person;
let accountKey: string;
beforeAll(async () => {
  service = await startService();
  ({ api, world } = service);
  waitlist = await world.waitlist();
  ada = await world.signup(waitlist, { phone: '+14155550123' });
  const { token } = waitlist.owner;
  ({ key: accountKey } = (await api.post('/api/v1/api_key', { name: 'Script', scope: 'read' }, { token })).body);
});
afterAll(() => service.stop());

/** test/support/contract.ts checks that deprecated operations, and no others, have the header. */
const isDeprecated = ({ headers }: Answer) => headers.deprecation !== undefined;

describe('POST /api/v1/waiter', () => {
  it.each(['/api/v1/waiter', '/api/v1/waiter/'])('signs a person up at %s, by the rules of a signup', async (path) => {
    const email = `second-${path.length}@example.com`;
    const body = { waitlist_id: String(waitlist.id), email, referral_link: ada.referral_link, widget_type: 'WIDGET_1' };
    const { status, headers, body: waiter } = await api.post(path, body, { token: 'placeholder' });

    expect(status).toBe(200);
    expect(waiter).toMatchObject({
      email,
      is_spam: false,
      referred_by_signup_token: ada.referral_token,
      referred_by_waiter_token: ada.referral_token,
      waitlist_id: waitlist.id,
    });
    expect(headers.deprecation).toMatch(/^@\d{10}$/);
    expect(headers.link).toBe('<http://localhost:3000/api/v1/signup>; rel="successor-version"');
    const { body: signup } = await api.get('/api/v1/signup', { query: { waitlist_id: waitlist.id, email } });
    expect(waiter).toMatchObject(signup as object);
  });

  it('does not read list_id as the waitlist', async () => {
    const { status, body } = await api.post('/api/v1/waiter', { list_id: waitlist.id, email: 'list@example.com' });

    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ field: 'waitlist_id', rule: 'required' })]]);
  });

  it('refuses a newcomer who breaks a rule of the waitlist, in the form that existing clients read', async () => {
    const answer = await api.post('/api/v1/waiter', { waitlist_id: waitlist.id, phone: '+14155550199' });

    expect([answer.status, answer.body.error_code]).toEqual([422, 'WAITLIST_RULE_BROKEN']);
    expect(answer.body.error_string).toBe(answer.body.message);
    expect(isDeprecated(answer)).toBe(true);
  });
});

describe('GET /api/v1/waiter', () => {
  const LOOKUP = 'lookup';
  const LISTING = 'listing';
  const key = 'a'.repeat(64);
  /** The answer tells the operation: a lookup is one object, a listing a list or a missing credential. */
  const CASES: readonly [
    name: string,
    headers: Record<string, string>,
    query: string,
    operation: string,
    status: number,
  ][] = [
    ['an email', {}, 'email=ADA', LOOKUP, 200],
    ['a phone', {}, 'phone=%2B14155550123', LOOKUP, 200],
    ['a phone whose plus sign is not encoded', {}, 'phone=+14155550123', LOOKUP, 200],
    ['a uuid', {}, 'uuid=UUID', LOOKUP, 200],
    ['an email of nobody', {}, 'email=nobody@example.com', LOOKUP, 404],
    ['a blank email', {}, 'email=', LOOKUP, 400],
    ['no person', {}, 'offset=0', LISTING, 401],
    ['no person, with the key of a waitlist', { 'api-key': 'WAITLIST_KEY' }, 'offset=0', LISTING, 401],
    ['an email and the key of a waitlist', { 'api-key': 'WAITLIST_KEY' }, 'email=ADA', LOOKUP, 200],
    ['an email and a placeholder for a key', { 'api-key': 'YOUR_API_KEY' }, 'email=ADA', LOOKUP, 200],
    ['an email and what may be an account key', { 'api-key': key }, 'email=ADA', LISTING, 401],
    ['an email and a key in capitals, which opens nothing', { 'api-key': key.toUpperCase() }, 'email=ADA', LOOKUP, 200],
    ['an email and an account key', { 'api-key': 'ACCOUNT' }, 'email=ADA', LISTING, 200],
    ['no person, with an account key', { 'api-key': 'ACCOUNT' }, 'offset=0', LISTING, 200],
    [
      'a bad Authorization header beside an account key',
      { authorization: 'Bearer undefined', 'api-key': 'ACCOUNT' },
      'email=ADA',
      LISTING,
      401,
    ],
    ['an email and a placeholder for a token', { authorization: 'Bearer undefined' }, 'email=ADA', LISTING, 401],
    ['an email and an empty Authorization header', { authorization: '' }, 'email=ADA', LISTING, 401],
    ['an email and a token', { authorization: 'TOKEN' }, 'email=ADA', LISTING, 200],
    ['a uuid and a token', { authorization: 'TOKEN' }, 'uuid=UUID', LISTING, 200],
    ['no person, with a token', { authorization: 'TOKEN' }, 'offset=0', LISTING, 200],
    ['an email of nobody, with a token', { authorization: 'TOKEN' }, 'email=nobody@example.com', LISTING, 200],
  ];

  it.each(CASES)(
    'with %s: the headers %j and the query %s make it a %s, with status %i',
    async (_, headers, query, operation, status) => {
      const filled = (text: string) =>
        text
          .replace('ADA', encodeURIComponent(ada.email))
          .replace('UUID', ada.uuid)
          .replace('WAITLIST_KEY', waitlist.api_key)
          .replace('ACCOUNT', accountKey)
          .replace('TOKEN', `Bearer ${waitlist.owner.token}`);
      const answer = await api.get(`/api/v1/waiter?waitlist_id=${waitlist.id}&${filled(query)}`, {
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
      });

      expect([isDeprecated(answer) ? LOOKUP : LISTING, answer.status]).toEqual([operation, status]);
      if (status === 200) expect(Array.isArray(answer.body)).toBe(operation === LISTING);
    },
  );

  it('looks a person up as GET /api/v1/signup does, and counts the active records', async () => {
    const query = { waitlist_id: waitlist.id, email: ada.email };
    const { body } = await api.get('/api/v1/waiter', { query });
    const { body: signup } = await api.get('/api/v1/signup', { query });
    const { length } = await world.list(waitlist);

    expect(body).toEqual({
      ...signup,
      is_spam: false,
      referred_by_waiter_token: signup.referred_by_signup_token,
      total_waiters_currently: length,
    });
  });

  it('shows no contact data to a lookup by uuid, and no counts of a waitlist that hides them', async () => {
    const quiet = await world.waitlist({ hide_counts: true });
    const { uuid } = await world.signup(quiet, { phone: '+14155550123' });

    const { body } = await api.get('/api/v1/waiter', { query: { waitlist_id: quiet.id, uuid } });

    expect(body).toMatchObject({ uuid, total_waiters_currently: null });
    expect(body).not.toHaveProperty('email');
    expect(body).not.toHaveProperty('phone');
  });

  it('is a listing if only a body names the person', async () => {
    const body = { waitlist_id: waitlist.id, email: ada.email };

    expect((await api.call('GET', '/api/v1/waiter', body)).status).toBe(401);
    const { body: listed } = await api.call('GET', '/api/v1/waiter', body, { token: waitlist.owner.token });
    expect(listed).toMatchObject([{ email: ada.email }]);
  });

  it('is read by a page of any site only as a lookup', async () => {
    const headers = { origin: 'https://landing.example' };
    const query = { waitlist_id: waitlist.id, email: ada.email };
    const preflight = await api.call('OPTIONS', '/api/v1/waiter', undefined, {
      headers: { ...headers, 'access-control-request-method': 'GET' },
    });
    const lookup = await api.get('/api/v1/waiter', { query, headers });
    const listing = await api.get('/api/v1/waiter', { query, headers, token: waitlist.owner.token });

    expect([preflight, lookup, listing].map((answer) => answer.headers['access-control-allow-origin'])).toEqual([
      '*',
      '*',
      undefined,
    ]);
  });

  it('has its methods named once', async () => {
    const { status, headers } = await api.call('HEAD', `/api/v1/waiter?email=${ada.email}`);

    expect([status, headers.allow]).toEqual([405, 'GET, PATCH, POST']);
  });
});

describe('GET /api/v1/waitlist with the name of a waitlist', () => {
  it('is the public view, by its id or its public key, whatever credentials stand beside it', async () => {
    const { body: view } = await api.get(`/api/v1/waitlist/${waitlist.id}`);
    const names: Record<string, string | number>[] = [
      { waitlist_id: String(waitlist.id) },
      { waitlist_id: waitlist.public_key },
      { api_key: waitlist.public_key },
      { api_key: waitlist.api_key },
      { waitlist_id: waitlist.id, api_key: 'placeholder' },
    ];

    for (const query of names)
      for (const options of [{}, { token: 'placeholder' }, { token: waitlist.owner.token }]) {
        const { status, body } = await api.get('/api/v1/waitlist', { query, ...options });
        expect([status, { ...body, now: view.now }]).toEqual([200, view]);
      }
  });

  it('is refused in the form that existing clients read', async () => {
    const hidden = await world.waitlist({ is_public: false });
    const cases = [
      [{ waitlist_id: hidden.id }, 404, 'WAITLIST_NOT_FOUND'],
      [{ api_key: 'ZZZZZZZ9' }, 404, 'WAITLIST_NOT_FOUND'],
      [{ waitlist_id: 'no name' }, 400, 'INVALID_REQUEST'],
    ] as const;

    for (const [query, status, code] of cases) {
      const answer = await api.get('/api/v1/waitlist', { query });
      expect([answer.status, answer.body.error_code]).toEqual([status, code]);
    }
  });

  it("is the owner's list without a name", async () => {
    expect((await api.get('/api/v1/waitlist')).status).toBe(401);
    const { body } = await api.get('/api/v1/waitlist', { token: waitlist.owner.token, query: { limit: 100 } });
    expect(body).toMatchObject([{ id: waitlist.id }]);
  });
});

describe('GET /api/v1/waiter/{id}/leaderboard', () => {
  it('is the leaderboard of the waitlist, and names its successor', async () => {
    const list = await world.waitlist({ uses_leaderboard: true });
    for (const { referral_link } of await world.signups(list, 2)) await world.signup(list, { referral_link });
    const successor = `/api/v1/waitlist/${list.id}/leaderboard`;
    const { body: leaderboard } = await api.get(successor, { query: { total_signups: 1 } });

    const { headers, body } = await api.get(`/api/v1/waiter/${list.id}/leaderboard`, { query: { total_waiters: '1' } });

    expect(body).toEqual(leaderboard);
    expect(body.leaderboard).toHaveLength(1);
    expect(headers.link).toBe(`<http://localhost:3000${successor}>; rel="successor-version"`);
  });

  it.each(['1%0d%0aX: y', '%F0%9F%98%80', 'x'.repeat(90)])(
    'refuses the id %s, and writes it safely into the header',
    async (id) => {
      const { status, headers } = await api.get(`/api/v1/waiter/${id}/leaderboard`);

      expect(status).toBe(400);
      expect(headers.link).toMatch(
        /^<http:\/\/localhost:3000\/api\/v1\/waitlist\/[\w%]+\/leaderboard>; rel="successor-version"$/,
      );
    },
  );
});

describe('the first generation', () => {
  const submit = (body: object, options = {}) => api.post('/api/v1/waitlists/submit', body, options);
  const status = (body: object) => api.post('/api/v1/users/status', body);

  it('submits a user to the waitlist of a key, and gives the status', async () => {
    const list = await world.waitlist();
    const [referrer] = await world.signups(list, 2);
    const email = 'first@example.com';
    const person = { api_key: list.public_key, email, first_name: 'Ada', referral_link: referrer.referral_link };

    const { status: code, body: user } = await submit({ ...person, list_id: 'ignored' }, { token: 'placeholder' });

    const { body: signup } = await api.get('/api/v1/signup', { query: { waitlist_id: list.id, email } });
    expect([code, user]).toEqual([
      200,
      {
        registered_email: email,
        current_priority: signup.priority,
        total_users: 3,
        total_referrals: 0,
        referral_link: signup.referral_link,
        user_id: signup.uuid,
      },
    ]);
    expect(signup.referred_by_signup_token).toBe(referrer.referral_token);
    for (const api_key of [list.public_key, list.api_key, String(list.id)])
      expect((await status({ api_key, email })).body).toEqual(user);
    expect((await submit(person)).body).toEqual(user);
  });

  it('has no priority of an offboarded record, and no counts of a waitlist that hides them', async () => {
    const list = await world.waitlist({ hide_counts: true });
    const person = await world.signup(list);
    await world.offboard(list, [await world.idOf(list, person)]);

    const { body } = await status({ api_key: list.public_key, email: person.email });

    expect(body).toMatchObject({ user_id: person.uuid, current_priority: null, total_users: null });
  });

  it('shows the email only to a request that has it', async () => {
    const list = await world.waitlist();
    const phone = '+14155550123';
    await world.signup(list, { phone });

    const { body } = await submit({ api_key: list.public_key, email: 'another@example.com', phone });

    expect(body).toMatchObject({ registered_email: null });
  });

  it('is refused as the current generation is, and names its successor', async () => {
    const cases = [
      [await status({ api_key: waitlist.public_key, email: 'nobody@example.com' }), 404, 'NO_WAITER_FOUND'],
      [await status({ api_key: 'ZZZZZZZ9', email: 'nobody@example.com' }), 404, 'WAITLIST_NOT_FOUND'],
      [await status({ api_key: waitlist.public_key }), 400, 'INVALID_REQUEST'],
      [await status({ email: 'nobody@example.com' }), 400, 'INVALID_REQUEST'],
      [await submit({ api_key: waitlist.public_key, first_name: 'Ada' }), 422, 'WAITLIST_RULE_BROKEN'],
      [await submit({ api_key: '', email: 'nobody@example.com' }), 400, 'INVALID_REQUEST'],
    ] as const;

    for (const [answer, code, error] of cases) {
      expect([answer.status, answer.body.error_code]).toEqual([code, error]);
      expect(answer.headers.link).toBe('<http://localhost:3000/api/v1/signup>; rel="successor-version"');
    }
  });
});

describe('a deprecated operation', () => {
  it('names its successor in refusals before its handler, too', async () => {
    const limited = await startService({ environment: { RATE_LIMIT_PUBLIC: '1' } });
    const call = (options: object) => limited.api.post('/api/v1/users/status', {}, options);
    const refusals = [
      await call({ raw: '{' }),
      await call({ raw: '{' }),
      await call({ raw: 'x=1', headers: { 'content-type': 'text/plain' }, from: '192.0.2.1' }),
      await call({ raw: ' '.repeat(300_000), from: '192.0.2.2' }),
    ];
    await limited.stop();

    expect(refusals.map(({ status }) => status)).toEqual([400, 429, 415, 413]);
    for (const answer of refusals) expect(isDeprecated(answer)).toBe(true);
  });
});
