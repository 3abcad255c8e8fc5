import { Injectable } from '@nestjs/common';
import { v7 as uuidV7 } from 'uuid';
import { Batcher, type Outcome } from '../platform/batcher.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { Database } from '../platform/database/database.js';
import type { Session } from '../platform/database/session.js';
import { isUnavailable, Problem } from '../platform/problems/problem.js';
import { QueueMetrics } from './queue.metrics.js';
import { BucketStore, type Siblings } from './bucket.store.js';
import { CounterChanges, EMPTY } from './counters.js';
import { QueueStore } from './queue.store.js';
import type { QueueEntity } from './queue.entity.js';
import { rankKey } from './rank-key.js';
import { newReferralToken } from './referral-token.js';
import type { Applicant, Newcomer, Waiter } from './waiter.js';
import { type Removal, type Standing, WaiterStore } from './waiter.store.js';

/** Records changed in one transaction: more would hold the lock, and each caller, for longer than a commit takes. */
const BATCH_MAX = 500;
/** Text of this size weighs as much as a record: the longest statement then stays near 8 MiB, half of MariaDB's packet. */
const WEIGHTY_TEXT_BYTES = 8 * 1024;
/** Weight of the commands of one waitlist that may wait: some seconds of work, so that nobody waits beyond a client's patience. */
const WAITING_MAX = 10_000;
/** A record that another process inserted at the same moment is found by the next attempt. */
const DUPLICATE_ATTEMPTS_MAX = 3;

/** Lines whose end is remembered: a number each. */
const ENDS_MAX = 10_000;

/** A new record, or null where one with this contact exists already. */
interface Joined<Rules = unknown> {
  readonly joined: Waiter | null;
  readonly newcomer: Newcomer;
  readonly rules: Rules;
}
interface Join {
  readonly kind: 'join';
  readonly applicant: Applicant;
}
interface Offboard {
  readonly kind: 'offboard';
  readonly id: string;
  readonly waiterIds: readonly number[];
}
type Command = Join | Offboard;
type Result = Joined | readonly Waiter[];

/** What a batch knows, under the lock, of the line and of those its commands are about; its work brings it up to date. */
interface Facts {
  readonly queue: QueueEntity;
  /** By which people join; nothing where nobody applied. */
  readonly rules: unknown;
  /** Of those whom commands name for removal. */
  readonly known: Map<number, Waiter>;
  readonly emailKeys: Set<string | null>;
  readonly phoneKeys: Set<string | null>;
  /** By their token. */
  readonly referrers: ReadonlyMap<string, Standing>;
  /** Counters that were read ahead. */
  readonly siblings: Siblings;
}

/**
 * The one door through which a line changes. Changes to one waitlist contend for its sequence and its order, so they are
 * serialised by the lock on its row; and because the lock and the commit cost the same for one command as for many, the
 * commands that arrive during one transaction share the next.
 *
 * A batch is one transaction of two round trips: lock the row, find whom the commands are about and read the counters at
 * the end of the line; write it all and commit. Where other counters change, of those who leave or are moved, or the end
 * was not known, or few of the last are referred, they are read with the first writes, and a third saves them and commits.
 * Each caller is answered after the commit. All commands are safe to repeat: a join finds its own record by its contact, an
 * offboarding knows its own work by the command's id on the rows.
 */
