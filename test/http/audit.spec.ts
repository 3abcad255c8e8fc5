import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AuditEventDto } from '../../src/auth/audit.dto.js';
import { Sweeper } from '../../src/platform/database/sweeper.js';
import { DataSource } from 'typeorm';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist } from '../support/world.js';

describe('the audit log', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  async function eventsOf(
    { owner }: Pick<OwnedWaitlist, 'owner'>,
    query: Record<string, string | number> = {},
  ): Promise<AuditEventDto[]> {
    const { body } = await service.api.get('/api/v1/audit', { token: owner.token, query });
    return body as AuditEventDto[];
  }

  it('has an event for every change of a waitlist, newest first, with the request and a hash of the address', async () => {
    const waitlist = await service.world.waitlist();
    const [ada] = await service.world.signups(waitlist, 2);
    const path = `/api/v1/waitlist/${waitlist.id}`;
    const { token, uuid } = waitlist.owner;
    await service.api.patch(
      path,
      { waitlist_name: 'Other' },
      { token, from: '203.0.113.7', headers: { 'x-request-id': 'my-request' } },
    );
    await service.world.offboard(waitlist, [await service.world.idOf(waitlist, ada)]);
    await service.api.post(`${path}/api_key`, undefined, { token });
    await service.api.delete(path, { token });

    const events = await eventsOf(waitlist);

    expect(events.map(({ action }) => action)).toEqual([
      'waitlist_deleted',
      'api_key_replaced',
      'waiters_offboarded',
      'waitlist_updated',
      'waitlist_created',
      'account_created',
    ]);
    expect(events.every(({ user_id }) => user_id === uuid)).toBe(true);
    expect(events.map(({ member }) => member)).toEqual([...Array<string>(5).fill(waitlist.owner.id), null]);
    expect(events.map(({ waitlist_id }) => waitlist_id)).toEqual([...Array<number>(5).fill(waitlist.id), null]);
    expect(events.map(({ uuids }) => uuids)).toEqual([[], [], [ada.uuid], [], [], []]);
    expect(events[3]).toMatchObject({ request_id: 'my-request' });
    expect(events[3]!.address_hash).not.toBe(events[2]!.address_hash);
    expect(events[1]!.address_hash).toBe(events[2]!.address_hash);
    expect(JSON.stringify(events)).not.toMatch(/203\.0\.113|127\.0\.0|@/);
  });

  it('is found by waitlist and by the uuid of a person, a page at a time', async () => {
    const waitlist = await service.world.waitlist();
    await service.world.waitlist({}, waitlist.owner);
    const people = await service.world.signups(waitlist, 3);
    for (const person of people) await service.world.offboard(waitlist, [await service.world.idOf(waitlist, person)]);

    expect(await eventsOf(waitlist, { uuid: people[1]!.uuid })).toMatchObject([{ uuids: [people[1]!.uuid] }]);
    const all = await eventsOf(waitlist, { waitlist_id: waitlist.id });
    expect(all.map(({ action }) => action)).toEqual([
      ...Array<string>(3).fill('waiters_offboarded'),
      'waitlist_created',
    ]);
    const page = await service.api.get('/api/v1/audit', {
      token: waitlist.owner.token,
      query: { waitlist_id: waitlist.id, limit: 3 },
    });
    expect(page.body).toEqual(all.slice(0, 3));
    expect(page.headers.link).toContain(`after_id=${all[2]!.id}`);
    expect(await eventsOf(waitlist, { waitlist_id: waitlist.id, after_id: all[2]!.id })).toEqual(all.slice(3));
  });

  it('names the member who did it, or no one for a key, and is found by the member', async () => {
    const waitlist = await service.world.waitlist();
    const editor = await service.world.member(waitlist.owner, 'editor');
    const { key } = (
      await service.api.post('/api/v1/api_key', { name: 'A', scope: 'manage' }, { token: waitlist.owner.token })
    ).body;
    const path = `/api/v1/waitlist/${waitlist.id}`;
    await service.api.patch(path, { waitlist_name: 'B' }, { token: editor.token });
    await service.api.patch(path, { waitlist_name: 'C' }, { headers: { 'api-key': key } });

    const updates = (await eventsOf(waitlist)).filter(({ action }) => action === 'waitlist_updated');
    expect(updates.map(({ member }) => member)).toEqual([null, editor.id]);
    const byEditor = await eventsOf(waitlist, { member: editor.id.toUpperCase() });
    expect(byEditor).toEqual([updates[1], expect.objectContaining({ action: 'member_joined' })]);
  });

  it('names a decision about a credit, unless it comes with a correction', async () => {
    const waitlist = await service.world.waitlist();
    const { referral_link } = await service.world.signup(waitlist);
    const { uuid } = await service.world.signup(waitlist, { referral_link });
    const bodies = [{ credit: 'refused' }, { credit: 'credited' }, { credit: 'refused', first_name: 'Ada' }];
    for (const body of bodies) await service.api.patch(`/api/v1/signup/${uuid}`, body, { token: waitlist.owner.token });

    const actions = (await eventsOf(waitlist, { uuid })).map(({ action }) => action);

    expect(actions).toEqual(['waiter_corrected', 'credit_approved', 'credit_refused']);
  });

  it("shows an owner nothing of another owner's", async () => {
    const waitlist = await service.world.waitlist();
    const stranger = await service.world.waitlist();

    expect(await eventsOf(stranger, { waitlist_id: waitlist.id })).toEqual([]);
  });

  it('has no event of a change that failed', async () => {
    const waitlist = await service.world.waitlist();
    const { token } = waitlist.owner;
    await service.api.patch(
      `/api/v1/waitlist/${waitlist.id}`,
      { required_contact: { email: 'off', phone: 'off' } },
      { token },
    );

    expect((await eventsOf(waitlist)).map(({ action }) => action)).toEqual(['waitlist_created', 'account_created']);
  });

  it.each([
    ['waitlist_id', 'x'],
    ['uuid', 'x'],
    ['member', 'x'],
    ['after_id', '1'],
    ['limit', 51],
  ])('refuses the query %s=%s', async (name, value) => {
    const { token } = await service.world.owner();
    const { status, body } = await service.api.get('/api/v1/audit', { token, query: { [name]: value } });

    expect([status, (body as { errors: { field: string }[] }).errors[0]!.field]).toEqual([400, name]);
  });
});

