import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Api } from '../support/api.js';
import { type Service, startService } from '../support/service.js';
import type { CreateWaitlistDto } from '../../src/waitlist/waitlist.dto.js';
import type { OwnedWaitlist, Owner, World } from '../support/world.js';

const PATH = '/api/v1/signup';
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}$/;
const TOKEN = /^[0-9A-HJKMNP-TV-Z]{12}$/;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN_TOKEN = '000000000000';

let service: Service;
let api: Api;
let world: World;
let owner: Owner;
/** With the settings that nobody changed; its records are many. */
let plain: OwnedWaitlist;

beforeAll(async () => {
  service = await startService();
  ({ api, world } = service);
  owner = await world.owner();
  plain = await newWaitlist();
});
afterAll(() => service.stop());

const newWaitlist = (settings: Partial<CreateWaitlistDto> = {}) => world.waitlist(settings, owner);
const someEmail = () => `${randomUUID()}@example.com`;
let lastPhone = 0;
const somePhone = () => `+141555501${String((lastPhone += 1)).padStart(2, '0')}`;

const join = (waitlist: { id: number }, fields: object): Promise<Answer> =>
  api.post(PATH, { waitlist_id: waitlist.id, ...fields });
const find = (waitlist: { id: number }, query: Record<string, string>): Promise<Answer> =>
  api.get(PATH, { query: { waitlist_id: waitlist.id, ...query } });
const fieldsOf = ({ body }: Answer): string[] => body.errors.map(({ field }: { field: string }) => field);

async function peopleOn(waitlist: OwnedWaitlist): Promise<number> {
  const { body } = await api.get(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });
  return body.statistics.total_signups;
}

