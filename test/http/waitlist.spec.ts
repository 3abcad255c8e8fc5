import { JwtService } from '@nestjs/jwt';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Api, CallOptions } from '../support/api.js';
import { Database } from '../../src/platform/database/database.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { SLUGS_MAX } from '../../src/queue/settings/waitlist.table.js';
import { PageViewService } from '../../src/waitlist/page-view.service.js';
import { openDatabase } from '../support/database.js';
import { type Queue, queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist, Owner, World } from '../support/world.js';

const PATH = '/api/v1/waitlist';
const SETTINGS = { waitlist_name: 'Launch', waitlist_url_location: 'https://example.com/join' };
/** The settings of pages in a new waitlist, with what follows from its other settings. */
const DISPLAY = {
  title: null,
  success_title: null,
  signup_button_title: null,
  logo: null,
  configuration_style_json: {},
  uses_firstname_lastname: false,
  uses_leaderboard: false,
  leaderboard_length: 10,
  remove_widget_headers: false,
  widget_shows_social_links: false,
  twitter_message: null,
  lang: 'en',
  texts: {},
  your_turn_url: null,
  contact: null,
  shows_inviter: false,
  required_contact_detail: 'EMAIL',
  uses_signup_verification: false,
  uses_waiter_verification: false,
  redirects_to_status_page: false,
  organization_uuid_fk: null,
};
/** The settings of a new waitlist about whom it trusts. */
const TRUST = {
  verification: 'off',
  fraud: {
    disposable_domains: true,
    same_mailbox: true,
    referrals_per_hour: 60,
    referrals_per_network_per_hour: 20,
    minimum_seconds: 2,
  },
  captcha: null,
  mails: { verification: null, welcome: null, offer: null, your_turn: null },
  mail_subject: null,
  mail_text: null,
  mail_on_offboarding: false,
  mail_on_signup: false,
};
/** Crockford's base 32, with a letter. */
const PUBLIC_KEY = /^(?=.*[A-Z])[0-9A-HJKMNP-TV-Z]{8}$/;
const PAGE_SIZE_MAX = 100;
/** Pairs of changes sent at the same moment: without a lock, most of them lose one change. */
const PAIRS = 20;

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
  it('has defaults and is returned with its API key', async () => {
    const { status, body } = await create();

    expect(status).toBe(201);
    expect(body).toEqual({
      ...SETTINGS,
      ...DISPLAY,
      ...TRUST,
      offers: { hours: 48, on_expiry: 'out', url: null },
      release_plan: null,
      slug: null,
      id: expect.any(Number),
      public_key: expect.stringMatching(PUBLIC_KEY),
      spots_to_move_upon_referral: 3,
      required_contact: { email: 'required', phone: 'optional', first_name: 'optional', last_name: 'optional' },
      default_region: null,
      frame_origins: [],
      questions: [],
      is_closed: false,
      is_public: true,
      hide_counts: false,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}$/),
      statistics: {
        current_signups: 0,
        offboarded_signups: 0,
        offered_signups: 0,
        total_signups: 0,
        referred_signups: 0,
        pending_signups: 0,
        withheld_signups: 0,
      },
      api_key: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
  });

  it('has the settings that its owner sent', async () => {
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
      is_closed: true,
      is_public: false,
      hide_counts: true,
    };

    const { body: created } = await create(settings);

    expect(created).toMatchObject({
      ...settings,
      questions: [...settings.questions.slice(0, 2), { question_value: 'Who?', optional: true, answer_value: null }],
    });
  });

  it('is not returned with its API key later', async () => {
    const { body: created } = await create();

    const answers = [await read(created), await change(created, {}), await api.get(PATH, { token: owner.token })];

    for (const { status, text } of answers) {
      expect(status).toBe(200);
      expect(text).not.toContain('api_key');
      expect(text).not.toContain(created.api_key);
    }
  });
});

describe('a change', () => {
  it('keeps the settings that it does not name', async () => {
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
      required_contact_detail: 'EMAIL_AND_PHONE',
    });
    const { records_moved, ...now } = body;
    expect(records_moved).toBe(0);
    expect((await read(waitlist)).body).toEqual(now);
  });

  it('may remove the region', async () => {
    const waitlist = await world.waitlist({ default_region: 'US' }, owner);

    expect((await change(waitlist, { default_region: null })).body.default_region).toBeNull();
  });

  it('may send back a whole waitlist, as it was read', async () => {
    const waitlist = await world.waitlist({ questions: [{ question_value: 'Why?' }] }, owner);
    await change(waitlist, { questions: [{ question_value: 'How?' }] });
    const before = (await read(waitlist)).body;
    const { api_key } = waitlist;

    const { status, body } = await change(waitlist, { ...before, api_key, now: 'x', records_moved: 1 });

    expect([status, body]).toEqual([200, { ...before, records_moved: 0 }]);
  });

  it('may not turn off email and phone one after the other', async () => {
    const waitlist = await world.waitlist({ required_contact: { phone: 'off' } }, owner);

    expect((await change(waitlist, { required_contact: { email: 'off' } })).status).toBe(400);
    expect((await read(waitlist)).body.required_contact).toMatchObject({ email: 'required', phone: 'off' });
  });

  it('is kept beside a change of another field of required_contact at the same moment', async () => {
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const waitlist = await world.waitlist({}, owner);

      await Promise.all([
        change(waitlist, { required_contact: { first_name: 'required' } }),
        change(waitlist, { required_contact: { last_name: 'off' } }),
      ]);

      expect((await read(waitlist)).body.required_contact).toEqual({
        ...waitlist.required_contact,
        first_name: 'required',
        last_name: 'off',
      });
    }
  });

  it('may not turn off email and phone at the same moment', async () => {
    const waitlist = await world.waitlist({ required_contact: { email: 'optional' } }, owner);

    const answers = await Promise.all([
      change(waitlist, { required_contact: { email: 'off' } }),
      change(waitlist, { required_contact: { phone: 'off' } }),
    ]);

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  it('of waitlist_url_location changes existing referral links', async () => {
    const waitlist = await world.waitlist({}, owner);
    const { email, referral_token } = await world.signup(waitlist);

    await change(waitlist, { waitlist_url_location: 'https://example.org/?a=1' });

    const { body } = await api.get('/api/v1/signup', { query: { email, waitlist_id: waitlist.id } });
    expect(body.referral_link).toBe(`https://example.org/?a=1&ref_id=${referral_token}`);
  });
});

