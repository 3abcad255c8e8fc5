import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { AuditLog } from '../platform/audit/audit-log.js';
import type { OwnerWrite } from '../platform/idempotency/owner-write.js';
import { OwnerWrites } from '../platform/idempotency/owner-writes.js';
import { Batcher, type Outcome } from '../platform/limits/batcher.js';
import { boundedQueue } from '../platform/limits/bounded-queue.js';
import { isDuplicateKey } from '../platform/database/database-error.js';
import { Database } from '../platform/database/database.js';
import { WriteAheadLog } from '../platform/database/write-ahead-log.js';
import type { Session, Transaction } from '../platform/database/session.js';
import { isUnavailable, Problem } from '../platform/problems/problem.js';
import { contactKeys } from './admission/contact.js';
import {
  type Changed,
  type Command,
  decide,
  type Decision,
  type Duplicate,
  type Facts,
  type Offboarded,
  type Result,
  type Selection,
} from './batch.js';
import { BucketStore } from './bucket.store.js';
import { CounterChanges, firstKeyOf, QUEUE_AXIS } from './counters.js';
import { DayStore } from './day.store.js';
import { QueueMetrics } from './queue.metrics.js';
import { QueueReader } from './queue.reader.js';
import { QueueStore } from './queue.store.js';
import { type SettingChanges, withSettings } from './settings.js';
import { type Applicant, type ContactKeys, type Found, LARGE, type PersonChanges } from './waiter.js';
import { WaiterStore } from './waiter.store.js';
import type { WholeWaitlist } from './waitlist.table.js';

/** Records changed in one transaction: more would hold the lock, and each caller, for longer than a commit takes. */
const BATCH_MAX = 500;
/** Text of this size weighs as much as a record: the longest statement then stays near 8 MiB, half of MariaDB's packet. */
const WEIGHTY_TEXT_BYTES = 8 * 1024;
/** Weight of the commands of one waitlist that may wait: some seconds of work, within a client's patience. */
const WAITING_MAX = 10_000;
/** Reorderings that may wait for the one that runs. Each takes seconds at a hundred thousand referrers. */
const REORDERINGS_WAITING_MAX = 64;
/** A reordering can move millions of records. */
const REORDERING_MAX_MS = 10 * 60_000;
/** With several writing nodes of a cluster, another may insert the same email; the next attempt finds its record. */
const DUPLICATE_ATTEMPTS_MAX = 3;

interface Configure {
  readonly kind: 'configure';
  readonly changes: SettingChanges;
  readonly write: OwnerWrite;
}

/** The changed waitlist, and how many active records got another rank key. */
export interface Configured {
  readonly waitlist: WholeWaitlist;
  readonly recordsMoved: number;
}

/**
 * The one entry point through which a queue changes. Changes of one waitlist contend for its sequence and its order, so the
 * lock on its row serializes them. The lock and the commit cost the same for one command as for many, so the commands that
 * arrive during one transaction share the next.
 *
 * A batch is one transaction: lock the row and read the facts, decide (batch.ts), store the decision and commit. That is
 * two round trips, or three where counters change that must be read first. Each caller is answered after the commit. All
 * commands are safe to repeat: a join finds its own record by its contact data; an owner's command recognizes its own work
 * by its audit event, which has the command's id.
 */
