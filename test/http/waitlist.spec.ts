import { JwtService } from '@nestjs/jwt';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Api } from '../support/api.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Owner, World } from '../support/world.js';

const PATH = '/api/v1/waitlist';
const SETTINGS = { waitlist_name: 'Launch', waitlist_url_location: 'https://example.com/join' };

let service: Service;
let api: Api;
let world: World;
let owner: Owner;
let stranger: Owner;

beforeAll(async () => {
  service = await startService();
  ({ api, world } = service);
  [owner, stranger] = [await world.owner(), await world.owner()];
});
afterAll(() => service.stop());

const create = (fields: object = {}): Promise<Answer> =>
  api.post(PATH, { ...SETTINGS, ...fields }, { token: owner.token });
const change = ({ id }: OwnedWaitlist, fields: object): Promise<Answer> =>
  api.patch(`${PATH}/${id}`, fields, { token: owner.token });
const read = ({ id }: OwnedWaitlist): Promise<Answer> => api.get(`${PATH}/${id}`, { token: owner.token });
const fieldsOf = ({ body }: Answer): string[] => body.errors.map(({ field }: { field: string }) => field);

describe('a new waitlist', () => {
  it('has defaults, and shows its API key', async () => {
    const { status, body } = await create();

    expect(status).toBe(201);
    expect(body).toEqual({
      ...SETTINGS,
      id: expect.any(Number),
      spots_to_move_upon_referral: 3,
      required_contact: { email: 'required', phone: 'optional', first_name: 'optional', last_name: 'optional' },
      default_region: null,
      questions: [],
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}$/),
      statistics: { current_signups: 0, offboarded_signups: 0, total_signups: 0, referred_signups: 0 },
      api_key: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
  });

  it('is what its owner asked for', async () => {
    const settings = {
      waitlist_name: 'Straße 😀',
      waitlist_url_location: 'http://localhost:8080/?lang=en#join',
      spots_to_move_upon_referral: 10_000,
      required_contact: { email: 'optional', phone: 'required', first_name: 'off', last_name: 'required' },
      default_region: 'DE',
      questions: [
        { question_value: 'Why?', optional: false, answer_value: null },
        { question_value: 'How?', optional: true, answer_value: ['On foot', 'By bike'] },
        { question_value: 'Who?' },
      ],
    };

    const { body: created } = await create(settings);

    expect(created).toMatchObject({
      ...settings,
      questions: [...settings.questions.slice(0, 2), { question_value: 'Who?', optional: true, answer_value: null }],
    });
  });

  it('shows its API key only then', async () => {
    const { body: created } = await create();

    const answers = [await read(created), await change(created, {}), await api.get(PATH, { token: owner.token })];

    for (const { text } of answers) {
      expect(text).not.toContain('api_key');
      expect(text).not.toContain(created.api_key);
    }
  });
});

const REFUSED: [string, object][] = [
  ['waitlist_name', { waitlist_name: '' }],
  ['waitlist_name', { waitlist_name: null }],
  ['waitlist_name', { waitlist_name: 'x'.repeat(201) }],
  ['waitlist_name', { waitlist_name: 'one\0two' }],
  ['waitlist_url_location', { waitlist_url_location: 'example.com' }],
  ['waitlist_url_location', { waitlist_url_location: 'javascript:alert(1)' }],
  ['waitlist_url_location', { waitlist_url_location: 'https://example.com/a page' }],
  ['waitlist_url_location', { waitlist_url_location: 'https://exämple.com/join' }],
  ['waitlist_url_location', { waitlist_url_location: 'https://example.com/?a=%zz' }],
  ['waitlist_url_location', { waitlist_url_location: `https://example.com/${'x'.repeat(2030)}` }],
  ['spots_to_move_upon_referral', { spots_to_move_upon_referral: -1 }],
  ['spots_to_move_upon_referral', { spots_to_move_upon_referral: 10_001 }],
  ['spots_to_move_upon_referral', { spots_to_move_upon_referral: 1.5 }],
  ['spots_to_move_upon_referral', { spots_to_move_upon_referral: '3' }],
  ['required_contact.email', { required_contact: { email: 'yes' } }],
  ['required_contact', { required_contact: { email: 'off', phone: 'off' } }],
  ['default_region', { default_region: 'us' }],
  ['default_region', { default_region: 'XX' }],
  ['questions', { questions: Array.from({ length: 4 }, (_, n) => ({ question_value: `${n}?` })) }],
  ['questions', { questions: [{ question_value: 'Why?' }, { question_value: 'Why?' }] }],
  ['questions[0].question_value', { questions: [{}] }],
  ['questions[0].question_value', { questions: [{ question_value: '' }] }],
  ['questions[0].question_value', { questions: [{ question_value: 'Why\0?' }] }],
  ['questions[0].answer_value', { questions: [{ question_value: 'Why?', answer_value: [] }] }],
  ['questions[0].answer_value', { questions: [{ question_value: 'Why?', answer_value: ['a', 'a'] }] }],
  ['questions[0].answer_value', { questions: [{ question_value: 'Why?', answer_value: 'free' }] }],
];