@Injectable()
export class QueueWriter {
  private readonly lines = new Map<number, Batcher<Command, Result>>();
  /**
   * Where each line ended when this process last looked: only what to read ahead follows from it, so it may be wrong.
   */
  private readonly ends = new Map<number, number>();
  private isClosed = false;

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly buckets: BucketStore,
    private readonly metrics: QueueMetrics,
  ) {
    metrics.watchWaiting(() => [...this.lines.values()].reduce((sum, line) => sum + line.length, 0));
  }

  /**
   * A new record at the end of the line, or null where the email or the phone is known already.
   * @throws Problem `unavailable` when too much waits or the database is away; `not_found` without such a waitlist; what
   *   `admit` throws
   */
  async join<Rules>(waitlistId: number, applicant: Applicant<Rules>): Promise<Joined<Rules>> {
    return (await this.submit(waitlistId, { kind: 'join', applicant: applicant as Applicant })) as Joined<Rules>;
  }

  /** The records that this call removed, in the order of `waiterIds`; others are left out. */
  async offboard(waitlistId: number, waiterIds: readonly number[]): Promise<readonly Waiter[]> {
    return (await this.submit(waitlistId, { kind: 'offboard', id: uuidV7(), waiterIds })) as readonly Waiter[];
  }

  /** Takes no more commands, and resolves when those taken have been answered. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(Array.from(this.lines.values(), (line) => line.drained()));
  }

  private async submit(waitlistId: number, command: Command): Promise<Result> {
    if (this.isClosed) {
      throw new Problem('SHUTTING_DOWN');
    }
    let line = this.lines.get(waitlistId);
    if (!line) {
      line = new Batcher((commands) => this.carryOut(waitlistId, commands), {
        name: 'write line',
        batchMax: BATCH_MAX,
        weightOf,
        waitingMax: WAITING_MAX,
        runsMax: 1,
        onIdle: () => this.lines.delete(waitlistId),
      });
      this.lines.set(waitlistId, line);
    }
    try {
      return await line.submit(command);
    } catch (error) {
      if (error instanceof Problem && error.code === 'QUEUE_FULL') this.metrics.refused();
      throw error;
    }
  }

  /** A batch that fails as a whole is carried out one by one, so that only the command at fault fails. */
  private async carryOut(waitlistId: number, commands: readonly Command[]): Promise<Outcome<Result>[]> {
    try {
      return await this.commit(waitlistId, commands);
    } catch (error) {
      if (commands.length === 1 || error instanceof Problem) return commands.map(() => ({ error }));
      const outcomes: Outcome<Result>[] = [];
      for (const command of commands) {
        const [outcome] = await this.carryOut(waitlistId, [command]);
        outcomes.push(outcome as Outcome<Result>);
        if (outcome && 'error' in outcome && isUnavailable(outcome.error)) break;
      }
      // Where the database went away meanwhile, the rest would only wait for the same.
      return commands.map((_, index) => outcomes[index] ?? (outcomes.at(-1) as Outcome<Result>));
    }
  }

  private async commit(waitlistId: number, commands: readonly Command[], attempt = 1): Promise<Outcome<Result>[]> {
    const start = performance.now();
    try {
      const outcomes = await this.database.exchange(
        async (session) => {
          const facts = await this.readFacts(session, waitlistId, commands);
          const changes = new CounterChanges(facts.queue);
          // First those who leave: their places are as they were before the batch.
          const removals = offboardAll(facts, changes, commands);
          const admissions = admitAll(facts, commands);
          const { joined, credited } = joinAll(facts, changes, admissions);
          const outcomes = commands.map((command): Outcome<Result> => {
            if (command.kind === 'offboard') return { result: ownRemovals(command, facts) };
            const admission = admissions.get(command) as Outcome<Newcomer>;
            if ('error' in admission) return admission;
            return { result: { joined: joined.get(command) ?? null, newcomer: admission.result, rules: facts.rules } };
          });
          // Nothing is written, and so nothing waits for a disk.
          if (removals.size === 0 && joined.size === 0) return outcomes;
          const count = async () => {
            const buckets = await this.buckets.findChanged(session, waitlistId, changes, facts.siblings);
            await Promise.all([
              this.buckets.save(session, waitlistId, buckets),
              this.queues.update(session, facts.queue),
              session.commit(),
            ]);
          };
          await Promise.all([
            ...Array.from(removals.values(), (removal) => this.waiters.remove(session, waitlistId, removal)),
            this.waiters.insert(session, [...joined.values()]),
            this.waiters.updateStandings(session, waitlistId, credited),
            count(),
          ]);
          this.expectEnd(waitlistId, facts.queue.nextSeq);
          return outcomes;
        },
        { onRetry: (reason) => this.metrics.retried(reason) },
      );
      this.metrics.committed(commands.length, performance.now() - start);
      return outcomes;
    } catch (error) {
      if (!isDuplicateKey(error) || attempt === DUPLICATE_ATTEMPTS_MAX) throw error;
      this.metrics.retried('duplicate_key');
      return await this.commit(waitlistId, commands, attempt + 1);
    }
  }

  /** Takes the lock, and reads what the commands need to know: in one round trip. */
  private async readFacts(session: Session, waitlistId: number, commands: readonly Command[]): Promise<Facts> {
    const applicants = commands.flatMap((command) => (command.kind === 'join' ? command.applicant : []));
    const ids = commands.flatMap((command) => (command.kind === 'offboard' ? command.waiterIds : []));
    const tokens = applicants.flatMap(({ referrerTokens }) => referrerTokens);
    const expected = newcomersFrom(this.ends.get(waitlistId), applicants);
    const [queue, rules, leaving, taken, referrers, siblings] = await Promise.all([
      this.queues.lock(session, waitlistId),
      applicants[0]?.readRules(session),
      this.waiters.findByIds(session, waitlistId, [...new Set(ids)]),
      this.waiters.findTaken(session, waitlistId, applicants),
      this.waiters.findStandings(session, waitlistId, [...new Set(tokens)]),
      this.buckets.findSiblings(session, waitlistId, expected.families()),
    ]);
    return {
      queue,
      rules,
      known: new Map(leaving.map((waiter) => [waiter.id, waiter])),
      emailKeys: new Set(taken.map(({ emailKey }) => emailKey)),
      phoneKeys: new Set(taken.map(({ phoneKey }) => phoneKey)),
      referrers: new Map(referrers.map((standing) => [standing.referralToken, standing])),
      siblings,
    };
  }

  private expectEnd(waitlistId: number, nextSeq: number): void {
    if (this.ends.size >= ENDS_MAX) this.ends.clear();
    this.ends.set(waitlistId, nextSeq);
  }
}