@Injectable()
export class QueueWriter implements BeforeApplicationShutdown {
  private readonly batchers = new Map<number, Batcher<Command | Configure, Result | Configured>>();
  /** Reorderings wait here, before they take a connection that other work needs. */
  private readonly reorderInTurn = boundedQueue('reorder', { runsMax: 1, waitingMax: REORDERINGS_WAITING_MAX });
  private isClosed = false;

  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly buckets: BucketStore,
    private readonly days: DayStore,
    private readonly reader: QueueReader,
    private readonly audit: AuditLog,
    private readonly writes: OwnerWrites,
    private readonly metrics: QueueMetrics,
    private readonly log: WriteAheadLog,
  ) {
    metrics.countWaiting = () => this.waiting;
  }

  /** Commands that wait for a transaction, over all waitlists. */
  get waiting(): number {
    return [...this.batchers.values()].reduce((sum, batcher) => sum + batcher.length, 0);
  }

  /**
   * Puts an applicant at the end of the queue and moves the referrer forward. If a record with this email or phone exists,
   * returns it unchanged. If they match two records, the email decides.
   * @throws Problem `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `WAITLIST_CLOSED`, `WAITLIST_NOT_FOUND`, `QUEUE_FULL`,
   * `SHUTTING_DOWN`
   */
  async join(waitlistId: number, applicant: Applicant): Promise<Found> {
    const keys = contactKeys(applicant, applicant.region);
    const joined = (await this.submit(waitlistId, { kind: 'join', applicant, keys })) as Found | Duplicate;
    if ('waiter' in joined) return joined;
    const { waiter, waitlist } = await this.reader.find(waitlistId, joined.keys);
    // If there is none, the record was erased or got other contact data meanwhile.
    return waiter ? { waiter, waitlist, ...joined } : this.join(waitlistId, applicant);
  }

  /**
   * Offboards the active records of a selection, all or none. Returns those that this call removed, in the order of the
   * selection.
   * @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async offboard(waitlistId: number, selection: Selection, write: OwnerWrite): Promise<Offboarded> {
    return (await this.submit(waitlistId, { kind: 'offboard', selection, write })) as Offboarded;
  }

  /**
   * Corrects a record, active or offboarded, and moves it forward or back by spots. An offboarded record keeps its last
   * position. Returns the uuid; the caller reads the changed record.
   * @throws Problem `NO_WAITER_FOUND`, `CONTACT_TAKEN` for an email or a phone of another record, `INVALID_REQUEST` for
   * contact data without a normal form, `WAITLIST_RULE_BROKEN` if neither email nor phone would be left,
   * `WAITLIST_NOT_FOUND`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async correct(waitlistId: number, uuid: string, changes: PersonChanges, write: OwnerWrite): Promise<Changed> {
    const { email = null, phone = null } = changes;
    const region = await this.reader.regionFor(waitlistId, phone);
    const keys = contactKeys({ email, phone }, region);
    return (await this.submit(waitlistId, { kind: 'correct', uuid, changes, region, keys, write })) as Changed;
  }

  async verify(_waitlistId: number, _tokenHash: string): Promise<Changed> {
    return Promise.reject(new Problem('LINK_NOT_FOUND'));
  }

  /**
   * Deletes records, active or offboarded, all or none, and leaves tombstones without personal data. The queue closes up;
   * referrals keep counting for others. Returns the uuids of the records that this call erased, in the given order;
   * unknown ones are left out.
   * @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async erase(waitlistId: number, uuids: readonly string[], write: OwnerWrite): Promise<Changed> {
    return (await this.submit(waitlistId, { kind: 'erase', uuids, write })) as Changed;
  }

  /**
   * Changes settings, after the signups and offboardings that came before. If the spots per referral change, reorders the
   * queue, past referrals too.
   * @throws Problem `WAITLIST_NOT_FOUND`, `INVALID_REQUEST`, `WAITLIST_RULE_BROKEN`, `QUEUE_FULL`, `SHUTTING_DOWN`
   */
  async configure(waitlistId: number, changes: SettingChanges, write: OwnerWrite): Promise<Configured> {
    const submit = async () => (await this.submit(waitlistId, { kind: 'configure', changes, write })) as Configured;
    return changes.spotsPerReferral === undefined ? submit() : this.reorderInTurn(submit);
  }

  /** Takes no more commands, and resolves when all accepted ones have been answered. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    await Promise.all(Array.from(this.batchers.values(), (batcher) => batcher.drained()));
  }

  private async submit(waitlistId: number, command: Command | Configure): Promise<Result | Configured> {
    if (this.isClosed) throw new Problem('SHUTTING_DOWN');
    let batcher = this.batchers.get(waitlistId);
    if (!batcher) {
      batcher = new Batcher((commands) => this.run(waitlistId, commands), {
        name: 'write queue',
        batchMax: BATCH_MAX,
        weightOf,
        waitingMax: WAITING_MAX,
        runsMax: 1,
        onIdle: () => this.batchers.delete(waitlistId),
      });
      this.batchers.set(waitlistId, batcher);
    }
    try {
      return await batcher.submit(command);
    } catch (error) {
      if (error instanceof Problem && error.code === 'QUEUE_FULL') this.metrics.refusals.inc();
      throw error;
    }
  }

  private async run(
    waitlistId: number,
    commands: readonly (Command | Configure)[],
  ): Promise<readonly Outcome<Result | Configured>[]> {
    const [first] = commands;
    // Its weight exceeds that of a full batch, so it is alone.
    if (first?.kind === 'configure') return [{ result: await this.change(waitlistId, first) }];
    return this.carryOut(waitlistId, commands as readonly Command[]);
  }

  private async change(waitlistId: number, { changes, write }: Configure): Promise<Configured> {
    let recordsMoved = 0;
    const waitlist = await this.database.pipelinedTransaction(
      async (session) => {
        const [current, done] = await session.all([this.queues.lockWhole(waitlistId), this.audit.findDone([write.id])]);
        // A retry after a lost answer to the commit.
        if (done.has(write.id)) return current;
        const next = withSettings(current, changes);
        recordsMoved = 0;
        if (next.spotsPerReferral !== current.spotsPerReferral) recordsMoved = await this.reorder(session, next);
        await session.commit([
          this.queues.updateSettings(next),
          this.writes.record(write, { action: 'waitlist_updated', waitlistId, counts: { recordsMoved } }),
        ]);
        return next;
      },
      {
        deadlineMs: changes.spotsPerReferral === undefined ? undefined : REORDERING_MAX_MS,
        onRetry: (reason) => this.metrics.retries.inc({ reason }),
      },
    );
    return { waitlist, recordsMoved };
  }

  /** Computes all rank keys again, and the counters with them. Returns how many active records got another rank key. */
  private async reorder(session: Session, { id, spotsPerReferral, ...totals }: WholeWaitlist): Promise<number> {
    const moves = await session.one(this.waiters.countMoves(id, spotsPerReferral));
    const counters = new CounterChanges(totals);
    for (const { from, to, referred, amount } of moves)
      counters.move(firstKeyOf(QUEUE_AXIS, from), firstKeyOf(QUEUE_AXIS, to), referred, amount);
    const siblings = await session.one(this.buckets.findSiblings(id, counters));
    await session.all([
      this.waiters.rekey(id, spotsPerReferral),
      this.buckets.save(id, counters.changedBuckets(siblings)),
    ]);
    return moves.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** A batch that fails as a whole is carried out one by one, so that only the command at fault fails. */
  private async carryOut(waitlistId: number, commands: readonly Command[]): Promise<readonly Outcome<Result>[]> {
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
      // If the database is unavailable, the remaining commands get the same error without waiting for it.
      return commands.map((_, index) => outcomes[index] ?? (outcomes.at(-1) as Outcome<Result>));
    }
  }

  private async commit(
    waitlistId: number,
    commands: readonly Command[],
    attempt = 1,
  ): Promise<readonly Outcome<Result>[]> {
    const start = performance.now();
    try {
      const { outcomes, ...decision } = await this.database.pipelinedTransaction(
        async (session) => {
          const facts = await this.readFacts(session, waitlistId, commands);
          const decision = decide(facts, commands);
          await this.store(session, decision);
          return decision;
        },
        { onRetry: (reason) => this.metrics.retries.inc({ reason }) },
      );
      this.metrics.committed(commands.length, performance.now() - start, decision);
      if (decision.erased.length > 0) this.log.empty();
      return outcomes;
    } catch (error) {
      if (!isDuplicateKey(error) || attempt === DUPLICATE_ATTEMPTS_MAX) throw error;
      this.metrics.retries.inc({ reason: 'duplicate_key' });
      return await this.commit(waitlistId, commands, attempt + 1);
    }
  }

  /** Takes the lock and reads the facts, in one round trip. */
  private async readFacts(session: Session, waitlistId: number, commands: readonly Command[]): Promise<Facts> {
    const ids: number[] = [];
    const uuids: string[] = [];
    let next = 0;
    const tokens: string[] = [];
    const writeIds: string[] = [];
    const contacts: ContactKeys[] = [];
    for (const command of commands) {
      if (command.kind === 'join') tokens.push(...command.applicant.referrerTokens);
      else writeIds.push(command.write.id);
      if (command.kind === 'join' || command.kind === 'correct') contacts.push(command.keys);
      if (command.kind === 'correct') uuids.push(command.uuid);
      if (command.kind === 'erase') uuids.push(...command.uuids);
      if (command.kind !== 'offboard') continue;
      const { selection } = command;
      if ('ids' in selection) ids.push(...selection.ids);
      else if ('uuids' in selection) uuids.push(...selection.uuids);
      else next += selection.next;
    }
    const [waitlist, byId, byUuid, first, done, taken, referrers] = await session.all([
      this.queues.lock(waitlistId),
      this.waiters.findByIds(waitlistId, [...new Set(ids)]),
      this.waiters.findByUuids(waitlistId, [...new Set(uuids)], LARGE),
      // Other offboardings of the batch can remove some of the first records by their ids or uuids.
      this.waiters.findFirst(waitlistId, next === 0 ? 0 : next + ids.length + uuids.length),
      this.audit.findDone(writeIds),
      this.waiters.findTaken(waitlistId, contacts),
      this.waiters.findReferrers(waitlistId, [...new Set(tokens)]),
    ]);
    return { waitlist, named: [...byId, ...byUuid], first, done, taken, referrers };
  }

  /** Stores a decision; writes nothing, and so waits for no disk, if nothing changes. */
  private async store(
    session: Transaction,
    { waitlist, written, removals, erased, corrections, joined, credited, counters, days }: Decision,
  ): Promise<void> {
    if (written.length === 0 && joined.length === 0) return;
    const siblings = await session.one(this.buckets.findSiblings(waitlist.id, counters));
    await session.commit([
      ...removals.map((removal) => this.waiters.remove(waitlist.id, removal)),
      this.waiters.erase(waitlist.id, erased),
      ...corrections.map((correction) => this.waiters.correct(waitlist.id, correction)),
      ...written.map(({ write, ...record }) => this.writes.record(write, { waitlistId: waitlist.id, ...record })),
      this.waiters.insert(joined),
      this.waiters.updateStandings(waitlist.id, credited),
      this.buckets.save(waitlist.id, counters.changedBuckets(siblings)),
      this.days.add(waitlist.id, days.changed()),
      this.queues.update(waitlist),
    ]);
  }
}

/** How many records a command changes; large text adds to it, because a batch must fit in one packet of the database. */
function weightOf(command: Command | Configure): number {
  if (command.kind === 'configure') return BATCH_MAX + 1;
  if (command.kind === 'erase') return command.uuids.length;
  if (command.kind === 'offboard') {
    const { selection } = command;
    if ('next' in selection) return selection.next;
    return 'ids' in selection ? selection.ids.length : selection.uuids.length;
  }
  const { metadata = null } = command.kind === 'join' ? command.applicant : command.changes;
  const answers = command.kind === 'join' ? (command.applicant.answers ?? null) : null;
  if (metadata === null && answers === null) return 1;
  return 1 + Math.floor(Buffer.byteLength(JSON.stringify([metadata, answers])) / WEIGHTY_TEXT_BYTES);
}
