import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { queueOf } from '../support/queue.js';
import { type Service, startService } from '../support/service.js';
import type { OwnedWaitlist } from '../support/world.js';

/** More than one step counts, and more than the embedded database numbers for a page. */
const PEOPLE = 12_000;
const SAMPLE = 40;
const emailOf = (index: number) => `u${index}@crowd.example`;

/** An import can give very many people one rank key, or a few that are next to each other. */
describe('a crowded bucket', () => {
  let service: Service;
  let waitlist: OwnedWaitlist;
  beforeAll(async () => {
    service = await startService({ isolated: true });
    waitlist = await service.world.waitlist({ uses_leaderboard: true });
    // Every hundredth is a rank key ahead, and has a referral.
    const lines = Array.from({ length: PEOPLE }, (_, index) =>
      index % 100 === 0 ? `${emailOf(index)},${Math.max(0, index - 2)},1` : `${emailOf(index)},${index},0`,
    );
    const { body } = await service.api.post(`/api/v1/waitlist/${waitlist.id}/import`, undefined, {
      token: waitlist.owner.token,
      raw: `email,spots_advanced,amount_referred\n${lines.join('\n')}`,
      headers: { 'content-type': 'text/csv' },
    });
    expect(body).toMatchObject({ imported: PEOPLE });
  });
  afterAll(() => service.stop());

  /** The obvious way. */
  async function inOrder(): Promise<string[]> {
    const rows = await service.app
      .get(DataSource)
      .query(
        `SELECT email_key AS email FROM waiter WHERE waitlist_id = ${waitlist.id} AND status = 1 ORDER BY rank_key, seq DESC`,
      );
    return (rows as { email: string }[]).map(({ email }) => email);
  }
  const drawn = () => Array.from({ length: SAMPLE }, () => emailOf(randomInt(PEOPLE)));

  it('gives each of many lookups at once its exact position', async () => {
    const { reader } = queueOf(service.app);
    const order = await inOrder();
    const emails = [...drawn(), ...drawn(), emailOf(0), emailOf(1), emailOf(1)];

    const found = await Promise.all(emails.map((emailKey) => reader.find(waitlist.id, { emailKey, phoneKey: null })));

    expect(found.map(({ waiter }) => waiter?.priority)).toEqual(emails.map((email) => order.indexOf(email)));
  });

  it('gives a page and a leaderboard exact positions', async () => {
    const order = await inOrder();
    const page = await service.api.get('/api/v1/waiter', {
      query: { api_key: waitlist.api_key, offset: PEOPLE - 20, limit: 20 },
      token: waitlist.owner.token,
    });
    const leaders = await queueOf(service.app).pages.leaders(waitlist.id, 10);

    const seen = (page.body as unknown as { email: string; priority: number }[]).map(({ email, priority }) => [
      email,
      priority,
    ]);
    expect(seen).toHaveLength(20);
    expect(seen).toEqual(seen.map(([email]) => [email, order.indexOf(email as string)]));
    expect(leaders).toHaveLength(10);
    expect(leaders.map(({ priority }) => priority)).toEqual(leaders.map(({ emailKey }) => order.indexOf(emailKey!)));
  });

  it('gives offboarded people the positions that they had', async () => {
    const order = await inOrder();
    const { reader } = queueOf(service.app);
    const emails = [...new Set(drawn())];
    const uuids: string[] = [];
    for (const emailKey of emails)
      uuids.push((await reader.find(waitlist.id, { emailKey, phoneKey: null })).waiter!.uuid);

    const { status } = await service.api.patch(
      '/api/v1/signup',
      { waitlist_id: waitlist.id, offboard_request: true, signups: uuids.map((uuid) => ({ uuid })) },
      { token: waitlist.owner.token },
    );

    expect(status).toBe(200);
    const offboarded = await reader.findByUuids(waitlist.id, uuids);
    expect(offboarded.map(({ removedPriority }) => removedPriority)).toEqual(
      emails.map((email) => order.indexOf(email)),
    );
    const { findings } = await queueOf(service.app).auditor.verify(waitlist.id, () => undefined);
    expect(findings).toEqual([]);
  });
});
