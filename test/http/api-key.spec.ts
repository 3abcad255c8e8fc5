import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountKeyService, ACCOUNT_KEYS_MAX } from '../../src/account/account-key.service.js';
import type { AccountKeyDto, CreatedAccountKeyDto } from '../../src/auth/account-key.dto.js';
import { AccountService } from '../../src/account/account.service.js';
import type { Answer, CallOptions } from '../support/api.js';
import { queueOf } from '../support/queue.js';
import { type Service, startService, startServices } from '../support/service.js';
import { until } from '../support/service-process.js';
import { type Owner, PASSWORD } from '../support/world.js';

const PATH = '/api/v1/api_key';
const UNKNOWN = 'f'.repeat(64);

describe('an account key', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const create = (owner: Owner, fields: object = {}, options: CallOptions = {}) =>
    service.api.post(PATH, { name: 'Report', scope: 'manage', ...fields }, { token: owner.token, ...options });
  const keyOf = async (owner: Owner, fields: object = {}) => {
    const { status, body } = await create(owner, fields);
    expect(status).toBe(201);
    return body as CreatedAccountKeyDto;
  };
  const list = async ({ token }: Owner) => (await service.api.get(PATH, { token })).body as AccountKeyDto[];
  const withKey = (key: string): CallOptions => ({ headers: { 'api-key': key } });
  const statusWith = async (key: string) => (await service.api.get('/api/v1/waitlist', withKey(key))).status;
  const refusal = ({ status, body }: Answer) => [status, (body as { error_code?: string }).error_code];

  it('is shown once, and listed by its first six characters', async () => {
    const owner = await service.world.owner();
    const expires_at = '2999-01-31T01:00:00+01:00';

    const { status, body } = await create(owner, { scope: 'read', expires_at });

    const expected = {
      id: expect.any(Number),
      name: 'Report',
      scope: 'read',
      prefix: (body as CreatedAccountKeyDto).key.slice(0, 6),
      waitlist_ids: null,
      created_by: owner.id,
      created_at: expect.any(String),
      expires_at: '2999-01-31T00:00:00.000Z',
      last_used_at: null,
    };
    expect(status).toBe(201);
    expect(body).toEqual({ ...expected, key: expect.stringMatching(/^[\da-f]{64}$/) });
    expect(await list(owner)).toEqual([expected]);
  });

  it('that may only read may export', async () => {
    const waitlist = await service.world.waitlist();
    const { key } = await keyOf(waitlist.owner, { scope: 'read' });

    expect((await service.api.get(`/api/v1/waitlist/${waitlist.id}/export`, withKey(key))).status).toBe(200);
  });

  it('is stored as a hash only', async () => {
    const { id, key } = await keyOf(await service.world.owner());

    const [row] = await service.app.get(DataSource).query<[object]>(`SELECT * FROM account_key WHERE id = ${id}`);

    expect(JSON.stringify(row)).toContain(createHash('sha256').update(key).digest('hex'));
    expect(JSON.stringify(row)).not.toContain(key);
  });

  it('opens the account operations without a token, and names a waitlist by its id', async () => {
    const waitlist = await service.world.waitlist();
    const [ada] = await service.world.signups(waitlist, 1);
    const { key } = await keyOf(waitlist.owner);

    const listed = await service.api.get('/api/v1/waiter', { ...withKey(key), query: { waitlist_id: waitlist.id } });
    const body = { waitlist_id: waitlist.id, offboard_request: true, waiters: [{ id: listed.body[0].id }] };
    const offboarded = await service.api.patch('/api/v1/waiter', body, withKey(key));

    expect(listed.body).toMatchObject([{ uuid: ada.uuid, waitlist_api_key: null }]);
    expect(offboarded.body).toMatchObject([{ uuid: ada.uuid, waitlist_api_key: null, user_id: waitlist.owner.uuid }]);
    expect((await service.api.get('/api/v1/waitlist', withKey(key))).body).toMatchObject([{ id: waitlist.id }]);
  });

  describe('for some waitlists', () => {
    it('opens these, finds no others, and sees only their events', async () => {
      const waitlist = await service.world.waitlist();
      const other = await service.world.waitlist({}, waitlist.owner);
      const key = await keyOf(waitlist.owner, { waitlist_ids: [waitlist.id] });
      const get = (path: string, query = {}) => service.api.get(path, { ...withKey(key.key), query });

      expect(key.waitlist_ids).toEqual([waitlist.id]);
      expect((await get('/api/v1/waitlist')).body).toMatchObject([{ id: waitlist.id }]);
      expect((await get('/api/v1/waiter', { waitlist_id: waitlist.id })).status).toBe(200);
      expect(refusal(await get('/api/v1/waiter', { waitlist_id: other.id }))).toEqual([404, 'WAITLIST_NOT_FOUND']);
      expect(refusal(await get('/api/v1/waiter', { api_key: other.api_key }))).toEqual([403, 'WRONG_API_KEY']);
      const events = (await get('/api/v1/audit')).body as { waitlist_id: number }[];
      expect(events.map(({ waitlist_id }) => waitlist_id)).toEqual([waitlist.id]);
      expect((await get('/api/v1/audit', { waitlist_id: other.id })).body).toEqual([]);
    });

    it('opens fewer when one is deleted, and none after the last, even if the id is used again', async () => {
      const waitlist = await service.world.waitlist();
      const other = await service.world.waitlist({}, waitlist.owner);
      const { id, key } = await keyOf(waitlist.owner, { waitlist_ids: [waitlist.id, other.id] });
      const waitlistsOf = async () =>
        ((await service.api.get('/api/v1/waitlist', withKey(key))).body as object[]).length;
      const { token } = waitlist.owner;

      await service.api.delete(`/api/v1/waitlist/${waitlist.id}`, withKey(key));
      expect(await waitlistsOf()).toBe(1);
      expect((await service.api.get(`/api/v1/waitlist/${other.id}`, withKey(key))).body).toMatchObject({ mails: {} });
      await service.api.delete(`/api/v1/waitlist/${other.id}`, { token });

      expect(await list(waitlist.owner)).toMatchObject([{ id, waitlist_ids: [] }]);
      const { purger } = queueOf(service.app);
      while ((await purger.deletedIds()).includes(other.id)) await purger.purge(other.id);
      expect((await service.world.waitlist({ id: other.id }, waitlist.owner)).id).toBe(other.id);
      expect(await waitlistsOf()).toBe(0);
      expect((await service.api.get('/api/v1/audit', withKey(key))).body).toEqual([]);
    });

    it.each([
      ['of another account', async () => [(await service.world.waitlist()).id]],
      ['that nobody has', async () => [2 ** 52]],
    ])('is refused with one %s', async (_, idsOf) => {
      const own = await service.world.waitlist();
      const answer = await create(own.owner, { waitlist_ids: [own.id, ...(await idsOf())] });

      expect(refusal(answer)).toEqual([404, 'WAITLIST_NOT_FOUND']);
      expect(await list(own.owner)).toEqual([]);
    });

    it.each([
      ['an empty list', []],
      ['more than a hundred', Array.from({ length: 101 }, (_, index) => index + 1)],
      ['one twice', [1, 1]],
    ])('is refused with %s', async (_, waitlist_ids) => {
      const answer = await create(await service.world.owner(), { waitlist_ids });

      expect([answer.status, answer.body.errors[0].field]).toEqual([400, 'waitlist_ids']);
    });
  });

  it('names its maker after that one is removed', async () => {
    const owner = await service.world.owner();
    const maker = await service.world.member(owner, 'owner');
    const { key } = (await create(owner, {}, { token: maker.token })).body as CreatedAccountKeyDto;

    await service.api.delete(`/api/v1/member/${maker.id}`, { token: owner.token });

    expect(await list(owner)).toMatchObject([{ created_by: maker.id }]);
    expect(await statusWith(key)).toBe(200);
  });

  it('does not stand for the key of a waitlist', async () => {
    const waitlist = await service.world.waitlist();
    await service.world.signup(waitlist);
    const { key } = await keyOf(waitlist.owner);

    const unnamed = await service.api.get('/api/v1/waiter', withKey(key));
    const beside = await service.api.get('/api/v1/waiter', { token: waitlist.owner.token, ...withKey(key) });
    const both = { waitlist_id: waitlist.id, api_key: waitlist.api_key };
    const named = await service.api.get('/api/v1/waiter', { ...withKey(key), query: both });

    expect([unnamed.status, unnamed.body.errors]).toEqual([
      400,
      [{ field: 'api_key', rule: 'required', message: 'is required without a waitlist_id' }],
    ]);
    expect(refusal(beside)).toEqual([403, 'WRONG_API_KEY']);
    expect(named.body).toMatchObject([{ waitlist_id: waitlist.id, waitlist_api_key: null }]);
  });

  it('is not read beside a token: a bad token fails, and the key of a waitlist is a key of a waitlist', async () => {
    const waitlist = await service.world.waitlist();
    const { key } = await keyOf(waitlist.owner);
    const { token } = waitlist.owner;
    const authorizations = {
      'Bearer made.up.token': 'INVALID_TOKEN',
      'Basic eDp5': 'MISSING_TOKEN',
      '': 'MISSING_TOKEN',
    };

    for (const [authorization, code] of Object.entries(authorizations)) {
      const answer = await service.api.get('/api/v1/waitlist', { headers: { authorization, 'api-key': key } });
      expect([authorization, ...refusal(answer)]).toEqual([authorization, 401, code]);
    }
    expect((await service.api.get('/api/v1/waiter', { token, ...withKey(waitlist.api_key) })).status).toBe(200);
  });

  it('shows the whole waitlist to its owner, and counts as none on a public operation if it is not one', async () => {
    const waitlist = await service.world.waitlist({ is_public: false });
    const { key } = await keyOf(waitlist.owner, { scope: 'read' });
    const stranger = await keyOf(await service.world.owner());
    const get = async (id: number, apiKey: string) => await service.api.get(`/api/v1/waitlist/${id}`, withKey(apiKey));
    const open = await service.world.waitlist({}, waitlist.owner);

    expect((await get(waitlist.id, key)).body).toMatchObject({ id: waitlist.id, is_public: false });
    expect((await get(waitlist.id, stranger.key)).status).toBe(404);
    for (const placeholder of [UNKNOWN, open.api_key, 'YOUR_API_KEY', '']) {
      const { status, body } = await get(open.id, placeholder);
      expect([status, body.now, body.is_public]).toEqual([200, expect.any(String), undefined]);
    }
    const body = { waitlist_id: open.id, email: 'ada@example.com' };
    expect((await service.api.post('/api/v1/signup', body, withKey(UNKNOWN))).status).toBe(200);
  });

  it('is refused unless it has the form of a key and is known', async () => {
    const { key } = await keyOf(await service.world.owner());
    const refused = async (value: string) => refusal(await service.api.get('/api/v1/waitlist', withKey(value)));

    expect(await refused(UNKNOWN)).toEqual([401, 'INVALID_ACCOUNT_KEY']);
    expect(await refused(key.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toEqual([
      401,
      'INVALID_ACCOUNT_KEY',
    ]);
    for (const other of ['', 'x', key.slice(1), `${key}0`, key.toUpperCase().replace(/^./, 'A'), `${key}, ${key}`])
      expect([other, ...(await refused(other))]).toEqual([other, 401, 'MISSING_TOKEN']);
  });

  it('with the scope read opens what only reads', async () => {
    const waitlist = await service.world.waitlist();
    const { key } = await keyOf(waitlist.owner, { scope: 'read' });

    const changed = await service.api.patch(`/api/v1/waitlist/${waitlist.id}`, { waitlist_name: 'New' }, withKey(key));

    expect(refusal(changed)).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect((await service.api.get('/api/v1/audit', withKey(key))).status).toBe(200);
    expect((await service.api.get(PATH, withKey(key))).status).toBe(200);
  });

  it.each(['read', 'manage'])('with the scope %s creates no keys, and opens nothing under /auth', async (scope) => {
    const { key } = await keyOf(await service.world.owner(), { scope });

    expect(refusal(await service.api.post(PATH, { name: 'More', scope: 'read' }, withKey(key)))).toEqual([
      403,
      'INSUFFICIENT_SCOPE',
    ]);
    expect(refusal(await service.api.get('/api/v1/auth/refresh_access_token', withKey(key)))).toEqual([
      401,
      'MISSING_TOKEN',
    ]);
  });

  it('with the scope manage replaces the key of a waitlist, lists keys and revokes them, itself too', async () => {
    const waitlist = await service.world.waitlist();
    const { id, key } = await keyOf(waitlist.owner);
    const other = await keyOf(waitlist.owner);

    const replaced = await service.api.post(`/api/v1/waitlist/${waitlist.id}/api_key`, undefined, withKey(key));
    expect(replaced.status).toBe(201);
    expect((await service.api.get(PATH, withKey(key))).body).toMatchObject([{ id }, { id: other.id }]);
    expect((await service.api.delete(`${PATH}/${other.id}`, withKey(key))).status).toBe(204);
    expect((await service.api.delete(`${PATH}/${id}`, withKey(key))).status).toBe(204);

    expect([await statusWith(other.key), await statusWith(key)]).toEqual([401, 401]);
    expect(await list(waitlist.owner)).toEqual([]);
  });

  it('is not found once it is revoked, nor by another account', async () => {
    const owner = await service.world.owner();
    const { id, key } = await keyOf(owner);
    const revoke = ({ token }: Owner) => service.api.delete(`${PATH}/${id}`, { token });

    expect(refusal(await revoke(await service.world.owner()))).toEqual([404, 'ACCOUNT_KEY_NOT_FOUND']);
    expect(await statusWith(key)).toBe(200);
    expect((await revoke(owner)).status).toBe(204);
    expect(refusal(await revoke(owner))).toEqual([404, 'ACCOUNT_KEY_NOT_FOUND']);
  });

  it('ends when it expires, and stays in the list', async () => {
    const owner = await service.world.owner();
    const { id, key } = await keyOf(owner, { expires_at: new Date(Date.now() + 60_000).toISOString() });
    expect(await statusWith(key)).toBe(200);

    const past = '2026-01-01 00:00:00.000';
    await service.app.get(DataSource).query(`UPDATE account_key SET expires_at = '${past}' WHERE id = ${id}`);

    expect(await statusWith(key)).toBe(401);
    expect(await list(owner)).toMatchObject([{ id, expires_at: '2026-01-01T00:00:00.000Z' }]);
  });

  it('outlives a change of password, and ends for good when the account is disabled', async () => {
    const owner = await service.world.owner();
    const { key } = await keyOf(owner);
    const accounts = service.app.get(AccountService);

    await service.world.setPassword(owner.email, PASSWORD);
    expect(await statusWith(key)).toBe(200);
    await accounts.disable(owner.email);
    expect(await statusWith(key)).toBe(401);
    await accounts.enable(owner.email);
    expect(await statusWith(key)).toBe(401);
  });

  it('tells when it was last used, without a write for each use', async () => {
    const owner = await service.world.owner();
    const { id, key } = await keyOf(owner);
    const lastUse = async () => (await list(owner))[0]!.last_used_at;
    const usedAt = async (moment: Date) => {
      const text = moment.toISOString().slice(0, -1).replace('T', ' ');
      await service.app.get(DataSource).query(`UPDATE account_key SET last_used_at = '${text}' WHERE id = ${id}`);
      return (await lastUse())!;
    };
    await statusWith(key);
    await until(async () => (await lastUse()) !== null);

    const recent = await usedAt(new Date(Date.now() - 30_000));
    await Promise.all(Array.from({ length: 20 }, () => statusWith(key)));
    await service.app.get(AccountKeyService).writeUses();
    expect(await lastUse()).toBe(recent);

    const earlier = await usedAt(new Date(Date.now() - 61_000));
    await statusWith(key);
    await until(async () => (await lastUse()) !== earlier);
  });

  it('is the same when the request with its Idempotency-Key is repeated, also beside an access token', async () => {
    const owner = await service.world.owner();
    const repeat = { headers: { 'idempotency-key': 'once' } };

    const first = await create(owner, {}, repeat);
    const second = await create(owner, {}, repeat);
    const other = await create(owner, { name: 'Other' }, repeat);

    expect(second.body).toEqual(first.body);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(refusal(other)).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect(await list(owner)).toHaveLength(1);
    const [row] = await service.app
      .get(DataSource)
      .query<[{ sealed_answer: string }]>('SELECT sealed_answer FROM idempotency_key ORDER BY created_at DESC LIMIT 1');
    expect(row.sealed_answer).not.toContain((first.body as CreatedAccountKeyDto).key);
  });

  it('is revoked once when the request is repeated, whoever of the account repeats it', async () => {
    const owner = await service.world.owner();
    const { id } = await keyOf(owner);
    const [{ key }, { key: newer }] = [await keyOf(owner), await keyOf(owner)];
    const revoke = (apiKey: string) =>
      service.api.delete(`${PATH}/${id}`, { headers: { 'api-key': apiKey, 'idempotency-key': 'once' } });

    const answers = [await revoke(key), await revoke(key), await revoke(newer)];

    expect(answers.map(({ status, headers }) => [status, headers['idempotent-replayed']])).toEqual([
      [204, undefined],
      [204, 'true'],
      [204, 'true'],
    ]);
  });

  it('leaves audit events when it is created and when it is revoked', async () => {
    const owner = await service.world.owner();
    const { id } = await keyOf(owner);
    await service.api.delete(`${PATH}/${id}`, { token: owner.token });

    const { body } = await service.api.get('/api/v1/audit', { token: owner.token });

    const event = { user_id: owner.uuid, waitlist_id: null, uuids: [], request_id: expect.any(String) };
    expect(body.slice(0, 2)).toMatchObject([
      { action: 'account_key_revoked', ...event },
      { action: 'account_key_created', ...event },
    ]);
  });

  it('is one of a hundred at most, however many are created at once', async () => {
    const owner = await service.world.owner();
    for (let count = 0; count < ACCOUNT_KEYS_MAX - 1; count += 10)
      await Promise.all(Array.from({ length: Math.min(10, ACCOUNT_KEYS_MAX - 1 - count) }, () => keyOf(owner)));

    const answers = await Promise.all([create(owner), create(owner), create(owner)]);

    expect(answers.map(refusal).sort()).toEqual([
      [201, undefined],
      [409, 'TOO_MANY_ACCOUNT_KEYS'],
      [409, 'TOO_MANY_ACCOUNT_KEYS'],
    ]);
    const [{ id }] = (await list(owner)) as [AccountKeyDto];
    await service.api.delete(`${PATH}/${id}`, { token: owner.token });
    expect((await create(owner)).status).toBe(201);
  });

  it.each<[object, string, string]>([
    [{ name: undefined }, 'name', 'required'],
    [{ name: '' }, 'name', 'min_length'],
    [{ name: 'x'.repeat(101) }, 'name', 'max_length'],
    [{ scope: undefined }, 'scope', 'required'],
    [{ scope: 'write' }, 'scope', 'one_of'],
    [{ expires_at: '2026-01-01T00:00:00Z' }, 'expires_at', 'minimum'],
    [{ expires_at: '2999-02-30T00:00:00Z' }, 'expires_at', 'format'],
    [{ expires_at: '2999-01-01T00:00:00' }, 'expires_at', 'format'],
    [{ expires_at: '2999-01-01' }, 'expires_at', 'format'],
    [{ expires_at: '9999-12-31T23:59:59-01:00' }, 'expires_at', 'format'],
    [{ expires_at: 32_503_680_000 }, 'expires_at', 'type'],
    [{ expires: '2999-01-01T00:00:00Z' }, 'expires', 'known'],
  ])('is not created with %j', async (fields, field, rule) => {
    const owner = await service.world.owner();

    const { status, body } = await create(owner, fields);

    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ field, rule })]]);
    expect(await list(owner)).toEqual([]);
  });
});