describe('joining', () => {
  it('answers with every field of the specification, and with 200', async () => {
    const waitlist = await newWaitlist();

    const { status, body, headers } = await join(waitlist, { email: 'Ada@Example.com' });

    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual({
      amount_referred: 0,
      answers: [],
      created_at: expect.stringMatching(TIMESTAMP),
      email: 'Ada@Example.com',
      priority: 0,
      referral_link: `https://example.com/join?ref_id=${body.referral_token}`,
      referral_token: expect.stringMatching(TOKEN),
      referred_by_signup_token: null,
      removed_date: null,
      removed_priority: null,
      uuid: expect.stringMatching(UUID_V7),
      verified: false,
      waitlist_id: waitlist.id,
    });
  });

  it('puts each newcomer behind those before', async () => {
    const people = await world.signups(await newWaitlist(), 3);

    expect(people.map(({ priority }) => priority)).toEqual([0, 1, 2]);
  });

  it('says when, in UTC', async () => {
    const before = new Date(Math.floor(Date.now() / 1000) * 1000);

    const { created_at } = await world.signup(plain);

    const [date = '', time = ''] = created_at.split('_');
    const moment = new Date(`${date}T${time.replaceAll('-', ':')}Z`);
    expect(moment.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(moment.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('gives the same record, unchanged, to whoever repeats it', async () => {
    const waitlist = await newWaitlist();
    const referrer = await world.signup(waitlist);
    const email = someEmail();
    const first = await join(waitlist, { email, first_name: 'Ada', metadata: { a: 1 } });
    const stored = await world.list(waitlist);

    const second = await join(waitlist, {
      email,
      first_name: 'Grace',
      last_name: 'Hopper',
      phone: somePhone(),
      metadata: { b: 2 },
      referral_link: referrer.referral_link,
    });

    expect(second.status).toBe(200);
    expect(second.body).toEqual(first.body);
    expect(await world.list(waitlist)).toEqual(stored);
  });

  it('makes one record of many repeats at the same moment', async () => {
    const waitlist = await newWaitlist();
    const email = someEmail();

    const answers = await Promise.all(Array.from({ length: 20 }, () => join(waitlist, { email })));

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await peopleOn(waitlist)).toBe(1);
  });

  it('gives an offboarded record as it is, without a way back', async () => {
    const waitlist = await newWaitlist();
    const [, ada] = await world.signups(waitlist, 3);
    await world.offboard(waitlist, [await world.idOf(waitlist, ada!)]);

    const { status, body } = await join(waitlist, { email: ada?.email });

    expect(status).toBe(200);
    expect(body).toMatchObject({ uuid: ada?.uuid, priority: 1, removed_priority: 1 });
    expect(body.removed_date).toMatch(TIMESTAMP);
    expect(await world.list(waitlist)).toHaveLength(2);
  });

  it('lets one person join two waitlists', async () => {
    const email = someEmail();
    const other = await newWaitlist();

    const [one, two] = [await join(plain, { email }), await join(other, { email })];

    expect(two.body.uuid).not.toBe(one.body.uuid);
    expect(two.body.referral_token).not.toBe(one.body.referral_token);
  });

  it.each([
    ['as a number', (id: number) => id],
    ['as text', (id: number) => String(id)],
  ])('takes waitlist_id %s and answers with a number', async (_, written) => {
    const { status, body } = await api.post(PATH, { waitlist_id: written(plain.id), email: someEmail() });

    expect(status).toBe(200);
    expect(body.waitlist_id).toBe(plain.id);
  });

  it.each([
    undefined, null, '', '0', 0, -1, 1.5, '1.5', 'one', ' 1', '1e3', '0x1', true, [1], {},
    2 ** 53, '9007199254740992', '99999999999999999999',
  ])('refuses %j for a waitlist_id', async (waitlist_id) => {
    const answer = await api.post(PATH, { waitlist_id, email: someEmail() });

    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual(['waitlist_id']);
  }); // prettier-ignore

  it.each([Number.MAX_SAFE_INTEGER, String(Number.MAX_SAFE_INTEGER)])('knows no waitlist %j', async (waitlist_id) => {
    const { status, body } = await api.post(PATH, { waitlist_id, email: someEmail() });

    expect(status).toBe(404);
    expect(body.error_code).toBe('WAITLIST_NOT_FOUND');
  });

  it('ignores fields that it does not know, and never shows them', async () => {
    const { status, text } = await join(plain, {
      email: someEmail(),
      heartbeat_uuid: 'reflected',
      widget_type: { a: ['reflected'] },
      api_key: 'reflected',
      priority: -5,
      verified: true,
      referral_token: 'reflected',
    });

    expect(status).toBe(200);
    expect(text).not.toContain('reflected');
    expect(JSON.parse(text)).toMatchObject({ verified: false });
  });

  it('ignores what stands in the Authorization header', async () => {
    const answer = await api.post(PATH, { waitlist_id: plain.id, email: someEmail() }, { token: 'YOUR_TOKEN' });

    expect(answer.status).toBe(200);
  });
});

describe('contact data', () => {
  it('is shown only as far as this call submitted it', async () => {
    const [email, phone] = [someEmail(), somePhone()];

    const both = await join(plain, { email, phone });
    const byEmail = await join(plain, { email });
    const byPhone = await join(plain, { phone, email: someEmail() });

    expect(both.body).toMatchObject({ email, phone });
    expect(byEmail.body).toMatchObject({ email, uuid: both.body.uuid });
    expect(byEmail.body).not.toHaveProperty('phone');
    expect(byPhone.body).toMatchObject({ phone, uuid: both.body.uuid });
    expect(byPhone.body).not.toHaveProperty('email');
  });

  it('hides names and metadata from the public', async () => {
    const email = someEmail();
    const fields = { email, first_name: 'Augusta', last_name: 'Lovelace', metadata: { note: 'private' } };

    const texts = [await join(plain, fields), await join(plain, fields), await find(plain, { email })].map(
      (a) => a.text,
    );

    for (const text of texts) expect(text).not.toMatch(/Augusta|Lovelace|private/);
  });

  it("neither echoes a phone that is not the record's nor shows the record's", async () => {
    const [email, phone] = [someEmail(), somePhone()];
    await join(plain, { email, phone });

    const { body } = await join(plain, { email, phone: somePhone() });

    expect(body).toHaveProperty('email', email);
    expect(body).not.toHaveProperty('phone');
  });

  it("leads to the email's record where email and phone match two", async () => {
    const [email, phone] = [someEmail(), somePhone()];
    const { body: ada } = await join(plain, { email });
    await join(plain, { email: someEmail(), phone });

    const answers = [await join(plain, { email, phone }), await find(plain, { email, phone })];

    for (const { body } of answers) {
      expect(body.uuid).toBe(ada.uuid);
      expect(body).not.toHaveProperty('phone');
    }
  });

  it('is given back as it was first typed', async () => {
    const waitlist = await newWaitlist({ default_region: 'US' });
    const [email, phone] = ['Ada.Lovelace@Example.COM', '(415) 555-0199'];
    await join(waitlist, { email, phone });

    const { body } = await join(waitlist, { email: 'ada.lovelace@example.com', phone: '+1 415 555 0199' });

    expect(body).toMatchObject({ email, phone });
  });

  it.each([
    ['letters of another case', 'Case@Example.com', 'cASE@eXAMPLE.COM'],
    ['spaces around it', 'space@example.com', '  space@example.com '],
    ['composed and decomposed letters', 'caf\u00e9@example.com', 'cafe\u0301@example.com'],
    ['a domain in Unicode and in ASCII', 'idna@b\u00fccher.example', 'idna@xn--bcher-kva.example'],
  ])('finds the same record by an email with %s', async (_, one, other) => {
    const waitlist = await newWaitlist();

    const first = await join(waitlist, { email: one });
    const second = await join(waitlist, { email: other });

    expect(second.body).toEqual(first.body);
  });

  it.each([
    ['ß and ss', 'straße@example.com', 'strasse@example.com'],
    ['é and e', 'caf\u00e9@example.com', 'cafe@example.com'],
    ['two emoji', '😀@example.com', '😁@example.com'],
    ['ß and ss in the domain', 'ada@faß.example', 'ada@fass.example'],
    ['a plus tag and none', 'ada+tag@example.com', 'ada@example.com'],
    ['dots and none', 'a.da@example.com', 'ada@example.com'],
  ])('tells %s apart', async (_, one, other) => {
    const waitlist = await newWaitlist();

    await join(waitlist, { email: one });
    await join(waitlist, { email: other });

    expect(await peopleOn(waitlist)).toBe(2);
    expect((await find(waitlist, { email: one })).body).toMatchObject({ email: one, priority: 0 });
    expect((await find(waitlist, { email: other })).body).toMatchObject({ email: other, priority: 1 });
  });

  it.each([
    ['email', 'ada'],
    ['email', 'ada@example.com/other'],
    ['email', 'ada@example.com\n'],
    ['email', 'ada\u0000@example.com'],
    ['email', '\u009fada@example.com'],
    ['email', '\ud800ada@example.com'],
    ['email', 5],
    ['email', ['ada@example.com']],
    ['email', {}],
    ['phone', '5550123'],
    ['phone', 'call me'],
    ['phone', '+1415555\t0123'],
    ['phone', 14155550123],
    ['first_name', 'A\u0007da'],
    ['first_name', 'A\u0000da'],
    ['first_name', '\udfffAda'],
    ['first_name', 5],
    ['last_name', 'Love\u007flace'],
    ['last_name', { a: 1 }],
  ])('is refused for %s %j, and nothing is stored', async (field, value) => {
    const waitlist = await newWaitlist();

    const answer = await join(waitlist, { email: someEmail(), [field]: value });

    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([field]);
    expect(await peopleOn(waitlist)).toBe(0);
  });

  it.each([
    ['email', `${'a'.repeat(62)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(60)}.io`, 254],
    ['first_name', '😀'.repeat(100), 100],
    ['last_name', 'é'.repeat(100), 100],
    ['phone', `+1${' '.repeat(20)}4155550198`, 32],
    ['referral_link', '😀'.repeat(2048), 2048],
  ])('may have %s as long as its limit, counted in characters, and no longer', async (field, longest, limit) => {
    expect([...longest]).toHaveLength(limit);
    const [first = ''] = longest;
    const tooLong = `${first}${longest}`;

    const fits = await join(plain, { email: someEmail(), [field]: longest });
    const refused = await join(plain, { email: someEmail(), [field]: tooLong });

    expect(fits.status).toBe(200);
    expect(refused.status).toBe(400);
    expect(fieldsOf(refused)).toEqual([field]);
    expect(refused.body.detail).toContain(String(limit));
  });

  it('names every field at fault', async () => {
    const answer = await join(plain, { email: 5, phone: 5, first_name: 5, metadata: 5 });

    expect(answer.status).toBe(400);
    expect(fieldsOf(answer).sort()).toEqual(['email', 'first_name', 'metadata', 'phone']);
  });
});

describe('what a waitlist requires', () => {
  it.each([
    ['the email, by default', {}, {}, ['email']],
    ['the email, where it is empty', {}, { email: ' ' }, ['email']],
    ['the email, where it is null', {}, { email: null, phone: '+14155550123' }, ['email']],
    ['the phone', { phone: 'required' }, { email: 'ada@example.com' }, ['phone']],
    ['names', { first_name: 'required', last_name: 'required' }, { email: 'ada@example.com' }, ['first_name', 'last_name']],
    ['either of two optional', { email: 'optional' }, { first_name: 'Ada' }, ['email']],
    ['the phone, where no email is taken', { email: 'off' }, { email: 'ada@example.com' }, ['phone']],
    ['the email, where no phone is taken', { email: 'optional', phone: 'off' }, { phone: '+14155550123' }, ['email']],
  ] as const)('is refused with 422 if it lacks %s', async (_, required_contact, given, missing) => {
    const waitlist = await newWaitlist({ required_contact });

    const answer = await join(waitlist, given);

    expect(answer.status).toBe(422);
    expect(answer.body.error_code).toBe('WAITLIST_RULE_BROKEN');
    expect(fieldsOf(answer)).toEqual(missing);
    expect(await peopleOn(waitlist)).toBe(0);
  }); // prettier-ignore

  it.each([
    ['only the phone', { email: 'off', phone: 'required' }, { phone: '+14155550123' }],
    ['one of two optional', { email: 'optional' }, { phone: '+14155550123' }],
    ['all four', { phone: 'required', first_name: 'required', last_name: 'required' },
      { email: 'ada@example.com', phone: '+14155550123', first_name: 'Ada', last_name: 'Lovelace' }],
  ] as const)('may be %s', async (_, required_contact, given) => {
    const waitlist = await newWaitlist({ required_contact });

    expect((await join(waitlist, given)).status).toBe(200);
    expect((await find(waitlist, { phone: '+14155550123' })).body.phone).toBe('+14155550123');
  }); // prettier-ignore

  it('keeps nobody out but whom it means, of many at the same moment', async () => {
    const waitlist = await newWaitlist({ required_contact: { first_name: 'required' } });
    const names = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? null : 'Ada'));

    const answers = await Promise.all(names.map((first_name) => join(waitlist, { email: someEmail(), first_name })));

    expect(answers.map(({ status }) => status)).toEqual(names.map((name) => (name ? 200 : 422)));
    const places = answers.filter(({ status }) => status === 200).map(({ body }) => body.priority as number);
    expect(places.sort((a, b) => a - b)).toEqual(places.map((_, index) => index));
  });

  it('is all that is kept', async () => {
    const waitlist = await newWaitlist({ required_contact: { phone: 'off', first_name: 'off' } });
    const phone = somePhone();

    const { status, body } = await join(waitlist, { email: someEmail(), phone, first_name: 'Ada' });

    expect(status).toBe(200);
    expect(body).not.toHaveProperty('phone');
    expect((await find(waitlist, { phone })).status).toBe(404);
  });

  it("reads a phone in the waitlist's own region", async () => {
    const waitlist = await newWaitlist({ default_region: 'DE' });

    const { body } = await join(waitlist, { email: someEmail(), phone: '030 901820' });

    expect((await find(waitlist, { phone: '+4930901820' })).body.uuid).toBe(body.uuid);
  });
});

describe('a referral', () => {
  it.each<[string, (token: string) => string]>([
    ['its link', (token) => `https://example.com/join?ref_id=${token}`],
    ['the address of another page', (token) => `https://other.example/?utm_source=x&ref_id=${token}&lang=en#form`],
    ["a fragment's query", (token) => `https://example.com/#android?ref_id=${token}`],
    ['a fragment after a placeholder', (token) => `https://example.com/?ref_id=null#android?ref_id=${token}`],
    ['another parameter', (token) => `https://example.com/?referrer=${token}`],
    ['another parameter beside an unknown ref_id', (token) => `https://a.example/?r=${token}&ref_id=${UNKNOWN_TOKEN}`],
    ['a relative address', (token) => `/join?ref_id=${token}`],
  ])('is understood from %s', async (_, link) => {
    const waitlist = await newWaitlist();
    const ada = await world.signup(waitlist);

    const { body } = await join(waitlist, { email: someEmail(), referral_link: link(ada.referral_token) });

    expect(body.referred_by_signup_token).toBe(ada.referral_token);
    expect((await find(waitlist, { email: ada.email })).body.amount_referred).toBe(1);
  });

  it.each([
    '', '   ', null, 'null', 'undefined', 'not a URL at all', 'https://example.com/', 'https://example.com/?ref_id=',
    'https://example.com/?ref_id=null', 'https://example.com/?ref_id=%', 'https://example.com/?ref_id=%ff%00',
    `https://example.com/?ref_id=${UNKNOWN_TOKEN}`, "https://example.com/?ref_id=' OR 1=1 --", 'javascript:alert(1)',
    'tab\tand\nnewline', '?'.repeat(2048),
  ])('is none, and no error, in %j', async (referral_link) => {
    const { status, body } = await join(plain, { email: someEmail(), referral_link });

    expect(status).toBe(200);
    expect(body.referred_by_signup_token).toBeNull();
    expect(body.referral_link).toBe(`https://example.com/join?ref_id=${body.referral_token}`);
  }); // prettier-ignore

  it.each([5, true, ['https://example.com'], {}])('is refused for %j, which is no text', async (referral_link) => {
    const answer = await join(plain, { email: someEmail(), referral_link });

    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual(['referral_link']);
  });

  it('does not count from another waitlist', async () => {
    const [here, there] = [await newWaitlist(), await newWaitlist()];
    const stranger = await world.signup(there);

    const { body } = await join(here, { email: someEmail(), referral_link: stranger.referral_link });

    expect(body.referred_by_signup_token).toBeNull();
    expect((await find(there, { email: stranger.email })).body.amount_referred).toBe(0);
  });

  it('does not count of oneself', async () => {
    const ada = await world.signup(plain);

    const { status, body } = await join(plain, { email: ada.email, referral_link: ada.referral_link });

    expect(status).toBe(200);
    expect(body).toMatchObject({ amount_referred: 0, referred_by_signup_token: null });
  });

  it('counts once, however often the newcomer repeats it', async () => {
    const ada = await world.signup(plain);
    const email = someEmail();

    for (let attempt = 0; attempt < 3; attempt += 1) await join(plain, { email, referral_link: ada.referral_link });

    expect((await find(plain, { email: ada.email })).body.amount_referred).toBe(1);
  });

  it('counts for a referrer who was offboarded', async () => {
    const waitlist = await newWaitlist();
    const ada = await world.signup(waitlist);
    await world.offboard(waitlist, [await world.idOf(waitlist, ada)]);

    await world.signup(waitlist, { referral_link: ada.referral_link });

    expect((await find(waitlist, { email: ada.email })).body.amount_referred).toBe(1);
  });

  it.each([
    ['its own query', 'https://example.com/join?lang=en', 'https://example.com/join?lang=en&ref_id='],
    ['its fragment dropped', 'https://example.com/join#form', 'https://example.com/join?ref_id='],
    ['a ref_id of its own', 'https://example.com/?ref_id=x&a=1', 'https://example.com/?a=1&ref_id='],
  ])('has a link that ends with the token, %s', async (_, waitlist_url_location, start) => {
    const waitlist = await newWaitlist({ waitlist_url_location });

    const { referral_link, referral_token } = await world.signup(waitlist);

    expect(referral_link).toBe(`${start}${referral_token}`);
    expect(/ref_id=(.+)/.exec(referral_link)?.[1]).toBe(referral_token);
  });
});

describe('metadata', () => {
  it.each([
    ['an object of every kind', { text: 'é😀\u0007', number: 1.5, list: [1, [null]], nested: { yes: true } }],
    ['an empty object', {}],
    ['keys in their own order', { b: 1, a: 2, 10: 3 }],
  ])('is kept as it came: %s', async (_, metadata) => {
    const waitlist = await newWaitlist();
    const ada = await world.signup(waitlist, { metadata });

    const [offboarded] = await world.offboard(waitlist, [await world.idOf(waitlist, ada)]);

    expect(JSON.stringify(offboarded?.metadata)).toBe(JSON.stringify(metadata));
  });

  it.each([
    ['a list', []],
    ['a text', 'text'],
    ['a number', 5],
    ['larger than 16 KiB', { a: 'x'.repeat(16 * 1024) }],
    ['deeper than 8 levels', { a: [[[[[[[[]]]]]]]] }],
    ['a list of 15,000', { a: Array(15_000).fill(0) }],
    ['with NUL', { a: '\u0000' }],
    ['with NUL in a key', { 'a\u0000': 1 }],
    ['with a lone surrogate', { a: ['\ud800'] }],
  ])('is refused as %s', async (_, metadata) => {
    const answer = await join(plain, { email: someEmail(), metadata });

    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)[0]).toMatch(/^metadata/);
  });

  it('is refused a hundred thousand levels deep', async () => {
    const deep = `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`;

    const { status } = await api.post(PATH, undefined, {
      raw: `{"waitlist_id":${plain.id},"email":"${someEmail()}","metadata":${deep}}`,
    });

    expect(status).toBe(400);
  });
});

