import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import type { Answer, Api, Method } from '../support/api.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';
import { type OwnedWaitlist, PASSWORD, type World } from '../support/world.js';
import { type HostileInput, REFUSED, type Target } from './hostile-inputs.js';

const MEMORY_GROWTH_MAX_BYTES = 8 * 1024 * 1024;
const TABLES = [
  ...['account', 'account_key', 'login', 'waitlist', 'deleted_waitlist', 'taken_name', 'waiter', 'erased_waiter'],
  ...['waitlist_slug', 'queue_bucket', 'waitlist_day', 'page_view', 'import_run'],
];

let service: Service;
let api: Api;
let world: World;
let waitlist: OwnedWaitlist;
let target: Target;

beforeAll(async () => {
  service = await startService({ isolated: true });
  ({ api, world } = service);
  waitlist = await world.waitlist();
  const asking = await world.waitlist(
    {
      questions: [
        { question_value: 'Why?', optional: false },
        { question_value: 'How?', answer_value: ['On foot', 'By bike'] },
      ],
    },
    waitlist.owner,
  );
  const known = await world.signup(waitlist, { email: 'known@example.com' });
  await world.signup(waitlist, { referral_link: known.referral_link });
  target = {
    id: waitlist.id,
    asking: asking.id,
    key: waitlist.api_key,
    token: waitlist.owner.token,
    waiter: await world.idOf(waitlist, known),
    uuid: known.uuid,
    referral: known.referral_token,
    foreignKey: (await world.waitlist()).api_key,
  };
});
afterAll(() => service.stop());

const inText = (text: string) =>
  Object.entries(target).reduce((filled, [name, value]) => filled.replaceAll(`{${name}}`, String(value)), text);
const inJson = (text: string) =>
  Object.entries(target).reduce(
    (filled, [name, value]) => filled.replaceAll(`"{${name}}"`, JSON.stringify(value)),
    text,
  );

async function fire({ call, body, raw, headers = {} }: HostileInput): Promise<Answer> {
  const [method, path = ''] = inText(call).split(/ (.*)/s, 2) as [Method, string];
  const text = body === undefined ? raw : JSON.stringify(body);
  return api.call(method, path, undefined, {
    raw: typeof text === 'string' ? inJson(text) : text,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, inText(value)])),
  });
}