describe('settings that make no sense', () => {
  let existing: OwnedWaitlist;
  beforeAll(async () => {
    existing = await world.waitlist({}, owner);
  });

  it.each(REFUSED)('are refused for %s: %j', async (field, fields) => {
    const before = (await read(existing)).body;
    const [created, changed] = [await create(fields), await change(existing, fields)];

    for (const answer of [created, changed]) {
      expect(answer.status).toBe(400);
      expect(fieldsOf(answer)).toEqual([field]);
    }
    expect((await read(existing)).body).toEqual(before);
  });

  it.each(['waitlist_name', 'waitlist_url_location'])('are refused without %s', async (field) => {
    const answer = await create({ [field]: undefined });

    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([field]);
  });

  it('are refused where a change in parts would end both ways to find a record', async () => {
    const waitlist = await world.waitlist({ required_contact: { phone: 'off' } }, owner);

    expect((await change(waitlist, { required_contact: { email: 'off' } })).status).toBe(400);
    expect((await read(waitlist)).body.required_contact).toMatchObject({ email: 'required', phone: 'off' });
  });
});

describe('a change', () => {
  it('keeps what it does not name', async () => {
    const waitlist = await world.waitlist({ default_region: 'US', questions: [{ question_value: 'Why?' }] }, owner);
    const before = (await read(waitlist)).body;

    const { status, body } = await change(waitlist, {
      waitlist_name: 'Other',
      required_contact: { phone: 'required' },
    });

    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      records_moved: 0,
      waitlist_name: 'Other',
      required_contact: { ...before.required_contact, phone: 'required' },
    });
    const { records_moved, ...now } = body;
    expect(records_moved).toBe(0);
    expect((await read(waitlist)).body).toEqual(now);
  });

  it('may be none', async () => {
    const waitlist = await world.waitlist({}, owner);

    const { status, body } = await change(waitlist, {});

    expect(status).toBe(200);
    expect(body).toEqual({ ...(await read(waitlist)).body, records_moved: 0 });
  });

  it('may take the region and the questions away', async () => {
    const waitlist = await world.waitlist({ default_region: 'US', questions: [{ question_value: 'Why?' }] }, owner);

    const { body } = await change(waitlist, { default_region: null, questions: [] });

    expect(body).toMatchObject({ default_region: null, questions: [] });
  });

  it('of what a referral is worth moves past referrals too, there and back', async () => {
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 0 }, owner);
    const people = await world.signups(waitlist, 5);
    const [, , , , ada] = people;
    await world.signup(waitlist, { referral_link: ada?.referral_link });
    expect(await world.priorityOf(ada!)).toBe(4);

    const places: number[] = [];
    for (const spots_to_move_upon_referral of [2, 10_000, 1, 0]) {
      await change(waitlist, { spots_to_move_upon_referral });
      places.push(await world.priorityOf(ada!));
    }

    expect(places).toEqual([2, 0, 3, 4]);
  });

  it('of the page changes the referral links of people who joined before', async () => {
    const waitlist = await world.waitlist({}, owner);
    const { email, referral_token } = await world.signup(waitlist);

    await change(waitlist, { waitlist_url_location: 'https://example.org/?a=1' });

    const { body } = await api.get('/api/v1/signup', { query: { email, waitlist_id: waitlist.id } });
    expect(body.referral_link).toBe(`https://example.org/?a=1&ref_id=${referral_token}`);
  });
});