describe('the release plan of a waitlist', () => {
  const DAILY = { every: 'day', at: '09:00', time_zone: 'Europe/Berlin', count: 50 };
  const HOURLY = { every: 'hour', time_zone: 'UTC', count: 10 };
  const READ = { weekdays: null, at: null, seats: null, until: null, is_active: true, seats_taken: 0 };

  it('is none at first, then the given one with its defaults and next times, until it is taken away', async () => {
    const { body: created } = await create();
    expect(created.release_plan).toBeNull();

    const { body } = await change(created, { release_plan: { ...DAILY, weekdays: [5, 1] } });

    const times = Array<unknown>(5).fill(expect.stringMatching(/^\d{4}-\d\d-\d\dT0[78]:00:00\.000Z$/));
    const whole = { ...READ, ...DAILY, weekdays: [1, 5], next_runs: times };
    expect(body.release_plan).toEqual(whole);
    expect((await read(created)).body.release_plan).toEqual(whole);
    for (const time of body.release_plan.next_runs) expect([1, 5]).toContain(new Date(time).getUTCDay());
    const all = (await change(created, { release_plan: DAILY })).body.release_plan;
    expect(all.weekdays).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect((await change(created, { release_plan: null })).body.release_plan).toBeNull();
  });

  it('can be given to a new waitlist, and is replaced as a whole', async () => {
    const plan = { ...HOURLY, seats: 500, until: '2999-12-31' };
    const { body: created } = await create({ release_plan: plan });
    expect(created.release_plan).toEqual({ ...READ, ...plan, next_runs: expect.anything() });

    const { body } = await change(created, { release_plan: HOURLY });

    expect(body.release_plan).toEqual({ ...READ, ...HOURLY, next_runs: expect.anything() });
  });

  it('has no next times while it is paused, nor after its last day', async () => {
    const { body: paused } = await create({ release_plan: { ...HOURLY, is_active: false } });
    const { body: past } = await create({ release_plan: { ...HOURLY, until: '2026-01-01' } });

    expect(paused.release_plan).toMatchObject({ is_active: false, next_runs: [] });
    expect(past.release_plan).toMatchObject({ is_active: true, next_runs: [] });
  });

  it('is no part of the public view', async () => {
    const { body: created } = await create({ release_plan: HOURLY });

    expect((await api.get(`${PATH}/${created.id}`)).body).not.toHaveProperty('release_plan');
  });

  it('is changed with an event of its own in the audit log; sent back as it was read, it is not changed', async () => {
    const { body: created } = await create();
    const { body } = await change(created, { release_plan: HOURLY });

    await change(created, { release_plan: body.release_plan, waitlist_name: 'Another' });

    const query = { waitlist_id: created.id };
    const { body: events } = await api.get('/api/v1/audit', { token: owner.token, query });
    expect(events.map(({ action }: { action: string }) => action).sort()).toEqual([
      'release_plan_changed',
      'waitlist_created',
      'waitlist_updated',
      'waitlist_updated',
    ]);
  });

  it.each([
    ['every', { ...DAILY, every: 'week' }, 'one_of'],
    ['every', { ...DAILY, every: undefined }, 'required'],
    ['weekdays', { ...DAILY, weekdays: [] }, 'min_items'],
    ['weekdays', { ...DAILY, weekdays: [1, 1] }, 'unique'],
    ['weekdays[1]', { ...DAILY, weekdays: [1, 8] }, 'maximum'],
    ['weekdays[0]', { ...DAILY, weekdays: ['1'] }, 'type'],
    ['weekdays', { ...HOURLY, weekdays: [1] }, 'one_of'],
    ['at', { ...DAILY, at: undefined }, 'required'],
    ['at', { ...DAILY, at: '9:00' }, 'format'],
    ['at', { ...DAILY, at: '24:00' }, 'format'],
    ['at', { ...HOURLY, at: '09:00' }, 'one_of'],
    ['time_zone', { ...DAILY, time_zone: undefined }, 'required'],
    ['time_zone', { ...DAILY, time_zone: 'Mars/Base' }, 'known'],
    ['time_zone', { ...DAILY, time_zone: '+01:00' }, 'known'],
    ['count', { ...DAILY, count: 0 }, 'minimum'],
    ['count', { ...DAILY, count: 10_001 }, 'maximum'],
    ['seats', { ...DAILY, seats: 0 }, 'minimum'],
    ['seats', { ...DAILY, seats: 10_000_001 }, 'maximum'],
    ['until', { ...DAILY, until: '2026-02-30' }, 'format'],
    ['is_active', { ...DAILY, is_active: null }, 'type'],
    ['hours', { ...DAILY, hours: 3 }, 'known'],
  ])('names its field %s in %j', async (field, release_plan, rule) => {
    const { status, body } = await create({ release_plan });
    const { errors } = body as { errors: { field: string; rule: string }[] };

    expect([status, errors.map((error) => [error.field, error.rule])]).toEqual([
      400,
      [[`release_plan.${field}`, rule]],
    ]);
  });
});