describe('questions', () => {
  const QUESTIONS = [
    { question_value: 'Why?', optional: false, answer_value: null },
    { question_value: 'How?', optional: true, answer_value: ['On foot', 'By bike', 'By car'] },
    { question_value: 'Straße?', optional: true, answer_value: null },
  ];
  let asking: OwnedWaitlist;
  beforeAll(async () => {
    asking = await newWaitlist({ questions: QUESTIONS });
  });

  const item = (question_value: unknown, answer_value: unknown) => ({ question_value, answer_value });

  it('are answered one item each, in their order, with what was given', async () => {
    const { body } = await join(asking, {
      email: someEmail(),
      answers: [item('How?', ['By bike', 'On foot']), item('Why?', 'Because 😀')],
    });

    expect(body.answers).toEqual([
      { question_value: 'Why?', optional: false, answer_value: 'Because 😀' },
      { question_value: 'How?', optional: true, answer_value: ['By bike', 'On foot'] },
      { question_value: 'Straße?', optional: true, answer_value: null },
    ]);
    expect((await find(asking, { email: body.email })).body.answers).toEqual(body.answers);
  });

  it('keep their own setting, whatever a client says of `optional`', async () => {
    const answers = [{ ...item('Why?', 'x'), optional: true, extra: 1 }];

    const { body } = await join(asking, { email: someEmail(), answers });

    expect(body.answers[0]).toEqual({ question_value: 'Why?', optional: false, answer_value: 'x' });
  });

  it.each([
    ['one that is not optional is left out', [], 'answers'],
    ['no answers are given', undefined, 'answers'],
    ['one that is not optional has null', [item('Why?', null)], 'answers'],
    ['the text is not one of them', [item('Why?', 'x'), item('Strasse?', 'x')], 'answers[1].question_value'],
    ['the text is in another case', [item('Why?', 'x'), item('how?', 'On foot')], 'answers[1].question_value'],
    ['a choice was not offered', [item('Why?', 'x'), item('How?', 'By boat')], 'answers[1].answer_value'],
    ['a free text is too long', [item('Why?', 'x'.repeat(4001))], 'answers[0].answer_value'],
    ['an item is none', [item('Why?', 'x'), null], 'answers[1].question_value'],
    ['answers are no list', 'x', 'answers'],
  ])('refuse with 422 where %s', async (_, answers, field) => {
    const answer = await join(asking, { email: someEmail(), answers });

    expect(answer.status).toBe(422);
    expect(fieldsOf(answer)).toContain(field);
  });

  it('never answer a flood of faults with a flood', async () => {
    const answer = await join(asking, { email: someEmail(), answers: Array(15_000).fill(0) });

    expect(answer.status).toBe(422);
    expect(answer.text.length).toBeLessThan(16_384);
  });

  it.each([['text'], [5], [{}], [[null, 5]], [[item('Anything?', { a: 1 })]]])(
    'that were not asked may be answered with %j',
    async (answers) => {
      const { status, body } = await join(plain, { email: someEmail(), answers });

      expect(status).toBe(200);
      expect(body.answers).toEqual([]);
    },
  );

  it.each([
    ['NUL', 'a\u0000b'],
    ['a lone surrogate', '\ud800'],
  ])('refuse %s in an answer', async (_, text) => {
    const answer = await join(asking, { email: someEmail(), answers: [item('Why?', text)] });

    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual(['answers[0].answer_value']);
  });
});

