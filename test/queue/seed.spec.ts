import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { repeatWhile } from '../support/repeat-while.js';
import { applicant } from '../support/applicant.js';
import { type Service, startService } from '../support/service.js';
import { type Queue, queueOf } from '../support/queue.js';
import { until } from '../support/service-process.js';

/** Takes several transactions. */
const PEOPLE = 8_000;

describe('seeding', () => {
  let service: Service;
  let queue: Queue;
  beforeAll(async () => {
    service = await startService();
    queue = queueOf(service.app);
  });
  afterAll(() => service.stop());

  it('keeps positions and counters exact for signups and audits that run at the same time', async () => {
    const { id } = await service.world.waitlist();
    let hasBegun = false;
    const seeding = queue.seeder.seed(id, PEOPLE, () => (hasBegun = true));
    // A signup before the first seeded ones would make the waitlist one that cannot be seeded.
    await until(() => hasBegun);

    const seen = await repeatWhile(seeding, async () => {
      const { waiter: joined } = await queue.writer.join(id, applicant());
      const { findings } = await queue.auditor.verify(id, () => undefined);
      return { ahead: joined.seq, priority: joined.priority, findings };
    });

    // Nobody leaves, so a newcomer is behind everybody before.
    expect(seen).toEqual(seen.map(({ ahead }) => ({ ahead, priority: ahead, findings: [] })));
    const report = await queue.auditor.verify(id, () => undefined);
    expect(report).toEqual({ records: PEOPLE + seen.length, findings: [], differences: 0 });
  });

  it('stops with a clear error and consistent counters when a real signup already has a seed email', async () => {
    const { id } = await service.world.waitlist();
    const email = `seed-${PEOPLE - 1}@example.com`;
    let signup: Promise<unknown> | undefined;

    const seeding = queue.seeder.seed(id, PEOPLE, () => {
      signup ??= service.world.signup({ id }, { email });
    });

    await expect(seeding).rejects.toThrow(
      /^A signup on waitlist \d+ already has the email or the token of an invented person: \d+ of 8000 joined, and no more can\.$/,
    );
    await signup;
    const { records, findings } = await queue.auditor.verify(id, () => undefined);
    expect(findings).toEqual([]);
    expect(records).toBeGreaterThan(1);
    expect(records).toBeLessThan(PEOPLE);
  });

  it('makes people of whom some referred others', async () => {
    const { id } = await service.world.waitlist();

    await queue.seeder.seed(id, PEOPLE, () => undefined);

    const { active, referredActive } = await queue.reader.getWaitlist(id);
    expect(active).toBe(PEOPLE);
    expect(referredActive).toBeGreaterThan(PEOPLE / 5);
    const [first, last] = await Promise.all(
      [0, PEOPLE - 1].map((number) =>
        queue.reader.find(id, { emailKey: `seed-${number}@example.com`, phoneKey: null }),
      ),
    );
    expect([first?.waiter?.seq, last?.waiter?.seq]).toEqual([0, PEOPLE - 1]);
    expect([first?.waiter?.joinedPriority, last?.waiter?.joinedPriority]).toEqual([0, PEOPLE - 1]);
  });
});
