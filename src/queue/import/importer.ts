import { Injectable } from '@nestjs/common';
import { v4 as uuidV4, v7 as uuidV7 } from 'uuid';
import { SignupEventStore } from '../../outbox/signup-event.store.js';
import { AuditLog } from '../../platform/audit/audit-log.js';
import { Database } from '../../platform/database/database.js';
import { known, mapped, type Session, together, type Transaction } from '../../platform/database/session.js';
import type { AccountWrite } from '../../platform/idempotency/account-write.js';
import { AccountWriteService } from '../../platform/idempotency/account-write.service.js';
import { Problem } from '../../platform/problems/problem.js';
import { Ledger } from '../order/ledger.js';
import { LedgerChanges } from '../order/ledger-changes.js';
import { QueueMetrics } from '../queue.metrics.js';
import { QueueStore } from '../settings/queue.store.js';
import { SignupDeliveries } from '../record/signup-deliveries.js';
import { WaiterStore } from '../record/waiter.store.js';
import type { WholeWaitlist } from '../settings/waitlist.table.js';
import { retryDuplicates } from '../write/retry-duplicates.js';
import {
  type ChunkDecision,
  type ChunkFacts,
  decideChunk,
  type ImportLine,
  match,
  type Matching,
  type Renaming,
} from './chunk.js';
import type { ImportReport, ImportRules, ImportRunEntity } from './import-run.entity.js';
import { ImportRunStore } from './import-run.store.js';

/** Between two heartbeats of a run. */
const BEAT_MS = 10_000;
/** After this time without a heartbeat, the process of a run has ended. */
const SILENCE_MAX_MS = 45_000;
/** A chunk may have to wait for a reordering, which can hold the lock of the queue for this long. */
const CHUNK_MAX_MS = 10 * 60_000;

/** A started run. Only the latest one of a file may write. */
export type Run = Pick<ImportRunEntity, 'id' | 'waitlistId' | 'runner' | 'createdAt'> & {
  readonly rules: ImportRules;
  /** The first reserved number; null while no numbers are reserved. */
  readonly firstSeq: number | null;
  readonly amount: number;
  /**
   * Whether a run of the file was done before. Then nothing is left to import. The numbers of the lines no longer
   * identify its records, because an expired offer gives a record a new one.
   */
  readonly isRepeat: boolean;
};

/** The outcome of a chunk: numbers of its lines, and of its records whose referrer is unknown. */
export interface ChunkOutcome {
  readonly imported: number;
  readonly skipped: number;
  readonly unresolved: number;
  /** The tokens of the file whose records have another. */
  readonly renamings: readonly Renaming[];
}

/** The latest run of a waitlist. */
export type LatestRun = Pick<ImportRunEntity, 'state' | 'report'>;

/**
 * Puts the lines of a file into a queue. A run reserves their numbers once; then each chunk of lines is a transaction
 * under the lock of the queue, between those of signups. See chunk.ts.
 */
@Injectable()
export class QueueImporter {
  constructor(
    private readonly database: Database,
    private readonly queues: QueueStore,
    private readonly waiters: WaiterStore,
    private readonly signupEvents: SignupEventStore,
    private readonly signupDeliveries: SignupDeliveries,
    private readonly ledger: Ledger,
    private readonly runs: ImportRunStore,
    private readonly audit: AuditLog,
    private readonly writes: AccountWriteService,
    private readonly metrics: QueueMetrics,
  ) {}

  /** The latest run of a waitlist, null before the first. */
  async findLatest(waitlistId: number): Promise<LatestRun | null> {
    const run = await this.database.one(this.runs.findLatest(waitlistId));
    return run && { state: run.state === 'running' && !isAlive(run) ? 'failed' : run.state, report: run.report };
  }

  /** @throws Problem `IMPORT_RUNNING` */
  async requireIdle(waitlistId: number): Promise<void> {
    const runs = await this.database.one(this.runs.list(waitlistId));
    if (runs.some(isAlive)) throw new Problem('IMPORT_RUNNING');
  }

  /** Starts a run of a file, or continues an earlier one. @throws Problem `IMPORT_RUNNING`, `WAITLIST_NOT_FOUND` */
  async begin(waitlistId: number, fileHash: string): Promise<Run> {
    const runner = uuidV4();
    return this.database.pipelinedTransaction(async (session) => {
      const [waitlist, runs] = await session.all([this.queues.lockWhole(waitlistId), this.runs.list(waitlistId)]);
      if (runs.some((run) => run.runner !== runner && isAlive(run))) throw new Problem('IMPORT_RUNNING');
      const earlier = runs.find((run) => run.fileHash === fileHash);
      const isRepeat = earlier?.state === 'done';
      const now = new Date();
      const run: ImportRunEntity = {
        id: uuidV7(),
        waitlistId,
        fileHash,
        firstSeq: null,
        amount: null,
        rules: null,
        ...earlier,
        createdAt: earlier?.rules ? earlier.createdAt : now,
        runner,
        state: isRepeat ? 'done' : 'running',
        report: null,
        startedAt: now,
        heartbeatAt: now,
      };
      await session.commit([earlier ? this.runs.restart(run) : this.runs.insert(run)]);
      return { ...run, rules: run.rules ?? rulesOf(waitlist), amount: run.amount ?? 0, isRepeat };
    });
  }

