import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { WaiterDto } from '../../src/waiter/waiter.dto.js';
import type { Answer, CallOptions } from '../support/api.js';
import { queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist } from '../support/world.js';

type Cells = readonly (string | number)[];

/** A CSV file of these rows, the header first. */
function csv(...rows: readonly Cells[]): string {
  return rows.map((cells) => cells.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(',') + '\n').join('');
}

describe('an import', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const pathOf = ({ id }: { readonly id: number }) => `/api/v1/waitlist/${id}/import`;

  async function send(waitlist: OwnedWaitlist, file: string | Buffer, options: CallOptions = {}): Promise<Answer> {
    return service.api.post(pathOf(waitlist), undefined, {
      token: waitlist.owner.token,
      raw: file,
      ...options,
      headers: { 'content-type': 'text/csv', ...options.headers },
    });
  }

  /** Imports a file of these rows; every counter and fact is then right. */
  async function importRows(waitlist: OwnedWaitlist, ...rows: readonly Cells[]): Promise<Answer['body']> {
    const { status, body, text } = await send(waitlist, csv(...rows));
    expect([status, text]).toEqual([200, expect.anything()]);
    await requireSound(waitlist);
    return body;
  }

  async function requireSound({ id }: OwnedWaitlist): Promise<void> {
    const { findings } = await queueOf(service.app).auditor.verify(id, () => undefined);
    expect(findings).toEqual([]);
  }

  async function latest(waitlist: OwnedWaitlist): Promise<Answer> {
    return service.api.get(pathOf(waitlist), { token: waitlist.owner.token });
  }

  /** The whole queue, active and offboarded records, in join order. */
  async function everybody(waitlist: OwnedWaitlist): Promise<WaiterDto[]> {
    const pages = [false, true].map((offboarded_request) =>
      service.world.list(waitlist, { offboarded_request, questions_request: true }),
    );
    return (await Promise.all(pages)).flat();
  }

  const byEmail = async (waitlist: OwnedWaitlist) =>
    new Map((await everybody(waitlist)).map((waiter) => [waiter.email, waiter]));

  /** The emails of the active records, the first of the queue first. */
  async function queue(waitlist: OwnedWaitlist): Promise<(string | null)[]> {
    const active = await service.world.list(waitlist);
    return active.toSorted((one, other) => one.priority - other.priority).map(({ email }) => email);
  }

  const EMPTY_REPORT = { imported: 0, skipped: 0, rejected: 0, unresolved_referrals: 0, ignored_columns: [], errors: [] };

  describe('of the columns', () => {
    it('takes them in any order and case, and reports those that it ignores', async () => {
      const waitlist = await service.world.waitlist();

      const report = await importRows(
        waitlist,
        ['notes', ' Last_Name', 'EMAIL', 'position', 'phone', 'first_name'],
        ['x', 'Lovelace', 'Ada@Example.com', 7, '+14155550123', 'Ada'],
      );

      expect(report).toEqual({ ...EMPTY_REPORT, imported: 1, ignored_columns: ['notes', 'position'] });
      expect(await everybody(waitlist)).toMatchObject([
        {
          email: 'Ada@Example.com',
          registered_email: 'Ada@Example.com',
          phone: '+14155550123',
          first_name: 'Ada',
          last_name: 'Lovelace',
          verified: false,
          amount_referred: 0,
          status: 'waiting',
          priority: 0,
        },
      ]);
    });
  });

  it('orders by created_at, the file deciding ties, behind those who are there already', async () => {
    const waitlist = await service.world.waitlist();
    const { email } = await service.world.signup(waitlist);

    await importRows(
      waitlist,
      ['email', 'created_at'],
      ['c@example.com', '2024-01-02T00:00:00Z'],
      ['b@example.com', '2024-01-01_00-00-00'],
      ['d@example.com', '2024-01-02T01:00:00+01:00'],
      ['e@example.com', ''],
      ['a@example.com', '2023-12-31'],
    );

    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.com`);
    expect(await queue(waitlist)).toEqual([email, ...names]);
    expect((await byEmail(waitlist)).get('b@example.com')?.created_at).toBe('2024-01-01_00-00-00');
  });
});