describe('statistics', () => {
  it('count the active, the offboarded, all, and the referred of both', async () => {
    const waitlist = await world.waitlist({}, owner);
    const [ada, grace] = await world.signups(waitlist, 3);
    const referred = await world.signup(waitlist, { referral_link: ada.referral_link });
    await world.signup(waitlist, { referral_link: ada.referral_link });
    await world.offboard(waitlist, [await world.idOf(waitlist, grace!), await world.idOf(waitlist, referred)]);

    expect((await read(waitlist)).body.statistics).toEqual({
      current_signups: 3,
      offboarded_signups: 2,
      total_signups: 5,
      referred_signups: 2,
    });
  });
});

describe('my waitlists', () => {
  it('are all mine, oldest first, and nobody else sees them', async () => {
    const me = await world.owner();
    const [one, two] = [await world.waitlist({}, me), await world.waitlist({}, me)];
    await world.waitlist({}, owner);

    const mine = await api.get(PATH, { token: me.token });

    expect(mine.status).toBe(200);
    expect(mine.body.map(({ id }: { id: number }) => id)).toEqual([one.id, two.id]);
    expect(mine.body[0]).toEqual((await api.get(`${PATH}/${one.id}`, { token: me.token })).body);
  });

  it('are none for a new owner', async () => {
    expect((await api.get(PATH, { token: (await world.owner()).token })).body).toEqual([]);
  });
});

describe('the public view', () => {
  let waitlist: OwnedWaitlist;
  let view: object;
  beforeAll(async () => {
    waitlist = await world.waitlist({ questions: [{ question_value: 'Why?' }], default_region: 'US' }, owner);
    await world.signups(waitlist, 2);
    view = {
      id: waitlist.id,
      waitlist_name: waitlist.waitlist_name,
      waitlist_url_location: waitlist.waitlist_url_location,
      required_contact: waitlist.required_contact,
      questions: [{ question_value: 'Why?', optional: true, answer_value: null }],
      statistics: { total_signups: 2 },
    };
  });

  it('is what a page needs and nothing more', async () => {
    const { status, body } = await api.get(`${PATH}/${waitlist.id}`);

    expect(status).toBe(200);
    expect(body).toEqual(view);
  });

  it.each(['Bearer YOUR_ACCESS_TOKEN', 'Bearer', 'Bearer null', 'Basic YTpi', 'Bearer a.b.c', 'undefined'])(
    'is given to a page that sends a placeholder: %s',
    async (authorization) => {
      const { status, body } = await api.get(`${PATH}/${waitlist.id}`, { headers: { authorization } });

      expect(status).toBe(200);
      expect(body).toEqual(view);
    },
  );

  it('is not given to an owner whose token has expired, who would take it for the whole', async () => {
    const jwt = service.app.get(JwtService, { strict: false });
    const { header, payload } = jwt.decode(owner.token, { complete: true }) as { header: object; payload: object };
    const secret = 'test-secret-test-secret-test-secret-';
    const expired = jwt.sign(
      { ...payload, exp: Math.floor(Date.now() / 1000) - 60 },
      { secret, header: header as never },
    );

    const { status, headers, body } = await api.get(`${PATH}/${waitlist.id}`, { token: expired });

    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect(body.error_code).toBe('INVALID_TOKEN');
  });

  it('ends with the waitlist', async () => {
    const { body: gone } = await create();
    await api.delete(`${PATH}/${gone.id}`, { token: owner.token });

    expect((await api.get(`${PATH}/${gone.id}`)).status).toBe(404);
  });
});

describe('the API key', () => {
  it('is replaced, and the old one ends at once', async () => {
    const waitlist = await world.waitlist({}, owner);

    const { status, body } = await api.post(`${PATH}/${waitlist.id}/api_key`, undefined, { token: owner.token });

    const list = (api_key: string) => api.get('/api/v1/waiter', { token: owner.token, query: { api_key } });
    expect(status).toBe(201);
    expect(body).toEqual({ api_key: expect.stringMatching(/^[0-9a-f]{40}$/) });
    expect((await list(waitlist.api_key)).status).toBe(403);
    expect((await list(body.api_key)).status).toBe(200);
  });
});