describe('names that a waitlist brings along', () => {
  let lastId = 2_000_000_000 + Math.floor(Math.random() * 100_000_000);
  const someId = () => (lastId += 1);
  const someKey = () => `K${someId()}`;
  const bring = async (names: object, { token } = owner, headers?: CallOptions['headers']) => {
    const answer = await api.post(PATH, { waitlist_name: 'Moved', ...names }, { token, headers });
    // The database counts on from the greatest id, so ids that the service gave are taken too.
    lastId = Math.max(lastId, answer.body?.id ?? 0);
    return answer;
  };
  const remove = ({ id }: { id: number }, headers?: CallOptions['headers']) =>
    api.delete(`${PATH}/${id}`, { token: owner.token, headers });
  const codeOf = ({ status, body }: Answer) => [status, body?.error_code];
  let purger: Queue['purger'];
  beforeAll(() => {
    ({ purger } = queueOf(service.app));
  });

  it('are its own from then on, and later ids are greater', async () => {
    const names = { id: someId(), public_key: someKey() };

    const { status, body } = await bring(names);
    const next = (await bring({})).body;

    expect([status, body]).toMatchObject([201, names]);
    expect((await api.get(`${PATH}/${names.id}`)).body).toMatchObject(names);
    expect(next.id).toBeGreaterThan(names.id);
  });

  it.each([
    ['id', 0],
    ['id', 2_147_483_648],
    ['id', 1.5],
    ['id', '5'],
    ['public_key', '12345678'],
    ['public_key', 'abcdefgh'],
    ['public_key', 'K1234'],
    ['public_key', 'K123456789012'],
    ['public_key', null],
  ])('are refused with 400 for %s: %j', async (name, value) => {
    const answer = await bring({ [name]: value });

    expect([answer.status, fieldsOf(answer)]).toEqual([400, [name]]);
  });

  it('are refused with 409 if another waitlist has one, and only one of two at the same moment gets them', async () => {
    const names = { id: someId(), public_key: someKey() };

    const statuses = (await Promise.all([bring(names), bring(names, stranger)])).map(({ status }) => status);

    expect(statuses.sort()).toEqual([201, 409]);
    for (const caller of [owner, stranger]) {
      expect(codeOf(await bring(names, caller))).toEqual([409, 'ID_TAKEN']);
      expect(codeOf(await bring({ public_key: names.public_key }, caller))).toEqual([409, 'PUBLIC_KEY_TAKEN']);
    }
  });

  it('stay with the account after a deletion, which may bring them again once the records are gone', async () => {
    const first = (await bring({ id: someId(), public_key: someKey() })).body;
    const names = { id: first.id, public_key: first.public_key };
    await world.signup(first);
    await remove(first);
    while ((await purger.deletedIds()).includes(first.id)) await purger.purge(first.id);

    expect(codeOf(await bring(names, stranger))).toEqual([409, 'ID_TAKEN']);
    expect(codeOf(await bring({ public_key: names.public_key }, stranger))).toEqual([409, 'PUBLIC_KEY_TAKEN']);
    await service.app.get(Database).pipelinedTransaction((session) => purger.mark(session, first.id));
    expect(codeOf(await bring(names))).toEqual([409, 'ID_TAKEN']);
    expect(codeOf(await bring({ public_key: names.public_key }))).toEqual([409, 'PUBLIC_KEY_TAKEN']);
    await purger.purge(first.id);

    const { status, body } = await bring(names);
    expect([status, body]).toMatchObject([201, names]);
    expect(body.statistics.total_signups).toBe(0);
    expect(body.api_key).not.toBe(first.api_key);
  });

  const someSlug = () => `list-${someId()}`;

  it.each(['%C3%BC', '%F0%9F%98%80', 'Lumen', 'a', 'a'.repeat(41), 'lumen%20'])('have no page at %s', async (path) => {
    expect((await api.get(`/waitlist/${path}`)).status).toBe(404);
  });

  it('have the page at the slug, to which the id and earlier slugs lead with their query', async () => {
    const [earlier, slug] = [someSlug(), someSlug()];
    const { id } = (await bring({ slug: earlier })).body;

    const { body } = await api.patch(`${PATH}/${id}`, { slug }, { token: owner.token });

    expect(body).toMatchObject({ slug, waitlist_url_location: expect.stringMatching(`/waitlist/${slug}$`) });
    expect((await api.get(`/waitlist/${slug}`)).status).toBe(200);
    for (const name of [id, earlier]) {
      const { status, headers } = await api.get(`/waitlist/${name}?ref_id=ABC`);
      expect([status, headers.location]).toEqual([308, `/waitlist/${slug}?ref_id=ABC`]);
    }
  });

  it.each(['ab', '12345', 'Lumen', 'lu_men', 'x'.repeat(41)])('are refused with 400 for the slug %s', async (slug) => {
    const answer = await bring({ slug });

    expect([answer.status, fieldsOf(answer)]).toEqual([400, ['slug']]);
  });

  it('are refused with 409 for a slug that another waitlist has or had', async () => {
    const slug = someSlug();
    const statuses = (await Promise.all([bring({ slug }), bring({ slug }, stranger)])).map(({ status }) => status);
    const { id } = (await bring({})).body;

    expect(statuses.sort()).toEqual([201, 409]);
    expect(codeOf(await api.patch(`${PATH}/${id}`, { slug }, { token: owner.token }))).toEqual([409, 'SLUG_TAKEN']);
  });

  it('have at most twenty slugs, and may return to an earlier one', async () => {
    const slugs = Array.from({ length: SLUGS_MAX }, someSlug);
    const { id } = (await bring({ slug: slugs[0] })).body;
    const change = (slug: string) => api.patch(`${PATH}/${id}`, { slug }, { token: owner.token });
    for (const slug of slugs.slice(1)) expect((await change(slug)).status).toBe(200);

    const refused = someSlug();
    const answer = await change(refused);

    expect(codeOf(answer)).toEqual([409, 'TOO_MANY_SLUGS']);
    expect(answer.body.detail).toContain(`more than ${SLUGS_MAX} values`);
    expect((await bring({ slug: refused }, stranger)).status).toBe(201);
    expect((await change(slugs[0]!)).body).toMatchObject({ slug: slugs[0] });
  });

  it('keep a slug for the account after a deletion, once the records are gone', async () => {
    const slug = someSlug();
    const first = (await bring({ slug })).body;
    await remove(first);
    while ((await purger.deletedIds()).includes(first.id)) await purger.purge(first.id);

    expect((await api.get(`/waitlist/${slug}`)).status).toBe(404);
    expect(codeOf(await bring({ slug }, stranger))).toEqual([409, 'SLUG_TAKEN']);
    expect((await bring({ slug })).body).toMatchObject({ slug });
  });

  it('are not given to a later waitlist by chance', async () => {
    const { id } = (await bring({ id: someId() })).body;
    await remove({ id });

    const next = (await bring({})).body;

    expect(next.id).toBeGreaterThan(id);
  });

  it('can be deleted and brought again with Idempotency-Keys, and each repeat gets its first answer', async () => {
    const key = (name: string) => ({ 'idempotency-key': `${name} ${lastId}` });
    const names = { id: someId(), public_key: someKey() };
    const first = await bring(names, owner, key('first'));
    await remove(names, key('deletion'));
    while ((await purger.deletedIds()).includes(names.id)) await purger.purge(names.id);
    const second = await bring(names, owner, key('second'));
    expect([first.status, second.status]).toEqual([201, 201]);

    expect((await bring(names, owner, key('first'))).body).toEqual(first.body);
    expect((await remove(names, key('deletion'))).headers['idempotent-replayed']).toBe('true');
    expect((await bring(names, owner, key('second'))).body).toEqual(second.body);

    expect((await api.get(`${PATH}/${names.id}`, { token: owner.token })).status).toBe(200);
  });
});

describe('the public key', () => {
  it('opens nothing of the owner', async () => {
    const waitlist = await world.waitlist({}, owner);
    const named = { api_key: waitlist.public_key };

    for (const answer of [
      await api.get('/api/v1/waiter', { token: owner.token, query: named }),
      await api.get('/api/v1/waiter', { token: owner.token, headers: { 'api-key': waitlist.public_key } }),
      await api.patch('/api/v1/waiter', { ...named, offboard_request: true, offboard_next: 1 }, { token: owner.token }),
    ])
      expect([answer.status, answer.body.error_code]).toEqual([403, 'WRONG_API_KEY']);
  });

  it('stays as it is when another one or an id is sent in a change', async () => {
    const waitlist = await world.waitlist({}, owner);

    const { status, body } = await change(waitlist, { id: 1, public_key: 'OTHERKEY' });

    expect([status, body.id, body.public_key]).toEqual([200, waitlist.id, waitlist.public_key]);
  });
});

describe('a waitlist without a page of its own', () => {
  it('has its page in the service, at whatever address that is, and so do its referral links', async () => {
    const waitlist = await world.waitlist({ waitlist_url_location: null }, owner);
    const { email, referral_link } = await world.signup(waitlist);
    const path = `/waitlist/${waitlist.id}`;
    expect(waitlist.waitlist_url_location).toBe(`http://localhost:3000${path}`);
    expect(referral_link).toMatch(new RegExp(`^http://localhost:3000${path}\\?ref_id=`));
    // Sent back, the address must not become the owner's.
    await change(waitlist, (await read(waitlist)).body);

    const environment = { DATABASE_URL: service.databaseUrl, PUBLIC_BASE_URL: 'https://lists.example' };
    const moved = await startService({ environment });
    const view = await moved.api.get(`${PATH}/${waitlist.id}`);
    const record = await moved.api.get('/api/v1/signup', { query: { waitlist_id: waitlist.id, email } });
    await moved.stop();

    expect(view.body.waitlist_url_location).toBe(`https://lists.example${path}`);
    expect(record.body.referral_link).toContain(`https://lists.example${path}?ref_id=`);
  });

  it('is what null makes of it, and an address ends it', async () => {
    const waitlist = await world.waitlist({}, owner);

    const { body } = await change(waitlist, { waitlist_url_location: null });
    expect(body.waitlist_url_location).toBe(`http://localhost:3000/waitlist/${waitlist.id}`);

    const own = await change(waitlist, { waitlist_url_location: 'https://example.com/own' });
    expect(own.body.waitlist_url_location).toBe('https://example.com/own');
  });
});