/**
 * Takes out of the line whom the commands name, one command after the other: a record's place at its removal is the one
 * before the batch less those whom earlier commands removed ahead of it.
 */
function offboardAll(
  { queue, known }: Facts,
  changes: CounterChanges,
  commands: readonly Command[],
): ReadonlyMap<Command, Removal> {
  const removals = new Map<Command, Removal>();
  const gone: number[] = [];
  const at = new Date();
  for (const command of commands) {
    if (command.kind !== 'offboard') continue;
    const by = command.id;
    const leaving = [...new Set(command.waiterIds)].flatMap((id) => known.get(id) ?? []).filter(({ active }) => active);
    const places = leaving.map(({ priority }) => priority);
    const removed = leaving.map((waiter): Waiter => {
      const priority = waiter.priority - gone.filter((place) => place < waiter.priority).length;
      return { ...waiter, active: false, removedAt: at, removedBy: by, removedPriority: priority, priority };
    });
    gone.push(...places);
    if (removed.length === 0) continue;
    removals.set(command, { at, by, priorities: new Map(removed.map(({ id, priority }) => [id, priority])) });
    for (const waiter of removed) {
      known.set(waiter.id, waiter);
      queue.active -= 1;
      queue.offboarded += 1;
      changes.leave(waiter);
      if (!waiter.referred) continue;
      queue.referredActive -= 1;
      queue.referredOffboarded += 1;
    }
  }
  return removals;
}

/** What a command removed, in this run or in an earlier one whose answer was lost. */
function ownRemovals({ id, waiterIds }: Offboard, { known }: Facts): Waiter[] {
  return [...new Set(waiterIds)].flatMap((waiterId) => known.get(waiterId) ?? []).filter(({ removedBy }) => removedBy === id); // prettier-ignore
}

/** Of each who applies the newcomer, or why the rules keep them out. */
function admitAll({ rules }: Facts, commands: readonly Command[]): ReadonlyMap<Join, Outcome<Newcomer>> {
  const admissions = new Map<Join, Outcome<Newcomer>>();
  for (const command of commands) {
    if (command.kind !== 'join') continue;
    try {
      admissions.set(command, { result: command.applicant.admit(rules) });
    } catch (error) {
      admissions.set(command, { error });
    }
  }
  return admissions;
}