  /** A run for {@link preview}, which is not stored. @throws Problem `WAITLIST_NOT_FOUND` */
  async beginDryRun(waitlistId: number, fileHash: string): Promise<Run> {
    const [waitlist, runs] = await this.database.all([this.queues.findWhole(waitlistId), this.runs.list(waitlistId)]);
    const earlier = runs.find((run) => run.fileHash === fileHash && run.rules !== null);
    return {
      id: '',
      waitlistId,
      runner: '',
      createdAt: earlier?.createdAt ?? new Date(),
      rules: earlier?.rules ?? rulesOf(waitlist),
      firstSeq: earlier?.firstSeq ?? waitlist.nextSeq,
      amount: earlier?.amount ?? 0,
      isRepeat: earlier?.state === 'done',
    };
  }

  /** Sends heartbeats until the returned function is called. */
  keepAlive(run: Run): () => void {
    const timer = setInterval(() => {
      // If it fails, another run can only start sooner.
      this.database.one(this.runs.beat(run)).catch(() => undefined);
    }, BEAT_MS).unref();
    return () => clearInterval(timer);
  }

  /**
   * Reserves `amount` numbers at the end of the queue, unless the run has its numbers, and stores the file's new
   * questions. If the rules of the waitlist have changed since the file was read, reserves none and returns the run
   * with the new rules.
   * @throws Problem `IMPORT_RUNNING` if another run has taken over, `WAITLIST_NOT_FOUND`
   */
  async reserve(run: Run, rules: ImportRules, amount: number, write: AccountWrite): Promise<Run> {
    return this.database.pipelinedTransaction(async (session) => {
      const [waitlist, current, done] = await session.all([
        this.queues.lockWhole(run.waitlistId),
        this.runs.get(run.id),
        this.audit.findDone([write.id]),
      ]);
      const { firstSeq, amount: reserved } = requireCurrent(current, run);
      const event = done.has(write.id)
        ? known(undefined)
        : this.writes.record(write, { action: 'waiters_imported', waitlistId: run.waitlistId });
      if (firstSeq !== null && reserved !== null) {
        await session.commit([event]);
        return { ...run, rules, firstSeq, amount: reserved };
      }
      const live = rulesOf(waitlist);
      if (JSON.stringify(live) !== JSON.stringify(run.rules)) return { ...run, rules: live };
      const start = waitlist.nextSeq;
      const changes = new LedgerChanges(waitlist);
      changes.reserve(amount);
      const siblings = await session.one(this.ledger.read(changes));
      await session.commit([
        event,
        this.queues.updateQuestions(waitlist.id, rules),
        this.ledger.save(changes, siblings),
        this.runs.reserve(run.id, start, amount, rules),
      ]);
      return { ...run, rules, firstSeq: start, amount };
    });
  }

  /**
   * Writes lines, in the order of their numbers.
   * @throws Problem `IMPORT_RUNNING` if another run has taken over, `WAITLIST_NOT_FOUND`
   */
  async write(run: Run, lines: readonly ImportLine[]): Promise<ChunkOutcome> {
    if (run.isRepeat) return allSkipped(lines);
    return retryDuplicates(this.metrics.onRetry, async () => {
      let before: (ChunkOutcome & { readonly decision: ChunkDecision }) | undefined;
      return this.database.pipelinedTransaction(
        async (session) => {
          const [facts, current] = await session.all([
            this.queryFacts(run.waitlistId, lines, true),
            this.runs.get(run.id),
          ]);
          requireCurrent(current, run);
          // A retry after a lost answer to the commit.
          if (before?.decision.records.some(({ seq }) => facts.numbered.has(seq))) return before;
          const matching = match(facts, lines);
          const moved = await this.countMoved(session, run, matching);
          const decision = decideChunk(facts, matching, moved);
          before = { ...outcomeOf(matching, decision), decision };
          const renamings = matching.renamings.filter(({ from }) => moved.has(from));
          await this.store(session, run, decision, renamings);
          return before;
        },
        { deadlineMs: CHUNK_MAX_MS, onRetry: this.metrics.onRetry },
      );
    });
  }