describe('display settings', () => {
  const SET = {
    title: 'Straße 😀',
    success_title: 'Done',
    signup_button_title: 'Go',
    logo: 'https://example.com/logo.png',
    configuration_style_json: { widget_background_color: '#4937E7', nested: { z: [1], a: null } },
    uses_firstname_lastname: true,
    uses_leaderboard: true,
    leaderboard_length: 100,
    remove_widget_headers: true,
    widget_shows_social_links: true,
    twitter_message: 'Join me',
    lang: 'pt-BR',
    texts: { button: 'Entrar', purpose: '' },
    your_turn_url: 'https://example.com/welcome',
    contact: 'hello@example.com',
  };

  it('are stored as they were sent, shown to the owner and the public, and changed one by one', async () => {
    const { body: created } = await create(SET);
    expect(created).toMatchObject(SET);

    const { body: changed } = await change(created, { title: null, configuration_style_json: { b: 1 } });

    const now = { ...SET, title: null, configuration_style_json: { b: 1 } };
    for (const view of [changed, (await read(created)).body]) expect(view).toEqual(expect.objectContaining(now));
    const { contact, ...shown } = now;
    const { body: view } = await api.get(`${PATH}/${created.id}`);
    expect(view).toEqual(expect.objectContaining(shown));
    expect(JSON.stringify(view)).not.toContain(contact);
  });

  it('are kept beside a change of another one at the same moment', async () => {
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const waitlist = await world.waitlist({}, owner);

      await Promise.all([change(waitlist, { title: 'One' }), change(waitlist, { success_title: 'Two' })]);

      expect((await read(waitlist)).body).toMatchObject({ title: 'One', success_title: 'Two' });
    }
  });

  it('that follow from others or are not there yet are ignored, whatever is sent', async () => {
    const derived = {
      required_contact_detail: 'PHONE',
      uses_signup_verification: true,
      uses_waiter_verification: true,
      redirects_to_status_page: true,
      organization_uuid_fk: 'x',
    };

    const { status, body } = await create(derived);

    expect([status, body]).toMatchObject([201, DISPLAY]);
    expect((await change(body, derived)).body).toMatchObject(DISPLAY);
  });

  it('take lines in their paragraphs, whose ends become line feeds', async () => {
    const lines = {
      texts: { introduction: 'One\r\n\r\ntwo\rthree' },
      twitter_message: 'Join\r\nme',
      mail_text: 'a\r\nb',
    };

    const { status, body } = await create(lines);

    const stored = { texts: { introduction: 'One\n\ntwo\nthree' }, twitter_message: 'Join\nme', mail_text: 'a\nb' };
    expect([status, body]).toMatchObject([201, stored]);
  });

  it.each([
    ['title', 'x'.repeat(201), 'max_length'],
    ['success_title', 'a\nb', 'characters'],
    ['signup_button_title', 'x'.repeat(101), 'max_length'],
    ['twitter_message', 'x'.repeat(501), 'max_length'],
    ['twitter_message', 'a\u0000b', 'characters'],
    ['title', 'a\nb', 'characters'],
    ['lang', 'english language', 'format'],
    ['lang', '', 'min_length'],
    ['texts', [], 'type'],
    ['your_turn_url', 'javascript:alert(1)', 'format'],
    ['contact', 'javascript:alert(1)', 'format'],
    ['contact', 'http://example.com/help', 'format'],
    ['contact', 'nobody', 'format'],
    ['contact', ' hello@example.com', 'format'],
    ['contact', `https://example.com/${'x'.repeat(235)}`, 'max_length'],
    ['frame_origins', Array.from({ length: 11 }, (_, n) => `https://${n}.example`), 'max_items'],
    ['logo', 'http://example.com/logo.png', 'format'],
    ['logo', 'https://exa mple.com', 'format'],
    ['logo', 'https://*.example.com/logo.png', 'format'],
    ['logo', 'https://%2a.example.com/logo.png', 'format'],
    ['logo', 'https://example.com;sandbox', 'format'],
    ['logo', 'https://a,b.example/a.png', 'format'],
    ['leaderboard_length', 0, 'minimum'],
    ['leaderboard_length', 101, 'maximum'],
    ['uses_leaderboard', 'true', 'type'],
    ['configuration_style_json', [], 'type'],
    ['configuration_style_json', null, 'type'],
    ['configuration_style_json', { a: 'x'.repeat(8_185) }, 'max_bytes'],
  ])('are refused with 400 for %s: %j (%s)', async (field, value, rule) => {
    const { status, body } = await create({ [field]: value });

    expect([status, body.errors]).toMatchObject([400, [{ field, rule }]]);
  });

  it.each([
    [{ texts: { button: 'x'.repeat(501) } }, 'texts.button', 'max_length'],
    [{ texts: { button: 1 } }, 'texts.button', 'type'],
    [{ texts: { purpose: 'a\u0000b' } }, 'texts.purpose', 'characters'],
    [{ texts: { buton: 'Join' } }, 'texts.buton', 'known'],
    [{ frame_origins: ['https://example.com', 'https://example.com/path'] }, 'frame_origins[1]', 'format'],
    [{ frame_origins: ['*'] }, 'frame_origins[0]', 'format'],
    [{ frame_origins: ['https://a..b'] }, 'frame_origins[0]', 'format'],
    [{ frame_origins: ['https://example.com:65535', 'https://example.com:65536'] }, 'frame_origins[1]', 'format'],
  ])('are refused with 400 for %j, naming %s (%s)', async (fields, field, rule) => {
    const { status, body } = await create(fields);

    expect([status, body.errors]).toMatchObject([400, [{ field, rule }]]);
  });

  it('leave the origins that may frame the page out of the public view', async () => {
    const { body: created } = await create({ frame_origins: ['https://example.com', 'http://localhost:8080'] });

    expect(created.frame_origins).toEqual(['https://example.com', 'http://localhost:8080']);
    expect((await api.get(`${PATH}/${created.id}`)).body).not.toHaveProperty('frame_origins');
  });

  it.each([
    [{ email: 'required', phone: 'optional' }, 'EMAIL'],
    [{ email: 'optional', phone: 'optional' }, 'EMAIL'],
    [{ email: 'required', phone: 'required' }, 'EMAIL_AND_PHONE'],
    [{ email: 'optional', phone: 'required' }, 'PHONE'],
    [{ email: 'off', phone: 'optional' }, 'PHONE'],
  ] as const)('say of required_contact %j: %s', async (required_contact, detail) => {
    const { body } = await create({ required_contact });

    expect(body.required_contact_detail).toBe(detail);
  });
});