/** Puts the newcomers whom nobody knows at the end of the line; gives their records, and the standings of who referred them. */
function joinAll(
  { queue, known, emailKeys, phoneKeys, referrers }: Facts,
  changes: CounterChanges,
  admissions: ReadonlyMap<Join, Outcome<Newcomer>>,
) {
  const joined = new Map<Command, Waiter>();
  const credited = new Map<string, Standing>();
  for (const [command, admission] of admissions) {
    if ('error' in admission) continue;
    const newcomer = admission.result;
    const { emailKey, phoneKey } = newcomer;
    const isKnown = (emailKey !== null && emailKeys.has(emailKey)) || (phoneKey !== null && phoneKeys.has(phoneKey));
    if (isKnown) continue;
    if (emailKey !== null) emailKeys.add(emailKey);
    if (phoneKey !== null) phoneKeys.add(phoneKey);
    const referrerToken = command.applicant.referrerTokens.find((token) => referrers.has(token)) ?? null;
    const waiter = newWaiter(queue, newcomer, referrerToken);
    joined.set(command, waiter);
    queue.nextSeq += 1;
    queue.active += 1;
    changes.join(waiter);
    if (referrerToken === null) continue;
    queue.referredActive += 1;
    const referrer = credited.get(referrerToken) ?? referrers.get(referrerToken);
    if (referrer) credited.set(referrerToken, withReferral(referrer, queue.spotsPerReferral));
  }
  for (const [token, { id, active, referred, rankKey: to }] of credited) {
    // A referrer may have left in this batch.
    if (!active || known.get(id)?.active === false) continue;
    changes.move((referrers.get(token) as Standing).rankKey, to, referred);
  }
  return { joined, credited: [...credited.values()] };
}

/** The counters that change when newcomers join a queue that ends at `end`; none where the end is not known. */
function newcomersFrom(end: number | undefined, applicants: readonly Applicant[]): CounterChanges {
  const changes = new CounterChanges({ ...EMPTY, nextSeq: end ?? 0 });
  if (end === undefined) return changes;
  applicants.forEach(({ referrerTokens }, index) => {
    const facts = { seq: end + index, creditedReferrals: 0, spotsAdvanced: 0 };
    changes.join({ ...facts, rankKey: rankKey(facts, 0), referred: referrerTokens.length > 0 });
  });
  return changes;
}

/** Records that a command changes, where a large text counts for more: a batch must fit in one packet of the database. */
function weightOf(command: Command): number {
  if (command.kind === 'offboard') return command.waiterIds.length;
  return 1 + Math.floor(command.applicant.textBytes / WEIGHTY_TEXT_BYTES);
}

/** The newest is behind all others: nobody active can have a greater key, so its place is how many are active. */
function newWaiter(queue: QueueEntity, newcomer: Newcomer, referredByToken: string | null): Waiter {
  const facts = { seq: queue.nextSeq, creditedReferrals: 0, spotsAdvanced: 0 };
  return {
    id: 0,
    waitlistId: queue.waitlistId,
    uuid: uuidV7(),
    email: newcomer.email,
    emailKey: newcomer.emailKey,
    registeredEmail: newcomer.email,
    phone: newcomer.phone,
    phoneKey: newcomer.phoneKey,
    firstName: newcomer.firstName,
    lastName: newcomer.lastName,
    metadata: newcomer.metadata,
    answers: newcomer.answers.length > 0 ? [...newcomer.answers] : null,
    referralToken: newReferralToken(),
    referredByToken,
    referred: referredByToken !== null,
    amountReferred: 0,
    rankKey: rankKey(facts, queue.spotsPerReferral),
    active: true,
    verified: false,
    removedAt: null,
    removedPriority: null,
    removedBy: null,
    createdAt: new Date(),
    priority: queue.active,
    ...facts,
  };
}

function withReferral(standing: Standing, spotsPerReferral: number): Standing {
  const credited = {
    ...standing,
    amountReferred: standing.amountReferred + 1,
    creditedReferrals: standing.creditedReferrals + 1,
  };
  return { ...credited, rankKey: rankKey(credited, spotsPerReferral) };
}
