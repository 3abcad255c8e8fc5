import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { Database, UNHURRIED } from '../platform/database/database.js';
import { Problem } from '../platform/problem.js';
import { type OnProgress, QueueAuditor } from './queue.auditor.js';
import { QueueStore } from './queue.store.js';
import { rankKey } from './rank-key.js';
import { TOKEN_ALPHABET } from './referral-token.js';
import { WaiterStore } from './waiter.store.js';

/** Rows a statement: within SQLite's 32,766 parameters. */
const CHUNK_SIZE = 1_500;
const REFERRED_SHARE = 0.3;

/** Fills an empty waitlist with invented people, past the writer's own path: for trials and measurements. */
@Injectable()
export class QueueSeeder {
  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly auditor: QueueAuditor,
  ) {}

  /**
   * `count` people, of whom three in ten were referred by someone before them: `seed-<n>@example.com`, n from 0.
   * @throws Problem `not_found`, or `conflict` where someone is on the waitlist already
   */
  async seed(waitlistId: number, count: number, onProgress: OnProgress): Promise<void> {
    const spotsPerReferral = await this.database.exchange(async (session) => {
      const queue = await this.queues.lock(session, waitlistId);
      if (queue.nextSeq > 0)
        throw new Problem('conflict', 'WAITLIST_NOT_EMPTY', 'Only an empty waitlist can be seeded.');
      // Whoever signs up meanwhile comes after the invented.
      await this.queues.update(session, { ...queue, nextSeq: count });
      return queue.spotsPerReferral;
    });
    const { referrerOf, amountOf } = inventReferrals(count);
    const token = tokensOf(randomInt(2 ** 20));
    const createdAt = new Date();
    for (let start = 0; start < count; start += CHUNK_SIZE) {
      const rows = Array.from({ length: Math.min(CHUNK_SIZE, count - start) }, (_, index) => {
        const seq = start + index;
        const email = `seed-${seq}@example.com`;
        const referrer = referrerOf[seq] as number;
        const amountReferred = amountOf[seq] as number;
        const facts = { seq, creditedReferrals: amountReferred, spotsAdvanced: 0 };
        return {
          ...NOBODY,
          ...facts,
          waitlistId,
          uuid: uuidV7(),
          email,
          emailKey: email,
          registeredEmail: email,
          referralToken: token(seq),
          referredByToken: referrer < 0 ? null : token(referrer),
          referred: referrer >= 0,
          amountReferred,
          rankKey: rankKey(facts, spotsPerReferral),
          createdAt,
        };
      });
      await this.database.exchange((session) => this.waiters.insert(session, rows), UNHURRIED);
      onProgress(start + rows.length, count);
    }
    await this.auditor.rebuild(waitlistId, () => undefined);
  }
}

const NOBODY = {
  phone: null,
  phoneKey: null,
  firstName: null,
  lastName: null,
  metadata: null,
  answers: null,
  active: true,
  verified: false,
  removedAt: null,
  removedPriority: null,
  removedBy: null,
} as const;

/** For each person the referrer, or -1, and how many they referred. */
function inventReferrals(count: number) {
  const referrerOf = new Int32Array(count).fill(-1);
  const amountOf = new Int32Array(count);
  for (let seq = 1; seq < count; seq += 1) {
    if (Math.random() >= REFERRED_SHARE) continue;
    const referrer = Math.floor(Math.random() * seq);
    referrerOf[seq] = referrer;
    amountOf[referrer] = (amountOf[referrer] as number) + 1;
  }
  return { referrerOf, amountOf };
}

/** A token for each number: one random beginning for all, so that two seeded waitlists don't collide. */
function tokensOf(beginning: number): (seq: number) => string {
  const write = (number: number, length: number) =>
    Array.from({ length }, (_, index) => TOKEN_ALPHABET[Math.floor(number / 32 ** (length - 1 - index)) % 32]).join('');
  const prefix = write(beginning, 4);
  return (seq) => `${prefix}${write(seq, 8)}`;
}
