import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Api } from '../support/api.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Person, World } from '../support/world.js';

let service: Service;
let api: Api;
let world: World;
let waitlist: OwnedWaitlist;
let ada: Person;
beforeAll(async () => {
  service = await startService();
  ({ api, world } = service);
  waitlist = await world.waitlist();
  ada = await world.signup(waitlist, { phone: '+14155550123' });
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