async function countRows(): Promise<Record<string, number>> {
  const dataSource = service.app.get(DataSource);
  const counts = TABLES.map(async (table) => {
    const [row] = await dataSource.query<[{ count: number }]>(`SELECT COUNT(*) AS count FROM ${table}`);
    return [table, Number(row.count)] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

describe('hostile input', () => {
  const stored = async () => {
    const path = `/api/v1/waitlist/${waitlist.id}`;
    return [await countRows(), (await api.get(path, { token: target.token })).body as unknown];
  };
  let before: unknown[];
  beforeAll(async () => {
    before = await stored();
  });

  it.each(REFUSED)('comes to $status: $why', async (input) => {
    const { status, body, headers } = await fire(input);

    expect({ status, code: body?.error_code }).toEqual({ status: input.status, code: input.code });
    if (input.field !== undefined)
      expect(body.errors.map(({ field }: { field: string }) => field)).toContain(input.field);
    expect(headers).toMatchObject({ 'cache-control': 'no-store' });
    if (input.status === 200) expect(body).toEqual([]);
  });

  it('in a coding that is not read is told which is', async () => {
    const refused = (headers: Record<string, string>) =>
      fire({ why: '', call: 'POST /api/v1/signup', raw: '{}', headers, status: 415 });

    expect((await refused({ 'content-encoding': 'gzip' })).headers['accept-encoding']).toBe('identity');
    expect((await refused({ 'content-type': 'text/plain' })).headers).not.toHaveProperty('accept-encoding');
  });

  it('covers every class, field and operation', () => {
    expect(REFUSED.length).toBeGreaterThanOrEqual(900);
  });

  it('has stored nothing and ended nothing', async () => {
    expect(await stored()).toEqual(before);
    expect(await world.list(waitlist)).toHaveLength(2);
    expect({}).not.toHaveProperty('verified');
    await until(async () => (await api.get('/readyz')).status === 200);
    expect((await world.signup(waitlist)).priority).toBe(2);
  });

  it('leaves no memory behind', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    // The tests above have sent each once, so what is kept once for all is there.
    const before = used();

    for (const input of REFUSED) await fire(input);

    expect(used() - before).toBeLessThan(MEMORY_GROWTH_MAX_BYTES);
  });
});

describe('nobody sets', () => {
  /** Names of columns, of properties and of answers. */
  const RECORD = {
    id: 1,
    uuid: '00000000-0000-7000-8000-000000000000',
    seq: 0,
    rank_key: 0,
    rankKey: 0,
    priority: 0,
    verified: true,
    active: false,
    amount_referred: 9,
    amountReferred: 9,
    total_referrals: 9,
    credited_referrals: 9,
    spots_advanced: 9,
    referral_token: '000000000000',
    referred_by_signup_token: '000000000000',
    referred: true,
    removed_date: '2020-01-01_00-00-00',
    removed_priority: 0,
    created_at: '2020-01-01_00-00-00',
    user_id: 'x',
    waitlistId: 1,
  };

  it('a field of the record by signing up', async () => {
    const own = await world.waitlist();
    await world.signup(own);

    const person = await world.signup(own, RECORD);

    const [, listed] = await world.list(own);
    expect(person).toMatchObject({ priority: 1, verified: false, amount_referred: 0, referred_by_signup_token: null });
    expect(listed).toMatchObject({ uuid: person.uuid, priority: 1, verified: false, amount_referred: 0 });
    for (const field of ['id', 'uuid', 'referral_token', 'created_at', 'removed_date'] as const)
      expect(listed![field]).not.toBe(RECORD[field]);
  });

  it('a field of the record by offboarding', async () => {
    const own = await world.waitlist();
    const person = await world.signup(own);
    const id = await world.idOf(own, person);
    const body = {
      api_key: own.api_key,
      offboard_request: true,
      waiters: [{ ...RECORD, email: 'other@example.com', id }],
    };

    const { body: offboarded } = await api.patch('/api/v1/waiter', body, { token: own.owner.token });

    expect(offboarded).toMatchObject([
      {
        id,
        email: person.email,
        uuid: person.uuid,
        verified: false,
        total_referrals: 0,
        referral_token: person.referral_token,
      },
    ]);
  });

  it('the owner, the key or the counts of a waitlist', async () => {
    const victim = await world.owner();
    const own = await world.waitlist();
    const forged = {
      api_key: 'forged-key',
      created_at: '2020-01-01_00-00-00',
      statistics: { total_signups: 9 },
    };

    const { token } = own.owner;
    const path = `/api/v1/waitlist/${own.id}`;
    const created = await world.waitlist(forged as object, own.owner);
    const { body: changed } = await api.patch(path, { ...forged, id: 1, public_key: 'STOLEN' }, { token });

    for (const field of ['account_id', 'accountId', 'user_id', 'api_key_hash', 'next_seq'])
      expect((await api.patch(path, { [field]: 1 }, { token })).body.errors).toMatchObject([{ field, rule: 'known' }]);
    expect([changed.id, changed.public_key]).toEqual([own.id, own.public_key]);
    for (const waitlist of [created, changed]) {
      expect(waitlist.statistics).toEqual({
        current_signups: 0,
        offboarded_signups: 0,
        offered_signups: 0,
        total_signups: 0,
        referred_signups: 0,
        pending_signups: 0,
        withheld_signups: 0,
      });
      expect(waitlist.created_at).not.toBe(forged.created_at);
    }
    expect((await api.get(path, { token: victim.token })).status).toBe(404);
    expect((await api.get('/api/v1/waiter', { token, query: { api_key: forged.api_key } })).status).toBe(403);
    expect(await world.list(own)).toEqual([]);
  });
});

describe('what names someone is compared byte by byte', () => {
  it('an API key', async () => {
    const { api_key, owner } = waitlist;
    const open = async (key: string) =>
      (await api.get('/api/v1/waiter', { token: owner.token, query: { api_key: key } })).status;

    expect(await open(api_key)).toBe(200);
    expect(await open(api_key.toUpperCase())).toBe(403);
    expect(await open(`${api_key} `)).toBe(403);
  });

  it('a referral token', async () => {
    const own = await world.waitlist();
    const { referral_token: token } = await world.signup(own);
    for (const given of [token.toLowerCase(), `${token} `, `${token}\0`])
      await world.signup(own, { referral_link: `https://example.com/?ref_id=${given}` });
    await world.signup(own, { referral_link: `https://example.com/?ref_id=${token}` });

    expect(await world.list(own, { referral_token: token })).toHaveLength(1);
    expect(await world.list(own, { referral_token: token.toLowerCase() })).toEqual([]);
  });

  it("an owner's email", async () => {
    const { email } = waitlist.owner;
    const logIn = async (typed: string) =>
      (await api.post('/api/v1/auth/create_tokens', { email: typed, password: PASSWORD })).status;

    expect(await logIn(email.toUpperCase())).toBe(200);
    expect(await logIn(email.replace('@', '\u0301@'))).toBe(401);
    expect(await logIn(email.replace('@owners', '@ówners'))).toBe(401);
    expect(await logIn(`${email}\0`)).toBe(401);
  });
});
