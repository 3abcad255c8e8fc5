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
/** Has the default settings. Many tests add records to it. */
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

const join = (waitlist: { id: number | string }, fields: object): Promise<Answer> =>
  api.post(PATH, { waitlist_id: waitlist.id, ...fields });
const find = (waitlist: { id: number | string }, query: Record<string, string>): Promise<Answer> =>
  api.get(PATH, { query: { waitlist_id: waitlist.id, ...query } });
const fieldsOf = ({ body }: Answer): string[] => body.errors.map(({ field }: { field: string }) => field);

async function peopleOn(waitlist: OwnedWaitlist): Promise<number> {
  const { body } = await api.get(`/api/v1/waitlist/${waitlist.id}`, { token: waitlist.owner.token });
  return body.statistics.total_signups;
}

describe('a signup', () => {
  it('is answered with 200 and every field of the specification', async () => {
    const waitlist = await newWaitlist();

    const { status, body } = await join(waitlist, { email: 'Ada@Example.com' });

    expect(status).toBe(200);
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
      removed_reason: null,
      offer_expires_at: null,
      status: 'waiting',
      uuid: expect.stringMatching(UUID_V7),
      verified: false,
      waitlist_id: waitlist.id,
    });
  });

  it('has its time of creation in UTC', async () => {
    const before = new Date(Math.floor(Date.now() / 1000) * 1000);

    const { created_at } = await world.signup(plain);

    const [date = '', time = ''] = created_at.split('_');
    const moment = new Date(`${date}T${time.replaceAll('-', ':')}Z`);
    expect(moment.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(moment.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('gives the same record, unchanged, when it is repeated', async () => {
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

  it('does not bring an offboarded record back', async () => {
    const waitlist = await newWaitlist();
    const [, ada] = await world.signups(waitlist, 3);
    await world.offboard(waitlist, [await world.idOf(waitlist, ada!)]);

    const { status, body } = await join(waitlist, { email: ada?.email });

    expect(status).toBe(200);
    expect(body).toMatchObject({ uuid: ada?.uuid, priority: 1, removed_priority: 1, status: 'offboarded' });
    expect(body.removed_date).toMatch(TIMESTAMP);
    expect(await world.list(waitlist)).toHaveLength(2);
  });

  it('makes a record of its own on each waitlist', async () => {
    const email = someEmail();
    const other = await newWaitlist();

    const one = await join(plain, { email });
    expect((await find(other, { email })).status).toBe(404);
    const two = await join(other, { email });

    expect(two.body.uuid).not.toBe(one.body.uuid);
    expect(two.body.referral_token).not.toBe(one.body.referral_token);
  });

  it('accepts waitlist_id as text, and answers with a number', async () => {
    const { status, body } = await join({ id: String(plain.id) }, { email: someEmail() });

    expect(status).toBe(200);
    expect(body.waitlist_id).toBe(plain.id);
  });

  it('ignores unknown fields and never returns them', async () => {
    const { status, text } = await join(plain, {
      email: someEmail(),
      heartbeat_uuid: 'reflected',
      widget_type: { a: ['reflected'] },
      api_key: 'reflected',
      error_code: 'reflected',
    });

    expect(status).toBe(200);
    expect(text).not.toContain('reflected');
  });

  it('ignores a placeholder in the Authorization header', async () => {
    const answer = await api.post(PATH, { waitlist_id: plain.id, email: someEmail() }, { token: 'YOUR_TOKEN' });

    expect(answer.status).toBe(200);
  });

  it('finds the existing record although the rules have become stricter', async () => {
    const waitlist = await world.waitlist();
    const email = someEmail();
    const before = await join(waitlist, { email });
    const settings = {
      required_contact: { first_name: 'required' },
      questions: [{ question_value: 'Why?', optional: false }],
    };
    await api.patch(`/api/v1/waitlist/${waitlist.id}`, settings, { token: waitlist.owner.token });

    const again = await join(waitlist, { email });
    const newcomer = await join(waitlist, { email: someEmail() });

    expect(again.status).toBe(200);
    expect(again.body.uuid).toBe(before.body.uuid);
    expect(newcomer.status).toBe(422);
  });
});

describe('contact data', () => {
  it.each([
    ['a repeated signup', join],
    ['a lookup', find],
  ])('is shown only if the call submitted it: %s', async (_, call) => {
    const [email, phone] = [someEmail(), somePhone()];
    const { body } = await join(plain, { email, phone });

    const byEmail = await call(plain, { email });
    const byPhone = await call(plain, { phone });
    const byPhoneAndOtherEmail = await call(plain, { phone, email: someEmail() });

    expect(byEmail.body).toMatchObject({ email, uuid: body.uuid });
    expect(byEmail.body).not.toHaveProperty('phone');
    for (const { body: found } of [byPhone, byPhoneAndOtherEmail]) {
      expect(found).toMatchObject({ phone, uuid: body.uuid });
      expect(found).not.toHaveProperty('email');
    }
  });

  it('does not include names and metadata in public answers', async () => {
    const email = someEmail();
    const fields = { email, first_name: 'Augusta', last_name: 'Lovelace', metadata: { note: 'private' } };

    const texts = [await join(plain, fields), await join(plain, fields), await find(plain, { email })].map(
      (a) => a.text,
    );

    for (const text of texts) expect(text).not.toMatch(/Augusta|Lovelace|private/);
  });

  it("shows neither a submitted phone that is not the record's nor the record's own", async () => {
    const [email, phone] = [someEmail(), somePhone()];
    await join(plain, { email, phone });

    const { body } = await join(plain, { email, phone: somePhone() });

    expect(body).toHaveProperty('email', email);
    expect(body).not.toHaveProperty('phone');
  });

  it("leads to the email's record if email and phone match two records", async () => {
    const [email, phone] = [someEmail(), somePhone()];
    const { body: ada } = await join(plain, { email });
    await join(plain, { email: someEmail(), phone });

    const answers = [await join(plain, { email, phone }), await find(plain, { email, phone })];

    for (const { body } of answers) {
      expect(body.uuid).toBe(ada.uuid);
      expect(body).not.toHaveProperty('phone');
    }
  });

  it('matches in each spelling, and is returned as it was first typed', async () => {
    const waitlist = await newWaitlist({ default_region: 'US' });
    const [typed, phone] = ['Zoë@Bücher.example', '(415) 555-0199'];
    const { body } = await join(waitlist, { email: typed, phone });

    expect(body).toMatchObject({ email: typed, phone });
    for (const email of ['ZOË@BÜCHER.EXAMPLE', 'zoe\u0308@xn--bcher-kva.example', ' Zoë@bücher.example ']) {
      expect((await join(waitlist, { email, phone: '+1 415 555 0199' })).body).toEqual(body);
      expect((await find(waitlist, { email, phone: '+14155550199' })).body).toEqual(body);
    }
  });

  it('tells emails apart that a collation of the database could equate', async () => {
    const waitlist = await newWaitlist();
    const emails = ['straße', 'strasse', 'caf\u00e9', 'cafe', '😀', '😁'].map((name) => `${name}@example.com`);

    for (const email of emails) await join(waitlist, { email });

    for (const [priority, email] of emails.entries())
      expect((await find(waitlist, { email })).body).toMatchObject({ email, priority });
  });

  it('is stored up to its longest, counted in characters', async () => {
    const longest = {
      email: `${'a'.repeat(62)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(60)}.io`,
      phone: `+1${' '.repeat(20)}4155550198`,
      first_name: '😀'.repeat(100),
      last_name: 'é'.repeat(100),
    };
    expect(Object.values(longest).map((text) => [...text].length)).toEqual([254, 32, 100, 100]);
    const waitlist = await newWaitlist();
    const person = await world.signup(waitlist, { ...longest, referral_link: '😀'.repeat(2048) });

    const [stored] = await world.offboard(waitlist, [await world.idOf(waitlist, person)]);

    expect(stored).toMatchObject(longest);
  });
});

describe('the contact requirements of a waitlist', () => {
  it.each([
    ['the email, which is required by default', {}, { email: null, phone: '+14155550123' }, ['email']],
    ['the phone', { phone: 'required' }, { email: 'ada@example.com' }, ['phone']],
    [
      'the names',
      { first_name: 'required', last_name: 'required' },
      { email: 'ada@example.com' },
      ['first_name', 'last_name'],
    ],
    ['both of two optional fields', { email: 'optional' }, { first_name: 'Ada' }, ['email']],
    ['the phone, and emails are off', { email: 'off' }, { email: 'ada@example.com' }, ['phone']],
    ['the email, and phones are off', { email: 'optional', phone: 'off' }, { phone: '+14155550123' }, ['email']],
  ] as const)('refuse a signup with 422 that lacks %s', async (_, required_contact, given, missing) => {
    const waitlist = await newWaitlist({ required_contact });

    const answer = await join(waitlist, given);

    expect(answer.status).toBe(422);
    expect(answer.body.error_code).toBe('WAITLIST_RULE_BROKEN');
    expect(fieldsOf(answer)).toEqual(missing);
    expect(await peopleOn(waitlist)).toBe(0);
  });

  it.each([
    ['only a phone', { email: 'off', phone: 'required' }, { phone: '+14155550123' }],
    ['one of two optional fields', { email: 'optional' }, { phone: '+14155550123' }],
    [
      'all four fields, each of which is required',
      { phone: 'required', first_name: 'required', last_name: 'required' },
      { email: 'ada@example.com', phone: '+14155550123', first_name: 'Ada', last_name: 'Lovelace' },
    ],
  ] as const)('accept a signup with %s', async (_, required_contact, given) => {
    const waitlist = await newWaitlist({ required_contact });

    expect((await join(waitlist, given)).status).toBe(200);
    expect((await find(waitlist, { phone: '+14155550123' })).body.phone).toBe('+14155550123');
  });

  it('refuse only the incomplete ones of many simultaneous signups', async () => {
    const waitlist = await newWaitlist({ required_contact: { first_name: 'required' } });
    const names = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? null : 'Ada'));

    const answers = await Promise.all(names.map((first_name) => join(waitlist, { email: someEmail(), first_name })));

    expect(answers.map(({ status }) => status)).toEqual(names.map((name) => (name ? 200 : 422)));
    const positions = answers.filter(({ status }) => status === 200).map(({ body }) => body.priority as number);
    expect(positions.sort((a, b) => a - b)).toEqual(positions.map((_, index) => index));
  });

  it('keep a field that is off from being stored', async () => {
    const waitlist = await newWaitlist({ required_contact: { phone: 'off', first_name: 'off' } });
    const phone = somePhone();

    const { status, body } = await join(waitlist, { email: someEmail(), phone, first_name: 'Ada' });

    expect(status).toBe(200);
    expect(body).not.toHaveProperty('phone');
    expect((await find(waitlist, { phone })).status).toBe(404);
  });
});

describe('a referral', () => {
  it('is read from its link', async () => {
    const waitlist = await newWaitlist();
    const ada = await world.signup(waitlist);

    const { body } = await join(waitlist, { email: someEmail(), referral_link: ada.referral_link });

    expect(body.referred_by_signup_token).toBe(ada.referral_token);
    expect((await find(waitlist, { email: ada.email })).body.amount_referred).toBe(1);
  });

  it.each(['', null, 'not a URL at all', 'https://example.com/', `https://example.com/?ref_id=${UNKNOWN_TOKEN}`])(
    'is not made by %j, which is no error',
    async (referral_link) => {
      const { status, body } = await join(plain, { email: someEmail(), referral_link });

      expect(status).toBe(200);
      expect(body.referred_by_signup_token).toBeNull();
      expect(body.referral_link).toBe(`https://example.com/join?ref_id=${body.referral_token}`);
    },
  );

  it('does not count with a token of another waitlist', async () => {
    const [here, there] = [await newWaitlist(), await newWaitlist()];
    const stranger = await world.signup(there);

    const { body } = await join(here, { email: someEmail(), referral_link: stranger.referral_link });

    expect(body.referred_by_signup_token).toBeNull();
    expect((await find(there, { email: stranger.email })).body.amount_referred).toBe(0);
  });

  it('does not count if people refer themselves', async () => {
    const ada = await world.signup(plain);

    const { status, body } = await join(plain, { email: ada.email, referral_link: ada.referral_link });

    expect(status).toBe(200);
    expect(body).toMatchObject({ amount_referred: 0, referred_by_signup_token: null });
  });
});

describe('metadata', () => {
  it('is stored as it was sent, with its keys in their order', async () => {
    const metadata = { text: 'é😀\u0007', number: 1.5, list: [1, [null]], b: { yes: true }, a: {} };
    const waitlist = await newWaitlist();
    const people = [await world.signup(waitlist, { metadata }), await world.signup(waitlist, { metadata: {} })];

    const offboarded = await world.offboard(
      waitlist,
      await Promise.all(people.map((person) => world.idOf(waitlist, person))),
    );

    expect(offboarded.map((waiter) => JSON.stringify(waiter.metadata))).toEqual([JSON.stringify(metadata), '{}']);
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

  it('are returned in their order with the given answers and their own `optional`', async () => {
    const { body } = await join(asking, {
      email: someEmail(),
      answers: [item('How?', ['By bike', 'On foot']), { ...item('Why?', 'Because 😀'), optional: true, extra: 1 }],
    });

    expect(body.answers).toEqual([
      { question_value: 'Why?', optional: false, answer_value: 'Because 😀' },
      { question_value: 'How?', optional: true, answer_value: ['By bike', 'On foot'] },
      { question_value: 'Straße?', optional: true, answer_value: null },
    ]);
  });

  it('are answered with the given answers only in the response that created the record', async () => {
    const fields = { email: someEmail(), phone: somePhone(), answers: [item('Why?', 'A secret')] };
    const created = await join(asking, fields);

    const others = [
      await join(asking, fields),
      await join(asking, { ...fields, answers: [item('Why?', 'Other')] }),
      await find(asking, { email: fields.email }),
      await find(asking, { phone: fields.phone }),
    ];

    expect(created.body.answers[0].answer_value).toBe('A secret');
    for (const { body } of others) {
      expect(body.uuid).toBe(created.body.uuid);
      expect(body.answers.map((answer: { answer_value: unknown }) => answer.answer_value)).toEqual([null, null, null]);
    }
  });

  it('refuse NUL in an answer, and a phone of another region, at once', async () => {
    const fields = { email: someEmail(), phone: '030 901820', answers: [item('Why?', 'a\u0000b')] };

    const { status, body } = await join(asking, fields);

    expect(status).toBe(400);
    expect(body.errors).toMatchObject([
      { field: 'phone', rule: 'format' },
      { field: 'answers[0].answer_value', rule: 'characters' },
    ]);
  });

  it('are refused with 422 for all broken rules at once, those of contact data too', async () => {
    const strict = await newWaitlist({
      questions: QUESTIONS,
      required_contact: { email: 'required', phone: 'required', last_name: 'required' },
    });

    const { status, body } = await join(strict, {
      email: someEmail(),
      answers: [item('How?', 'By plane'), item('Why?', ''), item('Who?', 'x')],
    });

    expect([status, body.error_code]).toEqual([422, 'WAITLIST_RULE_BROKEN']);
    expect(body.errors.map(({ field, rule }: Record<string, string>) => `${field} ${rule}`)).toEqual([
      'phone required',
      'last_name required',
      'answers[0].answer_value one_of',
      'answers[1].answer_value required',
      'answers[2].question_value known',
    ]);
  });
});

describe('a lookup', () => {
  it('gives the same answer as the signup', async () => {
    const [email, phone] = [someEmail(), somePhone()];
    const joined = await join(plain, { email, phone });

    const found = await find(plain, { email, phone });

    expect(found.status).toBe(200);
    expect(found.body).toEqual(joined.body);
  });

  it('is refused with 400 for all its faults at once', async () => {
    const { status, body } = await api.get(`${PATH}?waitlist_id=abc&email=%20&x=%ff`);

    expect(status).toBe(400);
    expect(body.errors).toMatchObject([
      { field: 'x', rule: 'format' },
      { field: 'waitlist_id', rule: 'format' },
      { field: 'email', rule: 'required' },
    ]);
  });

  it('reads an unencoded plus in an email', async () => {
    const email = `ada+${randomUUID()}@example.com`;
    await join(plain, { email });

    const raw = await api.get(`${PATH}?waitlist_id=${plain.id}&email=${email}`);
    const encoded = await find(plain, { email });

    expect(raw.body.email).toBe(email);
    expect(encoded.body).toEqual(raw.body);
  });

  it('by uuid shows no contact data, whatever contact data stand beside it', async () => {
    const [email, phone] = [someEmail(), somePhone()];
    const { body: joined } = await join(plain, { email, phone });
    const record = { ...joined, email: undefined, phone: undefined };

    const contacts: Record<string, string>[] = [{}, { email, phone }, { email: someEmail() }, { email: '' }];
    for (const contact of contacts) {
      const { status, body } = await find(plain, { ...contact, uuid: joined.uuid.toUpperCase() });

      expect([status, body]).toEqual([200, record]);
    }
  });

  it('by uuid finds only the records of its waitlist', async () => {
    const { uuid } = await world.signup(await world.waitlist());

    const { status, body } = await find(plain, { uuid });

    expect([status, body.error_code]).toEqual([404, 'NO_WAITER_FOUND']);
  });

  it('is answered with 404 if neither the email nor the phone has a record', async () => {
    const { status, body } = await find(plain, { email: 'nobody@example.com', phone: '+14155559999' });

    expect(status).toBe(404);
    expect(body.error_code).toBe('NO_WAITER_FOUND');
  });

  it('is answered with 404 for an unknown waitlist, and so is a signup', async () => {
    const email = someEmail();
    for (const id of [Number.MAX_SAFE_INTEGER, String(Number.MAX_SAFE_INTEGER)])
      for (const { status, body } of [await find({ id }, { email }), await join({ id }, { email })])
        expect([status, body.error_code]).toEqual([404, 'WAITLIST_NOT_FOUND']);
  });
});

describe('a waitlist is named', () => {
  let named: OwnedWaitlist;
  let other: OwnedWaitlist;
  beforeAll(async () => {
    [named, other] = [await newWaitlist(), await newWaitlist()];
  });
  const call = async (name: Record<string, unknown>, email: string) => {
    const query = { ...name, email } as Record<string, string>;
    return [await api.post(PATH, { ...name, email }), await api.get(PATH, { query })] as const;
  };

  it('by its id, its public key or its API key, in waitlist_id and in api_key, by signups and lookups', async () => {
    const names = [named.id, String(named.id), named.public_key, named.api_key];

    for (const name of names) {
      for (const field of ['waitlist_id', 'api_key']) {
        const answers = await call({ [field]: name }, someEmail());
        expect(answers.map(({ status, body }) => [status, body.waitlist_id])).toEqual(
          answers.map(() => [200, named.id]),
        );
      }
    }
  });

  it('in the query of a signup and in the body of a lookup too, if the fields themselves do not name one', async () => {
    const email = someEmail();
    const raw = JSON.stringify({ api_key: named.public_key });
    const headers = { 'content-type': 'application/json' };

    const answers = [
      await api.post(`${PATH}?api_key=${named.public_key}`, { email }),
      await api.post(`${PATH}?waitlist_id=${other.id}`, { email, waitlist_id: named.id }),
      await api.get(PATH, { query: { email }, raw, headers }),
    ];

    expect(answers.map(({ status, body }) => [status, body.waitlist_id])).toEqual(answers.map(() => [200, named.id]));
  });

  it.each([() => other.api_key, () => 'a b', () => '', () => ({ a: [1] }), () => 1.5])(
    'by waitlist_id alone, whatever api_key holds (%#)',
    async (api_key) => {
      const answers = await call({ waitlist_id: named.public_key, api_key: api_key() }, someEmail());

      expect(answers.map(({ status, body }) => [status, body.waitlist_id])).toEqual(answers.map(() => [200, named.id]));
    },
  );

  it.each<[Record<string, unknown>, string, string]>([
    [{}, 'waitlist_id', 'required'],
    [{ waitlist_id: 'a b', api_key: '1' }, 'waitlist_id', 'format'],
    [{ waitlist_id: '9'.repeat(16) }, 'waitlist_id', 'maximum'],
    [{ waitlist_id: '12345678901234567' }, 'waitlist_id', 'format'],
    [{ waitlist_id: '-1' }, 'waitlist_id', 'minimum'],
    [{ api_key: 'abcdefgh' }, 'api_key', 'format'],
    [{ api_key: 'K1234' }, 'api_key', 'format'],
    [{ api_key: 'f'.repeat(41) }, 'api_key', 'format'],
  ])('wrongly by %j, which is refused with 400', async (name, field, rule) => {
    for (const { status, body } of await call(name, someEmail()))
      expect([status, body.errors]).toMatchObject([400, [{ field, rule }]]);
  });

  it('wrongly by an unknown key, which is answered with 404', async () => {
    for (const key of ['NOSUCHKEY', 'f'.repeat(40)]) {
      for (const { status, body } of await call({ api_key: key }, someEmail()))
        expect([status, body.error_code]).toEqual([404, 'WAITLIST_NOT_FOUND']);
    }
  });
});