  /** The outcome that {@link write} would have. Stores nothing. @throws Problem `WAITLIST_NOT_FOUND` */
  async preview(run: Run, lines: readonly ImportLine[]): Promise<ChunkOutcome> {
    if (run.isRepeat) return allSkipped(lines);
    const facts = await this.database.one(this.queryFacts(run.waitlistId, lines, false));
    const matching = match(facts, lines);
    return outcomeOf(matching, decideChunk(facts, matching, new Map()));
  }

  /** Ends a run: done with a report, failed without, unless it was done before. */
  async end(run: Run, report: ImportReport | null): Promise<void> {
    if (run.isRepeat && report === null) return;
    await this.database.one(this.runs.end(run, report));
  }

  private queryFacts(waitlistId: number, lines: readonly ImportLine[], isLocking: boolean) {
    const fresh = lines.filter(({ isRepeated }) => !isRepeated);
    const tokens = fresh.flatMap(({ token }) => token ?? []);
    const holders = lines.flatMap(({ token, otherTokens, referrer }) => [
      token ?? [],
      otherTokens,
      referrer ? (referrer.renamed ?? referrer.token) : [],
    ]);
    const queries = [
      isLocking ? this.queues.lock(waitlistId) : this.queues.find(waitlistId),
      this.runs.findNumbered(waitlistId, lines[0]?.seq ?? 0, lines.at(-1)?.seq ?? 0),
      this.runs.findErasedTokens(waitlistId, tokens),
      this.waiters.findKnown(
        waitlistId,
        fresh.map(({ facts }) => facts),
      ),
      this.waiters.findReferrers(waitlistId, [...new Set(holders.flat(2))]),
      this.runs.findUuids(fresh.flatMap(({ uuid }) => uuid ?? [])),
      this.runs.countReferrals(waitlistId, tokens),
    ] as const;
    return mapped(together(queries), ([waitlist, numbered, erased, found, holding, uuids, referrals]): ChunkFacts => ({
      waitlist,
      numbered,
      erased,
      known: found,
      holders: holding,
      uuids,
      referrals,
    }));
  }

  /** For each token that is renamed, how many records of the run name it as their referrer's. */
  private async countMoved(session: Session, run: Run, { renamings }: Matching): Promise<ReadonlyMap<string, number>> {
    if (renamings.length === 0) return new Map();
    const tokens = renamings.map(({ from }) => from);
    return session.one(this.runs.countNaming(run.waitlistId, tokens, ...spanOf(run)));
  }

  private async store(
    session: Transaction,
    run: Run,
    { records, changedReferrers, ledger }: ChunkDecision,
    renamings: readonly Renaming[],
  ): Promise<void> {
    if (records.length === 0 && renamings.length === 0) return;
    const { id } = ledger.waitlist;
    const credited = changedReferrers.map(({ uuid }) => uuid);
    const [siblings, signupEvents] = await session.all([
      this.ledger.read(ledger),
      this.signupEvents.lockByUuids(id, credited),
    ]);
    await session.commit([
      // It reads the records as they are before the changes.
      await this.signupDeliveries.make(session, id, signupEvents),
      ...renamings.map((renaming) => this.runs.rename(id, renaming, ...spanOf(run))),
      this.runs.creditWaiting(
        id,
        records.map(({ referralToken }) => referralToken),
      ),
      this.waiters.insert(records),
      this.waiters.updateStandings(id, changedReferrers),
      this.ledger.save(ledger, siblings),
    ]);
  }
}

function allSkipped({ length }: readonly ImportLine[]): ChunkOutcome {
  return { imported: 0, skipped: length, unresolved: 0, renamings: [] };
}

/** The first reserved number, and the one after the last. */
function spanOf({ firstSeq, amount }: Run): [number, number] {
  return [firstSeq ?? 0, (firstSeq ?? 0) + amount];
}

function rulesOf({ defaultRegion, questions, removedQuestions }: WholeWaitlist): ImportRules {
  return { region: defaultRegion, questions, removedQuestions };
}

function isAlive({ state, heartbeatAt }: ImportRunEntity): boolean {
  return state === 'running' && heartbeatAt.getTime() > Date.now() - SILENCE_MAX_MS;
}

function requireCurrent(current: ImportRunEntity | null, { runner }: Run): ImportRunEntity {
  if (current?.runner !== runner) throw new Problem('IMPORT_RUNNING');
  return current;
}

function outcomeOf({ newcomers, skipped, renamings }: Matching, { unresolved }: ChunkDecision): ChunkOutcome {
  return { imported: newcomers.length, skipped, unresolved, renamings };
}