describe('deleting', () => {
  it('deletes the waitlist and its records', async () => {
    const waitlist = await world.waitlist({}, owner);
    const [ada] = await world.signups(waitlist, 2);

    const { status, text } = await api.delete(`${PATH}/${waitlist.id}`, { token: owner.token });

    expect(status).toBe(204);
    expect(text).toBe('');
    expect((await read(waitlist)).status).toBe(404);
    const query = { waitlist_id: waitlist.id, email: ada.email };
    expect((await api.get('/api/v1/signup', { query })).body.error_code).toBe('WAITLIST_NOT_FOUND');
    expect((await api.post('/api/v1/signup', query)).body.error_code).toBe('WAITLIST_NOT_FOUND');
    const listing = await api.get('/api/v1/waiter', { token: owner.token, query: { api_key: waitlist.api_key } });
    expect(listing.status).toBe(403);
  });

  it('spares the other waitlists', async () => {
    const [gone, kept] = [await world.waitlist({}, owner), await world.waitlist({}, owner)];
    const ada = await world.signup(kept);

    await api.delete(`${PATH}/${gone.id}`, { token: owner.token });

    expect(await world.priorityOf(ada)).toBe(0);
  });

  it('happens once', async () => {
    const waitlist = await world.waitlist({}, owner);

    const answers = [1, 2].map(() => api.delete(`${PATH}/${waitlist.id}`, { token: owner.token }));

    expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([204, 404]);
  });
});

describe('who may', () => {
  type Call = (id: number | string, token?: string) => Promise<Answer>;
  const get: Call = (id, token) => api.get(`${PATH}/${id}`, { token });
  const OWNER_CALLS: [string, Call][] = [
    ['PATCH', (id, token) => api.patch(`${PATH}/${id}`, { waitlist_name: 'Mine' }, { token })],
    ['PATCH of nothing', (id, token) => api.patch(`${PATH}/${id}`, {}, { token })],
    ['DELETE', (id, token) => api.delete(`${PATH}/${id}`, { token })],
    ['POST api_key', (id, token) => api.post(`${PATH}/${id}/api_key`, undefined, { token })],
  ];

  it.each([['GET', get] as [string, Call], ...OWNER_CALLS])("not %s another owner's: 404", async (_, call) => {
    const waitlist = await world.waitlist({}, owner);

    const { status, body } = await call(waitlist.id, stranger.token);
    const unknown = await call(Number.MAX_SAFE_INTEGER, stranger.token);

    expect(status).toBe(404);
    expect(body.error_code).toBe('WAITLIST_NOT_FOUND');
    expect({ ...unknown.body, instance: '' }).toEqual({ ...body, instance: '' });
    expect((await read(waitlist)).body.waitlist_name).toBe('Test');
    expect(await world.list(waitlist)).toEqual([]);
  });

  const WITHOUT_ID: [string, Call][] = [
    ['POST', (_, token) => api.post(PATH, SETTINGS, { token })],
    ['GET of all', (_, token) => api.get(PATH, { token })],
  ];
  it.each([...OWNER_CALLS, ...WITHOUT_ID])('not %s without an access token: 401', async (_, call) => {
    const waitlist = await world.waitlist({}, owner);

    const [none, wrong, refresh] = [
      await call(waitlist.id),
      await call(waitlist.id, 'YOUR_ACCESS_TOKEN'),
      await call(waitlist.id, owner.refreshToken),
    ];

    expect([none, wrong, refresh].map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(none.headers['www-authenticate']).toBe('Bearer');
    expect(wrong.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect(none.body.error_code).toBe('MISSING_TOKEN');
  });

  it.each([['GET', get] as [string, Call], ...OWNER_CALLS])('not %s an id that is none: 400', async (_, call) => {
    for (const id of ['0', '-1', '1.5', 'one', '01', '9007199254740992', '1e3', '%20', '1%00']) {
      const answer = await call(id, owner.token);

      expect([id, answer.status]).toEqual([id, 400]);
      expect(fieldsOf(answer)).toEqual(['waitlist_id']);
    }
  });
});
