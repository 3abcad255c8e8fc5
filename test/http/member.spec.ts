import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuditEventDto } from '../../src/auth/audit.dto.js';
import type { MemberDto } from '../../src/auth/member.dto.js';
import { MEMBERS_MAX } from '../../src/account/member.service.js';
import { Database } from '../../src/platform/database/database.js';
import type { Answer } from '../support/api.js';
import { type Service, startService, startServices } from '../support/service.js';
import { type LoggedIn, type Owner, PASSWORD } from '../support/world.js';

const PATH = '/api/v1/member';
const ACCOUNT = '/api/v1/account';
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

const refusal = ({ status, body }: Answer) => [status, (body as { error_code?: string } | undefined)?.error_code];

describe('the members of an account', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const list = async ({ token }: LoggedIn, query = {}) =>
    (await service.api.get(PATH, { token, query })).body as MemberDto[];
  const change = (by: LoggedIn, id: string, body: object) =>
    service.api.patch(`${PATH}/${id}`, body, { token: by.token });
  const remove = (by: LoggedIn, id: string) => service.api.delete(`${PATH}/${id}`, { token: by.token });
  const logIn = (email: string) => service.api.post('/api/v1/auth/create_tokens', { email, password: PASSWORD });
  const eventsOf = async ({ token }: LoggedIn, query = {}) =>
    (await service.api.get('/api/v1/audit', { token, query })).body as AuditEventDto[];
  const invite = ({ token }: LoggedIn, email = `${randomUUID()}@members.example`) =>
    service.api.post(PATH, { email, role: 'viewer', name: 'Ada' }, { token });

  it('are listed with what is known of them, a page at a time', async () => {
    const owner = await service.world.owner();
    const { id, email } = (await invite(owner)).body as MemberDto;

    const all = await list(owner);

    expect(all.find((member) => member.id === id)).toEqual({
      id,
      email,
      name: 'Ada',
      role: 'viewer',
      status: 'invited',
      two_factor: false,
      sign_in: [],
      created_at: expect.any(String),
      last_login_at: null,
    });
    expect(all.find((member) => member.id === owner.id)).toMatchObject({
      role: 'owner',
      status: 'active',
      sign_in: ['password'],
      last_login_at: expect.any(String),
    });
    const page = await service.api.get(PATH, { token: owner.token, query: { limit: 1 } });
    expect(page.body).toEqual(all.slice(0, 1));
    expect(page.headers.link).toContain(`after_id=${all[0]!.id}`);
    expect(await list(owner, { limit: 1, after_id: all[0]!.id })).toEqual(all.slice(1));
  });

  it('see themselves, and name themselves', async () => {
    const owner = await service.world.owner();
    const viewer = await service.world.member(owner, 'viewer');

    const named = await service.api.patch(`${PATH}/me`, { name: ' Grace ' }, { token: viewer.token });

    expect(named.body).toMatchObject({ id: viewer.id, name: 'Grace', role: 'viewer' });
    expect((await service.api.get(`${PATH}/me`, { token: viewer.token })).body).toEqual(named.body);
    await service.api.patch(`${PATH}/me`, { role: 'owner', name: null }, { token: viewer.token });
    expect((await service.api.get(`${PATH}/me`, { token: viewer.token })).body).toMatchObject({
      name: null,
      role: 'viewer',
    });
    expect((await eventsOf(owner, { member: viewer.id })).map(({ action, uuids }) => [action, uuids])).toEqual([
      ['member_updated', [viewer.id]],
      ['member_updated', [viewer.id]],
      ['member_joined', [viewer.id]],
    ]);
  });

  it('may do at the next request what their new role allows, and no more what it does not', async () => {
    const owner = await service.world.owner();
    const member = await service.world.member(owner, 'viewer');
    const make = async () =>
      (await service.api.post('/api/v1/waitlist', { waitlist_name: 'Mine' }, { token: member.token })).status;
    expect(await make()).toBe(403);

    expect((await change(owner, member.id, { role: 'editor' })).body).toMatchObject({ role: 'editor' });
    expect(await make()).toBe(201);
    await change(owner, member.id, { role: 'viewer' });
    expect(await make()).toBe(403);
  });

  it('lose their logins when they are disabled, and log in anew when they are enabled', async () => {
    const owner = await service.world.owner();
    const { id, email, token, refreshToken } = await service.world.member(owner, 'owner');
    const isLive = async (live: string) => (await service.api.get(`${PATH}/me`, { token: live })).status === 200;

    expect((await change(owner, id, { is_active: false })).body).toMatchObject({ status: 'disabled' });
    expect(await isLive(token)).toBe(false);
    expect(refusal(await logIn(email))).toEqual([401, 'WRONG_CREDENTIALS']);

    expect((await change(owner, id, { is_active: true })).body).toMatchObject({ status: 'active' });
    expect(await isLive(token)).toBe(false);
    expect((await service.api.get('/api/v1/auth/refresh_access_token', { token: refreshToken })).status).toBe(401);
    expect((await logIn(email)).status).toBe(200);
  });

  it('are gone when they are removed, and their email is free for any account', async () => {
    const owner = await service.world.owner();
    const { id, email, token } = await service.world.member(owner, 'editor');

    expect((await remove(owner, id)).status).toBe(204);

    expect((await service.api.get(`${PATH}/me`, { token })).status).toBe(401);
    expect(refusal(await remove(owner, id))).toEqual([404, 'MEMBER_NOT_FOUND']);
    expect(refusal(await change(owner, id, {}))).toEqual([404, 'MEMBER_NOT_FOUND']);
    expect(await list(owner)).toHaveLength(1);
    expect((await invite(await service.world.owner(), email)).status).toBe(201);
  });

  it('are at most a thousand', async () => {
    const owner = await service.world.owner();
    const rows = Array.from({ length: MEMBERS_MAX - 1 }, () => {
      const id = randomUUID();
      return [id, owner.accountId, id, id, 'viewer', '2026-01-01 00:00:00.000'];
    });
    await service.app
      .get(Database)
      .read((manager) =>
        manager.query(
          `INSERT INTO member (id, account_id, email, email_key, role, created_at) VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
          rows.flat(),
        ),
      );

    expect(refusal(await invite(owner))).toEqual([409, 'TOO_MANY_MEMBERS']);
  });

  it('leave an event for each kind of change, and none for what stays as it is', async () => {
    const owner = await service.world.owner();
    const member = await service.world.member(owner, 'viewer');

    await change(owner, member.id, { role: 'editor', name: 'Ada', is_active: false });
    await change(owner, member.id, { role: 'editor', name: 'Ada', is_active: false });
    await change(owner, member.id, { is_active: true });
    await remove(owner, member.id);

    const events = await eventsOf(owner, { uuid: member.id });
    expect(events.map(({ action }) => action).sort()).toEqual([
      'member_disabled',
      'member_enabled',
      'member_invited',
      'member_joined',
      'member_removed',
      'member_role_changed',
      'member_updated',
    ]);
    const changes = events.filter(({ action }) => !['member_invited', 'member_joined'].includes(action));
    expect(changes.map(({ member: by }) => by)).toEqual(Array(5).fill(owner.id));
  });

  it('end their own logins only, and see no others', async () => {
    const owner = await service.world.owner();
    const editor = await service.world.member(owner, 'editor');
    const logins = (await service.api.get('/api/v1/auth/session', { token: editor.token })).body as { id: string }[];

    expect(logins).toHaveLength(1);
    const answer = await service.api.delete(`/api/v1/auth/session/${logins[0]!.id}`, { token: owner.token });
    expect(refusal(answer)).toEqual([404, 'SESSION_NOT_FOUND']);
  });

  it.each([
    ['role', { role: 'admin' }],
    ['name', { name: 'x'.repeat(101) }],
    ['is_active', { is_active: null }],
    ['email_address', { email_address: 'ada@example.com' }],
  ])('are not changed with a bad %s', async (field, body) => {
    const owner = await service.world.owner();

    const answer = await change(owner, owner.id, body);

    expect([answer.status, answer.body.errors[0].field]).toEqual([400, field]);
    expect(refusal(await change(owner, UNKNOWN, {}))).toEqual([404, 'MEMBER_NOT_FOUND']);
  });

  describe('keep an owner who can log in', () => {
    it.each<[string, (owner: Owner) => Promise<Answer>]>([
      ['demoted', (owner) => change(owner, owner.id, { role: 'editor' })],
      ['disabled', (owner) => change(owner, owner.id, { is_active: false })],
      ['removed', (owner) => remove(owner, owner.id)],
    ])('who is not %s, whoever else there is', async (_, end) => {
      const owner = await service.world.owner();
      const other = await service.world.member(owner, 'owner');
      await service.world.member(owner, 'editor');
      await change(owner, other.id, { is_active: false });
      const before = await list(owner);

      expect(refusal(await end(owner))).toEqual([409, 'LAST_OWNER']);

      expect(await list(owner)).toEqual(before);
      await change(owner, other.id, { is_active: true });
      expect((await end(owner)).status).toBeLessThan(300);
    });
  });
});

describe('the members of an account on two replicas (one on the embedded database)', () => {
  let running: Awaited<ReturnType<typeof startServices>>;
  beforeAll(async () => {
    running = await startServices();
  });
  afterAll(() => running.stop());

  it.each(['demote', 'disable', 'remove'])('keep an owner although two %s each other at once', async (way) => {
    const [first] = running.services;
    const last = running.services.at(-1)!;
    for (let round = 0; round < 5; round += 1) {
      const one = await first.world.owner();
      const other = await first.world.member(one, 'owner');
      const end = ({ api }: Service, by: LoggedIn, { id }: LoggedIn) =>
        way === 'remove'
          ? api.delete(`${PATH}/${id}`, { token: by.token })
          : api.patch(`${PATH}/${id}`, way === 'demote' ? { role: 'viewer' } : { is_active: false }, {
              token: by.token,
            });

      const answers = await Promise.all([end(first, one, other), end(last, other, one)]);

      const outcomes = answers.map(refusal);
      expect(outcomes.filter(([status]) => Number(status) < 300)).toHaveLength(1);
      // The slower one may find its own access ended already.
      expect([409, 403, 401]).toContain(outcomes.find(([status]) => Number(status) >= 300)![0]);
      const owners = await Promise.all(
        [one, other].map(async ({ token }) => (await last.api.get(PATH, { token })).status === 200),
      );
      expect(owners.filter(Boolean)).toHaveLength(1);
    }
  });

  it('are ended at each replica by the next request', async () => {
    const [first] = running.services;
    const last = running.services.at(-1)!;
    const owner = await first.world.owner();
    const [demoted, removed] = [await first.world.member(owner, 'owner'), await first.world.member(owner, 'owner')];
    for (const { token } of [demoted, removed]) expect((await last.api.get(PATH, { token })).status).toBe(200);

    await first.api.patch(`${PATH}/${demoted.id}`, { role: 'editor' }, { token: owner.token });
    await first.api.delete(`${PATH}/${removed.id}`, { token: owner.token });

    expect(refusal(await last.api.get(PATH, { token: demoted.token }))).toEqual([403, 'INSUFFICIENT_ROLE']);
    expect(refusal(await last.api.get(PATH, { token: removed.token }))).toEqual([401, 'INVALID_TOKEN']);
  });
});

describe('an account', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('is shown to its members and keys, and named by its owners', async () => {
    const owner = await service.world.owner();
    const { token } = owner;
    const viewer = await service.world.member(owner, 'viewer');
    const { key } = (await service.api.post('/api/v1/api_key', { name: 'Report', scope: 'read' }, { token })).body;
    const unnamed = { id: owner.uuid, name: null, require_two_factor: false, created_at: expect.any(String) };
    expect((await service.api.get(ACCOUNT, { token })).body).toEqual(unnamed);

    const named = await service.api.patch(ACCOUNT, { name: 'Ada & Co.' }, { token });

    expect(named.body).toEqual({ ...unnamed, name: 'Ada & Co.' });
    expect((await service.api.patch(ACCOUNT, {}, { token })).body).toEqual(named.body);
    expect((await service.api.get(ACCOUNT, { token: viewer.token })).body).toEqual(named.body);
    expect((await service.api.get(ACCOUNT, { headers: { 'api-key': key } })).body).toEqual(named.body);
    const audit = await service.api.get('/api/v1/audit', { token });
    const actions = (audit.body as AuditEventDto[]).map(({ action, member }) => [action, member]);
    expect(actions.filter(([action]) => action === 'account_updated')).toEqual([['account_updated', owner.id]]);
  });

  it.each([
    ['name', { name: 'x'.repeat(101) }],
    ['require_two_factor', { require_two_factor: 'often' }],
    ['plan', { plan: 'free' }],
  ])('is not changed with a bad %s', async (field, body) => {
    const { token } = await service.world.owner();

    const answer = await service.api.patch(ACCOUNT, body, { token });

    expect([answer.status, answer.body.errors[0].field]).toEqual([400, field]);
  });
});
