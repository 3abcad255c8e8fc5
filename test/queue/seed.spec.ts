import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { QueueService } from '../../src/queue/queue.service.js';
import { repeatWhile } from '../support/repeat-while.js';
import { applicant, noRules } from '../support/applicant.js';
import { type Service, startService } from '../support/service.js';

/** Takes several transactions. */
const PEOPLE = 8_000;

describe('seeding', () => {
  let service: Service;
  let queue: QueueService;
  beforeAll(async () => {
    service = await startService();
    queue = service.app.get(QueueService);
  });
  afterAll(() => service.stop());

  it('keeps positions and counters exact for signups and audits that run at the same time', async () => {
    const { id } = await service.world.waitlist();
    const seeding = queue.seed(id, PEOPLE, () => undefined);

    const seen = await repeatWhile(seeding, async () => {
      const { waiter: joined } = await queue.join(id, applicant());
      const { findings } = await queue.verify(id, () => undefined);
      return { ahead: joined.seq, priority: joined.priority, findings };
    });

    // Nobody leaves, so a newcomer is behind everybody before.
    expect(seen).toEqual(seen.map(({ ahead }) => ({ ahead, priority: ahead, findings: [] })));
    const report = await queue.verify(id, () => undefined);
    expect(report).toEqual({ records: PEOPLE + seen.length, findings: [], differences: 0, remarks: [] });
  });

  it('stops with a clear error and consistent counters when a real signup already has a seed email', async () => {
    const { id } = await service.world.waitlist();
    const email = `seed-${PEOPLE - 1}@example.com`;
    let signup: Promise<unknown> | undefined;

    const seeding = queue.seed(id, PEOPLE, () => {
      signup ??= service.world.signup({ id }, { email });
    });

    await expect(seeding).rejects.toThrow(
      /^A signup on waitlist \d+ already has the email or the token of an invented person: \d+ of 8000 joined, and no more can\.$/,
    );
    await signup;
    const { records, findings } = await queue.verify(id, () => undefined);
    expect(findings).toEqual([]);
    expect(records).toBeGreaterThan(1);
    expect(records).toBeLessThan(PEOPLE);
  });

  it('makes people of whom some referred others', async () => {
    const { id } = await service.world.waitlist();

    await queue.seed(id, PEOPLE, () => undefined);

    const { active, referred } = (await queue.totals([id])).get(id) ?? {};
    expect(active).toBe(PEOPLE);
    expect(referred).toBeGreaterThan(PEOPLE / 5);
    const [first, last] = await Promise.all(
      [0, PEOPLE - 1].map((number) =>
        queue.find(id, { emailKey: `seed-${number}@example.com`, phoneKey: null }, noRules),
      ),
    );
    expect([first?.waiter?.seq, last?.waiter?.seq]).toEqual([0, PEOPLE - 1]);
  });
});