describe('someone who is on the waitlist already', () => {
  it('is found though the rules have become stricter since', async () => {
    const waitlist = await world.waitlist();
    const email = someEmail();
    const before = await join(waitlist, { email });
    const settings = {
      required_contact: { first_name: 'required' },
      questions: [{ question_value: 'Why?', optional: false }],
    };
    await api.patch(`/api/v1/waitlist/${waitlist.id}`, settings, { token: waitlist.owner.token });

    const again = await join(waitlist, { email });
    const stranger = await join(waitlist, { email: someEmail() });

    expect(again.status).toBe(200);
    expect(again.body.uuid).toBe(before.body.uuid);
    expect(stranger.status).toBe(422);
  });
});

describe('looking up', () => {
  it('gives what joining gave', async () => {
    const [email, phone] = [someEmail(), somePhone()];
    const joined = await join(plain, { email, phone });

    const found = await find(plain, { email, phone });

    expect(found.status).toBe(200);
    expect(found.headers['cache-control']).toBe('no-store');
    expect(found.body).toEqual(joined.body);
  });

  it('shows only the contact data that was asked by', async () => {
    const [email, phone] = [someEmail(), somePhone()];
    await join(plain, { email, phone });

    const byEmail = await find(plain, { email });
    const byPhone = await find(plain, { phone });
    const byPhoneAndNobody = await find(plain, { phone, email: someEmail() });

    expect(byEmail.body).toHaveProperty('email', email);
    expect(byEmail.body).not.toHaveProperty('phone');
    expect(byPhone.body).toHaveProperty('phone', phone);
    expect(byPhone.body).not.toHaveProperty('email');
    expect(byPhoneAndNobody.body).not.toHaveProperty('email');
  });

  it('understands a plus that was not percent-encoded', async () => {
    const email = `ada+${randomUUID()}@example.com`;
    await join(plain, { email });

    const raw = await api.get(`${PATH}?waitlist_id=${plain.id}&email=${email}`);
    const encoded = await find(plain, { email });

    expect(raw.body.email).toBe(email);
    expect(encoded.body).toEqual(raw.body);
  });

  it('takes an email in any of its forms', async () => {
    const waitlist = await newWaitlist();
    const { body } = await join(waitlist, { email: 'Zoë@Bücher.example' });

    for (const email of ['ZOË@BÜCHER.EXAMPLE', 'zoe\u0308@xn--bcher-kva.example', ' Zoë@bücher.example '])
      expect((await find(waitlist, { email })).body).toEqual(body);
  });

  it.each([
    ['an email', { email: 'nobody@example.com' }],
    ['a phone', { phone: '+14155559999' }],
    ['both', { email: 'nobody@example.com', phone: '+14155559999' }],
  ])('answers 404 for %s of nobody', async (_, query) => {
    const { status, body } = await find(plain, query);

    expect(status).toBe(404);
    expect(body.error_code).toBe('NO_WAITER_FOUND');
  });

  it('does not see the people of another waitlist', async () => {
    const { email } = await world.signup(plain);

    expect((await find(await newWaitlist(), { email })).status).toBe(404);
  });

  it('answers 404 for an unknown waitlist', async () => {
    const { status, body } = await find({ id: Number.MAX_SAFE_INTEGER }, { email: someEmail() });

    expect(status).toBe(404);
    expect(body.error_code).toBe('WAITLIST_NOT_FOUND');
  });

  it.each([
    ['waitlist_id', 'email=ada@example.com'],
    ['waitlist_id', 'waitlist_id=&email=ada@example.com'],
    ['waitlist_id', 'waitlist_id=0&email=ada@example.com'],
    ['waitlist_id', 'waitlist_id=1.5&email=ada@example.com'],
    ['waitlist_id', 'waitlist_id=9007199254740992&email=ada@example.com'],
    ['waitlist_id', 'waitlist_id=1&waitlist_id=2&email=ada@example.com'],
    ['email', 'waitlist_id=1'],
    ['email', 'waitlist_id=1&email='],
    ['email', 'waitlist_id=1&email=+'],
    ['email', 'waitlist_id=1&email=a%00@example.com'],
    ['email', 'waitlist_id=1&email=a@example.com&email=b@example.com'],
    ['email', `waitlist_id=1&email=${'a'.repeat(255)}`],
    ['phone', `waitlist_id=1&phone=${'1'.repeat(33)}`],
  ])('names %s at fault in ?%s', async (field, query) => {
    const answer = await api.get(`${PATH}?${query}`);

    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([field]);
  });

  it.each([
    ['email', 'nobody'],
    ['email', 'ada@%ED%A0%80.com'],
    ['email', 'ada@%ff%fe.com'],
    ['phone', '5550123'],
    ['phone', 'DROP TABLE'],
  ])('refuses %s=%s', async (field, value) => {
    const answer = await api.get(`${PATH}?waitlist_id=${plain.id}&${field}=${value}`);

    expect(answer.status).toBe(400);
    expect(fieldsOf(answer)).toEqual([field]);
  });
});