it('a revoked account key ends at once on every replica', async () => {
  const replicas = await startServices();
  try {
    const [first, last] = [replicas.services[0], replicas.services.at(-1)!];
    const { token } = await first.world.owner();
    const { body } = await first.api.post(PATH, { name: 'Report', scope: 'read' }, { token });
    const { id, key } = body as CreatedAccountKeyDto;
    const statusOn = async ({ api }: Service) => (await api.get(PATH, { headers: { 'api-key': key } })).status;
    expect([await statusOn(first), await statusOn(last)]).toEqual([200, 200]);

    await first.api.delete(`${PATH}/${id}`, { token });

    expect([await statusOn(first), await statusOn(last)]).toEqual([401, 401]);
  } finally {
    await replicas.stop();
  }
});

it('a use of an account key is written before the service stops', async () => {
  const service = await startService();
  const { api, world, app } = service;
  try {
    const { token } = await world.owner();
    const use = async () => {
      const { body } = await api.post(PATH, { name: 'Report', scope: 'read' }, { token });
      await api.get(PATH, { headers: { 'api-key': (body as CreatedAccountKeyDto).key } });
    };
    await Promise.all(Array.from({ length: 10 }, use));

    await app.get(AccountKeyService).beforeApplicationShutdown();

    const keys = (await api.get(PATH, { token })).body as AccountKeyDto[];
    expect(keys.map(({ last_used_at }) => last_used_at)).toEqual(Array.from({ length: 10 }, () => expect.any(String)));
  } finally {
    await service.stop();
  }
});
