import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Role, ROLES } from '../../src/account/member.entity.js';
import type { Answer, CallOptions } from '../support/api.js';
import { type CallableOperation, operationsOf } from '../support/operations.js';
import { type Service, startService } from '../support/service.js';
import type { LoggedIn, OwnedWaitlist } from '../support/world.js';
import { NEEDS, OF_ACCOUNT, OPEN_WITHOUT_TWO_FACTOR } from './needs.js';

describe('every operation that is not public', () => {
  let service: Service;
  let waitlist: OwnedWaitlist;
  let members: Record<Role, LoggedIn>;
  let operations: CallableOperation[];
  beforeAll(async () => {
    service = await startService();
    const { world, api } = service;
    waitlist = await world.waitlist();
    const { owner } = waitlist;
    members = { owner, editor: await world.member(owner, 'editor'), viewer: await world.member(owner, 'viewer') };
    operations = (await operationsOf(api, waitlist.id)).filter(({ operation }) => 'x-required-role' in operation);
    expect(operations).toHaveLength(Object.keys(NEEDS).length);
  });
  afterAll(() => service.stop());

  const outcome = ({ status, body }: Answer) => [status, (body as { error_code: string }).error_code];
  /** Calls it with a query that it refuses, so that nothing happens. */
  const call = ({ method, path }: CallableOperation, options: CallOptions) =>
    service.api.call(method, `${path}${path.includes('?') ? '&' : '?'}unknown=1`, undefined, options);
  /** The tokens with which it is called, but for the cookie. */
  const credentialsOf = ({ operation }: CallableOperation, { token, refreshToken }: LoggedIn): CallOptions =>
    operation.operationId === 'refreshAccessToken'
      ? { token: refreshToken }
      : {
          token,
          headers: { 'sec-fetch-site': 'same-origin', cookie: `waitlist_session=${refreshToken}` },
        };

  it('is open to its role and those above it; others learn the role that it needs, before anything else', async () => {
    for (const called of operations) {
      const id = called.operation.operationId;
      const [needed] = NEEDS[id]!;
      for (const role of ROLES) {
        const answer = await call(called, credentialsOf(called, members[role]));
        // A refreshed login goes on.
        if (id.startsWith('refresh')) {
          expect([id, role, answer.status]).toEqual([id, role, 200]);
          continue;
        }
        const isOpen = ROLES.indexOf(role) >= ROLES.indexOf(needed);
        expect([id, role, ...outcome(answer)]).toEqual([
          id,
          role,
          ...(isOpen ? [400, 'INVALID_REQUEST'] : [403, 'INSUFFICIENT_ROLE']),
        ]);
        if (!isOpen) expect(answer.body.detail).toContain(`needs the role ${needed};`);
      }
    }
  });

  it('is closed to a member without a second factor that the account requires, unless it helps to get one', async () => {
    const { world, api } = service;
    const owner = await world.owner();
    const viewer = await world.member(owner, 'viewer');
    await api.patch('/api/v1/account', { require_two_factor: true }, { token: owner.token });

    for (const called of operations) {
      const id = called.operation.operationId;
      if (id.startsWith('refresh')) continue;
      const isOpen = NEEDS[id]![1] === 'unread' || OPEN_WITHOUT_TWO_FACTOR.includes(id);
      for (const member of [owner, viewer])
        expect([id, ...outcome(await call(called, credentialsOf(called, member)))]).toEqual([
          id,
          ...(isOpen ? [400, 'INVALID_REQUEST'] : [403, 'TWO_FACTOR_REQUIRED']),
        ]);
    }
  });

  it('knows a removed and a disabled member no more, although their tokens have not expired', async () => {
    const { owner } = waitlist;
    const [removed, disabled] = [
      await service.world.member(owner, 'owner'),
      await service.world.member(owner, 'owner'),
    ];
    await service.api.delete(`/api/v1/member/${removed.id}`, { token: owner.token });
    await service.api.patch(`/api/v1/member/${disabled.id}`, { is_active: false }, { token: owner.token });

    for (const called of operations)
      for (const member of [removed, disabled]) {
        const code = called.operation.operationId === 'refreshSession' ? 'NO_SESSION' : 'INVALID_TOKEN';
        expect([called.operation.operationId, ...outcome(await call(called, credentialsOf(called, member)))]).toEqual([
          called.operation.operationId,
          401,
          code,
        ]);
      }
  });

  it('is closed to a key for some waitlists if it is about the account', async () => {
    const body = { name: 'Limited', scope: 'manage', waitlist_ids: [waitlist.id] };
    const { key } = (await service.api.post('/api/v1/api_key', body, { token: waitlist.owner.token })).body;

    for (const called of operations) {
      const id = called.operation.operationId;
      const [, need] = NEEDS[id]!;
      if (need === 'unread') continue;
      const isClosed = need === 'refused' || OF_ACCOUNT.includes(id);
      expect([id, ...outcome(await call(called, { headers: { 'api-key': key } }))]).toEqual([
        id,
        ...(isClosed ? [403, 'INSUFFICIENT_SCOPE'] : [400, 'INVALID_REQUEST']),
      ]);
    }
  });
});
