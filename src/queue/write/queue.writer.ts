import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { webhookIdsFor } from '../../outbox/delivery.store.js';
import { OutboxSignal } from '../../outbox/outbox.signal.js';
import { Database } from '../../platform/database/database.js';
import { WriteAheadLog } from '../../platform/database/write-ahead-log.js';
import type { AccountWrite } from '../../platform/idempotency/account-write.js';
import type { Outcome } from '../../platform/limits/batcher.js';
import { boundedQueue } from '../../platform/limits/bounded-queue.js';
import { KeyedBatcher } from '../../platform/limits/keyed-batcher.js';
import { isUnavailable, Problem } from '../../platform/problems/problem.js';
import { QueueMetrics } from '../queue.metrics.js';
import { QueueReader } from '../read/queue.reader.js';
import { OfferCodes } from '../offers/offer-codes.js';
import { contactKeys } from '../record/contact.js';
import type { Applicant, Found, PersonChanges } from '../record/waiter.js';
import type { WordChange } from '../settings/mail-words.js';
import type { SettingChanges } from '../settings/settings.js';
import {
  type AnyCommand,
  BATCH_MAX,
  type Changed,
  type Command,
  type Exclusive,
  type Reply,
  withReply,
} from './command.js';
import { configure, type Configured } from './commands/configure.js';
import { correct } from './commands/correct.js';
import { join } from './commands/join.js';
import { decide } from './decide.js';
import { DecisionStore } from './decision.store.js';
import { ExclusiveStores } from './exclusive-stores.js';
import { FactsReader } from './facts.reader.js';
import type { Facts } from './facts.js';
import { retryDuplicates } from './retry-duplicates.js';
import type { Decision } from './state.js';

/** Weight of waiting commands per waitlist, some seconds of work. Beyond it: `QUEUE_FULL`. */
const WAITING_MAX = 10_000;
/** Reorderings that may wait for the one that runs. Each takes seconds at a hundred thousand referrers. */
const REORDERINGS_WAITING_MAX = 64;
/** A join is repeated only if the record that it found was erased or corrected before it was read. */
const JOIN_ATTEMPTS_MAX = 5;

/**
 * The one entry point through which a queue changes. Changes of one waitlist contend for its sequence and order, so the
 * lock on its row serializes them. Lock and commit cost the same for one command as for many, so the commands that
 * arrive during one transaction share the next.
 *
 * A batch is one transaction: lock the row and read the facts, decide (decide.ts), store the decision and commit.
 * Signups without referrers take two round trips; changes of existing records take up to four more. Callers are
 * answered after the commit. All commands are safe to repeat: a join finds its own record by its contact data; an
 * owner's command recognizes its own work by its audit event, which has the command's id.
 */
@Injectable()
export class QueueWriter implements BeforeApplicationShutdown {
  private readonly batches = new KeyedBatcher<AnyCommand<Reply>, Reply>(
    (waitlistId, commands) => this.run(waitlistId, commands),
    {
      name: 'write queue',
      batchMax: BATCH_MAX,
      weightOf: (command) => (command.kind === 'exclusive' ? BATCH_MAX + 1 : command.weight),
      waitingMax: WAITING_MAX,
      runsMax: 1,
    },
  );
  /** Reorderings wait here, before they take a connection that other work needs. */
  private readonly reorderInTurn = boundedQueue('reorder', { runsMax: 1, waitingMax: REORDERINGS_WAITING_MAX });
  private isClosed = false;

  constructor(
    private readonly database: Database,
    private readonly facts: FactsReader,
    private readonly decisions: DecisionStore,
    private readonly stores: ExclusiveStores,
    private readonly codes: OfferCodes,
    private readonly reader: QueueReader,
    private readonly metrics: QueueMetrics,
    private readonly signal: OutboxSignal,
    private readonly writeAheadLog: WriteAheadLog,
  ) {
    metrics.countWaiting = () => this.waiting;
  }

  /** Commands that wait for a transaction, over all waitlists. */
  get waiting(): number {
    return this.batches.length;
  }

  /**
   * Carries out a command, after those of the same waitlist that came before.
   * @throws Problem `WAITLIST_NOT_FOUND`, `QUEUE_FULL`, `SHUTTING_DOWN`, and those of the command
   */
  async submit<Result>(waitlistId: number, command: AnyCommand<Result>): Promise<Result> {
    if (this.isClosed) throw new Problem('SHUTTING_DOWN');
    try {
      return await new Promise<Result>((resolve, reject) => {
        const answered = this.batches.submit(waitlistId, withReply(command, resolve));
        answered.then((reply) => reply(), reject);
      });
    } catch (error) {
      if (error instanceof Problem && error.code === 'QUEUE_FULL') this.metrics.refusals.inc();
      throw error;
    }
  }