describe('settings of trust', () => {
  const CAPTCHA = { provider: 'turnstile', site_key: 'site-key', when_unavailable: 'accept' } as const;
  const SECRET = 'the-secret-of-the-captcha';

  it('are stored as they were sent, and shown to the owner alone', async () => {
    const rules = {
      disposable_domains: null,
      same_mailbox: false,
      referrals_per_hour: 1,
      referrals_per_network_per_hour: 10_000,
      minimum_seconds: 3_600,
    };
    const settings = { fraud: rules, mail_subject: 'Straße 😀', mail_text: 'One\n\ttwo' };

    const { body: created } = await create(settings);

    for (const view of [created, (await read(created)).body]) expect(view).toMatchObject(settings);
    const { body: shown } = await api.get(`${PATH}/${created.id}`);
    for (const field of [
      'verification',
      'fraud',
      'mails',
      'mail_subject',
      'mail_text',
      'mail_on_offboarding',
      'mail_on_signup',
    ])
      expect(shown).not.toHaveProperty(field);
    const { body: changed } = await change(created, { mail_subject: null, mail_text: null });
    expect(changed).toMatchObject({ fraud: rules, mail_subject: null, mail_text: null });
  });

  it('keep the words of a mail that a change does not name, and null takes them back', async () => {
    const words = { subject: 'On {waitlist_name}', text: 'Hello {first_name}, number {place}: {link} {} { } {1}' };
    const { body: created } = await create({ mails: { welcome: words, your_turn: { text: 'Come in' } } });
    const welcomed = { verification: null, offer: null, welcome: words, your_turn: { subject: null, text: 'Come in' } };
    expect(created.mails).toEqual(welcomed);

    const { body: changed } = await change(created, { mails: { welcome: { text: null }, your_turn: null } });

    const { body: listed } = await api.get(PATH, { token: owner.token, query: { after_id: created.id - 1, limit: 1 } });
    for (const { mails } of [changed, (await read(created)).body, listed[0]])
      expect(mails).toEqual({ ...welcomed, welcome: { ...words, text: null }, your_turn: null });
  });

  it('have the words of the verification mail under both names, and the name that brings a change counts', async () => {
    const { body: created } = await create({ mail_subject: 'Hello', mails: { verification: { text: 'Click' } } });
    expect(created).toMatchObject({ mail_subject: 'Hello', mail_text: 'Click' });
    expect(created.mails.verification).toEqual({ subject: 'Hello', text: 'Click' });

    const { body: byOldName } = await change(created, { ...created, mail_text: 'Press' });
    expect(byOldName).toMatchObject({
      mail_text: 'Press',
      mails: { verification: { subject: 'Hello', text: 'Press' } },
    });
    const mails = { verification: { subject: 'Hi', text: 'Tap' } };
    const { body: byBoth } = await change(created, { mail_subject: 'Hello', mail_text: 'Push', mails });
    expect(byBoth).toMatchObject({ mail_subject: 'Hi', mail_text: 'Tap', mails });
  });

  it('keep a rule that a change does not name, and null turns one off', async () => {
    const { body: created } = await create({ fraud: { minimum_seconds: 5 } });
    expect(created.fraud).toEqual({ ...TRUST.fraud, minimum_seconds: 5 });

    const { body: changed } = await change(created, { fraud: { same_mailbox: null, referrals_per_hour: null } });

    const now = { ...TRUST.fraud, minimum_seconds: 5, same_mailbox: null, referrals_per_hour: null };
    expect(changed.fraud).toEqual(now);
    expect((await change(created, { fraud: {} })).body.fraud).toEqual(now);
  });

  it('show the captcha to the owner and its keys to pages, and its secret to nobody', async () => {
    const { body: created } = await create({ captcha: { ...CAPTCHA, secret: SECRET } });
    const { provider, site_key } = CAPTCHA;

    const answers = [await read(created), await change(created, {}), await api.get(`${PATH}/${created.id}`)];

    expect(answers.map(({ body }) => body.captcha)).toEqual([CAPTCHA, CAPTCHA, { provider, site_key }]);
    const stored: unknown = await service.app.get(Database).dataSource.query('SELECT * FROM waitlist');
    for (const text of [JSON.stringify(created), JSON.stringify(stored), ...answers.map((answer) => answer.text)])
      expect(text).not.toContain(SECRET);
  });

  it('keep the secret of a captcha whose keys stay, and need one for other keys', async () => {
    const { body: created } = await create({ captcha: { ...CAPTCHA, secret: SECRET } });
    const { provider, site_key } = CAPTCHA;
    const needsSecret = { status: 400, body: { errors: [{ field: 'captcha.secret', rule: 'required' }] } };

    expect(await change(created, { captcha: { ...CAPTCHA, provider: 'hcaptcha' } })).toMatchObject(needsSecret);
    expect(await change(created, { captcha: { ...CAPTCHA, site_key: 'another' } })).toMatchObject(needsSecret);
    expect((await change(created, { captcha: { provider, site_key } })).body.captcha).toEqual({
      ...CAPTCHA,
      when_unavailable: 'withhold',
    });
    expect((await change(created, { captcha: null })).body.captcha).toBeNull();
    expect(await change(created, { captcha: CAPTCHA })).toMatchObject(needsSecret);
    expect(await create({ captcha: CAPTCHA })).toMatchObject(needsSecret);
  });

  it.each([
    [{ verification: 'always' }, 'verification', 'one_of'],
    [{ fraud: null }, 'fraud', 'type'],
    [{ fraud: { referrals_per_day: 1 } }, 'fraud.referrals_per_day', 'known'],
    [{ fraud: { disposable_domains: 'yes' } }, 'fraud.disposable_domains', 'type'],
    [{ fraud: { referrals_per_hour: 0 } }, 'fraud.referrals_per_hour', 'minimum'],
    [{ fraud: { referrals_per_network_per_hour: 10_001 } }, 'fraud.referrals_per_network_per_hour', 'maximum'],
    [{ fraud: { minimum_seconds: 1.5 } }, 'fraud.minimum_seconds', 'type'],
    [{ fraud: { minimum_seconds: 3_601 } }, 'fraud.minimum_seconds', 'maximum'],
    [{ captcha: 'turnstile' }, 'captcha', 'type'],
    [{ captcha: { ...CAPTCHA, secret: SECRET, provider: 'recaptcha' } }, 'captcha.provider', 'one_of'],
    [{ captcha: { ...CAPTCHA, secret: SECRET, site_key: '"><script>' } }, 'captcha.site_key', 'format'],
    [{ captcha: { ...CAPTCHA, secret: '' } }, 'captcha.secret', 'min_length'],
    [{ captcha: { ...CAPTCHA, secret: SECRET, sitekey: 'x' } }, 'captcha.sitekey', 'known'],
    [{ mail_subject: 'x'.repeat(201) }, 'mail_subject', 'max_length'],
    [{ mail_subject: 'Hello\r\nBcc: all@example.com' }, 'mail_subject', 'characters'],
    [{ mail_text: 'x'.repeat(5_001) }, 'mail_text', 'max_length'],
    [{ mail_text: 'a\u0000b' }, 'mail_text', 'characters'],
    [{ mail_text: 'Hello {first_name}' }, 'mail_text', 'known'],
    [{ mails: { verification: { subject: 'For {first_name}' } } }, 'mails.verification.subject', 'known'],
    [{ mails: { welcome: { text: 'Hello {name}, {größe}' } } }, 'mails.welcome.text', 'known'],
    [{ mails: { your_turn: { subject: 'a\nb' } } }, 'mails.your_turn.subject', 'characters'],
    [{ mails: { your_turn: { text: 'x'.repeat(5_001) } } }, 'mails.your_turn.text', 'max_length'],
    [{ mails: { goodbye: { text: 'Bye' } } }, 'mails.goodbye', 'known'],
    [{ mails: null }, 'mails', 'type'],
    [{ mail_on_offboarding: null }, 'mail_on_offboarding', 'type'],
    [{ mail_on_signup: null }, 'mail_on_signup', 'type'],
  ])('are refused with 400 for %j, naming %s (%s)', async (fields, field, rule) => {
    for (const { status, body } of [await create(fields), await change(await world.waitlist({}, owner), fields)])
      expect([status, body.errors]).toMatchObject([400, [{ field, rule }]]);
  });

  it.each([
    [{ verification: 'optional' }, ['verification']],
    [{ verification: 'required', mail_on_offboarding: true }, ['verification', 'mail_on_offboarding']],
    [{ mail_on_signup: true }, ['mail_on_signup']],
  ])('that send mail are refused with 422 by a service that sends none: %j', async (fields, named) => {
    for (const answer of [await create(fields), await change(await world.waitlist({}, owner), fields)]) {
      expect([answer.status, answer.body.error_code]).toEqual([422, 'WAITLIST_RULE_BROKEN']);
      expect(fieldsOf(answer)).toEqual(named);
    }
  });
});