describe('the audit log on the standard output', () => {
  it('has a line for each event after its commit, as the API shows it, and none of what failed', async () => {
    const service = await startService({ environment: { AUDIT_LOG: 'stdout' } });
    const printed = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
    try {
      const waitlist = await service.world.waitlist();
      const { token } = waitlist.owner;
      const member = await service.world.member(waitlist.owner, 'viewer');
      const [ada] = await service.world.signups(waitlist, 1);
      await service.world.offboard(waitlist, [await service.world.idOf(waitlist, ada)]);
      const options = { token, headers: { 'idempotency-key': 'once' } };
      await service.api.patch(`/api/v1/member/${member.id}`, { role: 'editor', name: 'Ada' }, options);
      await service.api.patch(`/api/v1/member/${member.id}`, { role: 'editor', name: 'Ada' }, options);
      await service.api.delete(`/api/v1/member/${waitlist.owner.id}`, { token });

      const lines = printed.mock.calls.map(([text]) => String(text));
      const { body } = await service.api.get('/api/v1/audit', { token });
      expect(lines.every((line) => line.endsWith('}\n'))).toBe(true);
      expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
        expect.arrayContaining((body as object[]).map((event) => ({ type: 'audit', ...event }))),
      );
      expect(lines).toHaveLength((body as object[]).length);
      expect(lines.join('')).not.toMatch(/@|Ada|127\.0\.0/);
    } finally {
      printed.mockRestore();
      await service.stop();
    }
  });
});

describe('old audit events', () => {
  it('are deleted with the people that they name, and younger ones are kept', async () => {
    const service = await startService({ environment: { AUDIT_DAYS: '3' }, isolated: true });
    try {
      const waitlist = await service.world.waitlist();
      const [ada] = await service.world.signups(waitlist, 1);
      await service.world.offboard(waitlist, [await service.world.idOf(waitlist, ada)]);
      const count = async (table: string) =>
        (await rows(service, `SELECT COUNT(*) AS n FROM ${table}`)) as [{ n: number | string }];
      await rows(
        service,
        "UPDATE audit_event SET created_at = '2020-01-01 00:00:00.000' WHERE action = 'waiters_offboarded'",
      );

      await service.app.get(Sweeper).sweepAll();

      expect(Number((await count('audit_subject'))[0].n)).toBe(0);
      expect(Number((await count('audit_event'))[0].n)).toBe(2);
    } finally {
      await service.stop();
    }
  });
});

async function rows({ app }: Service, sql: string): Promise<unknown> {
  return app.get(DataSource).query(sql);
}