  /** Carries out {@link join}, and reads the record that it finds. @throws Problem `OVERLOADED`, and those of a join */
  async join(waitlistId: number, applicant: Applicant): Promise<Found> {
    for (let attempt = 1; attempt <= JOIN_ATTEMPTS_MAX; attempt += 1) {
      const joined = await this.submit(waitlistId, join(applicant));
      if ('waiter' in joined) return joined;
      const { waiter, waitlist } = await this.reader.find(waitlistId, joined.keys);
      if (waiter) return { waiter, waitlist, ...joined };
    }
    throw new Problem('OVERLOADED');
  }

  /** Carries out {@link correct}, by the country of the waitlist's phone numbers. */
  async correct(waitlistId: number, uuid: string, changes: PersonChanges, write: AccountWrite): Promise<Changed> {
    const { email = null, phone = null } = changes;
    const region = await this.reader.regionFor(waitlistId, phone);
    const keys = contactKeys({ email, phone }, region);
    return this.submit(waitlistId, correct({ uuid, changes, region, keys, offerCode: this.codes.make() }, write));
  }

  /** Carries out {@link configure}. One queue is reordered at a time. */
  async configure(
    waitlistId: number,
    changes: SettingChanges,
    write: AccountWrite,
    wordChanges: readonly WordChange[] = [],
  ): Promise<Configured> {
    const submit = () => this.submit(waitlistId, configure(changes, write, wordChanges));
    return changes.spotsPerReferral === undefined ? submit() : this.reorderInTurn(submit);
  }

  /** Takes no more commands, and resolves when all accepted ones have been answered. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    await this.batches.drained();
  }

  /** An exclusive command weighs more than a full batch, so it comes alone. */
  private async run(waitlistId: number, commands: readonly AnyCommand<Reply>[]): Promise<readonly Outcome<Reply>[]> {
    const shared: Command<Reply>[] = [];
    for (const command of commands) {
      if (command.kind === 'exclusive') return [{ result: await this.runAlone(waitlistId, command) }];
      shared.push(command);
    }
    return this.carryOut(waitlistId, shared);
  }

  private async runAlone(waitlistId: number, { deadlineMs, run }: Exclusive<Reply>): Promise<Reply> {
    return this.database.pipelinedTransaction((session) => run(session, waitlistId, this.stores), {
      deadlineMs,
      onRetry: this.metrics.onRetry,
    });
  }

  /** A batch that fails as a whole is carried out one by one, so that only the command at fault fails. */
  private async carryOut(waitlistId: number, commands: readonly Command<Reply>[]): Promise<readonly Outcome<Reply>[]> {
    try {
      return await retryDuplicates(this.metrics.onRetry, () => this.commit(waitlistId, commands));
    } catch (error) {
      if (commands.length === 1 || error instanceof Problem) return commands.map(() => ({ error }));
      const outcomes: Outcome<Reply>[] = [];
      for (const command of commands) {
        const [outcome] = await this.carryOut(waitlistId, [command]);
        outcomes.push(outcome as Outcome<Reply>);
        if (outcome && 'error' in outcome && isUnavailable(outcome.error)) break;
      }
      // If the database is unavailable, the remaining commands get the same error without waiting for it.
      return commands.map((_, index) => outcomes[index] ?? (outcomes.at(-1) as Outcome<Reply>));
    }
  }

  private async commit(waitlistId: number, commands: readonly Command<Reply>[]): Promise<readonly Outcome<Reply>[]> {
    const start = performance.now();
    // A command with a deadline is alone in its batch.
    const deadlineMs = commands[0]?.deadlineMs;
    const { outcomes, facts, ...decision } = await this.database.pipelinedTransaction(
      async (session) => {
        const facts = await this.facts.read(
          session,
          waitlistId,
          commands.map(({ needs }) => needs),
        );
        const decided = decide(facts, commands);
        await this.decisions.store(session, facts, decided);
        return { ...decided, facts };
      },
      { deadlineMs, onRetry: this.metrics.onRetry },
    );
    this.metrics.committed(commands.length, performance.now() - start, decision);
    this.wake(decision, facts);
    return outcomes;
  }

  /** Wakes the background tasks that have work after the commit. */
  private wake({ waitlist, erased, signups, events, mails, welcomes }: Decision, { subscribers }: Facts): void {
    if (erased.length > 0) this.writeAheadLog.empty();
    const isSignupWanted = webhookIdsFor(subscribers, 'new_signup').length > 0;
    if (signups.length > 0 && isSignupWanted) this.signal.wakeForSignups(waitlist);
    if (events.length > 0) this.signal.wakeForDeliveries(subscribers.map(({ id }) => id));
    if (mails.length + welcomes.length > 0) this.signal.wakeForMails();
  }
}