describe('settings of trust that send mail', () => {
  const MAIL = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'launch@example.com' };
  const SENDING = { verification: 'required', mail_on_offboarding: true } as const;

  it('are accepted by a service that sends mail, shown to pages, and kept by one that has stopped', async () => {
    const database = await openDatabase(true);
    const DATABASE_URL = database.url;
    const sending = await startService({ environment: { ...MAIL, DATABASE_URL } });
    const waitlist = await sending.world.waitlist(SENDING);
    const { id, owner: own } = waitlist;
    const at = async (at: Service, fields: object) => at.api.patch(`${PATH}/${id}`, fields, { token: own.token });

    expect(waitlist).toMatchObject(SENDING);
    const { body: shown } = await sending.api.get(`${PATH}/${id}`);
    expect(shown).toMatchObject({ uses_signup_verification: true, uses_waiter_verification: true });
    expect(await at(sending, { required_contact: { email: 'optional' } })).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'verification', rule: 'one_of' }] },
    });
    expect((await at(sending, { verification: 'optional', required_contact: { email: 'optional' } })).status).toBe(200);
    await sending.stop();

    const silent = await startService({ environment: { DATABASE_URL } });
    const { status, body } = await at(silent, { verification: 'optional', mail_on_offboarding: true });
    expect([status, body.verification, body.mail_on_offboarding]).toEqual([200, 'optional', true]);
    expect((await at(silent, { verification: 'off' })).body.uses_signup_verification).toBe(false);
    expect(await at(silent, { verification: 'optional' })).toMatchObject({ status: 422 });
    await silent.stop();
    await database.drop();
  });
});

describe('a page view', () => {
  const HEARTBEATS = '/api/v1/widget_heartbeats';
  const VIEW = { location: 'https://example.com/join?ref_id=x', referrer: '', widget_type: 'WIDGET_1' };
  const view = (fields: object) => api.post(HEARTBEATS, { ...VIEW, ...fields });
  const viewsOf = async ({ id }: OwnedWaitlist) => {
    await service.app.get(PageViewService).store();
    const { body } = await api.get(`${PATH}/${id}/statistics`, { token: owner.token });
    return body.days.reduce((sum: number, { page_views: views }: { page_views: number }) => sum + views, 0);
  };

  it('is answered with a new UUID and counted for its day, however many come at once', async () => {
    const waitlist = await world.waitlist({}, owner);
    const names = [waitlist.id, String(waitlist.id), waitlist.public_key];

    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => view({ waitlist_id: names[index % names.length] })),
    );

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.uuid)).size).toBe(30);
    expect(await viewsOf(waitlist)).toBe(30);
  });

  it('of an unknown waitlist, or of one that is not public, is answered with 404 beside views that count', async () => {
    const [hidden, other] = [await world.waitlist({ is_public: false }, owner), await world.waitlist({}, owner)];

    const answers = await Promise.all(
      [hidden.id, Number.MAX_SAFE_INTEGER, 'NOSUCHKEY', other.id].map((waitlist_id) => view({ waitlist_id })),
    );

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 200]);
    expect([await viewsOf(hidden), await viewsOf(other)]).toEqual([0, 1]);
  });

  it('is refused with 400 for all its faults at once', async () => {
    const answer = await api.post(HEARTBEATS, { waitlist_id: 'a b', location: 1 });

    expect([answer.status, fieldsOf(answer)]).toEqual([400, ['waitlist_id', 'location', 'referrer']]);
  });

  it('of a page that the service serves waits for no database, and is added to those stored before', async () => {
    const waitlist = await world.waitlist({}, owner);
    const counter = service.app.get(PageViewService);

    counter.add(waitlist.id);
    expect(await viewsOf(waitlist)).toBe(1);
    for (let number = 0; number < 3; number += 1) counter.add(waitlist.id);
    await view({ waitlist_id: waitlist.id });

    expect(await viewsOf(waitlist)).toBe(5);
  });

  it('of a waitlist that is deleted before it is stored leaves nothing', async () => {
    const waitlist = await world.waitlist({}, owner);
    const counter = service.app.get(PageViewService);
    counter.add(waitlist.id);

    await api.delete(`${PATH}/${waitlist.id}`, { token: owner.token });
    await counter.store();

    const query = 'SELECT views FROM page_view WHERE waitlist_id = ?';
    expect(await service.app.get(Database).read((manager) => manager.query(query, [waitlist.id]))).toEqual([]);
  });
});

describe('statistics', () => {
  it('count the active, the offboarded, all records, and the referred ones', async () => {
    const waitlist = await world.waitlist({}, owner);
    const [ada, grace] = await world.signups(waitlist, 3);
    const referred = await world.signup(waitlist, { referral_link: ada.referral_link });
    await world.signup(waitlist, { referral_link: ada.referral_link });
    await world.offboard(waitlist, [await world.idOf(waitlist, grace!), await world.idOf(waitlist, referred)]);

    expect((await read(waitlist)).body.statistics).toEqual({
      current_signups: 3,
      offboarded_signups: 2,
      offered_signups: 0,
      total_signups: 5,
      referred_signups: 2,
      pending_signups: 0,
      withheld_signups: 0,
    });
  });

  it('count who waits for a verification, and whose referral for the owner, whatever their status', async () => {
    const waitlist = await world.waitlist({}, owner);
    const { referral_link } = await world.signup(waitlist);
    const refer = (name: string) => world.signup(waitlist, { email: `${name}@mailinator.com`, referral_link });
    const [decided, left] = [await refer('decided'), await refer('left'), await refer('waiting')];
    await world.offboard(waitlist, [await world.idOf(waitlist, left)]);
    await api.patch(`/api/v1/signup/${decided.uuid}`, { credit: 'refused' }, { token: owner.token });
    await queueOf(service.app).writer.configure(waitlist.id, { verification: 'required' }, operatorWrite(1));
    await refer('pending');
    await world.signup(waitlist);

    const waiting = { pending_signups: 2, withheld_signups: 3 };
    expect((await read(waitlist)).body.statistics).toMatchObject(waiting);
    expect((await change(waitlist, {})).body.statistics).toMatchObject(waiting);
    // To count them for each of a hundred waitlists would take long.
    const listed = await api.get(PATH, { token: owner.token, query: { after_id: waitlist.id - 1, limit: 1 } });
    expect(Object.keys(listed.body[0].statistics)).not.toContain('withheld_signups');
    const shown = await api.get(`${PATH}/${waitlist.id}`);
    expect(Object.keys(shown.body.statistics)).toEqual(['total_signups', 'current_signups']);
  });

  it('count at most ten thousand who wait', async () => {
    const waitlist = await world.waitlist({}, owner);
    await queueOf(service.app).seeder.seed(waitlist.id, 10_001, () => undefined);
    const { dataSource } = service.app.get(Database);
    await dataSource.query('UPDATE waiter SET credit = ?, status = ? WHERE waitlist_id = ?', [3, 2, waitlist.id]);

    expect((await read(waitlist)).body.statistics).toMatchObject({ pending_signups: 10_000, withheld_signups: 10_000 });
  });
});

