import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { Sweeper } from '../../src/platform/database/sweeper.js';
import { SealedColumns } from '../../src/platform/secrets/sealed-columns.js';
import type { Answer, Method } from '../support/api.js';
import { openDatabase } from '../support/database.js';
import { type Service, startService } from '../support/service.js';
import { type OwnedWaitlist, PASSWORD } from '../support/world.js';

describe('a write with an Idempotency-Key', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  async function call(
    { owner }: Pick<OwnedWaitlist, 'owner'>,
    method: Method,
    path: string,
    body: object | undefined,
    key: string,
  ): Promise<Answer> {
    return service.api.call(method, path, body, { token: owner.token, headers: { 'idempotency-key': key } });
  }

  /** The first answer and that of a repeat. */
  async function twice(waitlist: Pick<OwnedWaitlist, 'owner'>, method: Method, path: string, body?: object) {
    const key = randomUUID();
    return [await call(waitlist, method, path, body, key), await call(waitlist, method, path, body, key)] as const;
  }

  const nextOf = ({ api_key }: OwnedWaitlist, count: number) => ({
    api_key,
    offboard_request: true,
    offboard_next: count,
  });
  const isReplay = ({ headers }: Answer) => headers['idempotent-replayed'] === 'true';

  it('offboards the first of the queue once, and gives the same answer again', async () => {
    const waitlist = await service.world.waitlist();
    const people = await service.world.signups(waitlist, 5);

    const [first, repeat] = await twice(waitlist, 'PATCH', '/api/v1/waiter', nextOf(waitlist, 2));

    expect((first.body as { uuid: string }[]).map(({ uuid }) => uuid)).toEqual([people[0].uuid, people[1]!.uuid]);
    expect(repeat.body).toEqual(first.body);
    expect([isReplay(first), isReplay(repeat)]).toEqual([false, true]);
    expect(await service.world.list(waitlist)).toHaveLength(3);
  });

  it('keeps the answer of an offboarding that found nobody', async () => {
    const waitlist = await service.world.waitlist();
    const key = randomUUID();

    const first = await call(waitlist, 'PATCH', '/api/v1/waiter', nextOf(waitlist, 1), key);
    await service.world.signup(waitlist);
    const repeat = await call(waitlist, 'PATCH', '/api/v1/waiter', nextOf(waitlist, 1), key);

    expect([first.body, repeat.body, isReplay(repeat)]).toEqual([[], [], true]);
    expect(await service.world.list(waitlist)).toHaveLength(1);
  });

  it('makes one waitlist, and shows its key again', async () => {
    const owner = await service.world.owner();
    const body = { waitlist_name: 'Once', waitlist_url_location: 'https://example.com/join' };

    const [first, repeat] = await twice({ owner }, 'POST', '/api/v1/waitlist', body);

    expect([first.status, repeat.status, repeat.body]).toEqual([201, 201, first.body]);
    expect((await service.api.get('/api/v1/waitlist', { token: owner.token })).body).toHaveLength(1);
  });

  it('replaces an API key once', async () => {
    const waitlist = await service.world.waitlist();

    const [first, repeat] = await twice(waitlist, 'POST', `/api/v1/waitlist/${waitlist.id}/api_key`);

    expect([repeat.status, repeat.body, isReplay(repeat)]).toEqual([201, first.body, true]);
    const { api_key } = first.body as { api_key: string };
    expect(await service.world.list({ ...waitlist, api_key })).toEqual([]);
  });

  it('reports how many records the first change moved', async () => {
    const waitlist = await service.world.waitlist();
    const [ada] = await service.world.signups(waitlist, 3);
    await service.world.signup(waitlist, { referral_link: ada.referral_link });

    const path = `/api/v1/waitlist/${waitlist.id}`;
    const [first, repeat] = await twice(waitlist, 'PATCH', path, { spots_to_move_upon_referral: 9 });

    expect(first.body).toMatchObject({ records_moved: 1 });
    expect(repeat.body).toEqual(first.body);
  });

  it('answers 204 to the repeat of a deletion', async () => {
    const waitlist = await service.world.waitlist();

    const [first, repeat] = await twice(waitlist, 'DELETE', `/api/v1/waitlist/${waitlist.id}`);

    expect([first.status, repeat.status, isReplay(repeat)]).toEqual([204, 204, true]);
  });

  it('is refused with another body', async () => {
    const waitlist = await service.world.waitlist();
    const key = randomUUID();
    await call(waitlist, 'PATCH', '/api/v1/waiter', nextOf(waitlist, 1), key);

    const { status, body } = await call(waitlist, 'PATCH', '/api/v1/waiter', nextOf(waitlist, 2), key);

    expect([status, (body as { error_code: string }).error_code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('is carried out if the key was used on another path or by another account', async () => {
    const [waitlist, other] = [await service.world.waitlist(), await service.world.waitlist()];
    const key = randomUUID();
    await call(waitlist, 'PATCH', `/api/v1/waitlist/${waitlist.id}`, {}, key);

    const answers = [
      await call(waitlist, 'POST', `/api/v1/waitlist/${waitlist.id}/api_key`, undefined, key),
      await call(other, 'PATCH', `/api/v1/waitlist/${other.id}`, {}, key),
    ];

    expect(answers.map((answer) => [answer.status, isReplay(answer)])).toEqual([
      [201, false],
      [200, false],
    ]);
  });

  it('is carried out if the first one failed', async () => {
    const waitlist = await service.world.waitlist();
    const key = randomUUID();
    const body = { required_contact: { email: 'off' } };
    const path = `/api/v1/waitlist/${waitlist.id}`;
    await service.api.patch(path, { required_contact: { phone: 'off' } }, { token: waitlist.owner.token });
    const refused = await call(waitlist, 'PATCH', path, body, key);
    await service.api.patch(path, { required_contact: { phone: 'optional' } }, { token: waitlist.owner.token });

    const accepted = await call(waitlist, 'PATCH', path, body, key);

    expect([refused.status, accepted.status, isReplay(accepted)]).toEqual([400, 200, false]);
  });

  it('is carried out once, even if it is sent five times at once', async () => {
    const waitlist = await service.world.waitlist();
    await service.world.signups(waitlist, 5);
    const key = randomUUID();

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => call(waitlist, 'PATCH', '/api/v1/waiter', nextOf(waitlist, 1), key)),
    );

    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
    expect(await service.world.list(waitlist)).toHaveLength(4);
  });

  it.each([
    ['empty', ''],
    ['longer than 255 characters', 'x'.repeat(256)],
  ])('is refused if the key is %s', async (_, key) => {
    const waitlist = await service.world.waitlist();
    const { status, body } = await call(waitlist, 'PATCH', '/api/v1/waiter', nextOf(waitlist, 1), key);

    expect([status, (body as { errors: { field: string }[] }).errors[0]!.field]).toEqual([400, 'Idempotency-Key']);
  });

  describe('by several callers of one account', () => {
    const BODY = { waitlist_name: 'A', waitlist_url_location: 'https://example.com' };

    it('gives an answer that holds a secret only to the member or key that got it', async () => {
      const owner = await service.world.owner();
      const editor = await service.world.member(owner, 'editor');
      const keyOf = async (name: string) =>
        (await service.api.post('/api/v1/api_key', { name, scope: 'manage' }, { token: owner.token })).body
          .key as string;
      const callers = [
        { token: editor.token },
        { token: owner.token },
        { headers: { 'api-key': await keyOf('One') } },
        { headers: { 'api-key': await keyOf('Other') } },
      ];

      for (const [index, first] of callers.entries()) {
        const create = (by: (typeof callers)[number]) => {
          const headers = { ...by.headers, 'idempotency-key': `secret-${index}` };
          return service.api.post('/api/v1/waitlist', BODY, { ...by, headers });
        };
        const made = await create(first);
        expect(made.status).toBe(201);
        expect((await create(first)).body).toEqual(made.body);
        for (const other of callers.filter((caller) => caller !== first)) {
          const answer = await create(other);
          expect([answer.status, answer.body.error_code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
          expect(answer.text).not.toContain(made.body.api_key);
        }
      }
    });

    it('gives the new secret of a webhook only to the member who got it', async () => {
      const waitlist = await service.world.waitlist();
      const editor = await service.world.member(waitlist.owner, 'editor');
      const hooks = `/api/v1/waitlist/${waitlist.id}/webhook`;
      const { token } = waitlist.owner;
      const { id } = (await service.api.post(hooks, { url: 'https://93.184.215.14/hook' }, { token })).body;
      const replace = (by: { token: string }) =>
        service.api.post(`${hooks}/${id}/secret`, undefined, {
          token: by.token,
          headers: { 'idempotency-key': 'new-secret' },
        });
      const replaced = await replace(waitlist.owner);
      expect(replaced.status).toBe(200);

      const answer = await replace(editor);

      expect([answer.status, answer.body.error_code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      expect((await replace(waitlist.owner)).body).toEqual(replaced.body);
    });

    it('tells each member apart where they change themselves', async () => {
      const owner = await service.world.owner();
      const viewer = await service.world.member(owner, 'viewer');
      const rename = ({ token }: { token: string }) =>
        service.api.patch('/api/v1/member/me', { name: 'Ada' }, { token, headers: { 'idempotency-key': 'me' } });
      await rename(owner);

      const answer = await rename(viewer);

      expect(answer.body).toMatchObject({ id: viewer.id, name: 'Ada' });
      expect(isReplay(answer)).toBe(false);
      expect(isReplay(await rename(viewer))).toBe(true);
    });

    it('gives any other answer to each of them, once their role is judged', async () => {
      const waitlist = await service.world.waitlist();
      await service.world.signups(waitlist, 2);
      const [editor, viewer] = [
        await service.world.member(waitlist.owner, 'editor'),
        await service.world.member(waitlist.owner, 'viewer'),
      ];
      const path = '/api/v1/waiter';
      const offboard = ({ token }: { token: string }) =>
        service.api.patch(path, nextOf(waitlist, 1), { token, headers: { 'idempotency-key': 'of-all' } });

      const first = await offboard(waitlist.owner);
      const [repeat, refused] = [await offboard(editor), await offboard(viewer)];

      expect(repeat.body).toEqual(first.body);
      expect(isReplay(repeat)).toBe(true);
      expect([refused.status, refused.body.error_code]).toEqual([403, 'INSUFFICIENT_ROLE']);
    });

    it('tells a key for other waitlists nothing', async () => {
      const waitlist = await service.world.waitlist();
      const other = await service.world.waitlist({}, waitlist.owner);
      const { token } = waitlist.owner;
      const hooks = `/api/v1/waitlist/${waitlist.id}/webhook`;
      const { id } = (await service.api.post(hooks, { url: 'https://93.184.215.14/hook' }, { token })).body;
      const body = { name: 'Limited', scope: 'manage', waitlist_ids: [other.id] };
      const { key } = (await service.api.post('/api/v1/api_key', body, { token })).body;
      const test = (headers: Record<string, string>, by = {}) =>
        service.api.post(`${hooks}/${id}/test`, undefined, {
          ...by,
          headers: { ...headers, 'idempotency-key': 'test' },
        });

      expect((await test({}, { token })).status).toBe(202);

      expect((await test({ 'api-key': key })).status).toBe(404);
    });
  });
});

describe('a malformed Idempotency-Key', () => {
  it('is listed with the other faults of the request', async () => {
    const service = await startService();
    const { token } = await service.world.owner();
    const headers = { 'idempotency-key': 'x'.repeat(256) };
    const { body } = await service.api.post('/api/v1/waitlist', { waitlist_name: 1 }, { token, headers });
    await service.stop();

    const fields = (body as { errors: { field: string }[] }).errors.map(({ field }) => field);
    expect(fields).toEqual(['Idempotency-Key', 'waitlist_name']);
  });
});

describe('stored answers', () => {
  const [OLD, NEW] = ['old-secret-0123456789-abcdefghijklmn', 'new-secret-0123456789-abcdefghijklmn'];
  const BODY = { waitlist_name: 'Once', waitlist_url_location: 'https://example.com/join' };

  it('outlive a change of the secret, and wait for it where it is not listed', async () => {
    const database = await openDatabase(true);
    const start = (secrets: string) =>
      startService({ environment: { DATABASE_URL: database.url, JWT_SECRET: secrets } });
    const key = { 'idempotency-key': randomUUID() };
    const before = await start(OLD);
    const { email } = await before.world.owner();
    const first = await create(before, email, key);
    await before.stop();

    const without = await start(NEW);
    const refused = await create(without, email, key);
    expect([refused.status, (refused.body as { error_code: string }).error_code]).toEqual([503, 'SECRET_UNAVAILABLE']);
    expect(refused.headers['retry-after']).toBeDefined();
    expect(await without.app.get(SealedColumns).reseal()).toBe(1);
    await without.stop();

    const between = await start(`${NEW},${OLD}`);
    expect(await between.app.get(SealedColumns).reseal()).toBe(0);
    await between.stop();

    const after = await start(NEW);
    const repeat = await create(after, email, key);
    expect([repeat.status, repeat.body]).toEqual([201, first.body]);
    await after.stop();
    await database.drop();
  });

  it('hold no API key that can be read', async () => {
    const service = await startService({ isolated: true });
    const { email } = await service.world.owner();
    const { body } = await create(service, email, { 'idempotency-key': randomUUID() });

    const stored: unknown = await service.app.get(DataSource).query('SELECT * FROM idempotency_key');

    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain((body as { api_key: string }).api_key);
    await service.stop();
  });

  it('are deleted after a day', async () => {
    const service = await startService({ isolated: true });
    const { email } = await service.world.owner();
    await create(service, email, { 'idempotency-key': randomUUID() });
    await create(service, email, { 'idempotency-key': randomUUID() });
    const dataSource = service.app.get(DataSource);
    const old = new Date(Date.now() - 25 * 3_600_000).toISOString().slice(0, -1).replace('T', ' ');
    const [{ id }] = await dataSource.query<[{ id: string }]>('SELECT id FROM idempotency_key');
    await dataSource.query('UPDATE idempotency_key SET created_at = ? WHERE id = ?', [old, id]);

    await service.app.get(Sweeper).sweepAll();

    expect(await dataSource.query('SELECT id FROM idempotency_key WHERE id = ?', [id])).toEqual([]);
    expect(await dataSource.query('SELECT id FROM idempotency_key')).toHaveLength(1);
    await service.stop();
  });

  async function create({ api }: Service, email: string, headers: Record<string, string>): Promise<Answer> {
    const login = await api.post('/api/v1/auth/create_tokens', { email, password: PASSWORD });
    const { access_token: token } = login.body as { access_token: string };
    return api.post('/api/v1/waitlist', BODY, { token, headers });
  }
});
