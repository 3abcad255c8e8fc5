import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Database } from '../../src/platform/database/database.js';
import { write } from '../../src/platform/database/session.js';
import { operatorWrite } from '../../src/platform/idempotency/account-write.js';
import { Problem } from '../../src/platform/problems/problem.js';
import { hashKey } from '../../src/platform/secrets/random-key.js';
import type { Command } from '../../src/queue/write/command.js';
import { applicant } from '../support/applicant.js';
import { commands, queueOf } from '../support/queue.js';
import { SEED } from '../support/seed.js';
import { type Service, startService } from '../support/service.js';

const RUNS = 40;
/** So few that most commands of a batch meet on somebody. */
const PEOPLE = 6;
/** Mails are configured, so that there are some to drop, but none is sent. */
const MAIL = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'test@example.com' };
const KINDS = [
  'offer',
  'accept',
  'decline',
  'expire',
  'renew',
  'return',
  'offboard',
  'erase',
  'leave',
  'correct',
  'advance',
  'refuse',
  'join',
] as const;

interface Act {
  readonly kind: (typeof KINDS)[number];
  /** Of the first people. */
  readonly person: number;
}

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...KINDS),
  person: fc.nat({ max: PEOPLE - 1 }),
});
const history = fc.record({
  onExpiry: fc.constantFrom('out' as const, 'end' as const),
  batches: fc.array(fc.array(act, { minLength: 2, maxLength: 6 }), { minLength: 3, maxLength: 8 }),
});

let service: Service;
beforeAll(async () => {
  service = await startService({ environment: MAIL });
});
afterAll(() => service.stop());

it(`commands that share a transaction add up, and leave no record of who was erased, seed ${SEED}`, async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ onExpiry, batches }) => {
      const { reader, writer, auditor, codes } = queueOf(service.app);
      const { id } = await service.world.waitlist({ offers: { on_expiry: onExpiry } });
      const owner = () => operatorWrite(1);
      const people: { uuid: string; code?: string }[] = [];
      let token: string | undefined;
      for (let n = 0; n < PEOPLE; n += 1) {
        const { waiter } = await writer.join(id, applicant(token));
        people.push({ uuid: waiter.uuid });
        // The first refers the others.
        token ??= waiter.referralToken;
      }
      const erased = new Set<string>();

      const run = async ({ kind, person }: Act): Promise<unknown> => {
        const one = people[person]!;
        const { uuid, code = 'none' } = one;
        const submit = async <Result>(command: Command<Result>) => writer.submit(id, command);
        switch (kind) {
          case 'offer': {
            const made = codes.make();
            const selection = { uuids: [uuid] };
            const offered = await submit(commands.makeOffers({ selection, codes: [made] }, owner()));
            if (offered.uuids.length > 0) one.code = codes.open(made)!;
            return offered;
          }
          case 'accept':
          case 'decline': {
            const origin = { requestId: randomUUID() };
            const answer = kind === 'accept' ? 'accepted' : 'declined';
            return submit(commands.answerOffer(hashKey(code), answer, origin));
          }
          case 'expire':
            return submit(commands.expireOffers(people.map((other) => other.uuid)));
          case 'renew': {
            const made = codes.make();
            await submit(commands.replaceOfferCode(uuid, made, owner()));
            one.code = codes.open(made)!;
            return undefined;
          }
          case 'return':
            return submit(commands.returnWaiters([uuid], owner()));
          case 'offboard':
            return submit(commands.offboard({ uuids: [uuid] }, owner()));
          case 'erase':
            await submit(commands.erase([uuid], owner()));
            return erased.add(uuid);
          case 'leave':
            await submit(commands.leave(uuid, () => true, randomUUID()));
            return erased.add(uuid);
          case 'correct':
            return writer.correct(id, uuid, { email: `${randomUUID()}@example.com` }, owner());
          case 'advance':
            return writer.correct(id, uuid, { spotsToAdvance: 2 }, owner());
          case 'refuse':
            return submit(commands.decideReferrals([uuid], 'refused', owner()));
          case 'join':
            return writer.join(id, applicant(token));
        }
      };

      for (const acts of batches) {
        // The time of all open offers is over: each command that meets one has to end it.
        await service.app
          .get(Database)
          .one(
            write('UPDATE offer SET expires_at = made_at, due_at = made_at WHERE waitlist_id = ? AND state = 0', [id]),
          );
        // While the first keeps the queue busy, the others come together, into one transaction.
        const first = writer.submit(id, commands.returnWaiters([randomUUID()], owner()));
        const settled = await Promise.allSettled(acts.map(run));
        await first;
        for (const result of settled) if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(Problem);
        expect(await reader.findByUuids(id, [...erased])).toEqual([]);
        expect(await auditor.verify(id, () => undefined)).toMatchObject({ findings: [] });
      }
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure: true },
  );
});