describe('a closed waitlist', () => {
  const signUp = (fields: object) => api.post('/api/v1/signup', fields);

  it('refuses newcomers, finds existing records as before, and can be opened again', async () => {
    const waitlist = await world.waitlist({}, owner);
    const ada = await world.signup(waitlist);
    const { email, ...record } = ada;
    const known = { waitlist_id: waitlist.id, email };

    await change(waitlist, { is_closed: true });

    const newcomer = { waitlist_id: waitlist.id, email: 'newcomer@example.com' };
    for (const refused of [await signUp(newcomer), await signUp({ ...newcomer, email: null })])
      expect([refused.status, refused.body.error_code]).toEqual([422, 'WAITLIST_CLOSED']);
    expect(await signUp(known)).toMatchObject({ status: 200, body: { ...record, priority: 0 } });
    expect(await world.priorityOf(ada)).toBe(0);
    expect((await read(waitlist)).body).toMatchObject({ is_closed: true, statistics: { total_signups: 1 } });

    await change(waitlist, { is_closed: false });

    expect((await signUp(newcomer)).status).toBe(200);
  });
});

describe('a waitlist that is not public', () => {
  it('looks like an unknown one without the token of its owner', async () => {
    const [hidden, gone] = [await world.waitlist({ is_public: false }, owner), await world.waitlist({}, owner)];
    await api.delete(`${PATH}/${gone.id}`, { token: owner.token });
    const look = async (id: number, token?: string) => {
      const { status, headers, body } = await api.get(`${PATH}/${id}`, { token });
      return [status, Object.keys(headers), { ...body, instance: '' }];
    };

    for (const token of [undefined, 'a.b.c', stranger.token]) {
      expect(await look(hidden.id, token)).toEqual(await look(gone.id, token));
      expect((await look(hidden.id, token))[0]).toBe(404);
    }
    expect((await read(hidden)).body.is_public).toBe(false);
  });

  it('still takes signups and lookups by its id', async () => {
    const waitlist = await world.waitlist({ is_public: false }, owner);

    const ada = await world.signup(waitlist);

    expect(await world.priorityOf(ada)).toBe(0);
  });
});

describe('a waitlist that hides its counts', () => {
  it('shows them to its owner, and no statistics to the public; a signup still shows its priority', async () => {
    const waitlist = await world.waitlist({ hide_counts: true }, owner);
    const [, grace] = await world.signups(waitlist, 2);

    const { status, body } = await api.get(`${PATH}/${waitlist.id}`);

    expect([status, body.statistics]).toEqual([200, null]);
    expect((await read(waitlist)).body.statistics.total_signups).toBe(2);
    expect(grace!.priority).toBe(1);
  });
});

describe('the list of waitlists', () => {
  const list = ({ token }: Owner, query?: CallOptions['query']) => api.get(PATH, { token, query });
  const idsIn = ({ body }: Answer): number[] => body.map(({ id }: { id: number }) => id);

  /** The page that the link leads to; null without a link. */
  async function next({ token }: Owner, { headers }: Answer): Promise<Answer | null> {
    const [, url] = /^<([^>]+)>; rel="next"$/.exec(String(headers.link)) ?? [];
    if (url === undefined) return null;
    const { pathname, search } = new URL(url);
    return api.get(`${pathname}${search}`, { token });
  }

  it("has the owner's waitlists, oldest first, and no others", async () => {
    const me = await world.owner();
    expect((await list(me)).body).toEqual([]);
    const [one, two] = [await world.waitlist({}, me), await world.waitlist({}, me)];
    await world.waitlist({}, owner);

    const mine = await list(me);

    expect(mine.status).toBe(200);
    expect(idsIn(mine)).toEqual([one.id, two.id]);
    expect((await api.get(`${PATH}/${one.id}`, { token: me.token })).body).toMatchObject(mine.body[0]);
  });

  it('has at most 100 on a page, and links to the rest', async () => {
    const me = await world.owner();
    const ids = [];
    for (let count = 0; count <= PAGE_SIZE_MAX; count += 1) ids.push((await world.waitlist({}, me)).id);

    const first = await list(me);
    const second = await next(me, first);

    expect(idsIn(first)).toEqual(ids.slice(0, PAGE_SIZE_MAX));
    expect(idsIn(second!)).toEqual(ids.slice(PAGE_SIZE_MAX));
    expect(await next(me, second!)).toBeNull();
  });

  it('skips none if one is deleted between two pages', async () => {
    const me = await world.owner();
    const ids = [];
    for (let count = 0; count < 4; count += 1) ids.push((await world.waitlist({}, me)).id);
    const first = await list(me, { limit: 2 });

    await api.delete(`${PATH}/${ids[0]}`, { token: me.token });

    const second = await next(me, first);
    expect([idsIn(first), idsIn(second!)]).toEqual([ids.slice(0, 2), ids.slice(2)]);
    expect(await next(me, second!)).toBeNull();
  });

  it.each([
    ['limit', '0'],
    ['limit', '101'],
    ['after_id', '0'],
    ['after_id', 'x'],
  ])('answers 400 to %s=%s', async (name, value) => {
    const answer = await list(owner, { [name]: value });

    expect([answer.status, fieldsOf(answer)]).toEqual([400, [name]]);
  });
});

describe('questions', () => {
  const textsOf = ({ body }: Answer) =>
    body.questions.map(({ id, question_value, soft_deleted }: Record<string, unknown>) =>
      [id, question_value, ...(soft_deleted ? ['removed'] : [])].join(' '),
    );
  const asking = (...texts: string[]) =>
    world.waitlist({ questions: texts.map((question_value) => ({ question_value })) }, owner);
  const answersOf = async (waitlist: OwnedWaitlist) => (await world.list(waitlist, { questions_request: true }))[0]!;

  it('keep their answers when they are renamed or moved', async () => {
    const waitlist = await asking('Why?', 'How?');
    await world.signup(waitlist, { answers: [{ question_value: 'Why?', answer_value: 'Because' }] });

    const { body } = await change(waitlist, {
      questions: [{ question_value: 'How?' }, { id: 1, question_value: 'What for?' }],
    });

    expect(textsOf({ body } as Answer)).toEqual(['2 How?', '1 What for?']);
    expect(await answersOf(waitlist)).toMatchObject({
      question_1: 'How?',
      answer_1: '',
      question_2: 'What for?',
      answer_2: 'Because',
    });
  });

  it('keep their id by their text, unless another item has that id', async () => {
    const waitlist = await asking('Why?', 'How?');

    const answer = await change(waitlist, {
      questions: [{ question_value: 'Why?' }, { id: 2, question_value: 'Which?' }, { question_value: 'How?' }],
    });

    expect(textsOf(answer)).toEqual(['1 Why?', '2 Which?', '3 How?']);
  });

  it('that are removed stay readable to the owner, with their answers, and their ids are not given again', async () => {
    const waitlist = await asking('Why?', 'How?');
    await world.signup(waitlist, { answers: [{ question_value: 'How?', answer_value: 'By bike' }] });
    await world.signup(waitlist);

    const removed = await change(waitlist, { questions: [{ question_value: 'Why?' }] });
    const added = await change(waitlist, { questions: [...removed.body.questions, { question_value: 'How?' }] });

    expect(textsOf(removed)).toEqual(['1 Why?', '2 How? removed']);
    expect(textsOf(added)).toEqual(['1 Why?', '3 How?', '2 How? removed']);
    expect(textsOf(await api.get(`${PATH}/${waitlist.id}`))).toEqual(['1 Why?', '3 How?']);
    const [first, second] = await world.list(waitlist, { questions_request: true });
    expect(first).toMatchObject({ answer_1: '', answer_2: '', question_3: '' });
    expect(first!.answers).toMatchObject([
      { id: 1, answer_value: null, soft_deleted: false },
      { id: 3, answer_value: null, soft_deleted: false },
      { id: 2, question_value: 'How?', optional: true, answer_value: 'By bike', soft_deleted: true },
    ]);
    expect(second!.answers!.map(({ id }) => id)).toEqual([1, 3]);
  });

  it('are refused with 400 for an id that is unknown, removed or repeated, and for a repeated text', async () => {
    const waitlist = await asking('Why?', 'How?', 'Who?');
    await change(waitlist, { questions: [{ id: 1, question_value: 'Why?' }] });
    const refused = async (...questions: object[]) => (await change(waitlist, { questions })).body.errors;

    expect(
      await refused({ id: 1, question_value: 'a' }, { id: 2, question_value: 'b' }, { id: 9, question_value: 'c' }),
    ).toMatchObject([
      { field: 'questions[1].id', rule: 'known' },
      { field: 'questions[2].id', rule: 'known' },
    ]);
    expect(await refused({ id: 1, question_value: 'a' }, { id: 1, question_value: 'b' })).toMatchObject([
      { field: 'questions[1].id', rule: 'unique' },
    ]);
    expect(await refused({ question_value: 'a' }, { question_value: 'a' })).toMatchObject([
      { field: 'questions[1].question_value', rule: 'unique' },
    ]);
  });

  it('are 30 in all, the removed ones included; one more is 422', async () => {
    const waitlist = await asking('a 0', 'b 0', 'c 0');
    const replace = (round: number) =>
      change(waitlist, { questions: ['a', 'b', 'c'].map((letter) => ({ question_value: `${letter} ${round}` })) });
    for (let round = 1; round < 10; round += 1) expect((await replace(round)).status).toBe(200);

    const { status, body } = await replace(10);

    expect([status, body.error_code]).toEqual([422, 'WAITLIST_RULE_BROKEN']);
    expect(body.errors).toMatchObject([{ field: 'questions', rule: 'max_items' }]);
    expect((await read(waitlist)).body.questions).toHaveLength(30);
  });
});

