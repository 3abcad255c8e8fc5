import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { isDuplicateKey } from '../../platform/database/database-error.js';
import { Database, NO_DEADLINE } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/session.js';
import { Problem } from '../../platform/problems/problem.js';
import { BucketStore } from '../bucket.store.js';
import { CounterChanges } from '../counters.js';
import type { OnProgress } from './auditor.js';
import { QueueStore } from '../queue.store.js';
import { rankKey } from '../rank-key.js';
import { TOKEN_ALPHABET } from '../referral-link.js';
import { WaiterStore } from '../waiter.store.js';

/** People in one transaction: their rows are one statement, within SQLite's 32,766 parameters. */
const CHUNK_SIZE = 1_000;
const REFERRED_SHARE = 0.3;

/** Fills an empty waitlist with invented people, past the writer's own path: for trials and measurements. */
@Injectable()
export class QueueSeeder {
  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly buckets: BucketStore,
  ) {}

  /**
   * `count` people, of whom three in ten were referred by someone before them: `seed-<n>@example.com`, n from 0. They
   * join some at a time, each time with their counters and under the lock of the line: it is exact for whoever is on it
   * meanwhile, and where this ends early.
   * @throws Problem `not_found`, or `conflict` where someone is on the waitlist already, or comes with an email of theirs
   */
  async seed(waitlistId: number, count: number, onProgress: OnProgress): Promise<void> {
    const token = tokensOf(randomInt(2 ** 20));
    for (let start = 0; start < count; start += CHUNK_SIZE) {
      const people = inventPeople(start, Math.min(CHUNK_SIZE, count - start), token);
      try {
        await this.database.pipelinedTransaction((session) => this.join(session, waitlistId, people), NO_DEADLINE);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        throw new Problem('WAITLIST_NOT_EMPTY', {
          detail: `A signup on waitlist ${waitlistId} already has the email or the token of an invented person: ${start} of ${count} joined, and no more can.`,
        });
      }
      onProgress(start + people.length, count);
    }
  }

  private async join(session: Transaction, waitlistId: number, people: readonly Invented[]): Promise<void> {
    const [first] = people as [Invented];
    const [waitlist, stored] = await session.all([
      this.queues.lock(waitlistId),
      this.waiters.findStandings(waitlistId, [first.referralToken]),
    ]);
    // The answer to the commit was lost, and this is its repeat.
    if (stored.length > 0) return;
    if (first.number === 0 && waitlist.nextSeq > 0) throw new Problem('WAITLIST_NOT_EMPTY');
    const changes = new CounterChanges(waitlist);
    const createdAt = new Date();
    const rows = people.map(({ number, ...person }, index) => {
      const facts = { seq: waitlist.nextSeq + index, creditedReferrals: person.amountReferred, spotsAdvanced: 0 };
      const email = `seed-${number}@example.com`;
      const row = {
        ...NOBODY,
        ...person,
        ...facts,
        waitlistId,
        uuid: uuidV7(),
        email,
        emailKey: email,
        registeredEmail: email,
        referred: person.referredByToken !== null,
        rankKey: rankKey(facts, waitlist.spotsPerReferral),
        createdAt,
      };
      changes.join(row);
      return row;
    });
    const referred = rows.filter((row) => row.referred).length;
    const siblings = await session.one(this.buckets.findSiblings(waitlistId, changes));
    await session.commit([
      this.waiters.insert(rows),
      this.buckets.save(waitlistId, changes.changedBuckets(siblings)),
      this.queues.update({
        ...waitlist,
        nextSeq: waitlist.nextSeq + rows.length,
        active: waitlist.active + rows.length,
        referredActive: waitlist.referredActive + referred,
      }),
    ]);
  }
}

/** What is known of a person before the line is. */
interface Invented {
  readonly number: number;
  readonly referralToken: string;
  readonly referredByToken: string | null;
  readonly amountReferred: number;
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

/** A referrer is among those who join together: then nobody is changed who is on the line already. */
function inventPeople(from: number, count: number, token: (number: number) => string): Invented[] {
  const referrers = Array.from({ length: count }, (_, index) =>
    index > 0 && Math.random() < REFERRED_SHARE ? Math.floor(Math.random() * index) : null,
  );
  const amounts = new Array<number>(count).fill(0);
  for (const referrer of referrers) if (referrer !== null) amounts[referrer] = (amounts[referrer] as number) + 1;
  return referrers.map((referrer, index) => ({
    number: from + index,
    referralToken: token(from + index),
    referredByToken: referrer === null ? null : token(from + referrer),
    amountReferred: amounts[index] as number,
  }));
}

/** A token for each number: one random beginning for all, so that two seeded waitlists don't collide. */
function tokensOf(beginning: number): (number: number) => string {
  const write = (value: number, length: number) =>
    Array.from({ length }, (_, index) => TOKEN_ALPHABET[Math.floor(value / 32 ** (length - 1 - index)) % 32]).join('');
  const prefix = write(beginning, 4);
  return (number) => `${prefix}${write(number, 8)}`;
}
