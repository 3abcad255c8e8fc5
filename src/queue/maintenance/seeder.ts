import { Injectable } from '@nestjs/common';
import { isDuplicateKey } from '../../platform/database/database-error.js';
import { Database, NO_DEADLINE } from '../../platform/database/database.js';
import type { Transaction } from '../../platform/database/session.js';
import { Problem } from '../../platform/problems/problem.js';
import { UNREFERRED } from '../write/credit.js';
import { newWaiter } from '../write/commands/join.js';
import { Ledger } from '../order/ledger.js';
import { LedgerChanges } from '../order/ledger-changes.js';
import type { OnProgress } from './auditor.js';
import { rankKey } from '../order/rank-key.js';
import type { Waiter } from '../record/waiter.js';
import { WaiterStore } from '../record/waiter.store.js';
import { QueueStore } from '../settings/queue.store.js';

/** Records in one transaction. Their INSERT must fit SQLite's 32,766 parameters. */
const CHUNK_SIZE = 1_000;
const REFERRED_SHARE = 0.3;

/** Fills an empty waitlist with generated people, for trials and benchmarks. It does not use the writer. */
@Injectable()
export class QueueSeeder {
  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly ledger: Ledger,
    private readonly waiters: WaiterStore,
  ) {}

  /**
   * Adds `count` people, `seed-<n>@example.com` with n from 0; an earlier one refers three in ten. Each chunk is a
   * transaction with its counters, under the lock of the queue, so the queue is always exact.
   * @throws Problem `WAITLIST_NOT_FOUND`; `WAITLIST_NOT_EMPTY`, also if a real signup has one of these emails
   */
  async seed(waitlistId: number, count: number, onProgress: OnProgress): Promise<void> {
    for (let start = 0; start < count; start += CHUNK_SIZE) {
      const people = inventPeople(waitlistId, start, Math.min(CHUNK_SIZE, count - start));
      try {
        await this.database.pipelinedTransaction(
          (session) => this.join(session, waitlistId, people, start),
          NO_DEADLINE,
        );
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        throw new Problem('WAITLIST_NOT_EMPTY', {
          detail: `A signup on waitlist ${waitlistId} already has the email or the token of an invented person: ${start} of ${count} joined, and no more can.`,
        });
      }
      onProgress(start + people.length, count);
    }
  }

  private async join(
    session: Transaction,
    waitlistId: number,
    people: readonly Waiter[],
    start: number,
  ): Promise<void> {
    const [first] = people as [Waiter];
    const [waitlist, stored] = await session.all([
      this.queues.lock(waitlistId),
      this.waiters.findReferrers(waitlistId, [first.referralToken]),
    ]);
    // A retry after a lost answer to the commit finds its own records.
    if (stored.length > 0) return;
    if (start === 0 && waitlist.nextSeq > 0) throw new Problem('WAITLIST_NOT_EMPTY');
    const changes = new LedgerChanges(waitlist);
    const rows = people.map((person) => {
      const numbered = { ...person, seq: waitlist.nextSeq, joinedPriority: waitlist.active };
      const row = { ...numbered, rankKey: rankKey(numbered, waitlist.spotsPerReferral) };
      changes.join(row);
      return row;
    });
    const siblings = await session.one(this.ledger.read(changes));
    await session.commit([this.waiters.insert(rows), this.ledger.save(changes, siblings)]);
  }
}

const NOBODY = { phone: null, phoneKey: null, metadata: null, answers: [] };
const FIRST_NAMES = ['Ada', 'Anna', 'Ben', 'Chen', 'Emil', 'Fatima', 'Grace', 'Jonas', 'Lea', 'Mia', 'Noah', 'Zoë'];
const LAST_NAMES = [
  'Berg',
  'Bergmann',
  'Çelik',
  'Dubois',
  'Garcia',
  'Hopper',
  'Ivanova',
  'Jensen',
  'Kim',
  'Lovelace',
  'Müller',
  'Novák',
  'Okafor',
  'Patel',
  'Rossi',
  'Silva',
  'Tanaka',
  'Wang',
  'Young',
];
const EMPTY_QUEUE = { nextSeq: 0, nextPending: 0, active: 0, spotsPerReferral: 0 };

/** Generates people, before the queue's state is known. Referrers are among them, so that no stored record changes. */
function inventPeople(waitlistId: number, from: number, count: number): Waiter[] {
  const people: Waiter[] = [];
  const referrals = new Map<string, number>();
  for (let number = from; number < from + count; number += 1) {
    const email = `seed-${number}@example.com`;
    const referrer = Math.random() < REFERRED_SHARE ? pick(people) : undefined;
    const token = referrer?.referralToken ?? null;
    const referral =
      token === null ? UNREFERRED : ({ ...UNREFERRED, referredByToken: token, credit: 'credited' } as const);
    if (token !== null) referrals.set(token, (referrals.get(token) ?? 0) + 1);
    const name = { firstName: pick(FIRST_NAMES) ?? null, lastName: pick(LAST_NAMES) ?? null };
    const person = { ...NOBODY, ...name, email, emailKey: email, mailboxKey: null };
    people.push(newWaiter({ id: waitlistId, ...EMPTY_QUEUE }, person, referral));
  }
  return people.map((person) => ({ ...person, creditedReferrals: referrals.get(person.referralToken) ?? 0 }));
}

function pick<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}