describe('the public view', () => {
  it('has the fields that a page needs, whatever placeholder is sent as a token', async () => {
    const waitlist = await world.waitlist({ questions: [{ question_value: 'Why?' }], default_region: 'US' }, owner);
    await world.signups(waitlist, 2);
    const view: Record<string, unknown> = {
      ...DISPLAY,
      captcha: null,
      id: waitlist.id,
      public_key: waitlist.public_key,
      waitlist_name: waitlist.waitlist_name,
      waitlist_url_location: waitlist.waitlist_url_location,
      required_contact: waitlist.required_contact,
      questions: [{ id: 1, question_value: 'Why?', optional: true, answer_value: null, soft_deleted: false }],
      is_closed: false,
      hide_counts: false,
      spots_to_move_upon_referral: 3,
      created_at: waitlist.created_at,
      statistics: { total_signups: 2, current_signups: 2 },
      now: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
      sends_mail: false,
    };
    delete view.contact;

    const headers = ['Bearer YOUR_ACCESS_TOKEN', 'Bearer', 'Basic YTpi', 'Bearer a.b.c'];

    const answers = [
      await api.get(`${PATH}/${waitlist.id}`),
      ...(await Promise.all(
        headers.map((authorization) => api.get(`${PATH}/${waitlist.id}`, { headers: { authorization } })),
      )),
    ];

    for (const { status, body } of answers) expect([status, body]).toEqual([200, view]);
  });

  it('is refused with 401 for an expired token, because its owner expects all settings', async () => {
    const { id } = await world.waitlist({}, owner);
    const jwt = service.app.get(JwtService, { strict: false });
    const { header, payload } = jwt.decode(owner.token, { complete: true }) as { header: object; payload: object };
    const secret = 'a-secret-that-signs-tokens-in-tests-only';
    const expired = jwt.sign(
      { ...payload, exp: Math.floor(Date.now() / 1000) - 60 },
      { secret, header: header as never },
    );

    const { status, headers, body } = await api.get(`${PATH}/${id}`, { token: expired });

    expect(status).toBe(401);
    expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    expect(body.error_code).toBe('INVALID_TOKEN');
  });
});

describe('the API key', () => {
  it('is replaced, and the old one stops working at once', async () => {
    const waitlist = await world.waitlist({}, owner);

    const { status, body } = await api.post(`${PATH}/${waitlist.id}/api_key`, undefined, { token: owner.token });

    const list = (api_key: string) => api.get('/api/v1/waiter', { token: owner.token, query: { api_key } });
    expect(status).toBe(201);
    expect(body).toEqual({ api_key: expect.stringMatching(/^[0-9a-f]{40}$/) });
    expect((await list(waitlist.api_key)).status).toBe(403);
    expect((await list(body.api_key)).status).toBe(200);
  });
});

describe('a deletion', () => {
  it('deletes the waitlist with its records, and no other', async () => {
    const [waitlist, other] = [await world.waitlist({}, owner), await world.waitlist({}, owner)];
    const [ada] = await world.signups(waitlist, 2);
    const grace = await world.signup(other);

    const { status, text } = await api.delete(`${PATH}/${waitlist.id}`, { token: owner.token });

    expect(status).toBe(204);
    expect(text).toBe('');
    expect((await read(waitlist)).status).toBe(404);
    expect((await api.get(`${PATH}/${waitlist.id}`)).status).toBe(404);
    const query = { waitlist_id: waitlist.id, email: ada.email };
    expect((await api.get('/api/v1/signup', { query })).body.error_code).toBe('WAITLIST_NOT_FOUND');
    expect((await api.post('/api/v1/signup', query)).body.error_code).toBe('WAITLIST_NOT_FOUND');
    const listing = await api.get('/api/v1/waiter', { token: owner.token, query: { api_key: waitlist.api_key } });
    expect(listing.status).toBe(403);
    expect(await world.priorityOf(grace)).toBe(0);
  });

  it('succeeds once if it is requested twice at the same moment', async () => {
    const waitlist = await world.waitlist({}, owner);

    const answers = [1, 2].map(() => api.delete(`${PATH}/${waitlist.id}`, { token: owner.token }));

    expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([204, 404]);
  });
});

describe('every operation on a waitlist', () => {
  const callAll = async (id: number | string, token: string): Promise<[Answer, ...Answer[]]> => [
    await api.get(`${PATH}/${id}`, { token }),
    await api.patch(`${PATH}/${id}`, {}, { token }),
    await api.delete(`${PATH}/${id}`, { token }),
    await api.post(`${PATH}/${id}/api_key`, undefined, { token }),
  ];

  it("answers 404 for another owner's waitlist", async () => {
    const waitlist = await world.waitlist({}, owner);

    for (const { status, body } of await callAll(waitlist.id, stranger.token))
      expect([status, body.error_code]).toEqual([404, 'WAITLIST_NOT_FOUND']);
    expect(await world.list(waitlist)).toEqual([]);
  });

  it('answers 400 for an invalid id', async () => {
    for (const answer of await callAll('one', owner.token)) {
      expect(answer.status).toBe(400);
      expect(fieldsOf(answer)).toEqual(['waitlist_id']);
    }
  });
});
